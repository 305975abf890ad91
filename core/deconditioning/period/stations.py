"""Stations in a period: targets beside the cells at the times at which they have a value.

All times share the offset from the cells, the effect of altitude, and the noise τ² of a station; a time without any
station is predicted from its cells alone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deconditioning.downscaling.further_sources.opening import stations_in_time_at
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.footprints.gaussian import footprint_of
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.footprints.stations import with_stations
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.units import convert, convert_errors
from deconditioning.period.effects import SharedEffects


def with_stations_in_time(
    problem: DownscalingProblem, source: Source, labels: Sequence[str]
) -> tuple[DownscalingProblem, np.ndarray | None]:
    """The problem with all stations of a table beside its cells, and their values (T, S) at the times with these
    ``labels``, in the target's units, NaN where missing; None without stations.

    The problem's target scale is that of the series. Raises ``InputError`` for a table without several dates or without
    these times, and as `deconditioning.fields.footprints.stations.with_stations` does.
    """
    if not source.stations:
        return problem, None
    if source.station_time:
        raise InputError("A time of the stations applies to a single map: leave it out, or downscale one time.")
    by_time = stations_in_time_at(source.stations, labels, problem.spec.target, source.station_value)
    every, values = _joined(by_time, problem)
    footprint = footprint_of(source.station_footprint)
    problem = with_stations(problem, every if footprint is None else replace(every, footprint=footprint))
    (targets,) = problem.sources
    assert targets.number is not None
    values = values[:, targets.number]
    note = (
        f"{values.shape[1]} stations of {every.source} have values at {int(np.isfinite(values).any(1).sum())} of "
        f"{len(labels)} times; other times are predicted from cells alone."
    )
    return replace(problem, notes=(*problem.notes, note)), values


def report_of_stations(
    problem: DownscalingProblem, values: np.ndarray, effects: SharedEffects, representativeness: float
) -> dict[str, float]:
    """What the stations differ by from the cells, in the target's units: ``offset`` and ``per_100_m`` of altitude with
    their sds, ``representativeness`` (an sd), the number of ``targets``, and of ``times`` with a value.
    """
    (source,), scale = problem.sources, problem.target_scale.sd
    sds = effects.covariance.diagonal().sqrt()
    called = {"offset": "offset", "altitude": "per_100_m"}
    result = {"targets": values.shape[1], "times": int(np.isfinite(values).any(1).sum()),
              "representativeness": scale * float(np.sqrt(representativeness))}  # fmt: skip
    for name, mean, sd in zip(source.effects, effects.mean.tolist(), sds.tolist(), strict=True):
        result |= {called[name]: scale * mean, f"{called[name]}_sd": scale * sd}
    return result


def _joined(by_time: Sequence[Stations | None], problem: DownscalingProblem) -> tuple[Stations, np.ndarray]:
    """Every station once, with the mean of its values and the root mean square of its errors, and all values (T, S).

    Stations of different times are the same where their positions are; several at one position are told apart by their
    order.
    """
    first = next(each for each in by_time if each is not None)
    place: dict[tuple[float, float, int], int] = {}
    rows: list[tuple[int, int, float, float]] = []
    heights: list[float] = []
    for time, stations in enumerate(by_time):
        if stations is None:
            continue
        value, error = _in_units(stations, problem)
        again = Counter[tuple[float, float]]()
        for n, position in enumerate(zip(stations.latitude.tolist(), stations.longitude.tolist(), strict=True)):
            number = place.setdefault((*position, again[position]), len(place))
            again[position] += 1
            if number == len(heights):
                heights.append(np.nan if stations.altitude is None else float(stations.altitude[n]))
            rows.append((time, number, value[n], error[n]))
    values, errors = (np.full((len(by_time), len(place)), np.nan) for _ in range(2))
    times, numbers, each, sds = zip(*rows, strict=True)
    values[times, numbers], errors[times, numbers] = each, sds
    latitude, longitude = np.array([position[:2] for position in place]).T
    altitude = np.array(heights)
    return Stations(
        latitude, longitude, np.nanmean(values, axis=0), np.sqrt(np.nanmean(errors**2, axis=0)),
        altitude if np.isfinite(altitude).any() else None, problem.units if first.units else "", first.source,
    ), values  # fmt: skip


def _in_units(stations: Stations, problem: DownscalingProblem) -> tuple[np.ndarray, np.ndarray]:
    """Values and errors (S,) in the target's units."""
    if not stations.units:
        return stations.value, stations.error
    units, name = problem.units or "1", problem.spec.target
    value, _ = convert(stations.value, stations.units, units, name)
    return value, convert_errors(stations.error, stations.units, units, name)
