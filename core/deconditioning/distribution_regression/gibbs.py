"""Inverse-gamma noise by Gibbs draws: f̄ given σ² is Gaussian, σ² given f̄ is inverse gamma. Source: Tang et al., §2."""

from dataclasses import dataclass, replace

import numpy as np

from deconditioning.distribution_regression.spectrum import SpectralPosterior, learn_noise
from deconditioning.errors import InputError


@dataclass(frozen=True)
class NoisePrior:
    """``σ² ~ IG(shape, rate)``, density ∝ ``σ^{−2(shape+1)} e^{−rate/σ²}``; rate in the outcome's units squared.

    ``of`` takes the outcomes' variance as rate, so that units do not matter.
    """

    shape: float = 1.0
    rate: float = 0.01

    @staticmethod
    def of(outcomes: np.ndarray) -> "NoisePrior":
        """``IG(1, var y)``."""
        return NoisePrior(1.0, float(np.var(outcomes)))

    def __post_init__(self) -> None:
        if not (self.shape > 0 and self.rate > 0):
            raise InputError(f"The noise's prior is IG({self.shape}, {self.rate}): give two positive numbers.")


@dataclass(frozen=True)
class NoiseDraws:
    """``noises`` (D,) after burn-in, and their effective sample size."""

    noises: np.ndarray
    effective: float


def draw_noise(
    posterior: SpectralPosterior, prior: NoisePrior, draws: int = 1000, burn_in: int = 200, seed: int = 0
) -> NoiseDraws:
    """Alternate the two conditionals, in the coordinates of the spectrum, where f̄ is a vector of independent numbers.

    ``f̃_k | σ² ~ N(d_k ζ_k/(d_k + σ²), d_k σ²/(d_k + σ²))`` and ``σ² | f̃ ~ IG(a + c/2, b + Σ(ζ_k − f̃_k)²/2)``.
    """
    result, rng = posterior.spectrum, np.random.default_rng(seed)
    if draws < 1 or burn_in < 0:
        raise InputError(f"{draws} draws after {burn_in} of burn-in were requested: give at least one draw.")
    d, zeta = result.values.numpy(force=True), result.projected.numpy(force=True)
    rest = max(result.total - float(zeta @ zeta), 0.0)  # directions that a low rank leaves to the noise
    noise, draws_of_noise = learn_noise(result), np.empty(draws)
    for step in range(burn_in + draws):
        share = d / (d + noise)
        fitted = share * zeta + np.sqrt(share * noise) * rng.standard_normal(len(d))
        misfit = float(((zeta - fitted) ** 2).sum()) + rest
        noise = (prior.rate + 0.5 * misfit) / rng.gamma(prior.shape + 0.5 * result.contrasts)
        if step >= burn_in:
            draws_of_noise[step - burn_in] = noise
    return NoiseDraws(draws_of_noise, effective_size(draws_of_noise))


def with_noise_draws(posterior: SpectralPosterior, drawn: NoiseDraws) -> SpectralPosterior:
    """The posterior of f with σ² integrated out over the draws."""
    return replace(posterior, noises=posterior.noises.new_tensor(drawn.noises))


def effective_size(chain: np.ndarray) -> float:
    """Draws over the integrated autocorrelation time, its pairs of lags positive and falling (Geyer 1992)."""
    size = len(chain)
    centred = chain - chain.mean()
    power = np.abs(np.fft.rfft(centred, 2 * size)) ** 2
    autocovariance = np.fft.irfft(power)[:size]
    if not autocovariance[0] > 0:
        return float(size)
    correlation = autocovariance / autocovariance[0]
    pairs = correlation[: 2 * (size // 2)].reshape(-1, 2).sum(1)
    last = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    return float(size / max(2 * np.minimum.accumulate(pairs[:last]).sum() - 1, 1e-12))
