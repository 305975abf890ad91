"""The posterior of many times from one factorisation: T solves, one sd.

Times whose targets are known at the same cells share ``S = WᵀK̄W + Σ = F Fᵀ``: the mean of each is ``c(x)ᵀ W S⁻¹
z̃_t``, and its sd the same field for all, times a factor of each time,

    a_t² = (ν + z̃_tᵀ S⁻¹ z̃_t) / (ν + m),   ν = 10,

the posterior mean of the variance of a time whose kernel is a_t² k, with an inverse-gamma prior of ν pseudo-targets.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.downscaling.checks.few_cells import INTEGRATED, widening
from deconditioning.downscaling.checks.local_scale_inputs import local_scale_inputs
from deconditioning.downscaling.prediction import (
    bags_inside,
    fits_in_memory,
    reads_bags,
    total,
    whole_sums,
)
from deconditioning.downscaling.starting import columns_of
from deconditioning.downscaling.stores.wide_grid import wide_sums, widen
from deconditioning.errors import Check, InputError, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.tiles import diagonal
from deconditioning.models.conditioning import Conditioning, condition
from deconditioning.models.indirect_gp import weights_and_noise
from deconditioning.models.learning.repeats import errors_at, gap_patterns, log_densities
from deconditioning.models.local_scale import MOST, Near, ScalePrior, scale_of_squares
from deconditioning.models.posterior_moments import tile_points
from deconditioning.models.spec import ModelSpec
from deconditioning.period.effects import SharedEffects, alike, shared_effects

#: Pseudo-targets of the prior of a time's variance, which is then one.
_PSEUDO_TARGETS = 10.0


@dataclass(frozen=True)
class PixelSums:
    """Bag sums at the pixels, tile by tile: K̄, and for each stretch of pixels c (n, p) and k(x, x) (p,)."""

    gram: Float[Tensor, "n n"]
    pixels: int
    tile: Callable[[slice], tuple[Float[Tensor, "n p"], Float[Tensor, " p"]]]

    def tiles(
        self, check: Check = never, most: int | None = None
    ) -> Iterator[tuple[slice, Float[Tensor, "n p"], Float[Tensor, " p"]]]:
        """All pixels, a few at a time, at most so many."""
        step = tile_points(len(self.gram), self.gram.device)
        step = step if most is None else min(step, most)
        for begin in range(0, self.pixels, step):
            check()
            part = slice(begin, min(begin + step, self.pixels))
            yield part, *self.tile(part)


def pixel_sums(spec: ModelSpec, problem: DownscalingProblem, device: torch.device, check: Check = never) -> PixelSums:
    """The sums of a model's kernel over a problem's bags by the cheapest exact algorithm, kept where memory allows.

    Raises ``InputError`` for models that do not read the bags' sums.
    """
    if not reads_bags(spec) or not bags_inside(problem):
        raise InputError(
            f"The model '{spec.model.name}' is not conditioned on several times at once: choose area_to_point_gp, "
            "regression_kriging, partial_cmp, shrinkage_cmp, cmp or bag_gp, with bags inside the predicted region."
        )
    if fits_in_memory(problem):
        parts = whole_sums(spec, problem, device, check)
        gram, prior = (total(s * getattr(sums, name) for s, sums in parts) for name in ("gram", "prior"))
        return PixelSums(
            gram, len(prior), lambda part: (total(s * sums.cross.at(part) for s, sums in parts), prior[part])
        )
    if problem.sources:
        raise InputError("The region is too large for stations over a period: leave them out, or choose a region.")
    if spec.model.looks_at_footprints:
        raise InputError("The region is too large for partial_cmp over a period: choose another model, or a region.")
    return _summed_by_region(spec, problem, device, check)


def _summed_by_region(spec: ModelSpec, problem: DownscalingProblem, device: torch.device, check: Check) -> PixelSums:
    wide = widen(problem.grid, problem.grid)
    sums = wide_sums(spec.kernel, problem, wide, device, check)
    kernel = spec.kernel.build(problem.columns).to(device)
    inputs, shape = problem.inputs.to(device), problem.grid.shape
    rows, columns = torch.as_tensor(problem.pixel) // shape[1], torch.as_tensor(problem.pixel) % shape[1]

    def tile(part: slice) -> tuple[Tensor, Tensor]:
        """Bag sums (B, n) and prior variances (n,) at the pixels of ``part``."""
        cells = None
        if wide is not None:
            first, last = int(rows[part][0]), int(rows[part][-1]) + 1
            mask = torch.zeros(last - first, shape[1], dtype=torch.bool)
            mask[rows[part] - first, columns[part]] = True
            cells = wide.cells(slice(first, last), slice(0, shape[1]), mask.numpy()).to(device)
        return sums.at(inputs[part], cells, check)[0], diagonal(kernel, inputs[part]).detach()

    return PixelSums(sums.gram(check), len(inputs), tile)


@dataclass(frozen=True)
class Together:
    """Times with values at the same cells and stations: ``rows`` (m,) of the targets, ``times`` (t,) as columns of
    these, what they share (``conditioning``), ``residual`` (m, t), ``duals`` W S⁻¹ r (n, t).

    ``effects``: what all times share of the stations' differences from the cells, already subtracted from the
    residual, of each member of an ensemble; empty without stations.
    """

    rows: Int[Tensor, " m"]
    times: Int[Tensor, " t"]
    conditioning: Conditioning
    residual: Float[Tensor, "m t"]
    duals: Float[Tensor, "n t"]
    effects: tuple[SharedEffects, ...] = ()

    @property
    def evidence(self) -> Float[Tensor, " t"]:
        """``log N(z̃_t; Wᵀm̄, S)`` of each time, with the mean of the shared effects subtracted."""
        return log_densities(self.residual, self.conditioning.factor)

    @property
    def amplitude(self) -> Float[Tensor, " t"]:
        """a_t of each time."""
        fit = self.conditioning.factor.half_solve(self.residual).square().sum(0)
        return ((_PSEUDO_TARGETS + fit) / (_PSEUDO_TARGETS + len(self.residual))).sqrt()

    @property
    def left_out(self) -> tuple[Float[Tensor, "m t"], Float[Tensor, " m"]]:
        """Error of every target predicted from the others of its time, and the variance of that prediction."""
        precision = self.conditioning.factor.inverse_diagonal()
        return self.conditioning.factor.solve(self.residual) / precision[:, None], 1 / precision


def some_times(groups: Sequence[Together], times: Int[np.ndarray, " k"]) -> list[Together]:
    """Each group with some of the times alone, perhaps none, counted by their place among these."""
    result = []
    for group in groups:
        group_times = group.times.cpu().numpy()
        there = np.flatnonzero(np.isin(group_times, times))
        index = torch.as_tensor(np.searchsorted(times, group_times[there])).to(group.times.device)
        columns = torch.as_tensor(there).to(group.residual.device)
        residual, duals = group.residual[:, columns], group.duals[:, columns]
        result.append(replace(group, times=index, residual=residual, duals=duals))
    return result


def condition_times(
    spec: ModelSpec, problem: DownscalingProblem, targets: Float[Tensor, "M t"], gram: Float[Tensor, "n n"],
    member: Int[np.ndarray, " t"], errors: Float[Tensor, "M t"] | None = None,
) -> list[Together]:  # fmt: skip
    """Condition f of every time on its targets, NaN where missing; times without any are in none of the results.

    ``errors`` are the variances of the targets' own errors: times at which they differ have a factorisation each.

    With stations, the posterior of f_t is that given the targets of all times of its ``member``, by the law of total
    variance over the effects that they share (`SharedEffects`). Members share the factorisation.
    """
    data = problem.joint_data.to(gram.device)
    targets, errors = targets.to(gram.device), None if errors is None else errors.to(gram.device)
    points = data.points
    if points is not None:
        data = replace(data, points=replace(points, prior=torch.zeros_like(points.prior)))
    weights, noise = weights_and_noise(spec, data, columns_of(problem), gram)
    residual, result = targets - spec.model.expected(weights, spec.mean)[:, None], []
    of, common, effects = torch.as_tensor(member).to(gram.device), None, tuple[SharedEffects, ...]()
    if points is not None:
        common = torch.nn.functional.pad(points.effects, (0, 0, len(targets) - len(points.variance), 0))
        effects = shared_effects(weights.T @ gram @ weights + noise, residual, common, points.prior, of, errors)
        residual = residual - common @ torch.stack([each.mean for each in effects])[of].T
    for rows, every in gap_patterns(targets, errors):
        several = [(every, None)] if common is None or not bool(common[rows].any()) else alike(every, effects, of)
        for times, shared in several:
            carried = None
            if common is not None and shared is not None:
                carried = common[rows] @ shared.covariance @ common[rows].T
            residuals = residual[rows][:, times]
            noisy = noise[rows][:, rows] + errors_at(errors, rows, times)
            conditioning = condition(gram, weights[:, rows], noisy, residuals[:, 0], carried)
            duals = conditioning.weights @ conditioning.factor.solve(residuals)
            result.append(Together(rows, times, conditioning, residuals, duals, effects))
    return result


def moments_of_times(
    sums: PixelSums, groups: Sequence[Together], count: int, check: Check = never, *, means_only: bool = False
) -> tuple[Float[Tensor, "t P"], list[Float[Tensor, " P"]]]:
    """Posterior mean minus prior mean of ``count`` times (NaN where no target is known), and var f of each group."""
    device = sums.gram.device
    means = torch.full((count, sums.pixels), torch.nan, dtype=torch.float64)
    variances = [torch.empty(sums.pixels, dtype=torch.float64, device=device) for _ in groups]
    with torch.no_grad():
        for part, cross, prior in sums.tiles(check):
            for group, variance in zip(groups, variances, strict=True):
                means[group.times.cpu(), part] = (group.duals.T @ cross).cpu()
                if not means_only:
                    variance[part] = group.conditioning.variance(cross, prior)
    return means, variances


def pooled_scale(
    spec: ModelSpec, problem: DownscalingProblem, groups: Sequence[Together]
) -> Float[Tensor, " P"] | None:
    """The local scale κ at the pixels from the residuals of left-out targets of all times, each in units of a_t.

    The squares of a cell are averaged over its times, which therefore count as one: they repeat one another. None if
    the model has no local scale or there are too many cells.
    """
    count = len(problem.data.targets)
    if not spec.local_scale or count > MOST:
        return None
    device = groups[0].residual.device
    squares, counts = (torch.zeros(count, dtype=torch.float64, device=device) for _ in range(2))
    for group in groups:
        error, variance = group.left_out
        relative = error.square() / variance[:, None] / group.amplitude.square()
        cells = group.rows < count  # stations are behind the cells
        squares[group.rows[cells]] += relative[cells].sum(1)
        counts[group.rows[cells]] += len(group.times)
    known, where = counts > 0, local_scale_inputs(problem)
    targets = where.of(problem.target_cell[known.cpu().numpy()]).to(device)
    every = scale_of_squares(squares[known] / counts[known], ScalePrior(targets, where.places.to(device)))
    scale = widening(every, count, below=INTEGRATED)  # a period takes its hyperparameters as known
    near = where.pixels
    return scale.at(Near(near.cell.to(device), near.weight.to(device)))
