"""What a posterior says of the values of cells that have errors of their own, behind a warp of the target.

A warped map has the means of its cells. Where a cell's value z has a known error, with the variance D on the scale of
the model, its mean is that of the posterior of the value less its error, ``u = z̃ − e``: ``E u = z̃ − D S⁻¹ r``,
``cov u = D − D S⁻¹ D``. Without errors u is z̃ itself.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.downscaling.starting import columns_of
from deconditioning.downscaling.warping.physical_map import Parts
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.families.draws import normal
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.indirect_gp import weights_and_noise
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData


def without_errors(data: IndirectData, conditioning: Conditioning) -> tuple[Float[Tensor, " M"], Float[Tensor, " M"]]:
    """Posterior mean and sd of standardised targets of cells less their known errors, on the CPU; ``data`` are those of
    the cells, behind which targets of further sources come in the ``conditioning``.
    """
    assert data.errors is not None
    count, residual = len(data.targets), conditioning.residual
    errors = data.errors.to(residual)
    with torch.no_grad():
        mean = data.targets.to(residual) - errors * conditioning.factor.solve(residual)[:count]
        precision = conditioning.factor.inverse_diagonal()[:count]
        return mean.cpu(), (errors - errors.square() * precision).clamp_min(0).sqrt().cpu()


def cell_values(problem: DownscalingProblem, conditioning: Conditioning | None) -> Parts:
    """The values of the cells less their errors, in their order; empty where a map does not need them: without a warp,
    errors or matched cells."""
    if problem.warp is None or problem.data.errors is None or not problem.matched or conditioning is None:
        return ()
    return ((1.0, *without_errors(problem.data, conditioning)),)


def mixed(weighted: Sequence[tuple[float, Parts]]) -> Parts:
    """The parts of a mixture of several, each with its weight."""
    return tuple((weight * share, mean, sd) for weight, parts in weighted for share, mean, sd in parts)


def cell_values_of_draws(
    spec: ModelSpec, problem: DownscalingProblem, draws: Sequence[Float[Tensor, " Q"]], at: Int[Tensor, " P"], seed: int
) -> list[Parts]:
    """The values of the cells less their errors in each draw of f: draws of u given f, by Matheron's rule.

    ``at`` is which of the Q values of a draw each of the P pixels has.

    ``u = z̃ − e − D Σ⁻¹ (z̃ − Wᵀf̄ − e − ν)`` with e from N(0, D) and ν from N(0, Σ − D), where Σ is all of the noise:
    what σ² and ς² add to a cell is part of its value.
    """
    data = problem.data
    if problem.warp is None or data.errors is None or not problem.matched:
        return [()] * len(draws)
    weights, noise = weights_and_noise(spec, data, columns_of(problem))
    rows = at[torch.as_tensor(problem.bag_pixel)]
    means = torch.stack([data.bags.mean(draw[rows].to(noise)) for draw in draws], dim=1)
    base = noise - data.errors.diag()
    root = base.diagonal().clamp_min(0).sqrt().diag() if linalg.is_identity(weights) else linalg.root(base)
    generator, shape = torch.Generator().manual_seed(seed), (len(noise), len(draws))
    error = data.errors.sqrt()[:, None] * normal(shape, generator)
    off = data.targets[:, None] - weights.T @ means - error - root @ normal(shape, generator)
    solved = linalg.cholesky(noise, "noise of the targets").solve(off)
    values = data.targets[:, None] - error - data.errors[:, None] * solved
    return [((1.0, column, torch.zeros_like(column)),) for column in values.T]
