"""Distribution regression by every method, and its posterior risk on the simulation, over n and m."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from deconditioning.distribution_regression.bdr import BdrPosterior, UncertainSums, fit_bdr
from deconditioning.distribution_regression.density import BANDWIDTHS, DensitySums
from deconditioning.distribution_regression.gibbs import NoiseDraws, NoisePrior, draw_noise, with_noise_draws
from deconditioning.distribution_regression.gpdr import Fitted, RegressionSpec, design_matrix, draw_normal, fit
from deconditioning.distribution_regression.kernel_sums import KernelSums, Sums
from deconditioning.distribution_regression.landmarks import LandmarkSums, spread_landmarks
from deconditioning.distribution_regression.simulate import Simulated, SimulationSpec, regression_function, simulate
from deconditioning.distribution_regression.spectrum import SpectralPosterior, fit_spectral, learn_noise, spectrum
from deconditioning.distribution_regression.subjects import Subjects, make_subjects
from deconditioning.engine.reporting import peak_mb
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.studies.distribution_regression.settings import FurtherSettings, KernelSettings
from deconditioning.wording import number

#: Methods with a regression function f (functional linear regression has none: see ``validation``). "bdr" has uncertain
#: embeddings at as many landmarks; "shrunk" has them too, under GPDR's own prior of f.
METHODS = ("gpdr", "kde", "landmark10", "landmark50", "bdr10", "bdr50", "shrunk")
#: Densities by the narrower of Silverman's two rules, whatever the settings' rule is; the same cut off at the ends.
NARROW, CUT = "kde_narrow", "kde_cut"
#: Few landmarks under GPDR's own prior of f.
LANDMARKS_GP = "landmark10_gp"
#: What stands beside the methods where it is asked for.
_FURTHER = (NARROW, CUT, LANDMARKS_GP)
#: Number of landmarks, prior of their weights, and whether embeddings are uncertain.
LANDMARKS = {
    "landmark10": (10, "weights", False), "landmark50": (50, "weights", False), LANDMARKS_GP: (10, "function", False),
    "bdr10": (10, "weights", True), "bdr50": (50, "weights", True), "shrunk": (50, "function", True),
}  # fmt: skip
#: Nodes of the integral over [0, 1] in a posterior risk.
_NODES = 64
_GIBBS_DRAWS = 500

_Posterior = Fitted | SpectralPosterior | BdrPosterior


@dataclass(frozen=True)
class MethodSettings:
    """How every method regresses: kernel, noise, rank, and what only some of them have.

    ``lengthscale`` and ``variance`` of the kernel, ``noise`` σ² or where it starts, ``noise_by`` "given", "learned" or
    "gibbs", ``rank`` of eq. 15 (None: full), ``bandwidth`` rule and ``reflect`` of the densities, ``intercept``,
    ``embedding_scale`` η of uncertain embeddings (None: of highest evidence).
    """

    family: str = KernelSettings.family.default
    lengthscale: float = KernelSettings.scale.default
    variance: float = KernelSettings.size.default
    noise: float = KernelSettings.noise.default
    noise_by: str = KernelSettings.noise_by.default
    rank: int | None = None
    bandwidth: str = FurtherSettings.bandwidth.default
    reflect: bool = False
    intercept: bool = False
    embedding_scale: float | None = None

    def __post_init__(self) -> None:
        for name, value, offered in (
            ("kernel", self.family, KernelSettings.family.options),
            ("noise", self.noise_by, KernelSettings.noise_by.options),
            ("bandwidth rule", self.bandwidth, BANDWIDTHS),
        ):  # fmt: skip
            if value not in offered:
                raise InputError(f"The {name} '{value}' is unknown: choose among {', '.join(offered)}.")

    @property
    def ends(self) -> str:
        """What densities do at the ends of the range."""
        return "reflect" if self.reflect else "open"

    def regression(self, columns: tuple[str, ...]) -> RegressionSpec:
        """Kernel and noise on these columns of measures."""
        factor = Factor(self.family, columns, (self.lengthscale,) * len(columns))
        return RegressionSpec(KernelSpec((Term((factor,), self.variance),)), self.noise, self.intercept)


def _check_method(method: str) -> None:
    """``InputError`` for a method that has no f, or is unknown."""
    if method not in (*METHODS, *_FURTHER):
        raise InputError(f"The method '{method}' is unknown: choose among {', '.join((*METHODS, *_FURTHER))}.")


def sums_of(method: str, subjects: Subjects, settings: MethodSettings, base: KernelSums | None = None) -> Sums:
    """What a method takes for the subjects' distributions."""
    _check_method(method)
    if method in (NARROW, CUT):
        return DensitySums(subjects, "silverman_0.9", "cut" if method == CUT else settings.ends)
    if method == "kde":
        return DensitySums(subjects, settings.bandwidth, settings.ends)
    sums = base or KernelSums(subjects.bags, subjects.columns)
    if method == "gpdr":
        return sums
    count, prior, uncertain = LANDMARKS[method]
    landmarks = spread_landmarks(subjects, count)
    return UncertainSums(sums, landmarks, prior, settings.embedding_scale) if uncertain else LandmarkSums(
        sums, landmarks, prior
    )  # fmt: skip


