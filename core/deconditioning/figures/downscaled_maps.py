"""The maps of a downscaling: which there are, and one rule for the limits of their colours, on screen and in print.

The field's limits come from what is known and so stay whatever the model does. Those of spread and error come from
the model at the values where its sliders begin, and change fourfold at once where its own values leave them by more
than a factor of two: a moved slider is seen as a change of colour, and still no map is blank.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from deconditioning.fields.footprints.outlines import MOST_OUTLINES, footprint_outlines
from deconditioning.fields.footprints.station_data import SourceTargets, Stations
from deconditioning.fields.problem.map_selection import number_of
from deconditioning.fields.problem.once import once
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.colours import clear, colour_scale
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.projection import lines_on, points_on
from deconditioning.figures.style import DARK, LIGHT, compact, rimmed_line
from deconditioning.metrics.predictive import Predictive
from deconditioning.wording import number, plus_minus

#: Half-width of the interval on the map of uncertainty, in standard deviations.
SPREADS = 2
#: Mean and sd (S,) of each value of a source as predicted from all other targets; None where they are not known.
LeftOut = tuple[np.ndarray, np.ndarray] | None
#: Symbol and size of the marks of a further source: values at points, Gaussian footprints, cells or regions.
_SYMBOLS = {"points": ("diamond", 9), "soundings": ("diamond", 7), "areas": ("square", 5)}
#: Size of all marks on the mean map, which is to be seen between them.
_SMALL = 5
#: Share of the pixels within the limits of the error and the spread.
_WITHIN = 0.98
#: Largest values between these shares of the usual limit leave it as it is: a paler map is a better one.
_STEADY = (1 / 3, 6.0)
_LONGEST_NAME = 34
#: What the map of uncertainty may show.
UNCERTAINTIES = {
    "sd": f"{SPREADS} sd",
    "low": "Lower end of the 95 % interval",
    "high": "Upper end of the 95 % interval",
    "above": "Probability of exceeding a value",
}


class MapKey(StrEnum):
    """The maps of a prediction."""

    OBSERVED = "observed"
    MEAN = "mean"
    TRUTH = "truth"
    SPREAD = "spread"
    ERROR = "error"


def keys_of(problem: DownscalingProblem) -> tuple[str, ...]:
    """The maps of a problem in the order in which they are read; two of them need the truth."""
    return tuple(key for key in MapKey if problem.truth is not None or key not in (MapKey.TRUTH, MapKey.ERROR))


def short_name(problem: DownscalingProblem) -> str:
    """The target's name for a colour bar: the long name where it is short enough to stand under a map."""
    return problem.long_name if 0 < len(problem.long_name) <= _LONGEST_NAME else problem.spec.target


@once
def field_scale(problem: DownscalingProblem) -> MapScale:
    """One scale for coarse field, truth and prediction: the middle 99.6 % of what was measured, in round numbers."""
    low, high = round_limits(problem.coarse_truth if problem.truth is None else problem.truth)
    return MapScale(short_name(problem), problem.units, "sequential", low, high)


def round_limits(values: np.ndarray) -> tuple[float, float]:
    """Round numbers round the middle 99.6 % of what is known of a field."""
    low, high = np.quantile(values[np.isfinite(values)], [0.002, 0.998])
    digits = -math.floor(math.log10(max((high - low) / 20, 1e-9 * abs(high), 1e-30)))
    unit = 10.0**-digits
    low, high = round(unit * math.floor(low / unit), digits), round(unit * math.ceil(high / unit), digits)
    return low, high if high > low else low + unit


@dataclass(frozen=True)
class LargestValues:
    """The largest spread and error of a prediction, in the target's units; an unknown error is 0."""

    spread: float
    error: float

    def steady(self, usual: "LargestValues") -> "LargestValues":
        """Limits for these values, given the ``usual`` ones, where the sliders begin."""
        return LargestValues(steady_limit(self.spread, usual.spread), steady_limit(self.error, usual.error))


def largest_values(
    problem: DownscalingProblem, mean: np.ndarray, sd: np.ndarray, *, every: int = 1, sd_every: int = 1
) -> LargestValues:
    """Those of a mean and sd (H, W), which hold at every ``every``-th and ``sd_every``-th pixel each way."""
    spread = SPREADS * sd[::sd_every, ::sd_every]
    if problem.truth is None:
        return LargestValues(_largest(spread), 0.0)
    return LargestValues(_largest(spread), _largest((mean - problem.truth)[::every, ::every]))


