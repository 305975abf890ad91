"""Joint draws of a series whose covariates change with time, where each time is predicted from its own cells alone.

With the terms of `linking.moving` these predictions have the errors

    f_t − c_tᵀ W S_t⁻¹ (Wᵀ f̄_t + e_t),      f_t = level_t + h_t + φ_tᵀ b_t + g_t,

in space the posterior of each time by itself. In time they are correlated as h and the slopes b are, by exp(−|Δt|/τ);
what the other terms add, and e, is new at every time. τ is that of the largest evidence of the cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.errors import never
from deconditioning.kernels.families.draws import normal
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.models.spec import ModelSpec
from deconditioning.period.correlation import days_of
from deconditioning.period.joint import Residuals, errors_given, kernel_draws, lasting_draws
from deconditioning.period.linking.cells import MOST_NUMBERS, Linked, learned, most_missing, root_between
from deconditioning.period.linking.moving import Parted, Slopes, moving_cells
from deconditioning.period.posterior import PixelSums, Together, condition_times, pixel_sums
from deconditioning.period.series import Block, Series


def residuals_of_moving(
    series: Series, spec: ModelSpec, sums: PixelSums, linked: Linked | None, chosen: Int[np.ndarray, " t"]
) -> Residuals:
    """Errors at the ``chosen`` times of a series: of its joint posterior where times are ``linked``, whose σ² the
    model has, else of each time by itself. Nothing is learned or summed before errors are drawn.
    """
    alone = MovingErrors.of(series, spec, sums.gram.device)
    if linked is None:
        return alone.only(chosen).residuals
    return Residuals(alone.fixed, None, of_archive=False, together=linked.draws(spec, series, sums)).only(chosen)


@dataclass(frozen=True, eq=False)
class _Scale:
    """How long errors last by the cells of a ``series``."""

    series: Series
    spec: ModelSpec
    device: torch.device

    @cached_property
    def days(self) -> float | None:
        """τ, from as many times as linking takes, of the first member; None if errors are new at every time: of less
        than three times, or if every term of the kernel has covariates that change with time.
        """
        series, size = self.series, len(self.series.problem.target_cell)
        targets, days = series.targets(range(len(series))) - self.spec.mean, days_of(series.dates)
        some = most_missing(targets, series.member)[: max(3, int(MOST_NUMBERS / size**2))]
        some = some[np.unique(days[some], return_index=True)[1]]
        if len(some) < 3:
            return None
        cells, _ = moving_cells(replace(series.only(some), members=1), self.spec, self.device)
        if cells is None:
            return None
        known = targets[:, some].to(self.device)
        return learned(cells, known, days[some], self.spec.noise, separable=True, learn=False, check=never)[0].days


@dataclass(frozen=True, eq=False)
class MovingErrors:
    """Errors of a ``series``, over their sd, each time predicted from its own cells by ``spec``; ``scale`` is τ."""

    series: Series
    spec: ModelSpec
    device: torch.device
    scale: _Scale

    @staticmethod
    def of(series: Series, spec: ModelSpec, device: torch.device) -> "MovingErrors":
        """τ is that of the same series."""
        return MovingErrors(series, spec, device, _Scale(series, spec, device))

    @property
    def residuals(self) -> Residuals:
        """These errors, and those of some of the times."""
        return Residuals(
            self.fixed, None, of_archive=False, together=self.lasting, part=lambda times: self.only(times).residuals
        )

    def only(self, times: Int[np.ndarray, " t"]) -> "MovingErrors":
        """Those of some of the times, all of them or those of one member."""
        members = self.series.members if len(times) == len(self.series) else 1
        return replace(self, series=replace(self.series.only(times), members=members))

    def lasting(self, count: int, generator: torch.Generator) -> Float[Tensor, "count T P"]:
        """Errors that last by τ."""
        series, varying = self.series, self.series.varying
        assert varying is not None
        terms, root = Parted.of(self.spec.kernel, varying.moving), root_between(series, self.scale.days)
        slopes = Slopes.of(terms.linear, series.problem.columns)
        drawn = normal((len(series), len(slopes.columns) * count), generator)
        of_slopes = (root @ drawn).reshape(len(series), -1, count)
        priors = means = torch.zeros(len(series), 1, count, dtype=torch.float64)
        if terms.still:
            priors, means = lasting_draws(self._with(terms.still), series.problem, root, count, generator)
        result = torch.empty(count, len(series), len(series.problem.pixel), dtype=torch.float64)
        for time, (block, sums, group) in enumerate(self._times()):
            own, bags = block.problem, block.problem.joint_data.bags
            prior = priors[time] + slopes(own.inputs) @ of_slopes[time]
            mean = means[time] + bags.mean(slopes(bags.inputs)) @ of_slopes[time]
            if terms.constant or terms.new:
                new, of_new = kernel_draws(self._with(terms.constant + terms.new), own, count, generator)
                prior, mean = prior + new, mean + of_new
            noise = normal((len(block.targets), count), generator)
            result[:, time] = self._errors(sums, group, prior, mean, noise)
        return result

    def fixed(self, count: int, generator: torch.Generator) -> Float[Tensor, "count T P"]:
        """Errors of functions of the covariates, and errors of the cells, that never change."""
        seed = int(torch.randint(2**62, (), generator=generator))
        result = torch.empty(count, len(self.series), len(self.series.problem.pixel), dtype=torch.float64)
        for time, (block, sums, group) in enumerate(self._times()):
            same = torch.Generator().manual_seed(seed)
            drawn = kernel_draws(self.spec, block.problem, count, same)
            result[:, time] = self._errors(sums, group, *drawn, normal((len(block.targets), count), same))
        return result

    def _times(self) -> Iterator[tuple[Block, PixelSums, Together]]:
        """Every time, its sums and its posterior."""
        for block in self.series.blocks():
            sums = pixel_sums(self.spec, block.problem, self.device)
            (group,) = condition_times(
                self.spec, block.problem, block.targets, sums.gram, self.series.member[block.times], block.errors
            )
            yield block, sums, group

    def _errors(
        self, sums: PixelSums, group: Together, prior: Float[Tensor, "P D"], means: Float[Tensor, "n D"],
        noise: Float[Tensor, "M D"],
    ) -> Float[Tensor, "D P"]:  # fmt: skip
        """Errors of a time, from standard Gaussians as ``noise``."""
        root = linalg.root(group.conditioning.noise, "noise of the targets")
        return errors_given(group.conditioning, sums, prior, means, root @ noise.to(root)[group.rows])

    def _with(self, terms: tuple[Term, ...]) -> ModelSpec:
        return replace(self.spec, kernel=KernelSpec(terms))