def regress(
    sums: Sums, subjects: Subjects, spec: RegressionSpec, settings: MethodSettings, seed: int = 0
) -> tuple[_Posterior, NoiseDraws | None]:
    """The posterior of f by these sums; with Gibbs noise also its draws."""
    y, w = subjects.outcomes, subjects.covariates
    if isinstance(sums, UncertainSums):
        return _regress_uncertain(sums, subjects, spec, settings, seed)
    if settings.noise_by == "given" and settings.rank is None:
        return fit(spec, sums, y, w), None
    rank = None if settings.rank is None else min(settings.rank, len(y) - w.shape[1] - int(spec.intercept))
    spectral_posterior = fit_spectral(spec, sums, y, w, rank)
    if settings.noise_by == "given":
        return spectral_posterior, None
    if settings.noise_by == "learned":
        noise = learn_noise(spectral_posterior.spectrum)
        return replace(
            spectral_posterior, spec=replace(spec, noise=noise), noises=spectral_posterior.noises.new_tensor([noise])
        ), None
    drawn = draw_noise(spectral_posterior, NoisePrior.of(y.numpy(force=True)), _GIBBS_DRAWS, seed=seed)
    return with_noise_draws(spectral_posterior, drawn), drawn


def _regress_uncertain(
    sums: UncertainSums, subjects: Subjects, spec: RegressionSpec, settings: MethodSettings, seed: int
) -> tuple[_Posterior, NoiseDraws | None]:
    """Noise is learned with the embeddings at their posterior means, where the evidence has a closed form."""
    y, w = subjects.outcomes, subjects.covariates
    if settings.noise_by == "learned":
        design = design_matrix(w, spec.intercept)
        spec = replace(spec, noise=learn_noise(spectrum(sums.gram(spec.kernel), y, design)))
    prior = NoisePrior.of(y.numpy(force=True)) if settings.noise_by == "gibbs" else None
    bdr_posterior = fit_bdr(spec, sums, y, w, noise_prior=prior, seed=seed)
    return bdr_posterior, bdr_posterior.drawn if prior else None


@lru_cache(maxsize=1)
def nodes() -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre points and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(_NODES)
    return 0.5 * (x + 1), 0.5 * w


def posterior_risk(posterior: _Posterior, truth: Callable[[np.ndarray], np.ndarray] = regression_function) -> float:
    """``∫∫ (f − f₀)² dx dΠ(f) = ∫ (E f − f₀)² + Var f dx`` over U[0, 1]: what infinitely many draws would average to.

    Source: Tang et al., eq. 9 and §5 (there by 100 draws).
    """
    return sum(_risk_parts(posterior, truth))


