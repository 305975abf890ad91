"""What a picture of one data set needs: every method's f, its risk where f₀ is known, densities, an unknown link."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.distribution_regression.bdr import UncertainSums
from deconditioning.distribution_regression.density import DensitySums
from deconditioning.distribution_regression.functional import curve_features
from deconditioning.distribution_regression.gibbs import NoiseDraws
from deconditioning.distribution_regression.gpdr import RegressionSpec, fit
from deconditioning.distribution_regression.kernel_sums import KernelSums, Sums, Way
from deconditioning.distribution_regression.single_index import SingleIndex, fit_single_index
from deconditioning.distribution_regression.spectrum import Learned, learn
from deconditioning.distribution_regression.subjects import Subjects, make_subjects, range_of
from deconditioning.engine.reporting import Stopwatch
from deconditioning.errors import Check, never
from deconditioning.studies.distribution_regression.study import (
    METHODS,
    MethodSettings,
    posterior_risk,
    regress,
    sums_of,
)

#: Points at which f is drawn, and subjects whose densities are.
_POINTS, _RIDGES = 161, 14


class Prepared:
    """Subjects with what their measures give to every method; hyperparameters move without touching the measures."""

    def __init__(self, subjects: Subjects, *, most_seconds: float = 20.0) -> None:
        self.subjects = subjects
        self.base = KernelSums(subjects.bags, subjects.columns, most_seconds=most_seconds)
        self._kept: dict[tuple[Any, ...], Sums] = {}
        self._features: np.ndarray | None = None
        self.kept_scores: dict[tuple[str, int, int, int], Any] = {}

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods that these measures allow: densities are of one column, uncertainty needs a second measure."""
        alone = float(self.subjects.bags.sizes.max()) < 2
        without = ("kde",) * (len(self.subjects.columns) > 1) + ("bdr10", "bdr50", "shrunk") * alone
        return tuple(name for name in METHODS if name not in without)

    def sums(self, method: str, settings: MethodSettings) -> Sums:
        """The method's sums, made once."""
        arguments = {"kde": (settings.bandwidth, settings.reflect)}.get(method, (settings.embedding_scale,))
        key = (method, *arguments)
        if key not in self._kept:
            self._kept[key] = sums_of(method, self.subjects, settings, self.base)
        return self._kept[key]

    def features(self) -> np.ndarray:
        """Spline features of the measures in their order."""
        if self._features is None:
            self._features = curve_features(self.subjects)
        return self._features

    def grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Points (P, d) along the first column at the others' medians, and that column (P,)."""
        low, high = range_of(self.subjects)
        line = np.linspace(low[0], high[0], _POINTS)
        middle = self.subjects.measures.median(0).values.numpy(force=True)
        points = np.repeat(middle[None], _POINTS, axis=0)
        points[:, 0] = line
        return points, line


@dataclass(frozen=True)
class Curve:
    """One method's f along the grid (with an intercept: f less its mean over subjects):

    ``mean``, ``sd`` (P,), ``risk`` where f₀ is known, ``seconds``, its noise σ².
    """

    mean: np.ndarray
    sd: np.ndarray
    risk: float | None
    seconds: float
    noise: float


@dataclass(frozen=True)
class Comparison:
    """All methods on one data set; ``at`` (P,) the first column, ``routes`` of the sums, ``drawn`` Gibbs noise.

    ``embeddings``: where embeddings are uncertain, their scale η and the share of its distance from the mean that the
    smallest and the largest subject keep.
    """

    at: np.ndarray
    curves: Mapping[str, Curve]
    routes: tuple[Way, ...]
    drawn: NoiseDraws | None
    embeddings: tuple[float, float, float] | None = None


