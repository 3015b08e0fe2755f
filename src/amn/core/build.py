"""Compiles the core, where there is a C compiler: when the package is installed, or later by hand.

    python -m amn.core.build

It needs nothing but Python, because it also runs before anything is installed.
"""

import hashlib
import os
import platform
import shutil
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parent
KINDS = {"x86_64": ("x86-64-v4", "x86-64-v3")}  # of processors; on other machines the compiler's own choice
# The order of sums is left to the compiler, which is what makes them fast.
_FAST = ("-O3", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros", "-fassociative-math")
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror")


def path_of(kind: str, folder: Path = FOLDER) -> Path:
    """The library for a kind of processor. Its name tells the sources, so that one made from others is never loaded."""
    sources = b"".join(path.read_bytes() for path in sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.h")]))
    return folder / f"core-{kind}-{hashlib.sha256(sources).hexdigest()[:12]}.so"


def compile_core(folder: Path = FOLDER, *flags: str) -> list[Path]:
    """Compiles the core once for each kind of processor; gives none where there is no compiler.

    Args:
        folder: where the libraries go; older ones are removed.
        flags: further flags for the compiler.
    """
    compiler = os.environ.get("CC") or shutil.which("cc")
    if not compiler or platform.system() == "Windows":
        return []
    for old in folder.glob("core-*.so"):
        old.unlink()
    machine = platform.machine()
    return [path for kind in KINDS.get(machine, (machine,)) if (path := _compile(compiler, kind, folder, flags))]


def _compile(compiler: str, kind: str, folder: Path, flags: tuple[str, ...]) -> Path | None:
    library = path_of(kind, folder)
    for_kind = [f"-march={kind}"] if platform.machine() in KINDS else []
    command = [*compiler.split(), "-std=gnu11", *_FAST, *for_kind, *flags, "-fPIC", "-shared", "-o", str(library)]
    done = subprocess.run(
        [*command, *map(str, sorted(FOLDER.glob("*.c"))), "-lm"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"no core for {kind}: {done.stderr.strip()}")
        return None
    return library


if __name__ == "__main__":
    for built in compile_core():
        print(built.name)
