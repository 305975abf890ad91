"""One eigendecomposition of the subjects' kernel for low rank, learned noise and Gibbs draws.

``QᵀMQ = E diag(d) Eᵀ`` and ``A = QE`` make the model diagonal: ``ζ = Aᵀy ~ N(0, d + σ²)``, and the posterior of f
depends only on ζ, ``E f(s) = Σ_k (l(s)ᵀa_k) ζ_k/(d_k + σ²)``. Source: Tang et al., eq. 7, 13-15 and §2 (inverse-gamma
noise).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.distribution_regression.gpdr import RegressionSpec, design_matrix, sums_and_prior
from deconditioning.distribution_regression.kernel_sums import Sums
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.indirect_gp import refuse_dense

#: Ratios of a kernel's scale to the noise that learning looks at first.
_RATIOS = np.logspace(-6, 8, 57)


@dataclass(frozen=True)
class Spectrum:
    """``directions`` A (n, k), ``values`` d (k,), ``projected`` ζ (k,), ``total`` ‖Qᵀy‖², ``contrasts`` n − p."""

    directions: Float[Tensor, "n k"]
    values: Float[Tensor, " k"]
    projected: Float[Tensor, " k"]
    total: float
    contrasts: int


def spectrum(
    gram: Float[Tensor, "n n"], outcomes: Float[Tensor, " n"], design: Float[Tensor, "n p"], rank: int | None = None
) -> Spectrum:
    """The spectrum of M among the contrasts; the ``rank`` leading directions alone where it is given (eq. 15)."""
    basis = linalg.contrasts(design)
    inside = gram if design.shape[1] == 0 else basis.T @ gram @ basis
    size = len(inside)
    count = size if rank is None else rank
    if not 1 <= count <= size:
        raise InputError(f"Rank {count} was requested: give 1 to {size}.")
    name = "kernel matrix of the subjects"
    values, vectors = linalg.eigen(inside, name) if rank is None else linalg.leading_eigen(inside, count, name)
    projected = basis.T @ outcomes
    directions = vectors if design.shape[1] == 0 else basis @ vectors
    return Spectrum(directions, values.clamp_min(0), vectors.T @ projected, float(projected.square().sum()), size)


@dataclass(frozen=True)
class SpectralPosterior:
    """The posterior of f as a mixture over ``noises`` (D,): one for a given σ², several for Gibbs draws of it."""

    spec: RegressionSpec
    sums: Sums
    gram: Float[Tensor, "n n"]
    design: Float[Tensor, "n p"]
    outcomes: Float[Tensor, " n"]
    spectrum: Spectrum
    noises: Float[Tensor, " D"]

    @property
    def dual(self) -> Float[Tensor, "n D"]:
        """``P y`` under each noise: mean(s) = l(s)ᵀ of it."""
        return self.spectrum.directions @ (self.spectrum.projected[:, None] / self._widths)

    @property
    def _widths(self) -> Float[Tensor, "k D"]:
        return self.spectrum.values[:, None] + self.noises

    def mean(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """Posterior mean of f, averaged over the noises."""
        return self.sums.cross(self.spec.kernel, inputs).T @ self.dual.mean(1)

    def moments(
        self, inputs: Float[Tensor, "P d"], centred: bool = False
    ) -> tuple[Float[Tensor, " P"], Float[Tensor, " P"]]:
        """Mean and variance of f (or of f minus its mean over subjects); with a drawn σ² the variance of the means is
        added.

        At a low rank the variance is ``K(s, s) − Σ_{k≤rank} (l(s)ᵀa_k)²/(d_k + σ²)``: the omitted directions keep their
        prior variance, whereas (13) alone would treat them as known.
        """
        sums, prior = sums_and_prior(self, inputs, centred)
        projected = sums.T @ self.spectrum.directions  # (P, k)
        means = projected @ (self.spectrum.projected[:, None] / self._widths)
        reduction = projected.square() @ (1 / self._widths).mean(1)
        return means.mean(1), (prior - reduction).clamp_min(0) + means.var(1, unbiased=False)

    def variance(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """Posterior variance of f."""
        return self.moments(inputs)[1]

    def covariance(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "P P"]:
        """Posterior covariance of f between all inputs; at most 5,000 of them."""
        refuse_dense(len(inputs))
        along = self.sums.cross(self.spec.kernel, inputs).T @ self.spectrum.directions
        means = along @ (self.spectrum.projected[:, None] / self._widths)
        centred = means - means.mean(1, keepdim=True)
        inside = self.sums.prior(self.spec.kernel, inputs, inputs) - (along * (1 / self._widths).mean(1)) @ along.T
        return inside + centred @ centred.T / len(self.noises)

    def fitted(self) -> Float[Tensor, " n"]:
        """Mean of ``β'W_i + E f`` for the subjects themselves."""
        inside = self.gram @ self.dual.mean(1)
        rest, basis = self.outcomes - inside, linalg.contrasts(self.design)
        return inside + rest - basis @ (basis.T @ rest)  # the covariates take up what of the rest lies in their span


