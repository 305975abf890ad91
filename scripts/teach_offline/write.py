"""Writes the folder: pages, scripts, style, typefaces and data."""

import base64
import gzip
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from deconditioning.figures.map_canvas import map_canvas_script
from scripts.teach_offline import line, pages, story

SCRIPTS = ("matrix.js", "posterior.js", "chart.js", "field.js", "story.js", "line.js")
#: Name of a typeface → the beginning of its file's name among those that come with Streamlit (SIL Open Font License).
TYPEFACES = {"Source Sans": "SourceSansVF-Upright", "Source Serif": "SourceSerifVariable-Roman"}


def write(folder: Path) -> None:
    """Everything, into a folder that may be there already."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_story(folder)
    data = line.data()
    _put(folder / "line-data.js", f"window.teachLine = {_compact(data)};\nwindow.teachTarget = {line.target()};\n")
    _put(folder / "line.html", pages.one_dimension(data))
    _put(folder / "index.html", pages.cover())
    for name in SCRIPTS:
        _put(folder / name, (pages.HERE / name).read_text(encoding="utf-8"))
    _put(folder / "map_canvas.js", map_canvas_script())
    _put(folder / "teach.css", pages.palette() + (pages.HERE / "teach.css").read_text(encoding="utf-8"))
    _put(folder / "fonts.css", "".join(map(_typeface, TYPEFACES)))


def _write_story(folder: Path) -> None:
    steps = {}
    for number, (_, data) in enumerate(story.data_of_steps(), 1):
        steps[number] = {name: data.pop(name) for name in ("opening", "line")} | data
        packed = base64.b64encode(gzip.compress(_compact(data).encode(), 9, mtime=0)).decode("ascii")
        _put(folder / f"step-{number}.js", f'(window.teachData ??= {{}})[{number}] = "{packed}";\n')
    _put(folder / "story.html", pages.story(steps))


def _compact(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _typeface(name: str) -> str:
    spec = find_spec("streamlit")
    assert spec is not None and spec.submodule_search_locations
    (file,) = Path(spec.submodule_search_locations[0], "static", "static", "media").glob(f"{TYPEFACES[name]}*.woff2")
    packed = base64.b64encode(file.read_bytes()).decode("ascii")
    return (
        f'@font-face{{font-family:"{name}";font-weight:200 900;font-display:swap;'
        f'src:url(data:font/woff2;base64,{packed}) format("woff2")}}\n'
    )
