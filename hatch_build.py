"""Compiles the core while the package is installed, where there is a C compiler; else torch does its work."""

import runpy
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src", "amn", "core")


class CompileCore(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the libraries to a wheel, or to the sources where these are installed as they are."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Runs before a build."""
        built = runpy.run_path(str(Path(self.root, FOLDER, "build.py")))["compile_core"]()
        if built and version == "standard":
            system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data |= {"pure_python": False, "tag": f"py3-none-{system}"}
            build_data["artifacts"] += [f"/{(FOLDER / library.name).as_posix()}" for library in built]
