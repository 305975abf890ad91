"""A generated field seen by cells, stations and a swath: one model of all sources against each source alone.

Field, stations and soundings are those of `deconditioning.datasets.network`. Every map is scored at 300 stations that
no map has seen; the offset of the stations is taken off where a map does not know it.
"""

import json
from dataclasses import replace

import numpy as np
import torch

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
from deconditioning.downscaling.starting import columns_of
from deconditioning.fields.footprints.station_data import SourceTargets
from deconditioning.fields.footprints.stations import with_further_stations, with_scored_stations, with_stations
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.models.area_to_point import area_to_point_kernel
from deconditioning.models.catalogue import AREA_TO_POINT_GP
from deconditioning.models.indirect_gp import posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData, PointErrors

SEEDS = range(2)
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
        "all": joint["scored"]["rmse"], "cells": cells["rmse"], "stations": rmse_alone(found, stations, OFFSET),
        "swath": rmse_alone(found, soundings, SWATH_OFFSET), "inside_95": joint["scored"]["inside_95"],
        **{f"stations_{name}": of_stations[name] for name in ("offset", "offset_sd")},
        **{f"swath_{name}": of_swath[name] for name in ("offset", "offset_sd", "explained")},
    }  # fmt: skip


def rmse_alone(found: DownscalingProblem, source: SourceTargets, offset: float) -> float:
    """RMSE of the same model of the field, learned from one source alone, whose offset is known."""
    scored, columns = found.scored, columns_of(found)
    assert scored is not None
    bags, place = source.bags(found.inputs), found.data.bags.inputs[:, :2]
    kernel = area_to_point_kernel(
        bags, columns.inputs, columns.place, spatial="powered_exponential", covariates="rbf",
        across=float((place.amax(0) - place.amin(0)).max()) / (SIZE / BLOCK),
    )  # fmt: skip
    nothing = torch.zeros(len(source.row), 1, dtype=torch.float64)
    errors = PointErrors(source.errors.variance, nothing[:, :0], nothing[0, :0])
    data = IndirectData(bags, nothing, nothing, source.targets - offset / found.target_sd, points=errors)
    spec = ModelSpec(AREA_TO_POINT_GP, kernel, noise=1e-6, representativeness=0.05)
    spec = learn(spec, data, columns, LearningOptions(restarts=1, prior_sd=1.0, hold=("noise",))).spec
    mean = posterior(spec, data, columns).mean(found.inputs[torch.as_tensor(scored.row)])
    value = found.target_scale.backward(mean.numpy()) + OFFSET
    return float(np.sqrt(np.mean((value - scored.measured.value) ** 2)))


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