def fit_spectral(
    spec: RegressionSpec, sums: Sums, outcomes: Float[Tensor, " n"], covariates: Float[Tensor, "n q"],
    rank: int | None = None, gram: Float[Tensor, "n n"] | None = None,
) -> SpectralPosterior:  # fmt: skip
    """The posterior by its spectrum, of full or of low rank (eq. 15), at the spec's σ²."""
    result = sums.gram(spec.kernel) if gram is None else gram
    design = design_matrix(covariates, spec.intercept)
    noises = result.new_tensor([spec.noise])
    return SpectralPosterior(
        spec, sums, result, design, outcomes, spectrum(result, outcomes, design, rank), noises
    )  # fmt: skip


def log_evidence(spectrum: Spectrum, scale: float, noise: float) -> float:
    """``log N(ζ; 0, scale·d + σ²)``; directions omitted by a low rank are pure noise."""
    widths = scale * spectrum.values + noise
    rest, free = spectrum.total - float(spectrum.projected.square().sum()), spectrum.contrasts - len(widths)
    fit = float((spectrum.projected.square() / widths).sum()) + max(rest, 0.0) / noise
    spread = float(widths.log().sum()) + free * math.log(noise)
    return -0.5 * (fit + spread + spectrum.contrasts * linalg.LOG_TWO_PI)


def learn_noise(spectrum: Spectrum) -> float:
    """The σ² of highest evidence with a fixed kernel."""
    from scipy.optimize import minimize_scalar

    spread = max(spectrum.total / spectrum.contrasts, 1e-300)
    grid = spread * np.logspace(-8, 1, 46)
    best = int(np.argmax([log_evidence(spectrum, 1.0, noise) for noise in grid]))
    ends = np.log(grid[[max(best - 1, 0), min(best + 1, len(grid) - 1)]])
    at = minimize_scalar(lambda v: -log_evidence(spectrum, 1.0, math.exp(v)), bounds=ends, method="bounded").x
    return math.exp(at)


def learn_scale_and_noise(spectrum: Spectrum) -> tuple[float, float, float]:
    """Scale, σ² and the evidence there: for each ratio ρ = scale/σ² the best σ² is ``mean ζ²/(ρd + 1)``."""
    from scipy.optimize import minimize_scalar

    rest = max(spectrum.total - float(spectrum.projected.square().sum()), 0.0)
    square, values = spectrum.projected.square().numpy(force=True), spectrum.values.numpy(force=True)

    def noise_of(ratio: float) -> float:
        """The best σ² at a ratio ρ = scale/σ²."""
        return max(float((square / (ratio * values + 1)).sum() + rest) / spectrum.contrasts, 1e-300)

    def loss(log_ratio: float) -> float:
        """Minus the log evidence at log ρ with the best σ², but for a constant."""
        ratio = math.exp(log_ratio)
        return 0.5 * (spectrum.contrasts * math.log(noise_of(ratio)) + float(np.log1p(ratio * values).sum()))

    unit = max(float(values.max()), 1e-300)
    grid = np.log(_RATIOS / unit)
    best = int(np.argmin([loss(v) for v in grid]))
    ends = grid[[max(best - 1, 0), min(best + 1, len(grid) - 1)]]
    ratio = math.exp(minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-6}).x)
    noise = noise_of(ratio)
    return ratio * noise, noise, log_evidence(spectrum, ratio * noise, noise)


