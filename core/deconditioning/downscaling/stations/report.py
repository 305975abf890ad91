"""The stations of a downscaling in the target's units: offset, leave-one-station-out, scores where nothing was seen."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from deconditioning.downscaling.stations.sources import Sources
from deconditioning.downscaling.stations.station_posterior import StationPosterior
from deconditioning.fields.footprints.station_data import StationTargets
from deconditioning.fields.footprints.stations import EFFECTS
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.intervals import LEVELS, trust
from deconditioning.metrics.predictive import Predictive
from deconditioning.metrics.probabilistic import crps
from deconditioning.models.posterior_moments import Moments


def station_report(
    problem: DownscalingProblem, moments: StationPosterior | None, fields: Mapping[str, np.ndarray], sd: np.ndarray
) -> dict[str, Any]:
    """What stations say, as plain data; empty without any. ``moments`` are theirs, None if none are targets.

    ``targets``: their number, ``offset`` and its sd, ``per_100_m`` of altitude (if known) and its sd,
    ``representativeness`` (an sd), ``left_out``, the scores of each predicted from all cells and other stations,
    ``explained``, the shares of the prior variance of the map that cells and then stations take away, and ``next``, the
    place where one more station would take most from what is left, and its share.
    ``scored``: scores at the stations that nothing saw, and RMSE and bias there of every one of the maps (H, W)
    in ``fields``, the first of which has this ``sd``. ``sentences`` say the same.
    """
    result: dict[str, Any] = {}
    sentences: list[str] = []
    if problem.stations is not None and moments is not None:
        result["targets"] = _targets(problem, problem.stations, moments, sentences)
    if problem.scored is not None:
        result["scored"] = _scored(problem, problem.scored, moments, fields, sd, sentences)
    return {**result, "sentences": sentences} if result else {}


def left_out_values(problem: DownscalingProblem, moments: StationPosterior) -> tuple[np.ndarray, np.ndarray] | None:
    """Mean and sd (S,) of each station's value, predicted from all cells and other stations, in the target's units;
    None if there are too many targets."""
    return None if moments.left_out is None else _physical(problem, moments.left_out)


def best_pixel(problem: DownscalingProblem, sources: Sources) -> int:
    """The flat index of the pixel where one more station would take most from the map's variance."""
    return int(problem.pixel[int(sources.rows[int(sources.gain.argmax())])])


def _targets(
    problem: DownscalingProblem, stations: StationTargets, moments: StationPosterior, sentences: list[str]
) -> dict[str, Any]:  # fmt: skip
    unit, units = problem.target_sd, problem.units or "1"
    mean, sd = (unit * values for values in _arrays(moments.effects))
    result: dict[str, Any] = {"count": len(stations.row), "representativeness": unit * moments.representativeness**0.5}
    sentence = f"{len(stations.row)} stations are targets beside the cells"
    for name, value, spread in zip(stations.effects, mean.tolist(), sd.tolist(), strict=True):
        key = "offset" if name == "offset" else f"per_{EFFECTS[name]:.0f}_m"
        result |= {key: value, f"{key}_sd": spread}
        sentence += (
            f": they differ from the cells by {value:+.3g} ± {spread:.2g} {units}"
            if name == "offset"
            else f", and change by {value:+.3g} ± {spread:.2g} {units} per {EFFECTS[name]:.0f} m above their pixel"
        )
    what = "its pixel" if stations.footprints is None else "the mean over its footprint"
    sentences.append(f"{sentence} (sd), and each differs from {what} by {result['representativeness']:.3g} {units}.")
    if (left_out := left_out_values(problem, moments)) is not None:
        result["left_out"] = _scores(stations.stations.value, *left_out)
        sentences.append(
            _sentence("Each station predicted from all cells and other stations", result["left_out"], units)
        )
    result |= _sources(problem, moments.sources, sentences)
    return result


def _sources(problem: DownscalingProblem, sources: Sources, sentences: list[str]) -> dict[str, Any]:
    """What each source adds, and the best place for one more station."""
    prior = sources.left + sources.cells + sources.stations
    pixel = best_pixel(problem, sources)
    latitude, longitude = float(problem.grid.latitude.flat[pixel]), float(problem.grid.longitude.flat[pixel])
    share = float(sources.gain.max()) / max(sources.left, 1e-300)
    sentences.append(
        f"The cells explain {100 * sources.cells / prior:.0f} % of the map's prior variance and the stations a "
        f"further {100 * sources.stations / prior:.1f} %. One more station would reduce the remaining variance most "
        f"at {latitude:.2f}°, {longitude:.2f}°: by {100 * share:.1f} %."
    )
    return {
        "explained": {"cells": sources.cells / prior, "stations": sources.stations / prior},
        "next": {"latitude": latitude, "longitude": longitude, "share": share},
    }


def _scored(
    problem: DownscalingProblem, scored: StationTargets, moments: StationPosterior | None,
    fields: Mapping[str, np.ndarray], sd: np.ndarray, sentences: list[str],
) -> dict[str, Any]:  # fmt: skip
    pixel, truth, model = problem.pixel[scored.row], scored.stations.value, next(iter(fields))
    if moments is not None and moments.scored is not None:
        mean, spread = _physical(problem, moments.scored)
    else:
        mean, spread = fields[model].flat[pixel], np.hypot(sd.flat[pixel], scored.stations.error)
    errors = {name: _rmse(truth - values.flat[pixel]) for name, values in fields.items()}
    biases = {name: float(np.nanmean(values.flat[pixel] - truth)) for name, values in fields.items()}
    scores = _scores(truth, mean, spread)
    sentences.append(_sentence("At the stations that no method used", scores, problem.units or "1"))
    return {**scores, "rmse_of": errors, "bias_of": biases}


def _arrays(moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sd."""
    mean, variance = (values.cpu().numpy() for values in moments)
    return mean, np.sqrt(np.maximum(variance, 0))


def _physical(problem: DownscalingProblem, moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sd in the target's units."""
    mean, sd = _arrays(moments)
    return problem.target_scale.backward(mean), problem.target_scale.sd * sd


def _rmse(error: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(error**2)))


def _scores(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> dict[str, float]:
    predictive = Predictive(mean, sd)
    coverage = trust(truth, predictive).held
    return {
        "count": len(truth),
        "rmse": _rmse(mean - truth),
        "bias": float(np.nanmean(mean - truth)),
        "crps": crps(truth=truth, predicted=predictive),
        **{f"inside_{100 * level:.0f}": share for level, share in zip(LEVELS, coverage, strict=True)},
    }


def _sentence(who: str, scores: Mapping[str, float], units: str) -> str:
    return (
        f"{who}: RMSE {scores['rmse']:.3g} {units}, bias {scores['bias']:+.2g} {units}, and "
        f"{100 * scores['inside_95']:.0f} % of the 95 % intervals contain the measured value ({scores['count']:.0f} "
        "stations)."
    )
