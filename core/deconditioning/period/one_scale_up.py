"""A series one scale up: neighbouring cells are merged, the merged cells are downscaled to the known cells.

Learning is repeated from the merged cells, pooled over the same times, so that what intervals hold there shows what
learning from cells alone makes of them where the truth is known (`downscaling.checks.one_scale_up` for a single time).
"""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import ndtri

from deconditioning.downscaling.checks.one_scale_up import moments
from deconditioning.downscaling.checks.problem_one_scale_up import ProblemOneScaleUp, problem_one_scale_up
from deconditioning.downscaling.checks.sums_one_scale_up import Cells, cells_of
from deconditioning.downscaling.learning_data import centre_of_priors, distances_of
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.errors import Check
from deconditioning.models.learning.learning import learn
from deconditioning.models.learning.repeats import Repeats
from deconditioning.models.leave_one_out import MOST_TARGETS
from deconditioning.models.spec import ModelSpec
from deconditioning.period.learning import SMOOTHEST, spread_times
from deconditioning.period.series import Series

#: Merged cells below which the test says little.
_LEAST = 20
#: Share of the 95 % intervals below which a sentence says so.
_TOO_FEW = 0.75


def held_one_scale_up(series: Series, settings: DownscaleSettings, check: Check) -> dict[str, Any]:
    """``merged``, the number of merged cells, and ``coverage95``, the share of the cells' values that 95 % intervals
    from merged cells contain, weighted by area; empty where there is no such test: fewer than 20 merged cells,
    covariates that change with time, sources beside the cells, cells matched through mediators, no time with all cells.
    """
    problem = series.problem
    if series.varying is not None or problem.sources or not problem.matched or len(problem.data.targets) > MOST_TARGETS:
        return {}
    times = spread_times(series)
    values = series.targets(times)[: len(problem.data.targets)]
    values = values[:, torch.isfinite(values).all(0)]
    scene = problem_one_scale_up(problem, settings) if values.shape[1] else None
    if scene is None or scene.targets.count < _LEAST or not settings.kind.takes(scene.data):
        return {}
    merged = np.stack([scene.targets.mean(each) for each in values.T.numpy()], axis=1)
    spec, cells = _learned(scene, series, settings, torch.as_tensor(merged), check)
    place = scene.targets.item[scene.joined]
    area = problem.coarse_grid.area.flat[problem.target_cell[place]]
    held = []
    for known, seen in zip(values.T.numpy(), torch.as_tensor(merged).T, strict=True):
        check()
        data = replace(scene.data, targets=seen.to(scene.data.targets))
        mean, variance = (each.cpu().numpy() for each in moments(scene, spec, data, problem, cells))
        held.append(np.average(np.abs(known[place] - mean) <= ndtri(0.975) * np.sqrt(variance), weights=area))
    return {"merged": scene.targets.count, "coverage95": float(np.mean(held))}


def _learned(
    scene: ProblemOneScaleUp, series: Series, settings: DownscaleSettings, merged: Float[torch.Tensor, "G T"],
    check: Check,
) -> tuple[ModelSpec, Cells]:  # fmt: skip
    """The model learned from the merged cells at all times together, and the sums over the cells."""
    problem = series.problem
    start = starting_spec(problem, settings)
    table = distances_of(problem, scene.bags, scene.points, scene.shares.device, check, scene.among)
    cells = cells_of(scene, start, problem, check, table if settings.every_pixel else None)
    repeats = [Repeats(scene.data, merged.to(scene.shares.device), cells.of_larger)]
    learned = learn(
        start, scene.data, columns_of(problem), settings.learning(), check=check, bag_gram=cells.of_larger,
        held_to=centre_of_priors(problem, start, scene.data.bags), repeats=repeats, smoothest=SMOOTHEST,
    )  # fmt: skip
    return learned.spec, cells


def sentences_one_scale_up(found: dict[str, Any]) -> tuple[str, ...]:
    """What is said if too few values are in their intervals."""
    if not found or found["coverage95"] >= _TOO_FEW:
        return ()
    return (
        f"Where {found['merged']} larger cells, merged from the cells, are downscaled to the cells, 95 % intervals "
        f"hold {100 * found['coverage95']:.0f} % of the known values: those of this series may be too narrow. Fine "
        "values of other times (`--archive`) give intervals from known errors.",
    )