def _largest(values: np.ndarray) -> float:
    """The size below which 98 % of the values lie; 0 where none is known."""
    sizes = np.abs(values[np.isfinite(values)])
    return float(np.quantile(sizes, _WITHIN)) if sizes.size else 0.0


def steady_limit(largest: float, usual: float) -> float:
    """A limit for values up to ``largest``: ``usual``, so that a worse map is darker than a better one, and far from it
    (`_STEADY`) ``usual`` · 4ⁿ, nearest in ratio, to two digits.
    """
    if largest <= 0 or usual <= 0:
        return max(largest, usual) or 1.0
    ratio = largest / usual
    limit = usual * (1.0 if _STEADY[0] < ratio < _STEADY[1] else 4.0 ** round(math.log(ratio, 4.0)))
    return round(limit, 1 - math.floor(math.log10(limit)))


def _observed_panel(problem: DownscalingProblem, scale: MapScale) -> Panel:
    """What the model sees of the target, every cell's value at its pixels where the pixels lie in cells."""
    values, grid = problem.coarse, problem.coarse_grid
    if (problem.cell >= 0).any():
        values, grid = _at_pixels(problem, problem.coarse.ravel()), problem.grid
    title, hidden = ("Observations" if problem.sources else "Coarse observation"), bool(np.isnan(values).any())
    return Panel(MapKey.OBSERVED, title + hidden * " (grey: hidden from the model)", values, grid, scale)


def chosen_cell_marks(problem: DownscalingProblem) -> list[dict[str, Any]]:
    """Traces for the map of the observation: × on cells hidden by hand, ○ on those revealed."""
    marks = ((problem.spec.hide, "hidden by hand", "x", DARK), (problem.spec.reveal, "revealed", "circle", LIGHT))
    result = []
    for cells, name, symbol, colour in marks:
        numbers = [number for cell in cells if (number := number_of(problem, cell)) is not None]
        at = [np.argwhere(problem.cell == number).mean(axis=0) for number in numbers if (problem.cell == number).any()]
        if at:
            rows, columns = np.transpose(at)
            x, y = (
                np.interp(where, np.arange(len(c)), c)
                for where, c in ((columns, problem.grid.x), (rows, problem.grid.y))
            )
            rim = {"color": LIGHT if colour == DARK else DARK, "width": 1}
            marker = {"symbol": symbol, "size": 8, "color": colour, "line": rim}
            result.append(
                {"type": "scatter", "mode": "markers", "x": x.tolist(), "y": y.tolist(), "marker": marker,
                 "name": name, "hoverinfo": "skip", "showlegend": False}
            )  # fmt: skip
    return result


