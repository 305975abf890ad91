"""The essential controls of page Downscaling, and how their values read."""

from collections.abc import Callable
from functools import lru_cache

from deconditioning.downscaling.draws import COUNT
from deconditioning.downscaling.pictures.settings import SliderSettings
from deconditioning.downscaling.reach import sizes
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.cell_settings import CellSettings
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import Factor
from deconditioning.wording import number
from pages.kit.controls.essential import Essential
from pages.kit.controls.settings import essentials

_NOISE = DownscaleSettings.noise.inner
#: Units of quantities without one.
_NO_UNITS = ("", "1")
ESSENTIALS = {
    "data": Essential("Which field", "Measured or simulated fields, or your own file."),
    **essentials(CellSettings, SliderSettings),
    _NOISE.key: Essential(_NOISE.plain, _NOISE.plain_help),
    "draws": Essential(
        "Show equally plausible fields",
        f"{COUNT} fields drawn from the posterior, all equally probable; none of them is the mean.",
    ),
}


def three_digits(value: float) -> str:
    """A value whose further digits are no choice of a person's, such as a learned one."""
    return number(value, 3)


@lru_cache(maxsize=64)
def _times(factor: float, units: str, digits: int = 3, power: float = 1.0) -> Callable[[float], str]:
    """Reads a value as ``factor · value^power`` in these units; the same function for the same numbers, so that what
    it reads is kept (`log_slider`)."""
    return lambda value: f"{number(factor * value**power, digits)} {units}".strip()


@lru_cache(maxsize=64)
def _squared(sd: float, units: str) -> Callable[[float], str]:
    """Reads a variance as the square of its sd."""
    reads = _times(sd, units, power=0.5)
    return lambda variance: f"({reads(variance)})²"


def in_kilometres(problem: DownscalingProblem) -> Callable[[float], str]:
    """How a lengthscale of the scaled coordinates reads."""
    return _times(sizes(problem).unit, "km")


def as_noise_sd(problem: DownscalingProblem) -> Callable[[float], str]:
    """How a noise variance of the standardised targets reads: its sd in the target's units."""
    return _times(problem.target_sd, problem.units, 2, 0.5)


def as_variance(problem: DownscalingProblem) -> Callable[[float], str]:
    """How a prior variance of the standardised targets reads: the square of its sd in the target's units."""
    return _squared(problem.target_sd, problem.units) if problem.units else three_digits


def along(problem: DownscalingProblem, column: str) -> Callable[[float], str]:
    """How a lengthscale along a covariate reads: in the covariate's units, or in its sds where it has none."""
    units = problem.covariates[column].units if column in problem.covariates else ""
    scaling = problem.input_scaling
    sd = scaling.scales[scaling.columns.index(column)].sd
    return _times(1.0, "sd") if units in _NO_UNITS else _times(sd, units)


def _as_slope(problem: DownscalingProblem) -> Callable[[float], str]:
    """How the prior sd of a slope along a covariate reads: the target's change over one sd of the covariate."""
    return _times(problem.target_sd, f"{problem.units} per sd".strip())


def is_of_place(problem: DownscalingProblem, factor: Factor) -> bool:
    """Whether a factor's lengthscales are distances along the ground."""
    along = problem.spec.coordinates and not set(factor.columns) & set(problem.spec.covariates)
    return bool(along and factor.lengthscales and factor.kind.stationary)


def reader_of_scale(problem: DownscalingProblem, factor: Factor, index: int) -> Callable[[float], str]:
    """How a lengthscale of k reads in its units; of straight lines, the sd of their slope."""
    if factor.kind.slopes_for_scales:
        return _as_slope(problem)
    return in_kilometres(problem) if is_of_place(problem, factor) else along(problem, factor.columns[index])


@lru_cache(maxsize=64)
def or_none(reads: Callable[[float], str], least: float) -> Callable[[float], str]:
    """The same of a slider whose ``least`` value stands for none."""
    return lambda value: "none" if value <= least * (1 + 1e-6) else reads(value)
