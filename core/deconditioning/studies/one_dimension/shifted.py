"""What it costs when the targets' mediators lie elsewhere than the bags', and what weighing bags by that gives back.

The pairs of `datasets.one_dimension`, with ``y ~ N(0, 2²)`` for x and ``ỹ ~ N(shift, 1)`` for z̃. Errors are those
of f where the targets tell of it, at ``x = r(ỹ)`` for ``ỹ ~ N(shift, 1)``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from deconditioning.datasets.one_dimension import Line, LineSpec
from deconditioning.kernels.spec import gaussian
from deconditioning.mediator_shift import mediator_shift, reweighted
from deconditioning.models.indirect_gp import posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.one_dimension.problem import COLUMNS, START, starting_model

SHIFTS = (0.0, 1.0, 2.0, 3.0, 4.0)
#: How ℓ comes about: learned by leaving pairs out, or held at this multiple of the start's lengthscale.
WAYS: dict[str, float | None] = {"learned": None, "held, far too smooth": 8.0}
_COUNT, _QUESTIONS = 100, 200
_BAGS_SD, _TARGETS_SD = 2.0, 1.0


def shifted_line(shift: float, seed: int) -> Line:
    """The drawn problem; no ``y`` beyond the half-width of the usual one is drawn."""
    spec, rng = LineSpec(n=_COUNT, m=_COUNT, seed=seed), np.random.default_rng(seed)
    y, query = rng.normal(0, _BAGS_SD, _COUNT), rng.normal(shift, _TARGETS_SD, _COUNT)
    x = spec.r(y) + spec.input_noise * rng.standard_normal(_COUNT)
    hidden = spec.r(query) + spec.input_noise * rng.standard_normal(_COUNT)
    z = spec.f(hidden) + spec.target_noise * rng.standard_normal(_COUNT)
    return Line(spec, *(torch.from_numpy(values) for values in (x, y, query, z)))


def one_shift(shift: float, seed: int, way: str) -> dict[str, Any]:
    """RMSE of f without and with weights, the effective share of the bags and the targets reached, of one draw."""
    line = shifted_line(shift, seed)
    questions = np.random.default_rng([seed, 1]).normal(shift, _TARGETS_SD, _QUESTIONS)
    at = line.spec.r(questions)
    truth, result = line.spec.f(at), mediator_shift(line.data.mediators, line.data.query_mediators)
    row: dict[str, Any] = {"effective": result.effective, "reached": result.reached}
    for name, data in (("plain", line.data), ("weighed", reweighted(line.data))):
        spec = _model(line, data, way)
        mean = posterior(spec, data, COLUMNS).mean(torch.from_numpy(at)[:, None]).detach().numpy()
        row[name] = float(np.sqrt(np.mean((mean - truth) ** 2)))
    return row


def _model(line: Line, data: Any, way: str) -> ModelSpec:
    spec = starting_model(line, "dme")
    factor = WAYS[way]
    if factor is None:
        return learn(spec, data, COLUMNS, LearningOptions(restarts=1, steps=30)).spec
    return replace(spec, mediator_kernel=gaussian(COLUMNS.mediators, (factor * START["mediator_lengthscale"],), 1.0))


def shifts(seeds: Sequence[int] = tuple(range(20)), places: Sequence[float] = SHIFTS) -> Iterator[dict[str, Any]]:
    """A row for each way, shift and seed."""
    for way in WAYS:
        for shift in places:
            for seed in seeds:
                yield {"way": way, "shift": shift, "seed": seed, **one_shift(shift, seed, way)}
