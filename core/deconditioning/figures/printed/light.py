"""A figure of a dark page in the colours of a light one, for paper."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from deconditioning.figures.colours import GROUND, HUES, SCALES, VERDICTS, clear, image_scale, mark_scale
from deconditioning.figures.style import INK, MISSING

_CLEAR = re.compile(r"rgba\(\d+,\d+,\d+,")


def in_light(figure: Mapping[str, Any]) -> dict[str, Any]:
    """The figure as a light page has it; one that is of a light page comes back as it is.

    Lines that lie over a picture have the same colours on both.
    """
    if (figure["layout"].get("font") or {}).get("color") != INK[True]:
        return dict(figure)
    lines = figure["data"] if figure["layout"]["meta"].get("over_picture") else _lit(figure["data"])
    return dict(figure) | {"data": lines, "layout": _lit(figure["layout"])}


def _lit(part: Any) -> Any:
    """The same with every colour and every scale of marks replaced; scales of maps are the same on both pages."""
    if isinstance(part, Mapping):
        return {key: _scale(value) if key == "colorscale" else _lit(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_lit(each) for each in part]
    if isinstance(part, str):
        return _pairs().get(part, _CLEAR.sub(lambda one: _pairs().get(one[0], one[0]), part))
    return part


def _scale(scale: Any) -> Any:
    for name in SCALES:
        for scale_of in (mark_scale, image_scale):
            if scale == scale_of(name, True):
                return scale_of(name, False)
    return scale


@lru_cache
def _pairs() -> dict[str, str]:
    """Every colour of a dark page with its own of a light one, whole and where it lets light through."""
    both = [*HUES.values(), *VERDICTS.values(), GROUND, (MISSING[False], MISSING[True])]
    for name in SCALES:
        stops = zip(mark_scale(name, False), mark_scale(name, True), strict=True)
        both += [(light, dark) for (_, light), (_, dark) in stops]
    whole = {dark: light for light, dark in reversed(both)}
    return whole | {_open(dark): _open(light) for dark, light in whole.items()}


def _open(colour: str) -> str:
    """The beginning of what a colour is called that lets light through, without how much."""
    return clear(colour, 0).rpartition(",")[0] + ","
