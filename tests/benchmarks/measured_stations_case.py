"""Measured stations beside cells of ERA5: how much each source gains from the other.

Some of the bundled stations of the UK Met Office (March 2019) are withheld from maps that cells and other stations
make, together and each alone: every station in turn, every third one, and all but every third. Nothing is chosen by
what is withheld, and every choice of temperature and cells is in the table.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from deconditioning import __version__
from deconditioning.bundled import bundled
from deconditioning.datasets.entries import find
from deconditioning.datasets.uk_stations import VALUES, Value, uk_stations
from deconditioning.downscaling.run import downscale
from deconditioning.fields.footprints.stations import with_scored_stations, with_stations
from deconditioning.fields.grids.interpolate import locate
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from tests.benchmarks.stations_case import rmse_alone

BLOCKS, THIRDS = (4, 8), 3


@dataclass(frozen=True)
class MeasuredCase:
    """One temperature from cells of so many pixels each way, with the covariates of the bundled example."""

    value: Value
    block: int

    def cells(self) -> DownscalingProblem:
        """The problem without stations."""
        entry, block = find("uk-stations"), [self.block, self.block]
        return make_problem(
            entry.open(), DownscalingSpec.from_dict(entry.default | {"target": self.value, "block": block})
        )

    def without(self, withheld: np.ndarray) -> DownscalingProblem:
        """The problem with all stations but those ``withheld`` (a mask), at which it is scored."""
        every = uk_stations("all", self.value)
        return with_scored_stations(with_stations(self.cells(), every.of(~withheld)), every.of(withheld))


def parts(count: int) -> Iterator[np.ndarray]:
    """Masks (count,) of the withheld stations."""
    number = np.arange(count)
    yield from (number == each for each in number)
    yield from (number % THIRDS == each for each in range(THIRDS))
    yield from (number % THIRDS != each for each in range(THIRDS))


def cells_alone(case: MeasuredCase) -> tuple[np.ndarray, np.ndarray]:
    """(S,) errors (K) at all stations of the map from cells alone, and its sds there."""
    found = with_scored_stations(case.cells(), uk_stations("all", case.value))
    assert found.scored is not None
    made, pixel = downscale(found, {}).predictive, found.pixel[found.scored.row]
    return made.mean.flat[pixel] - found.scored.measured.value, made.sd.flat[pixel]


def simple(case: MeasuredCase, withheld: np.ndarray) -> dict[str, float]:
    """RMSE (K) at withheld stations of two least-squares fits to the others: ``trend``, linear in latitude, longitude
    and altitude, which knows no cell, and ``fine``, the difference from ERA5's own fine field as an offset and a slope
    of the altitude above the pixel, which knows what the cells average."""
    fields, stations = find("uk-stations").open(), uk_stations("all", case.value)
    pixel = locate(fields.grid, stations.latitude, stations.longitude)
    there, height = (fields.values(name, {}).flat[pixel] for name in (case.value, "altitude"))
    one = np.ones(len(stations))
    fits = {
        "trend": (np.stack([one, stations.latitude, stations.longitude, stations.altitude], 1), stations.value),
        "fine": (np.stack([one, stations.altitude - height], 1), stations.value - there),
    }
    return {
        name: _rms(columns[withheld] @ np.linalg.lstsq(columns[~withheld], target[~withheld])[0] - target[withheld])
        for name, (columns, target) in fits.items()
    }


def row_of(case: MeasuredCase, withheld: np.ndarray, errors: np.ndarray, sd: np.ndarray) -> dict[str, Any]:
    """RMSE (K) and coverage of 95 % intervals at withheld stations, from both sources and from each alone; ``errors``
    and ``sd`` are those of the cells alone, which are scored as they are and less their mean error at the stations that
    are not withheld. ``stations_at_pixels`` have the altitudes of their pixels in place of their own. Also `simple`."""
    found = case.without(withheld)
    assert found.stations is not None
    said = downscale(found, {}).diagnostics["stations"]
    seen, away = said["targets"], errors[withheld]
    return {
        "value": case.value, "block": case.block, "seen": int((~withheld).sum()), "scored": int(withheld.sum()),
        "both": said["scored"]["rmse"], "cells": _rms(away), "cells_shifted": _rms(away - errors[~withheld].mean()),
        "stations": rmse_alone(found, found.stations, height="altitude"),
        "stations_at_pixels": rmse_alone(found, found.stations), **simple(case, withheld),
        "inside_95": said["scored"]["inside_95"],
        "cells_inside_95": float(np.mean(np.abs(away) < stats.norm.ppf(0.975) * sd[withheld])),
        **{name: seen[name] for name in ("offset", "per_100_m", "representativeness")},
    }  # fmt: skip


def rows() -> Iterator[dict[str, Any]]:
    """Every part withheld from every case."""
    for block in BLOCKS:
        for value in VALUES:
            case = MeasuredCase(value, block)
            errors, sd = cells_alone(case)
            for withheld in parts(len(errors)):
                yield row_of(case, withheld, errors, sd)


def _rms(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def main() -> None:
    """Compute every row and store the table."""
    table = {"command": "python -m tests.benchmarks.measured_stations_case", "version": __version__,
             "case": {"stations": len(uk_stations())}, "rows": list(rows())}  # fmt: skip
    (bundled("benchmarks") / "stations_measured.json").write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
