"""Real fields seen by cells and by 50 pseudo-stations: how much each source gains from the other.

Pseudo-stations are the field's values at random pixels, with an error and a difference of each station as in
`tests.benchmarks.stations_case`; `tests.benchmarks.measured_stations_case` has measured ones. The cells are
means of the same field over blocks. Every map is scored at 300 other pseudo-stations that no map has seen.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from deconditioning import __version__
from deconditioning.bundled import bundled
from deconditioning.datasets.entries import find
from deconditioning.datasets.network import ERROR, OWN, SCORED, SEEN
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.footprints.stations import with_scored_stations, with_stations
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from tests.benchmarks.stations_case import station_scores

SEEDS = range(6)


@dataclass(frozen=True)
class RealCase:
    """A field of the catalogue in blocks of so many pixels."""

    key: str
    target: str
    covariates: tuple[str, ...]
    block: tuple[int, int]
    select: Mapping[str, int] = field(default_factory=dict)


CASES = {
    "ERA5, North America, 2 m": RealCase("era5-t2m", "t2m", ("sp", "d2m"), (26, 39)),
    "ERA5, British Isles, 2 m": RealCase("era5-uk", "t2m", ("land",), (8, 8), {"time": 244}),
    "UKV, 5 m": RealCase(
        "ukv-75m", "air_potential_temperature", ("surface_altitude",), (51, 46), {"time": 2, "level_height": 0}
    ),
}


def real_case(name: str, seed: int) -> DownscalingProblem:
    """The problem of one case with pseudo-stations at random pixels."""
    case, rng = CASES[name], np.random.default_rng(seed)
    spec = DownscalingSpec(case.target, case.covariates, (), case.block, 0.0, seed=seed, select=dict(case.select))
    found = make_problem(find(case.key).open(), spec)
    assert found.truth is not None
    pixel, grid = rng.choice(found.pixel, SEEN + SCORED, replace=False), found.grid
    value = found.truth.flat[pixel] + np.hypot(ERROR, OWN) * rng.standard_normal(len(pixel))
    every = Stations(
        grid.latitude.flat[pixel], grid.longitude.flat[pixel], value, np.full(len(pixel), ERROR),
        units=found.units or "", source=f"pseudo-stations of {name}",
    )  # fmt: skip
    seen, scored = every.of(np.arange(SEEN)), every.of(np.arange(SEEN, len(pixel)))
    return with_scored_stations(with_stations(found, seen), scored)


def main() -> None:
    """Compute every row and store the table."""
    rows = [
        {"case": name, "cells_count": int(np.prod(real_case(name, seed).coarse.shape)), "seed": seed,
         **station_scores(real_case(name, seed))}
        for name in CASES for seed in SEEDS
    ]  # fmt: skip
    about = {"seen": SEEN, "scored": SCORED, "error": ERROR, "own": OWN}
    table = {
        "command": "python -m tests.benchmarks.real_stations_case", "version": __version__,
        "case": about, "rows": rows,
    }  # fmt: skip
    (bundled("benchmarks") / "stations_real.json").write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
