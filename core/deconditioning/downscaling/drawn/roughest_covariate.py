"""How rough draws are beside the roughest covariate, and the effective resolution that would make them equally rough.

Coarse cells do not show how rough the target is inside them. Covariates on the same fine grid do show how rough fields
of that source are, and the target is often about as smooth.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deconditioning.downscaling.draws import Draws
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.spectrum import Spectrum, spectrum
from deconditioning.wording import number

#: How many times as rough as the roughest covariate draws are before a sentence says so.
_NOTABLE = 2.0


@dataclass(frozen=True)
class RoughestCovariate:
    """Roughness is the power in the upper third of the wavenumbers relative to that in the middle third.

    Parameters
    ----------
    name : the covariate with the largest roughness; covariates with two values, such as a mask, do not count.
    times : roughness of the draws relative to the covariate's.
    kilometres : effective resolution at which the draws are as rough as the covariate; None if they are smoother, or if
        their mean alone is rougher.
    """

    name: str
    times: float
    kilometres: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @property
    def sentence(self) -> str:
        """What the comparison suggests; empty if the draws are not much rougher, or damping them would not help."""
        if self.times <= _NOTABLE or self.kilometres is None:
            return ""
        return (
            f" Relative to the power in the middle third, that in the finest third is {number(self.times, 2)} times as "
            f"large in the draws as in the roughest covariate, `{self.name}`. If the target is as smooth as that, "
            f"state an effective resolution of {number(self.kilometres, 2)} km, which makes intervals narrower, too."
        )


def roughest_covariate(
    problem: DownscalingProblem, draws: Draws, spacing: tuple[float, float], mean: Spectrum, fields: Sequence[Spectrum]
) -> RoughestCovariate | None:
    """The draws, with the spectra of their ``mean`` and of the ``fields``, beside the roughest covariate; None if there
    is none. ``spacing`` are the steps of the draws in km."""
    found = {name: _roughness(spectrum(values, spacing).thirds) for name, values in _covariates(problem, draws).items()}
    found = {name: value for name, value in found.items() if value > 0}
    thirds, power = (np.mean([getattr(each, of) for each in fields], axis=0) for of in ("thirds", "power"))
    if not found or thirds[1] == 0:
        return None
    name = max(found, key=found.__getitem__)
    times = _roughness(thirds) / found[name]
    return RoughestCovariate(name, times, _resolution(mean, power, times))


def _roughness(thirds: np.ndarray) -> float:
    return float(thirds[2] / thirds[1]) if thirds[1] > 0 else 0.0


def _covariates(problem: DownscalingProblem, draws: Draws) -> dict[str, np.ndarray]:
    """Fields of the covariates with more than two values, where the draws are."""
    every, result = slice(None, None, draws.stride), {}
    for index, name in enumerate(problem.columns):
        values = problem.on_grid(problem.inputs[:, index].numpy())[every, every]
        values = np.where(np.isfinite(draws.mean), values, np.nan)
        if name in problem.spec.covariates and len(np.unique(values[np.isfinite(values)])) > 2:
            result[name] = values
    return result


def _resolution(mean: Spectrum, power: np.ndarray, times: float) -> float | None:
    """The wavelength L at which draws are ``times`` less rough: their spectrum ``P̄ + 2^(−(kL)²) (P − P̄)`` with that of
    the mean P̄, as the Gaussian filter of `at_resolution` keeps half of the power at a wavelength L."""
    from scipy.optimize import brentq

    wave = mean.wavenumber
    third = np.minimum((3 * np.arange(len(wave)) / len(wave)).astype(int), 2)
    free = np.maximum(power - mean.power, 0.0)

    def roughness(length: float) -> float:
        """Of draws at an effective resolution; a ring counts by its circumference."""
        damped = (mean.power + free * 2.0 ** (-((wave * length) ** 2))) * wave
        return _roughness(np.bincount(third, damped, 3))

    aim, widest = roughness(0.0) / times, 1 / wave[0]
    if times <= 1 or roughness(widest) >= aim:
        return None
    return float(brentq(lambda length: roughness(length) - aim, 0.0, widest, rtol=1e-6))