@dataclass(frozen=True)
class Learned:
    """The spec of highest evidence, that evidence, the number of kernels tried, and messages for the user."""

    spec: RegressionSpec
    evidence: float
    evaluations: int
    warnings: tuple[str, ...]


def learn(
    spec: RegressionSpec, sums: Sums, outcomes: Float[Tensor, " n"], covariates: Float[Tensor, "n q"],
    bounds: tuple[float, float] = (0.02, 5.0), spans: tuple[float, ...] = (1.0,), check: Check = never,
) -> Learned:  # fmt: skip
    """Lengthscales, overall scale and σ² by the (restricted) evidence.

    For every lengthscale the best scale and noise follow from its spectrum; lengthscales are optimised by a grid and
    bounded search on one column, by the simplex method on several. ``bounds`` are in units of each column's range,
    ``spans``.
    """
    from scipy.optimize import minimize, minimize_scalar

    design = design_matrix(covariates, spec.intercept)
    tried: dict[tuple[float, ...], tuple[float, float, float]] = {}
    count = sum(len(f.lengthscales) for term in spec.kernel.terms for f in term.factors)
    unit = np.log(np.resize(np.asarray(spans, dtype=float), count))
    low, high = np.log(bounds[0]), np.log(bounds[1])

    def loss(position: np.ndarray) -> float:
        """Minus the log evidence at log lengthscales, with the best scale and noise there."""
        check()
        at = tuple(float(v) for v in np.clip(np.atleast_1d(position), low, high))
        if at not in tried:
            kernel = _with_lengthscales(spec.kernel, tuple(np.exp(np.array(at) + unit)))
            tried[at] = learn_scale_and_noise(spectrum(sums.gram(kernel), outcomes, design))
        return -tried[at][2]

    if count == 1:
        grid = np.linspace(low, high, 8)
        best = int(np.argmin([loss(v) for v in grid]))
        ends = grid[[max(best - 1, 0), min(best + 1, len(grid) - 1)]]
        minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 0.02})
    else:
        start = np.full(count, np.log(0.3))
        minimize(loss, start, method="Nelder-Mead", options={"maxfev": 40 * count, "xatol": 0.05, "fatol": 0.01})
    at = max(tried, key=lambda key: tried[key][2])
    scale, noise, evidence = tried[at]
    kernel = _scaled(_with_lengthscales(spec.kernel, tuple(np.exp(np.array(at) + unit))), scale)
    hits = [v for v in at if min(v - low, high - v) < 0.03]
    warnings = (
        f"{len(hits)} lengthscale(s) ended at a bound of the search: the outcome hardly determines them.",
    ) * bool(hits)
    return Learned(replace(spec, kernel=kernel, noise=noise), evidence, len(tried), warnings)


def _with_lengthscales(kernel: KernelSpec, values: tuple[float, ...]) -> KernelSpec:
    rest, terms = list(values), []
    for term in kernel.terms:
        factors = []
        for factor in term.factors:
            scales, rest = tuple(float(v) for v in rest[: len(factor.lengthscales)]), rest[len(factor.lengthscales) :]
            factors.append(replace(factor, lengthscales=scales))
        terms.append(replace(term, factors=tuple(factors)))
    return replace(kernel, terms=tuple(terms))


def _scaled(kernel: KernelSpec, by: float) -> KernelSpec:
    return replace(kernel, terms=tuple(replace(term, scale=max(term.scale * by, 1e-300)) for term in kernel.terms))