def footprint_marks(
    problem: DownscalingProblem, key: str, scale: MapScale, best: int | None = None, left_out: Sequence[LeftOut] = (),
    shown: Collection[int] | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Traces of the footprints that are no cells of a grid, for the map of a ``key``.

    Outlines of regions, of a swath's cells and, on the coarse map alone, of other footprints at half their peak; values
    of stations and further sources in the field's colours on the coarse and, smaller, the mean map; stations that only
    score as small faint dots; values hidden by hand as ×; the ``best`` place for a further station, a flat index of the
    grid, on the map of uncertainty. ``left_out``: each source's values as all other targets predict them, in order;
    ``shown``: the places of the sources with marks, stations that only score behind all; by default all.
    """
    shown, traces = range(len(problem.sources) + 1) if shown is None else shown, list[dict[str, Any]]()
    further = any(place in shown for place, each in enumerate(problem.sources) if each.footprints is not None)
    lines = {MapKey.OBSERVED: _all_lines if further else _lines_of_cells, MapKey.MEAN: _lines_of_cells}.get(MapKey(key))
    if lines is not None and len((sides := lines(problem))[0]):
        traces += rimmed_line(*sides, width=1.0, hoverinfo="skip", name="regions")
    if problem.scored is not None and key == MapKey.OBSERVED and len(problem.sources) in shown:
        words = [f"station, only scores: {each}" for each in _values(problem, problem.scored.measured)]
        faint = _value_marks(problem, problem.scored.measured, words, ("circle", 4), None)
        faint["marker"] |= {"color": clear(LIGHT, 0.6), "line": {"color": clear(DARK, 0.6), "width": 0.6}}
        traces.append(faint)
    predicted = [*left_out, *[None] * (len(problem.sources) - len(left_out))]
    for place in sorted(place for place in shown if place < len(predicted)):
        traces += _source_marks(problem, place, predicted[place], (key, scale))
    if best is not None and key == MapKey.SPREAD:
        row, column = divmod(best, problem.grid.shape[1])
        star = {"symbol": "star", "size": 16, "color": LIGHT, "line": {"color": DARK, "width": 1.5}}
        traces.append(_points([problem.grid.x[column]], [problem.grid.y[row]], star, ["best place for a new station"]))
    return traces


def _source_marks(
    problem: DownscalingProblem, place: int, left_out: LeftOut, on: tuple[str, MapScale]
) -> list[dict[str, Any]]:
    """The values of the source at a place in their order on the map of a key, and those of it that are hidden."""
    source, (key, scale) = problem.sources[place], on
    shown_on = (MapKey.OBSERVED, MapKey.MEAN, *((MapKey.SPREAD,) if source.stations else ()))
    if key not in shown_on or len(source.row) > MOST_OUTLINES:
        return []
    who = "station, a target" if source.stations else problem.names_of_sources[place]
    symbol, size = ("circle", 9) if source.stations else _SYMBOLS[source_kind(source)]
    size, filled = (size if key == MapKey.OBSERVED else _SMALL), (None if key == MapKey.SPREAD else scale)
    traces = []
    for each, known in ((source, left_out), (source.hidden, None)):
        if each is None:
            continue
        called = [""] * len(each.row)
        if each.number is not None:
            called = [f" (value {place + 1}-{count + 1})" for count in each.number.tolist()]
        state = "" if each is source else ", hidden by hand"
        values = zip(_values(problem, each.measured, known), called, strict=True)
        words = [f"{who}: {value}{count}{state}" for value, count in values]
        look, colour = ((symbol, size), filled) if each is source else (("x", 8), None)
        traces.append(_value_marks(problem, each.measured, words, look, colour))
    return traces


def source_kind(source: SourceTargets) -> str:
    """What a source's values are means over: "points", "areas", or the Gaussian footprints of "soundings"."""
    if source.footprints is None:
        return "points"
    return "areas" if source.measured.footprint is None else "soundings"


def _values(problem: DownscalingProblem, measured: Stations, left_out: LeftOut = None) -> list[str]:
    """Each value with its error, and as predicted from all other targets."""
    units = problem.units
    words = [f"{number(value, 4)} {units}".strip() for value in measured.value.tolist()]
    words = [
        f"{word} ± {number(error, 2)}" if error > 0 else word
        for word, error in zip(words, measured.error.tolist(), strict=True)
    ]
    if left_out is None:
        return words
    return [
        f"{word}; from all other targets {plus_minus(mean, sd)}"
        for word, mean, sd in zip(words, *(each.tolist() for each in left_out), strict=True)
    ]


def named_regions(problem: DownscalingProblem) -> dict[str, Any]:
    """What a map's ``meta`` says of regions: what each is called, and for every pixel which of them it is mainly in."""
    regions = problem.regions
    if regions is None or regions.cell is None:
        return {}
    at = np.zeros(problem.coarse.size + 1, dtype=int)  # cell −1 reads the last place, no region
    at[regions.cell] = np.arange(1, len(regions.name) + 1)
    return {"regions": {"names": ["", *regions.name], "of": compact(at[problem.cell], "u2")}}


def _value_marks(
    problem: DownscalingProblem, measured: Stations, words: list[str], look: tuple[str, int], scale: MapScale | None
) -> dict[str, Any]:  # fmt: skip
    """Values as marks of a symbol and size, filled with the colour of their value on a scale where there is one."""
    x, y = points_on(problem.grid, measured.latitude, measured.longitude)
    symbol, size = look
    colour: Any = DARK if symbol == "x" else LIGHT
    if scale is not None:
        share = (measured.value - scale.low) / (scale.high - scale.low)
        table = [each for _, each in colour_scale(scale.colours)]
        colour = [table[i] for i in (share.clip(0, 1) * (len(table) - 1)).round().astype(int).tolist()]
    rim = LIGHT if symbol == "x" else DARK
    marker = {"size": size, "color": colour, "line": {"color": rim, "width": 1.2}}
    return _points(x, y, marker | ({} if symbol == "circle" else {"symbol": symbol}), words)


def _points(x: Any, y: Any, marker: dict[str, Any], words: list[str]) -> dict[str, Any]:
    coordinates = {"x": compact(np.asarray(x), "f8"), "y": compact(np.asarray(y), "f8")}
    return {"type": "scatter", "mode": "markers", **coordinates, "marker": marker, "hovertext": words,
            "hoverinfo": "text", "name": "stations", "showlegend": False}  # fmt: skip


@once
def _all_lines(problem: DownscalingProblem) -> tuple[np.ndarray, np.ndarray]:
    """The sides of all footprints as one line on the grid."""
    return _sides(problem, footprint_outlines(problem))


@once
def _lines_of_cells(problem: DownscalingProblem) -> tuple[np.ndarray, np.ndarray]:
    """The sides of the regions or of the swath's cells as one line on the grid."""
    return _sides(problem, footprint_outlines(problem, further=False))


def _sides(problem: DownscalingProblem, outlines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sides of ``outlines`` (n,) as one line on the grid, as fine as a pixel shows them."""
    import shapely

    if not len(outlines):
        return np.zeros(0), np.zeros(0)
    pixel = float(np.rad2deg(np.sqrt(np.median(problem.grid.steradians()))))
    simple = shapely.simplify(outlines, 0.25 * pixel)
    parts = shapely.get_parts(shapely.boundary(simple))
    rings = [shapely.get_coordinates(shapely.segmentize(ring, 8 * pixel)) for ring in shapely.get_parts(parts)]
    return lines_on(problem.grid, rings)


def _at_pixels(problem: DownscalingProblem, of_cell: np.ndarray) -> np.ndarray:
    """(H, W) the value of each pixel's own cell, NaN outside the cells."""
    return np.append(of_cell, np.nan)[problem.cell]  # cell −1 reads the NaN at the end


def scaled_up_panels(
    problem: DownscalingProblem, scale: MapScale, result: Mapping[str, Sequence[float]]
) -> list[Panel]:
    """What the check one scale up began with, what came out, and what is known: every cell's value at its pixels.

    ``found`` has the "joined", "mean" and "known" values of each "cell".
    """
    panels, cell = [], np.array(result["cell"], dtype=int)
    for key, title in (("joined", "Joined cells"), ("mean", "Downscaled to the cells"), ("known", "Known cells")):
        of_cell = np.full(problem.coarse.size, np.nan)
        of_cell[cell] = result[key]
        panels.append(Panel(f"one-scale-up-{key}", title, _at_pixels(problem, of_cell), problem.grid, scale))
    return panels


def mean_panel(problem: DownscalingProblem, scale: MapScale, mean: np.ndarray, title: str = "Posterior mean") -> Panel:
    """The posterior mean (H, W)."""
    return Panel(MapKey.MEAN, title, mean, problem.grid, scale)


def all_panels(
    problem: DownscalingProblem, scale: MapScale, mean: np.ndarray, sd: np.ndarray, limits: LargestValues
) -> list[Panel]:
    """Every map of a prediction, mean and sd (H, W): ``scale`` is the field's, ``limits`` those of spread and error."""
    name, units, grid = short_name(problem), problem.units, problem.grid
    spread = MapScale(f"{SPREADS} sd of {name}", units, "uncertainty", 0.0, limits.spread)
    error = MapScale("prediction − truth", units, "diverging", -limits.error, limits.error)
    panels = [_observed_panel(problem, scale), mean_panel(problem, scale, mean)]
    if problem.truth is not None:
        panels.append(Panel(MapKey.TRUTH, "Truth (never shown to the model)", problem.truth, grid, scale))
    panels.append(Panel(MapKey.SPREAD, f"Uncertainty: {SPREADS} sd", SPREADS * sd, grid, spread))
    if problem.truth is not None:
        panels.append(Panel(MapKey.ERROR, "Error", mean - problem.truth, grid, error))
    return panels


def uncertainty_panel(
    problem: DownscalingProblem, scale: MapScale, predictive: Predictive, kind: str, threshold: float = 0.0
) -> Panel:
    """In place of the sd an end of the 95 % interval ("low", "high") on the field's ``scale``, or the probability that
    a pixel exceeds a ``threshold`` ("above")."""
    if kind != "above":
        ends = dict(zip(("low", "high"), predictive.interval(0.95), strict=True))
        return Panel(MapKey.SPREAD, UNCERTAINTIES[kind], ends[kind], problem.grid, scale)
    value = f"{number(threshold, 6)} {problem.units}".strip()
    title, chance = f"Probability of more than {value}", MapScale("probability", "", "sequential", 0.0, 1.0)
    return Panel(MapKey.SPREAD, title, predictive.exceedance(threshold), problem.grid, chance)


def heading(problem: DownscalingProblem) -> str:
    """Quantity, date and level."""
    return ", ".join([problem.long_name[:1].upper() + problem.long_name[1:], *problem.when_and_where])
