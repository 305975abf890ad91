"""A generated field seen by cells and by stations: how much each source gains from the other.

The field and its stations are those of `deconditioning.datasets.network`. Every map is scored at stations that no map
has seen.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch

from deconditioning.datasets.network import BLOCK, ERROR, LAPSE, OWN, RANGE, ROUGH, SCORED, SEEN, SIZE, network
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.starting import columns_of
from deconditioning.fields.footprints.station_data import SourceTargets
from deconditioning.fields.footprints.stations import with_scored_stations, with_stations
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.models.area_to_point import area_to_point_kernel
from deconditioning.models.catalogue import AREA_TO_POINT_GP
from deconditioning.models.indirect_gp import posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData, PointErrors

SEEDS = range(6)


def station_case(seed: int, offset: float = 0.0) -> DownscalingProblem:
    """The problem of one draw: cells, stations with an ``offset``, and others at which maps are scored."""
    drawn = network(seed, offset)
    found = make_problem(drawn.fields, DownscalingSpec("t", ("altitude",), (), (BLOCK, BLOCK), 0.0, seed=seed))
    return with_scored_stations(with_stations(found, drawn.targets), drawn.scored)


def station_scores(found: DownscalingProblem) -> dict[str, float]:
    """RMSE and coverage of 95 % intervals at the scored stations, from both sources and from each alone, and what is
    learned of the stations; values in the target's units."""
    joint = downscale(found, {}).diagnostics["stations"]
    assert found.stations is not None
    cells = downscale(replace(found, sources=()), {}).diagnostics["stations"]["scored"]
    scored, seen, left_out = joint["scored"], joint["targets"], joint["targets"]["left_out"]
    return {
        "both": scored["rmse"], "cells": cells["rmse"], "stations": rmse_alone(found, found.stations),
        "inside_95": scored["inside_95"], "left_out": left_out["rmse"], "left_out_95": left_out["inside_95"],
        **{name: seen[name] for name in ("offset", "offset_sd", "representativeness")},
    }  # fmt: skip


def gain(row: Mapping[str, float]) -> float:
    """By what share the RMSE of both sources is smaller than that of the better one alone."""
    return 1 - row["both"] / min(row["cells"], row["stations"])


def known_scores(seed: int) -> dict[str, float]:
    """RMSE (K) at the scored stations of the posterior mean under the covariance that made the field: the least that
    any model reaches on average.

    ``f = m + lapse · altitude + g`` with ``cov g = rough² exp(−|x − x′| / range)`` and a broad prior of m. Plain
    algebra of 5,184 pixels: cells are means over their pixels, stations are pixels with noise ``error² + own²``.
    """
    found = station_case(seed)
    assert found.stations is not None and found.scored is not None
    places = np.indices((SIZE, SIZE)).reshape(2, -1).T
    prior = ROUGH**2 * np.exp(-np.linalg.norm(places[:, None] - places[None], axis=-1) / RANGE) + 1e4
    trend = LAPSE * network(seed, 0.0).fields.values("altitude", {}).ravel()
    number = places[:, 0] // BLOCK * (SIZE // BLOCK) + places[:, 1] // BLOCK
    means = np.equal.outer(np.arange(number.max() + 1), number) / BLOCK**2
    seen, scored = (found.pixel[each.row] for each in (found.stations, found.scored))
    points = np.eye(SIZE**2)[seen]
    values = found.truth.ravel() - trend  # type: ignore[union-attr]
    sources = {
        "cells": (means, means @ values, np.full(len(means), 1e-8)),
        "stations": (points, found.stations.measured.value - trend[seen], np.full(SEEN, ERROR**2 + OWN**2)),
    }
    sources["both"] = tuple(np.concatenate(each) for each in zip(*sources.values(), strict=True))
    result = {}
    for name, (weights, targets, noise) in sources.items():
        covariance = weights @ prior @ weights.T + np.diag(noise)
        mean = trend[scored] + prior[scored] @ weights.T @ np.linalg.solve(covariance, targets)
        result[name] = float(np.sqrt(np.mean((mean - found.scored.measured.value) ** 2)))
    return result


def rmse_alone(
    found: DownscalingProblem, source: SourceTargets, offset: float = 0.0, scored_offset: float = 0.0,
    height: str = "",
) -> float:  # fmt: skip
    """RMSE of the same model of the field, learned from one source alone and conditioned on it; ``offset`` is that of
    the source, where it is known, and ``scored_offset`` that of the scored stations. Stations have their own altitude
    in place of the covariate ``height`` of their pixels, if it is named."""
    scored, columns = found.scored, columns_of(found)
    assert scored is not None
    bags, place = source.bags(found.inputs), found.data.bags.inputs[:, :2]
    places = found.inputs[torch.as_tensor(scored.row)]
    if height:
        bags, places = (replace(bags, inputs=at_own_altitude(found, source, height)),
                        at_own_altitude(found, scored, height))  # fmt: skip
    kernel = area_to_point_kernel(
        bags, columns.inputs, columns.place, spatial="powered_exponential", covariates="rbf",
        across=float((place.amax(0) - place.amin(0)).max()) / found.coarse.size**0.5,
    )  # fmt: skip
    nothing = torch.zeros(len(source.row), 1, dtype=torch.float64)
    errors = PointErrors(source.errors.variance, nothing[:, :0], nothing[0, :0])
    data = IndirectData(bags, nothing, nothing, source.targets - offset / found.target_sd, points=errors)
    spec = ModelSpec(AREA_TO_POINT_GP, kernel, noise=1e-6, representativeness=0.05)
    spec = learn(spec, data, columns, LearningOptions(restarts=1, prior_sd=1.0, hold=("noise",))).spec
    mean = posterior(spec, data, columns).mean(places)
    value = found.target_scale.backward(mean.numpy()) + scored_offset
    return float(np.sqrt(np.mean((value - scored.measured.value) ** 2)))


def at_own_altitude(found: DownscalingProblem, stations: SourceTargets, height: str) -> torch.Tensor:
    """(S, d) the inputs of stations' pixels with the altitudes of the stations in place of covariate ``height``."""
    column, altitude = found.columns.index(height), stations.measured.altitude
    assert altitude is not None and stations.footprints is None
    result = found.inputs[torch.as_tensor(stations.row)].clone()
    result[:, column] = torch.as_tensor(found.input_scaling.scales[column].forward(altitude))
    return result


def main() -> None:
    """Compute every row and store the table."""
    import json

    from deconditioning import __version__
    from deconditioning.bundled import bundled

    rows = [{"seed": seed, **station_scores(station_case(seed)), "known": known_scores(seed)} for seed in SEEDS]
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