def _risk_parts(
    posterior: _Posterior, truth: Callable[[np.ndarray], np.ndarray] = regression_function
) -> tuple[float, float]:
    """The posterior risk's two parts: the squared error of the posterior mean, and the posterior variance."""
    x, w = nodes()
    mean, variance = posterior.moments(torch.from_numpy(x)[:, None].to(posterior.outcomes))
    return float(w @ (mean.numpy(force=True) - truth(x)) ** 2), float(w @ variance.numpy(force=True))


def risk_by_draws(posterior: _Posterior, draws: int, seed: int) -> float:
    """The same from a number of posterior draws, as the paper estimates it."""
    x, w = nodes()
    points = torch.from_numpy(x)[:, None].to(posterior.outcomes)
    generator = torch.Generator().manual_seed(seed)
    drawn = draw_normal(posterior.mean(points), posterior.covariance(points), draws, generator).numpy(force=True)
    return float(((drawn - regression_function(x)) ** 2 @ w).mean())


def risk_rows(
    subjects: Subjects, settings: MethodSettings, methods: Sequence[str], seed: int, draws: int = 0
) -> list[dict[str, Any]]:
    """One run of every method on simulated subjects: posterior risk, CPU and wall seconds, peak memory.

    What the measures give to several methods counts for the first of them.
    """
    rows, base = [], KernelSums(subjects.bags, subjects.columns)
    for method in methods:
        begun = (time.process_time(), time.perf_counter())
        posterior, drawn = regress(
            sums_of(method, subjects, settings, base), subjects, settings.regression(subjects.columns), settings, seed
        )
        error, variance = _risk_parts(posterior)
        scores = {"posterior_risk": error + variance, "squared_error": error}
        seconds = {"cpu": time.process_time() - begun[0], "wall": time.perf_counter() - begun[1]}
        if draws:
            scores["posterior_risk_draws"] = risk_by_draws(posterior, draws, seed)
        words = None if settings.noise_by == "given" else f"σ² = {number(float(posterior.noises.mean()), 4)}"  # type: ignore[union-attr]
        if drawn is not None:
            words = f"{words} on average over {len(drawn.noises)} draws worth {drawn.effective:.0f}"
        rows.append(
            {"model": method, "seed": seed, "scores": scores, "seconds": seconds, "message": words,
             "peak_mb": peak_mb(posterior.outcomes.device)}
        )  # fmt: skip
    return rows


def part(whole: Simulated, subjects: int, measures: int) -> Simulated:
    """The first subjects with their first measures of equally measured ones: what the smaller simulation draws."""
    source = whole.subjects
    size = len(source.measures) // source.count
    measures_of = source.measures.reshape(source.count, size, -1)[:subjects, :measures]
    return Simulated(
        make_subjects(
            measures_of.reshape(-1, measures_of.shape[-1]).numpy(), np.repeat(np.arange(subjects), measures),
            source.outcomes[:subjects].numpy(),
        ),
        whole.expected[:subjects],
    )  # fmt: skip


def risk_sweep(
    subjects: Sequence[int], measures: Sequence[int], seeds: Sequence[int], settings: MethodSettings,
    methods: Sequence[str] = METHODS, *, spec: SimulationSpec | None = None, draws: int = 0,
    report: Callable[[dict[str, Any]], None] = lambda row: None, check: Check = never,
) -> list[dict[str, Any]]:  # fmt: skip
    """Every method at every n, m and seed; the runs of a seed share their subjects, so that differences are paired."""
    base, rows = spec or SimulationSpec(), []
    settings.regression(("x",))  # refuse impossible settings before long work
    for method in methods:
        _check_method(method)
    for seed in seeds:
        largest = replace(base, subjects=max(subjects), measures=max(measures), seed=seed)
        whole = simulate(largest)
        for n in subjects:
            for m in measures:
                check()
                same = (n, m) == (largest.subjects, largest.measures)
                small = replace(largest, subjects=n, measures=m)
                drawn = whole if same else simulate(small) if base.unequal or base.distinct else part(whole, n, m)
                for row in risk_rows(drawn.subjects, settings, methods, seed, draws):
                    rows.append({**row, "subjects": n, "measures": m})
                    report(rows[-1])
    return rows
