"""Cells whose covariates change with time, linked through time.

Terms of the kernel without such covariates last, and so do the slopes of the linear terms; what the others add, and the
level, is new at every time:

    f_t(x) = level_t + h_t(x) + φ_t(x)ᵀ b_t + g_t(x),      cov(b) ∝ exp(−|Δt|/τ),

with the covariates φ_t, in units of their slopes' sd, and patterns of h that last as in `cells`. With
``L = U diag(√λ)`` of ``K̄_h`` and the cells' means φ̄_t, the cells are ``L v_t + φ̄_t b_t + level_t + ḡ_t + e_t``: the
states v, b and the level, seen with a loading and a noise ``K̄_g,t + Σ`` that change with time. Given the states of a
time, a pixel depends on no other time, and on its cells through g.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.downscaling.starting import columns_of
from deconditioning.errors import Check, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.families.draws import normal
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.models.indirect_gp import weights_and_noise
from deconditioning.models.spec import ModelSpec
from deconditioning.period.joint import kernel_draws, lasting_draws
from deconditioning.period.linking.cells import Cells, Lasting, Linked, Root, root_between
from deconditioning.period.posterior import PixelSums, pixel_sums
from deconditioning.period.series import Series
from deconditioning.period.space_time import Chain, drawn_chain, gain_beside, moments_beside


@dataclass(frozen=True)
class Parted:
    """Terms of a kernel: ``constant`` ones, those ``still`` without covariates that change with time, the ``linear``
    ones of these, and all others, whose part is ``new`` at every time.
    """

    constant: tuple[Term, ...]
    still: tuple[Term, ...]
    linear: tuple[Term, ...]
    new: tuple[Term, ...]

    @staticmethod
    def of(kernel: KernelSpec, moving: frozenset[str]) -> "Parted":
        """Of a kernel, with covariates named ``moving``."""
        groups: dict[str, list[Term]] = {name: [] for name in ("constant", "still", "linear", "new")}
        for term in kernel.terms:
            families = [factor.family for factor in term.factors]
            moves = bool(moving.intersection(*(factor.columns for factor in term.factors)))
            if set(families) == {"constant"}:
                groups["constant"].append(term)
            elif not moves:
                groups["still"].append(term)
            else:
                groups["linear" if families == ["linear"] else "new"].append(term)
        return Parted(**{name: tuple(terms) for name, terms in groups.items()})


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
            for name, length in term.factors[0].lengthscale_of.items()
        ]
        return Slopes(tuple(column for column, _ in every), tuple(sd for _, sd in every))

    def __call__(self, inputs: Float[Tensor, "n c"]) -> Float[Tensor, "n q"]:
        """φ."""
        return inputs[:, list(self.columns)] * inputs.new_tensor(self.sd)


@dataclass(frozen=True, eq=False)
class MovingCells(Cells):
    """`Cells` of which ``root`` and ``level`` are those of the ``terms`` that last: the ``lasting`` sums of these, the
    ``slopes``, the ``loadings`` (T, M, d) of the states at each time, and the ``noise`` (T, M, M) for σ² = 0.
    """

    terms: Parted
    lasting: PixelSums
    slopes: Slopes
    loadings: Float[Tensor, "T M d"]

    def chain(self, days: np.ndarray, member: np.ndarray, lasting: Lasting | None, variance: float) -> Chain:
        """The chain of the states, as `Cells.chain` has it; the slopes last as the largest pattern does."""
        return self.chain_with(self.loadings, days, member, lasting, variance)

    def parts(
        self, time: int, part: slice, inputs: Float[Tensor, "p c"], cross: Float[Tensor, "M p"],
        prior: Float[Tensor, " p"],
    ) -> tuple[Float[Tensor, "d p"], Float[Tensor, "M p"], Float[Tensor, " p"]]:  # fmt: skip
        """What some pixels have of the states of a time, A first, and the covariance with the cells and the variance of
        what is left, as `space_time.moments_beside` takes them.
        """
        lasting, _ = self.lasting.tile(part)
        of_cells, slopes = self.root.half_solve(lasting), self.slopes(inputs).T
        level, width = math.sqrt(self.level) * torch.ones_like(prior)[None], len(slopes)
        new = cross - lasting - self.loadings[time][:, -1 - width : -1] @ slopes - self.level
        left = prior - self.level - slopes.square().sum(0) - of_cells.square().sum(0)
        return torch.cat([of_cells, slopes, level]), new, left

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
        (time,), varying = times, self.series.varying
        assert varying is not None
        inputs, chain = varying(int(time)).inputs.to(sums.gram.device), self.chain
        means, variances = torch.empty(1, sums.pixels, dtype=torch.float64), sums.gram.new_empty(sums.pixels)
        with torch.no_grad():
            for part, cross, prior in sums.tiles(check):
                parts = self.cells.parts(time, part, inputs[part], cross, prior)
                mean, variances[part] = moments_beside(chain, self.given, self.targets, int(time), parts)
                means[0, part] = mean.cpu()
        return means, [variances]

    def draws(
        self, spec: ModelSpec, series: Series, sums: PixelSums
    ) -> Callable[[int, torch.Generator], Float[Tensor, "count T P"]]:
        """What draws errors of all times of a series from the joint posterior, over the sd of each pixel and time.

        With joint draws of the states v, of h, whose part r that the cells do not know is as long-lived as h, and of
        what is new at every time,

            ``lᵀ(v_t − m_t) + r_t(x) + g_t(x) − wᵀ(ḡ_t + e_t)``,

        where w and l are the weights of targets and states in the mean (`space_time.gain_beside`).
        """
        root, still = root_between(series, self.lasting.days).to(sums.gram), _with(spec, self.cells.terms.still)

        def draw(count: int, generator: torch.Generator) -> Float[Tensor, "count T P"]:
            """Standardised errors (count, T, P)."""
            states = drawn_chain(self.chain, self.targets, count, generator) - self.given.mean[:, :, None]
            prior, means = lasting_draws(still, series.problem, root, count, generator)
            result = torch.empty(count, len(series), sums.pixels, dtype=torch.float64)
            for time in range(len(series)):
                result[:, time] = self._drawn(spec, time, states[time], prior[time], means[time], generator)
            return result

        return draw

    def _drawn(
        self, spec: ModelSpec, time: int, states: Float[Tensor, "d D"], lasting: Float[Tensor, "P D"],
        means: Float[Tensor, "M D"], generator: torch.Generator,
    ) -> Float[Tensor, "D P"]:  # fmt: skip
        """The errors of a time from those of its states and draws of h."""
        cells, own = self.cells, self.series.at(time)
        sums, known = pixel_sums(spec, own, states.device), cells.root.half_solve(means.to(states))
        errors = linalg.root(_noise(spec, own).to(states), "noise of the cells")
        seen = errors @ normal((len(errors), states.shape[1]), generator).to(states)
        new = torch.zeros_like(lasting)
        if cells.terms.new:
            new, of_cells = kernel_draws(_with(spec, cells.terms.new), own, states.shape[1], generator)
            seen = seen + of_cells.to(seen)
        result = torch.empty(states.shape[1], sums.pixels, dtype=torch.float64)
        for part, cross, prior in sums.tiles():
            parts = cells.parts(time, part, own.inputs[part].to(cross), cross, prior)
            rows, weights, left = gain_beside(self.chain, self.targets, time, *parts[:2])
            _, variance = moments_beside(self.chain, self.given, self.targets, time, parts)
            of_cells = parts[0][: len(known)]
            drawn = left.T @ states + (lasting + new)[part].to(states) - of_cells.T @ known - weights.T @ seen[rows]
            result[:, part] = (drawn.T / variance.sqrt().clamp_min(1e-12)).cpu()
        return result


def moving_cells(
    series: Series, spec: ModelSpec, device: torch.device, check: Check = never
) -> tuple[MovingCells | None, str]:
    """What links the cells of a series whose covariates change with time; None and the reason if nothing does."""
    assert series.varying is not None
    terms, problem = Parted.of(spec.kernel, series.varying.moving), series.problem
    if not terms.still:
        return None, "every term of the kernel has covariates that change with time"
    lasting = pixel_sums(_with(spec, terms.still), problem, device, check)
    root = Root.of(lasting.gram.detach())
    level, slopes = sum(term.scale for term in terms.constant), Slopes.of(terms.linear, problem.columns)
    loadings, noises, nothing = list[Tensor](), list[Tensor](), replace(spec, noise=0.0)
    for time in range(len(series)):
        own = series.at(time)
        if not same_places(problem, own):
            return None, "pixels or cells change with time"
        noise = _noise(nothing, own).to(root.values)
        means = own.joint_data.bags.mean(slopes(own.joint_data.bags.inputs)).to(root.values)
        loadings.append(torch.cat([root.loading, means, math.sqrt(level) * torch.ones_like(noise[:, :1])], dim=1))
        new = pixel_sums(_with(spec, terms.new), own, device, check).gram.detach() if terms.new else 0.0
        noises.append(noise + new)
    size, common = len(root.values), root.values.new_zeros(len(root.values), 0)
    every = torch.stack(noises), common, size, terms, lasting, slopes, torch.stack(loadings)
    return MovingCells(root, float(level), *every), ""


def same_places(problem: DownscalingProblem, own: DownscalingProblem) -> bool:
    """Whether the problem of a time has the pixels and cells of another."""
    return np.array_equal(own.pixel, problem.pixel) and np.array_equal(own.target_cell, problem.target_cell)


def _with(spec: ModelSpec, terms: Sequence[Term]) -> ModelSpec:
    return replace(spec, kernel=KernelSpec(tuple(terms)))


def _noise(spec: ModelSpec, problem: DownscalingProblem) -> Float[Tensor, "M M"]:
    """Σ."""
    return weights_and_noise(spec, problem.joint_data, columns_of(problem))[1]
