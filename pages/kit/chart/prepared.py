"""Figures written out as the browser takes them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deconditioning.figures.map_canvas import drawn_on_canvas

Engine = Literal["plotly", "canvas", "space"]
_BOX = {"height": 360, "margin": {"l": 0, "r": 0, "t": 0, "b": 0}}


@dataclass(frozen=True)
class Prepared:
    """A figure as the browser takes it: its JSON, a hash of that, its size before it is drawn, what it shows, its
    title, what draws it, what a slide says of it, and whether it checks how a result was made: such slides are last."""

    text: str
    stamp: str
    box: dict[str, Any]
    alt: str
    title: str = ""
    engine: Engine = "plotly"
    finding: str = ""
    diagnostic: bool = False


def prepare(figure: Any) -> Prepared:
    """Write a figure out; keep the result of a large one that is drawn again and again."""
    plain = figure if isinstance(figure, Mapping) else json.loads(figure.to_json(validate=False))
    layout = plain["layout"]
    meta = layout.get("meta") or {}
    text = json.dumps(plain, separators=(",", ":"))
    box = _BOX | {name: layout[name] for name in (*_BOX, "title", "showlegend", "legend") if name in layout}
    names = _names(plain["data"]) if layout.get("showlegend") else []
    box["meta"] = {"aspect": meta.get("aspect"), "legend": meta.get("legend"), "names": names}
    stamp = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    title = (layout.get("title") or {}).get("text") or ""
    in_space = [trace.get("type") for trace in plain["data"]] == ["scatter3d"]
    engine: Engine = "canvas" if drawn_on_canvas(plain) else "space" if in_space else "plotly"
    alt = meta.get("alt") or "Chart"
    return Prepared(text, stamp, box, alt, title, engine, meta.get("finding") or "", bool(meta.get("diagnostic")))


def _names(traces: list[dict[str, Any]]) -> list[str]:
    """What the legend lists."""
    return [str(trace["name"]) for trace in traces if trace.get("name") and trace.get("showlegend", True)]
