"""Cells whose covariates change with time, linked through time.

Terms of the kernel without such covariates last, and so do the slopes of the linear terms; what the others add, and the
level, is new at every time:

    f_t(x) = level_t + h_t(x) + φ_t(x)ᵀ b_t + g_t(x),      cov(h), cov(b) ∝ exp(−|Δt|/τ),

with the covariates φ_t, in units of their slopes' sd. With ``K̄_h = L Lᵀ`` and the cells' means φ̄_t, the cells are
``L v_t + φ̄_t b_t + level_t + ḡ_t + e_t``: the states v, b and the level, seen with a loading and a noise ``K̄_g,t + Σ``
that change with time. Given the states of a time, a pixel depends on no other time, and on its cells through g.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.downscaling.starting import columns_of
from deconditioning.errors import Check, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.models.indirect_gp import weights_and_noise
from deconditioning.models.spec import ModelSpec
from deconditioning.period.linking.cells import Cells, Linked
from deconditioning.period.posterior import PixelSums, pixel_sums
from deconditioning.period.series import Series
from deconditioning.period.space_time import Chain, moments_beside


@dataclass(frozen=True)
class Slopes:
    """The covariates of linear terms: their places among the ``columns`` (q,), and the ``sd`` (q,) of their slopes."""

    columns: tuple[int, ...]
    sd: tuple[float, ...]

    @staticmethod
    def of(terms: Sequence[Term], names: Sequence[str]) -> "Slopes":
        """Of linear terms of covariates with these ``names``."""
        every = [
            (names.index(name), math.sqrt(term.scale) / length)
            for term in terms
            for name, length in zip(term.factors[0].columns, term.factors[0].lengthscales, strict=True)
        ]
        return Slopes(tuple(column for column, _ in every), tuple(sd for _, sd in every))

    def __call__(self, inputs: Float[Tensor, "n c"]) -> Float[Tensor, "n q"]:
        """φ."""
        return inputs[:, list(self.columns)] * inputs.new_tensor(self.sd)


@dataclass(frozen=True, eq=False)
class MovingCells(Cells):
    """`Cells` of which ``root`` and ``level`` are those of the terms that last: the ``lasting`` sums of these, the
    ``slopes``, the ``loadings`` (T, M, d) of the states at each time, and the ``noise`` (T, M, M) for σ² = 0.
    """

    lasting: PixelSums
    slopes: Slopes
    loadings: Float[Tensor, "T M d"]

    def chain(self, days: np.ndarray, member: np.ndarray, scale: float | None, variance: float) -> Chain:
        """The chain of the states, as `Cells.chain` has it; the slopes last as h does."""
        return self.seen_with(self.loadings, days, member, scale, variance)

    def only(self, times: Int[np.ndarray, " t"]) -> "MovingCells":
        """Those of some of the times."""
        return replace(self, loadings=self.loadings[times], noise=self.noise[times])


@dataclass(frozen=True, eq=False)
class LinkedMoving(Linked):
    """`Linked` cells of a ``series`` whose covariates change with time."""

    cells: MovingCells
    series: Series

    def moments(
        self, sums: PixelSums, times: np.ndarray, check: Check = never
    ) -> tuple[Float[Tensor, "t P"], list[Float[Tensor, " P"]]]:
        """Posterior mean minus prior mean at a time, of whose problem the ``sums`` are, and var f."""
        (time,), cells, varying = times, self.cells, self.series.varying
        assert varying is not None
        inputs, chain = varying(int(time)).inputs.to(sums.gram.device), self.chain
        means, variances = torch.empty(1, sums.pixels, dtype=torch.float64), sums.gram.new_empty(sums.pixels)
        width = len(cells.slopes.columns)
        with torch.no_grad():
            for part, cross, prior in sums.tiles(check):
                lasting, _ = cells.lasting.tile(part)
                of_cells, slopes = cells.root.half_solve(lasting), cells.slopes(inputs[part]).T
                level = math.sqrt(cells.level) * torch.ones_like(prior)[None]
                of_slopes = cells.loadings[time][:, -1 - width : -1] @ slopes
                new = cross - lasting - of_slopes - cells.level
                left = prior - cells.level - slopes.square().sum(0) - of_cells.square().sum(0)
                parts = torch.cat([of_cells, slopes, level]), new, left
                mean, variances[part] = moments_beside(chain, self.given, self.targets, int(time), parts)
                means[0, part] = mean.cpu()
        return means, [variances]


def moving_cells(
    series: Series, spec: ModelSpec, device: torch.device, check: Check = never
) -> tuple[MovingCells | None, str]:
    """What links the cells of a series whose covariates change with time; None and the reason if nothing does."""
    assert series.varying is not None
    terms, moving, problem = spec.kernel.terms, series.varying.moving, series.problem
    constant = [term for term in terms if all(factor.family == "constant" for factor in term.factors)]
    still = [term for term in terms if term not in constant and not moving & _columns(term)]
    linear = [term for term in terms if moving & _columns(term) and [f.family for f in term.factors] == ["linear"]]
    new = [term for term in terms if term not in (*constant, *still, *linear)]
    if not still:
        return None, "every term of the kernel has covariates that change with time"
    lasting = pixel_sums(_with(spec, still), problem, device, check)
    root, level = linalg.cholesky(lasting.gram.detach(), "covariance of the cells"), sum(t.scale for t in constant)
    slopes, loadings, noises = Slopes.of(linear, problem.columns), list[Tensor](), list[Tensor]()
    for time in range(len(series)):
        own = series.at(time)
        if not (np.array_equal(own.pixel, problem.pixel) and np.array_equal(own.target_cell, problem.target_cell)):
            return None, "pixels or cells change with time"
        noise = _noise(spec, own).to(root.lower)
        means = own.joint_data.bags.mean(slopes(own.joint_data.bags.inputs)).to(root.lower)
        loadings.append(torch.cat([root.lower, means, math.sqrt(level) * torch.ones_like(noise[:, :1])], dim=1))
        noises.append(noise + pixel_sums(_with(spec, new), own, device, check).gram.detach() if new else noise)
    size, means = len(root.lower), torch.stack(loadings)
    nothing = root.lower.new_zeros(size, 0)
    return MovingCells(root, float(level), torch.stack(noises), nothing, size, lasting, slopes, means), ""


def _columns(term: Term) -> set[str]:
    return {name for factor in term.factors for name in factor.columns}


def _with(spec: ModelSpec, terms: Sequence[Term]) -> ModelSpec:
    return replace(spec, kernel=KernelSpec(tuple(terms)))


def _noise(spec: ModelSpec, problem: DownscalingProblem) -> Float[Tensor, "M M"]:
    """Σ for σ² = 0."""
    return weights_and_noise(replace(spec, noise=0.0), problem.joint_data, columns_of(problem))[1]