@one_thread()
def compare(
    prepared: Prepared, settings: MethodSettings, truth: Callable[[np.ndarray], np.ndarray] | None = None,
    methods: Sequence[str] | None = None,
) -> Comparison:  # fmt: skip
    """The methods (all) at the same settings. Raises ``InputError`` if a matrix is singular or sums take long."""
    subjects, spec = prepared.subjects, settings.regression(prepared.subjects.columns)
    points, at = prepared.grid()
    routes = prepared.base.routes(spec.kernel)
    where, curves, draws = torch.from_numpy(points).to(subjects.outcomes), {}, None
    for method in prepared.methods if methods is None else methods:
        watch = Stopwatch()
        posterior, drawn = regress(prepared.sums(method, settings), subjects, spec, settings)
        mean, variance = posterior.moments(where, centred=settings.intercept)
        spent = watch.seconds()["cpu"]
        risk = None if truth is None else posterior_risk(posterior, truth)
        noise = posterior.spec.noise if drawn is None else float(drawn.noises.mean())
        curves[method] = Curve(mean.numpy(force=True), variance.sqrt().numpy(force=True), risk, spent, noise)
        draws = drawn if method == "gpdr" else draws
    return Comparison(at, curves, routes, draws, _embeddings(prepared, settings, spec, tuple(curves)))


def _embeddings(
    prepared: Prepared, settings: MethodSettings, spec: RegressionSpec, methods: Sequence[str]
) -> tuple[float, float, float] | None:
    sums = prepared.sums("shrunk", settings) if "shrunk" in methods else None
    if not isinstance(sums, UncertainSums):
        return None
    result, sizes = sums.embeddings(spec.kernel), prepared.subjects.bags.sizes
    return result.scale, result.share_retained(float(sizes.min())), result.share_retained(float(sizes.max()))


@one_thread()
def learn_settings(
    prepared: Prepared, settings: MethodSettings, check: Check = never
) -> tuple[MethodSettings, Learned]:
    """Lengthscale, variance and noise of highest evidence for GPDR, as settings."""
    subjects = prepared.subjects
    low, high = range_of(subjects)
    span = float(np.median(high - low))
    result = learn(
        settings.regression((subjects.columns[0],)) if len(subjects.columns) == 1 else _shared(settings, subjects),
        prepared.base, subjects.outcomes, subjects.covariates, spans=(span,), check=check,
    )  # fmt: skip
    term = result.spec.kernel.terms[0]
    scale = term.factors[0].lengthscales[0]
    learned = replace(settings, lengthscale=scale, variance=term.scale, noise=result.spec.noise, noise_by="given")
    return learned, result


def _shared(settings: MethodSettings, subjects: Subjects) -> RegressionSpec:
    """One lengthscale for all columns."""
    spec = settings.regression(subjects.columns)
    term = spec.kernel.terms[0]
    factor = replace(term.factors[0], lengthscales=(settings.lengthscale,))
    return replace(spec, kernel=replace(spec.kernel, terms=(replace(term, factors=(factor,)),)))


def ridges(subjects: Subjects, count: int = _RIDGES) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grid (g,), densities (k, g) of the first column and indices (k,) of subjects spread over the outcome's ranks."""
    order = np.argsort(subjects.outcomes.numpy(force=True), kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, count).round().astype(int))]
    rows = [np.flatnonzero(subjects.owner.numpy(force=True) == index) for index in chosen]
    values = subjects.measures[:, 0].numpy(force=True)
    few = make_subjects(
        np.concatenate([values[held] for held in rows]), np.repeat(np.arange(len(rows)), [len(held) for held in rows]),
        np.arange(len(rows), dtype=float),
    )  # fmt: skip
    sums = DensitySums(few)
    grid, weights = sums.grid.numpy(force=True), sums.weights.numpy(force=True)
    pad = 0.03 * max(float(np.ptp(values)), 1e-12)
    inside = (grid >= values.min() - pad) & (grid <= values.max() + pad)
    thin = max(1, int(inside.sum()) // 240)
    density = weights / (grid[1] - grid[0])
    return grid[inside][::thin], density[:, inside][:, ::thin], chosen


def find_link(prepared: Prepared, settings: MethodSettings, rank: int) -> tuple[SingleIndex, np.ndarray, np.ndarray]:
    """The single-index regression started at the linear one, and the linear one's fitted and left-out values (n,)."""
    subjects = prepared.subjects
    spec = replace(settings.regression(subjects.columns), intercept=True)
    plain = fit(spec, prepared.base, subjects.outcomes, subjects.covariates[:, :0])
    start = plain.gram @ plain.dual
    single_index = fit_single_index(plain.gram, subjects.outcomes, start - start.mean(), rank)
    return single_index, plain.fitted()[0].numpy(force=True), plain.left_out().numpy(force=True)
