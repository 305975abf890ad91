"""A generated field seen by cells and by stations: how much each source gains from the other.

A temperature falls with height and has a rough rest (exponential covariance). Cells are means over blocks; a station
measures its pixel with an error and a difference of its own. Every map is scored at stations that no map has seen.
"""

from dataclasses import replace

import numpy as np
import torch

from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.starting import columns_of
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.footprints.stations import with_scored_stations, with_stations
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.models.area_to_point import area_to_point_kernel
from deconditioning.models.catalogue import AREA_TO_POINT_GP
from deconditioning.models.centroids import singletons
from deconditioning.models.indirect_gp import posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData, PointErrors

#: Pixels each way, pixels of a cell each way, stations that are seen and scored.
SIZE, BLOCK, SEEN, SCORED = 72, 18, 50, 300
#: K per metre of height; sd and range (pixels) of the rough rest; sds of a station's error and of its own difference.
LAPSE, ROUGH, RANGE, ERROR, OWN = -0.0065, 1.5, 24.0, 0.1, 0.15
SEEDS = range(6)


def station_case(seed: int, offset: float = 0.0) -> DownscalingProblem:
    """The problem of one draw: cells, ``SEEN`` stations with an ``offset``, ``SCORED`` others."""
    import xarray as xr

    rng = np.random.default_rng(seed)
    height = 300 + 250 * _rough(rng, 10.0, 2.0)
    truth = 288 + LAPSE * height + ROUGH * _rough(rng, RANGE, 1.0)
    lines = {"lat": ("lat", 45 + 0.05 * np.arange(SIZE), {"units": "degrees_north"}),
             "lon": ("lon", 5 + 0.05 * np.arange(SIZE), {"units": "degrees_east"})}  # fmt: skip
    fields = {"t": (("lat", "lon"), truth, {"units": "K"}), "orog": (("lat", "lon"), height, {"units": "m"})}
    data = xr.Dataset(fields, lines)
    found = make_problem(fields_from_dataset(data), DownscalingSpec("t", ("orog",), (), (BLOCK, BLOCK), 0.0, seed=seed))
    pixel = rng.choice(truth.size, SEEN + SCORED, replace=False)
    value = truth.flat[pixel] + offset + np.hypot(ERROR, OWN) * rng.standard_normal(len(pixel))
    every = Stations(
        found.grid.latitude.flat[pixel], found.grid.longitude.flat[pixel], value, np.full(len(pixel), ERROR), units="K"
    )
    return with_scored_stations(with_stations(found, every.of(np.arange(SEEN))), every.of(np.arange(SEEN, len(pixel))))


def station_scores(seed: int, offset: float = 0.0) -> dict[str, float]:
    """RMSE (K) and coverage of 95 % intervals at the scored stations, from both sources and from each alone."""
    found = station_case(seed, offset)
    joint = downscale(found, {}).diagnostics["stations"]
    cells = downscale(replace(found, stations=None), {}).diagnostics["stations"]["scored"]
    scored, seen, left_out = joint["scored"], joint["targets"], joint["targets"]["left_out"]
    return {
        "both": scored["rmse"], "cells": cells["rmse"], "stations": _stations_alone(found),
        "inside_95": scored["inside_95"], "left_out": left_out["rmse"], "left_out_95": left_out["inside_95"],
        **{name: seen[name] for name in ("offset", "offset_sd", "representativeness")},
    }  # fmt: skip


def _stations_alone(found: DownscalingProblem) -> float:
    """RMSE of the same model of the field, learned from the stations alone and conditioned on these."""
    seen, scored, columns = found.stations, found.scored, columns_of(found)
    assert seen is not None and scored is not None
    bags = singletons(found.inputs[torch.as_tensor(seen.row)])
    place = found.data.bags.inputs[:, :2]
    kernel = area_to_point_kernel(
        bags, columns.inputs, columns.place, spatial="powered_exponential", covariates="rbf",
        across=float((place.amax(0) - place.amin(0)).max()) / (SIZE / BLOCK),
    )  # fmt: skip
    nothing = torch.zeros(len(seen.row), 1, dtype=torch.float64)
    errors = PointErrors(seen.errors.variance, nothing[:, :0], nothing[0, :0])
    data = IndirectData(bags, nothing, nothing, seen.targets, points=errors)
    spec = ModelSpec(AREA_TO_POINT_GP, kernel, noise=1e-6, representativeness=0.05)
    spec = learn(spec, data, columns, LearningOptions(restarts=1, prior_sd=1.0, hold=("noise",))).spec
    mean = posterior(spec, data, columns).mean(found.inputs[torch.as_tensor(scored.row)])
    value = found.target_scale.backward(mean.numpy())
    return float(np.sqrt(np.mean((value - scored.stations.value) ** 2)))


def _rough(rng: np.random.Generator, reach: float, order: float) -> np.ndarray:
    """A field (n, n) of sd about one with the spectrum ``(1 + (reach k)²)^{−(order/2 + 1)}``: Matérn of order/2."""
    n = 4 * SIZE
    k = 2 * np.pi * np.fft.fftfreq(n)
    power = (1 + reach**2 * (k[:, None] ** 2 + k[None] ** 2)) ** (-(0.5 * order + 1))
    noise = np.fft.fft2(rng.standard_normal((n, n)))
    field = np.fft.ifft2(np.sqrt(power / power.mean()) * noise).real
    return field[:SIZE, :SIZE]


def main() -> None:
    """Compute every row and store the table."""
    import json

    from deconditioning import __version__
    from deconditioning.bundled import bundled

    rows = [{"seed": seed, **station_scores(seed)} for seed in SEEDS]
    about = {"pixels": SIZE, "cell": BLOCK, "seen": SEEN, "scored": SCORED, "K_per_m": LAPSE, "rough_sd": ROUGH}
    about |= {"range": RANGE, "error": ERROR, "own": OWN}
    mean = {name: float(np.mean([row[name] for row in rows])) for name in ("both", "cells", "stations", "inside_95")}
    table = {
        "command": "python -m tests.benchmarks.stations_case", "version": __version__, "case": about, "rows": rows,
        "mean": mean,
    }  # fmt: skip
    (bundled("benchmarks") / "stations.json").write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
