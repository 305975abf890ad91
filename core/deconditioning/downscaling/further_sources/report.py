"""Stations and other further sources in the target's units: offset, leave-one-out, scores where nothing was seen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.downscaling.further_sources.behind_warp import (
    differences_by_warp,
    map_at,
    map_with_effects,
    predicted_values,
)
from deconditioning.downscaling.further_sources.explained import ExplainedVariances
from deconditioning.downscaling.further_sources.posterior import SourcePosterior
from deconditioning.fields.footprints.station_data import SourceTargets
from deconditioning.fields.footprints.stations import EFFECTS
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.intervals import LEVELS, trust
from deconditioning.metrics.predictive import Predictive
from deconditioning.metrics.probabilistic import crps
from deconditioning.models.posterior_moments import Moments


@dataclass(frozen=True, eq=False)
class _Part:
    """What a posterior says of one source: ``name``, posterior mean and sd of its effects (q,), distributions of each
    value as predicted from all others (S,), None if they are too many, its τ² and the ``share`` of the variance it
    explains."""

    name: str
    source: SourceTargets
    effects: tuple[np.ndarray, np.ndarray]
    left_out: Predictive | None
    representativeness: float
    share: float


def source_report(
    problem: DownscalingProblem, moments: SourcePosterior | None, fields: Mapping[str, np.ndarray],
    predictive: Predictive,
) -> dict[str, Any]:  # fmt: skip
    """What stations and other further sources say, as plain data; empty without any. ``moments`` are theirs, None if
    none are targets.

    ``targets``: number of the stations, ``offset`` and its sd, ``per_100_m`` of altitude (if known) and its sd,
    ``representativeness`` (an sd), ``left_out``, the scores of each predicted from all other targets, ``explained``,
    and ``next``, the place where one more station would take most from what is left, and its share.
    ``sources``: the same of each other source, with its ``name``, its ``kind`` and the share that it explains.
    ``explained``: the shares of the prior variance of the map that the cells take away and then each source in turn.
    ``scored``: scores at the stations that nothing saw, and RMSE and bias there of every one of the maps (H, W)
    in ``fields``, the first of which is the mean of ``predictive``. ``sentences`` say the same. Of a warped target,
    differences and sds are those near the middle of its values, and an offset is what is left of it without the
    difference that comes of the warp (`behind_warp`).
    """
    result: dict[str, Any] = {}
    sentences: list[str] = []
    parts: list[_Part] = []
    if problem.sources and moments is not None:
        parts = list(_parts(problem, moments, predictive))
        said = [_measured(problem, part, sentences) for part in parts]
        explained = _explained(moments.explained, parts, sentences)
        result["explained"] = explained
        result["sources"] = [
            {"name": part.name, "kind": _kind(part.source), **each, "explained": part.share}
            for part, each in zip(parts, said, strict=True) if not part.source.stations
        ]  # fmt: skip
        if problem.stations is not None:
            result["targets"] = {**said[-1], "explained": explained, **_next(problem, moments.explained, sentences)}
    if problem.scored is not None:
        result["scored"] = _scored(problem, problem.scored, (parts, moments), fields, predictive, sentences)
    return {**result, "sentences": sentences} if result else {}


def _kind(source: SourceTargets) -> str:
    """What the values of a source are: stations, soundings with a Gaussian footprint, or cells or regions."""
    if source.measured.footprint is not None:
        return "soundings"
    return "stations" if source.footprints is None else "cells or regions"


def left_out_values(
    problem: DownscalingProblem, moments: SourcePosterior
) -> list[tuple[np.ndarray, np.ndarray] | None]:
    """Mean and sd (S,) of each value of each source, predicted from all other targets, in the target's units; None
    where there are too many targets."""
    return [
        None if part.left_out is None else (part.left_out.mean, part.left_out.sd) for part in _parts(problem, moments)
    ]


def best_pixel(problem: DownscalingProblem, explained: ExplainedVariances) -> int | None:
    """The flat index of the pixel where one more station would take most from the map's variance; None without any."""
    if explained.gain is None:
        return None
    return int(problem.pixel[int(explained.rows[int(explained.gain.argmax())])])


def _parts(
    problem: DownscalingProblem, moments: SourcePosterior, predictive: Predictive | None = None
) -> Iterator[_Part]:
    """The sources one after another; offsets without what comes of the warp if the map is ``predictive``."""
    mean, sd = _arrays(moments.effects)
    left_out = None if moments.left_out is None else predicted_values(problem, moments.left_out)
    by_warp = None if predictive is None else differences_by_warp(problem, moments, predictive)
    row = column = 0
    for number, (source, name) in enumerate(zip(problem.sources, problem.names_of_sources, strict=True)):
        rows, columns = slice(row, row + len(source.row)), slice(column, column + len(source.effects))
        effects = mean[columns].copy()
        if by_warp is not None:
            effects[source.effects.index("offset")] -= by_warp[number].mean()
        yield _Part(
            name,
            source,
            (effects, sd[columns]),
            None if left_out is None else left_out[rows],
            moments.representativeness[number],
            moments.explained.further[number] / moments.explained.prior,
        )
        row, column = rows.stop, columns.stop


