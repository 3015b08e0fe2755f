"""The models that come with the package: one directory each, and which of them answers where none is named."""

from pathlib import Path

DEFAULT_MODEL = "babi"
_FOLDER = Path(__file__).parent


def shipped_models() -> list[str]:
    """The names of the shipped models, in the order that people count in."""
    names = [entry.name for entry in _FOLDER.iterdir() if (entry / "config.json").is_file()]
    return sorted(names, key=lambda name: (len(name), name))


def shipped_directory(name: str) -> Path:
    """The directory of a shipped model."""
    return _FOLDER / name
