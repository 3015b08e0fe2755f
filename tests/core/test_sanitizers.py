"""Random models and stories, empty ones, the longest and the oddest, run without a report of any sanitizer."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from amn.core.build import FOLDER, WARNINGS

DRIVER = Path(__file__).with_name("driver.c")
COMMON = ("-std=gnu11", "-g", "-Og", "-fopenmp-simd", "-fno-sanitize-recover=all", *WARNINGS, f"-I{FOLDER}")
SANITIZERS = {
    "address and undefined behaviour": (os.environ.get("CC") or "cc", "address,undefined,float-cast-overflow"),
    "memory that was never written": ("clang", "memory"),
}


@pytest.mark.parametrize("kind", SANITIZERS)
def test_the_core_gives_no_sanitizer_a_reason_to_complain(kind: str, tmp_path: Path) -> None:
    compiler, sanitizers = SANITIZERS[kind]
    if not shutil.which(compiler.split()[0]):
        pytest.skip(f"there is no {compiler} here")
    command = [*compiler.split(), *COMMON, f"-fsanitize={sanitizers}"]
    if not can_sanitize(command, tmp_path):
        pytest.skip(f"{compiler} has no sanitizer for {kind}")
    program = tmp_path / "driver"
    sources = [str(DRIVER), *map(str, sorted(FOLDER.glob("*.c")))]
    built = subprocess.run([*command, *sources, "-o", str(program), "-lm"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    for seed in range(3):
        done = subprocess.run([str(program), str(seed)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), f"seed {seed}: {done.stderr}"


def can_sanitize(command: list[str], folder: Path) -> bool:
    """Whether a program of nothing can be built and run so."""
    source, program = folder / "nothing.c", folder / "nothing"
    source.write_text("int main(void) { return 0; }\n")
    built = subprocess.run([*command, str(source), "-o", str(program)], capture_output=True, check=False)
    return built.returncode == 0 and subprocess.run([str(program)], capture_output=True, check=False).returncode == 0
