"""plotly.js for the browser: copied from the installed plotly wheel, so that no network is needed."""

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

_STATIC = Path(__file__).resolve().parents[3] / "static"


def _same(source: Path, target: Path) -> bool:
    """Whether `target` is there with the version line and the size of `source`."""
    if not target.is_file() or target.stat().st_size != source.stat().st_size:
        return False
    with source.open("rb") as new, target.open("rb") as old:
        return new.read(200) == old.read(200)


def ensure_plotly(static: Path = _STATIC) -> Path:
    """Put ``plotly.min.js`` of the installed plotly into `static` unless this version is there; return its path."""
    spec = find_spec("plotly")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("plotly is not installed: run `make run` or install requirements.txt.")
    source = Path(spec.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    target = static / "plotly.min.js"
    if not _same(source, target):
        static.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=static, suffix=".part")
        with os.fdopen(handle, "wb") as part:
            part.write(source.read_bytes())
        os.chmod(name, 0o644)
        os.replace(name, target)  # two sessions at once: each sees a whole file
    return target