def _measured(problem: DownscalingProblem, part: _Part, sentences: list[str]) -> dict[str, Any]:
    """Number, effects, noise and leave-one-out scores of a source."""
    unit, units, source = problem.target_sd, problem.units or "1", part.source
    mean, sd = (unit * values for values in part.effects)
    result: dict[str, Any] = {"count": len(source.row), "representativeness": unit * part.representativeness**0.5}
    who = "stations" if source.stations else f"values of {part.name}"
    sentence = f"{len(source.row)} {who} are targets in addition to the cells"
    for name, value, spread in zip(source.effects, mean.tolist(), sd.tolist(), strict=True):
        key = "offset" if name == "offset" else f"per_{EFFECTS[name]:.0f}_m"
        result |= {key: value, f"{key}_sd": spread}
        sentence += (
            f": they differ from the cells by {value:+.3g} ± {spread:.2g} {units}"
            if name == "offset"
            else f", and change by {value:+.3g} ± {spread:.2g} {units} per {EFFECTS[name]:.0f} m above their pixel"
        )
    what = "its pixel" if source.footprints is None else "the mean over its footprint"
    middle = "" if problem.warp is None else ", all near the middle of the values"
    tau = f"{result['representativeness']:.3g} {units}{middle}"
    sentences.append(f"{sentence} (sd), and each differs from {what} by {tau}.")
    if part.left_out is not None:
        result["left_out"] = _scores(source.measured.value, part.left_out)
        who, unit_of = (
            ("Each station predicted from all cells and other stations", "stations")
            if source.stations and len(problem.sources) == 1
            else (f"Each of the {who} predicted from all other targets", "values")
        )
        sentences.append(_sentence(who, result["left_out"], units, unit_of))
    return result


def _explained(explained: ExplainedVariances, parts: list[_Part], sentences: list[str]) -> dict[str, float]:
    """The shares of the map's prior variance that the cells and then each source explain."""
    cells = explained.cells / explained.prior
    shares = [
        f"{'the stations' if part.source.stations else part.name} a further {100 * part.share:.1f} %" for part in parts
    ]
    sentences.append(
        f"The cells explain {100 * cells:.0f} % of the map's prior variance"
        + "".join(f"{' and ' if share is shares[-1] else ', '}{share}" for share in shares)
        + "."
    )
    return {"cells": cells, **{part.name: part.share for part in parts}}


def _next(problem: DownscalingProblem, explained: ExplainedVariances, sentences: list[str]) -> dict[str, Any]:
    """The best place for one more station."""
    pixel = best_pixel(problem, explained)
    assert pixel is not None and explained.gain is not None
    latitude, longitude = float(problem.grid.latitude.flat[pixel]), float(problem.grid.longitude.flat[pixel])
    share = float(explained.gain.max()) / max(explained.left, 1e-300)
    sentences[-1] += (
        f" One more station would reduce the remaining variance most at {latitude:.2f}°, {longitude:.2f}°: by "
        f"{100 * share:.1f} %."
    )
    return {"next": {"latitude": latitude, "longitude": longitude, "share": share}}


def _scored(
    problem: DownscalingProblem, scored: SourceTargets, found: tuple[Sequence[_Part], SourcePosterior | None],
    fields: Mapping[str, np.ndarray], predictive: Predictive, sentences: list[str],
) -> dict[str, Any]:  # fmt: skip
    pixel, truth = problem.pixel[scored.row], scored.measured.value
    predicted = _predicted(problem, scored, *found, predictive)
    errors = {name: _rmse(truth - values.flat[pixel]) for name, values in fields.items()}
    biases = {name: float(np.nanmean(values.flat[pixel] - truth)) for name, values in fields.items()}
    scores = _scores(truth, predicted)
    sentences.append(_sentence("At the stations that no method used", scores, problem.units or "1"))
    return {**scores, "rmse_of": errors, "bias_of": biases}


def _predicted(
    problem: DownscalingProblem, scored: SourceTargets, parts: Sequence[_Part], moments: SourcePosterior | None,
    predictive: Predictive,
) -> Predictive:  # fmt: skip
    """The distributions of the values at scored stations: of a warped target those of the map, as its shifts have it,
    with what all stations differ by."""
    known, stations = None if moments is None else moments.scored, problem.stations
    if problem.warp is not None:
        if known is None or stations is None or stations.footprints is not None:
            return map_at(problem, predictive, scored)
        effects = dict(zip(stations.effects, parts[-1].effects[0].tolist(), strict=True))  # stations are last
        return map_with_effects(problem, predictive, scored, effects, known[1].cpu().numpy())
    if known is not None:
        return predicted_values(problem, known)
    at = predictive[np.unravel_index(problem.pixel[scored.row], problem.grid.shape)]
    return Predictive(at.mean, np.hypot(at.sd, scored.measured.error))


def _arrays(moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sd."""
    mean, variance = (values.cpu().numpy() for values in moments)
    return mean, np.sqrt(np.maximum(variance, 0))


def _rmse(error: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(error**2)))


def _scores(truth: np.ndarray, predictive: Predictive) -> dict[str, float]:
    coverage, error = trust(truth, predictive).held, predictive.mean - truth
    return {
        "count": len(truth),
        "rmse": _rmse(error),
        "bias": float(np.nanmean(error)),
        "crps": crps(truth=truth, predicted=predictive),
        **{f"inside_{100 * level:.0f}": share for level, share in zip(LEVELS, coverage, strict=True)},
    }


def _sentence(who: str, scores: Mapping[str, float], units: str, what: str = "stations") -> str:
    return (
        f"{who}: RMSE {scores['rmse']:.3g} {units}, bias {scores['bias']:+.2g} {units}, and "
        f"{100 * scores['inside_95']:.0f} % of the 95 % intervals contain the measured value ({scores['count']:.0f} "
        f"{what})."
    )
