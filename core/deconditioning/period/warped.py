"""A series from cells alone in units of a warp of its target, each time as a single map has it.

The model sees g(z) of the coarse values z as if they were means of the warped field; the distributions behind the warp
are shifted so that their means average to the values of the cells (`downscaling.warping.physical_map`). All times share
g, which is fitted to all coarse values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from deconditioning.downscaling.warping.choice import MOST_AT_LIMIT
from deconditioning.downscaling.warping.physical_map import in_target_units, in_warp_units, physical_draw, shifts
from deconditioning.errors import InputError
from deconditioning.fields.problem.physical_limits import limits_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import Scale
from deconditioning.fields.problem.warp import Warp, fit_warp
from deconditioning.metrics.predictive import Part, Predictive
from deconditioning.period.behind_warp import Latent
from deconditioning.period.correlation import days_of
from deconditioning.period.joint import linked_errors
from deconditioning.period.series import Series, scale_of


def warp_of_series(series: Series, requested: str | Mapping[str, Any]) -> Warp | None:
    """The warp that is ``requested``, "log", "box-cox", "logit" or one as a dictionary, None for a straight line.

    Raises ``InputError`` if the coarse values do not allow it, for stations, and for cells with errors.
    """
    if series.errors is not None:
        raise InputError(
            "Errors of cells over a period cannot be combined with a warp of the target: leave them out, or give "
            "`--warp none`."
        )
    if series.stations is not None:
        raise InputError(
            "Stations over a period cannot be combined with a warp of the target: leave them out, or give "
            "`--warp none`."
        )
    observed = series.coarse[:, series.problem.target_cell]
    values = observed[np.isfinite(observed)]
    if isinstance(requested, Mapping):
        warp = Warp.from_dict(requested)
    else:
        warp = fit_warp(requested, values, limits_of(series.problem))
    warp.check(values)
    return None if warp.kind == "box-cox" and warp.power == 1 else warp


def at_limits(series: Series, warp: Warp) -> tuple[str, ...]:
    """A sentence if many coarse values are exactly at a limit, where no warp is Gaussian."""
    values = series.coarse[:, series.problem.target_cell]
    share = float(np.mean((values <= warp.low) | (values >= warp.high)))
    if share <= MOST_AT_LIMIT:
        return ()
    return (
        f"{100 * share:.2g} % of the coarse values are exactly at a limit of the target, which no warp makes Gaussian: "
        "the intervals are too narrow. With `--archive` dry values have a probability of their own.",
    )


def in_warp(series: Series, warp: Warp) -> Series:
    """The series in units of the warp, without a truth."""
    coarse = warp.forward(series.coarse)
    level, scale = scale_of(coarse[:, series.problem.target_cell], series.problem.spec.target, len(series))
    problem = replace(series.problem, target_scale=Scale(0.0, scale), units="1")
    read = series.file.coarse
    file = replace(series.file, coarse=lambda index: warp.forward(read(index)))
    return replace(series, problem=problem, coarse=coarse, level=level, fine=None, file=file)


@dataclass(frozen=True, eq=False)
class WarpedCells:
    """A ``series`` behind a ``warp``; ``latent`` is the same series in units of the warp."""

    latent: Latent
    warp: Warp
    series: Series
    _delta: list[Float[np.ndarray, "H W"]] = field(init=False)

    def __post_init__(self) -> None:
        every = range(len(self.series))
        object.__setattr__(self, "_delta", [shifts(self._problem(time), self._parts(time)) for time in every])

    @property
    def lowest(self) -> float:
        """The value up to which all count as the lowest."""
        return self.warp.low

    def only(self, latent: Latent, times: np.ndarray) -> "WarpedCells":
        """Some of the times, those of one member, which are ``latent`` in units of the warp."""
        return WarpedCells(latent, self.warp, replace(self.series.only(times), members=1))

    def _problem(self, time: int) -> DownscalingProblem:
        """The problem of a time as a single map with the warp has it."""
        plain = self.series.at(time)
        scale = Scale(float(self.latent.series.level[time]), self.latent.series.scale)
        return replace(plain, warp=self.warp, target_scale=scale, unwarped=plain)

    def _standard(self, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Standardised means and sds (P,) in units of the warp."""
        problem, latent = self.latent.series.problem, self.latent
        mean, sd = (each.flat[problem.pixel] for each in (latent.means[time], latent.sd(time)))
        return (mean - latent.series.level[time]) / latent.series.scale, sd / latent.series.scale

    def _parts(self, time: int) -> tuple[Part, ...]:
        return in_warp_units(self._problem(time), [(1.0, *self._standard(time))])

    def predictive(self, time: int) -> Predictive:
        """The distributions (H, W) of a time in the target's units."""
        ((weight, centre, spread),) = self._parts(time)
        return in_target_units(((weight, centre + self._delta[time], spread),), self.warp)

    def draws(self, count: int, seed: int) -> Iterator[Float[np.ndarray, "T P"]]:
        """Joint draws in the target's units, each with the means of the cells."""
        pixel, residuals = self.series.problem.pixel, self.latent.residuals
        assert residuals is not None
        problems = [self._problem(time) for time in range(len(self.series))]
        standard = [self._standard(time) for time in range(len(self.series))]
        for errors, _ in linked_errors(residuals, days_of(self.series.dates), len(pixel), count, seed):
            drawn = (
                physical_draw(problem, mean + sd * error).flat[pixel]
                for problem, (mean, sd), error in zip(problems, standard, errors, strict=True)
            )
            yield np.stack(list(drawn))


def beyond_limits(series: Series, means: np.ndarray) -> tuple[str, ...]:
    """A sentence if the target has physical limits that means are beyond."""
    limits = limits_of(series.problem)
    if limits is None:
        return ()
    known = means[np.isfinite(means)]
    share = float(np.mean((known < limits[0]) | (known > limits[1]))) if known.size else 0.0
    if not share:
        return ()
    return (
        f"{100 * share:.2g} % of the means are beyond the physical limits of the target, because the coarse values "
        "alone are modelled by a Gaussian without limits: with `--warp box-cox` or `--archive` rain, for example, is "
        "never negative.",
    )
