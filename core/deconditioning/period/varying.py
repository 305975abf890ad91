"""Covariates and mediators that change with time: the problem of each time, in scales that all times share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from deconditioning.downscaling.further_sources.opening import open_regions
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_data import Regions
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.matching import place_matching
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import Scale, Scaling
from deconditioning.fields.selecting import is_dated
from deconditioning.fields.spec import DownscalingSpec

#: Times whose covariates make the scales that all times share.
_SCALED_BY = 12


@dataclass(eq=False)
class ProblemsInTime:
    """The problem of each of T times, its covariates in the scales of ``scaling``, of which those named ``moving``
    change; the last one made is kept.
    """

    build: Callable[[int], DownscalingProblem]
    scaling: Scaling
    moving: frozenset[str]
    _last: tuple[int, DownscalingProblem] | None = field(default=None, repr=False)

    def __call__(self, time: int) -> DownscalingProblem:
        """The problem of a time."""
        if self._last is None or self._last[0] != time:
            self._last = (time, self.shared(self.build(time)))
        return self._last[1]

    def only(self, times: np.ndarray) -> "ProblemsInTime":
        """Those of some of the times."""
        return ProblemsInTime(lambda time: self.build(int(times[time])), self.scaling, self.moving)

    def shared(self, problem: DownscalingProblem) -> DownscalingProblem:
        """A problem with its inputs in the shared scales."""
        if problem.data.footprints is not None or problem.spec.indirect:
            raise InputError(
                "Covariates that change with time are downscaled over a period only for cells matched directly: omit "
                "the mediators, or downscale each time alone."
            )
        scaling, data = problem.input_scaling, problem.data

        def carried(inputs: Tensor) -> Tensor:
            """Inputs in the problem's scales as inputs in the shared scales."""
            factor = inputs.new_tensor([a.sd / b.sd for a, b in zip(scaling.scales, self.scaling.scales, strict=True)])
            shift = inputs.new_tensor(
                [(a.mean - b.mean) / b.sd for a, b in zip(scaling.scales, self.scaling.scales, strict=True)]
            )
            return inputs * factor + shift

        bags = replace(data.bags, inputs=carried(data.bags.inputs))
        return replace(
            problem, inputs=carried(problem.inputs), input_scaling=self.scaling, data=replace(data, bags=bags)
        )


def varying_problems(
    source: Source, spec: DownscalingSpec, opener: Callable[[str], Fields], dim: str, labels: Sequence[str],
    regions: Callable[..., Regions] = open_regions,
) -> ProblemsInTime | None:  # fmt: skip
    """The problems of the times with these ``labels``; None if no covariate or mediator changes with time. ``regions``
    gives those of the source, if it has any.

    Raises ``InputError`` if a covariate has no value at a time of the target.
    """
    fields = opener(source.fields)
    mediators = opener(source.mediator) if source.mediator else fields
    moving: dict[str, tuple[str, ...]] = {}
    for name in (*spec.covariates, *spec.mediators):
        owner = mediators if source.mediator and mediators.holds(name) else fields
        if owner.holds(name):
            moving |= {f"{name}:{d}": ls for d, ls in owner.check(name).extra.items() if len(ls) > 1 and is_dated(ls)}
    if not moving:
        return None

    def build(time: int) -> DownscalingProblem:
        """The problem of the time at this position among ``labels``."""
        chosen: dict[str, int | str] = {}
        for key, known in moving.items():
            index = place_matching(known, labels[time])
            if index is None:
                raise InputError(
                    f"`{key.partition(':')[0]}` has no value at {labels[time]}: choose times at which all covariates "
                    "are known."
                )
            chosen[key] = index
        target = {f"{spec.target}:{dim}": labels[time]}
        if source.coarse:
            at = replace(spec, select={**spec.select, **chosen}, coarse_select={**spec.coarse_select, **target})
        else:
            at = replace(spec, select={**spec.select, **chosen, **target})
        return build_problem(source, at, opener, regions=regions)

    some = np.unique(np.linspace(0, len(labels) - 1, min(_SCALED_BY, len(labels))).round().astype(int))
    scalings = [build(int(time)).input_scaling for time in some]
    names = frozenset(key.partition(":")[0] for key in moving)
    return ProblemsInTime(build, _pooled(scalings), names)


def _pooled(scalings: Sequence[Scaling]) -> Scaling:
    """Mean and sd of the columns over all times together, from those of each time."""
    scales = []
    for column in range(len(scalings[0].scales)):
        means, sds = (torch.tensor([getattr(s.scales[column], part) for s in scalings]) for part in ("mean", "sd"))
        scales.append(Scale(float(means.mean()), float((sds.square() + (means - means.mean()).square()).mean().sqrt())))
    return Scaling(scalings[0].columns, tuple(scales))
