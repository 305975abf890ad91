"""A generated field seen by cells, stations and a swath: one model of all sources against each source alone.

Field, stations and soundings are those of `deconditioning.datasets.network`. Every map is scored at 300 stations that
no map has seen; the offset of the stations is taken off where a map does not know it.
"""

import json
from dataclasses import replace

import numpy as np

from deconditioning import __version__
from deconditioning.bundled import bundled
from deconditioning.datasets.network import (
    BLOCK,
    OFFSET,
    SCORED,
    SEEN,
    SIZE,
    SOUNDINGS,
    SWATH_ERROR,
    SWATH_OFFSET,
    WIDTHS,
    network,
    swath,
)
from deconditioning.downscaling.run import downscale
from deconditioning.fields.footprints.stations import with_further_stations, with_scored_stations, with_stations
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from tests.benchmarks.stations_case import rmse_alone

SEEDS = range(6)
#: The methods of a row.
METHODS = ("all", "cells", "stations", "swath")


def sources_case(seed: int) -> DownscalingProblem:
    """The problem of one draw: cells, soundings and stations, and others at which maps are scored."""
    drawn = network(seed, OFFSET)
    found = make_problem(drawn.fields, DownscalingSpec("t", ("altitude",), (), (BLOCK, BLOCK), 0.0, seed=seed))
    found = with_stations(with_further_stations(found, swath(seed)), drawn.targets)
    return with_scored_stations(found, drawn.scored)


def sources_row(seed: int) -> dict[str, float]:
    """RMSE (K) at the scored stations of all sources and of each alone; of all: coverage of 95 % intervals, offsets."""
    found = sources_case(seed)
    joint = downscale(found, {}).diagnostics["stations"]
    assert found.scored is not None
    measured = replace(found.scored.measured, value=found.scored.measured.value - OFFSET)
    without_offset = replace(found.scored, measured=measured)
    cells = downscale(replace(found, sources=(), scored=without_offset), {}).diagnostics["stations"]["scored"]
    soundings, stations = found.sources
    (of_swath,), of_stations = joint["sources"], joint["targets"]
    return {
        "all": joint["scored"]["rmse"], "cells": cells["rmse"], "stations": rmse_alone(found, stations, OFFSET, OFFSET),
        "swath": rmse_alone(found, soundings, SWATH_OFFSET, OFFSET), "inside_95": joint["scored"]["inside_95"],
        **{f"stations_{name}": of_stations[name] for name in ("offset", "offset_sd")},
        **{f"swath_{name}": of_swath[name] for name in ("offset", "offset_sd", "explained")},
    }  # fmt: skip


def gain(row: dict[str, float]) -> float:
    """By what share the RMSE of all sources is smaller than that of the best one alone."""
    return 1 - row["all"] / min(row[name] for name in METHODS[1:])


def table_of(rows: list[dict[str, float]]) -> dict[str, object]:
    """The rows of some seeds, and their means."""
    about = {"pixels": SIZE, "cell": BLOCK, "seen": SEEN, "scored": SCORED, "soundings": list(SOUNDINGS)}
    about |= {"widths_km": list(WIDTHS), "swath_error": SWATH_ERROR, "offsets": [OFFSET, SWATH_OFFSET]}
    mean = {name: float(np.mean([row[name] for row in rows])) for name in (*METHODS, "inside_95")}
    return {
        "command": "python -m tests.benchmarks.sources_case", "version": __version__, "case": about, "rows": rows,
        "mean": mean,
    }  # fmt: skip


def main() -> None:
    """Compute every row and store the table."""
    rows = [{"seed": seed, **sources_row(seed)} for seed in SEEDS]
    (bundled("benchmarks") / "sources.json").write_text(json.dumps(table_of(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
