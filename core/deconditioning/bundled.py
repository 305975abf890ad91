"""Where the bundled data lie: beside the package's source in a clone, inside the package once it is installed."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "data"
_FOLDER = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parents[1] / "data"


def bundled(name: str) -> Path:
    """The path of a bundled file or folder, such as ``"replicated.toml"``."""
    return _FOLDER / name
