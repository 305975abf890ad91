"""Pixels outside an archive that covers only part of a region: its climatology carried on, anomalies by the kernel.

Each coefficient c of the climatology is universal kriging from the cells of the whole region and some pixels of the
archive,

    c(x) = f(x)ᵀβ + g(x),      g ~ N(0, s² k),

with a constant and the covariates f, and the kernel k of the anomalies. Anomalies have the gain of the kernel alone.
The variance is that of both, times the ratio λ of squared errors to it: each quarter of the archive's area is predicted
from the others as if it lay outside. Errors of the coefficients are the same at all times. Cells that the archive
covers in part have their coarse values.
Source: Chilès and Delfiner 2012, *Geostatistics*, chapter 3.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.downscaling.starting import coordinate_names
from deconditioning.errors import Check, never
from deconditioning.fields.grids.sphere import unit_vectors
from deconditioning.kernels.families.draws import normal
from deconditioning.kernels.tiles import evaluate
from deconditioning.period.archive.gain import NOISE, Anomalies, CoarseSide, Gain, Mixture
from deconditioning.period.archive.setting import Setting, weights_of_targets
from deconditioning.period.joint import ErrorsOfCoefficients, kernel_draws

#: Pixels of the archive that the climatology is carried on from.
_POINTS = 1500
_KERNEL = Mixture(0.0, None)


@dataclass(frozen=True, eq=False)
class Beyond:
    """Some pixels outside: their ``climate`` (h, p), the mean over the training period of its ``variance`` (p,), and
    the kernel's covariance ``cross`` (M, p) with coarse values and ``prior`` (p,) variance, in units of the setting.
    """

    climate: Float[Tensor, "h p"]
    variance: Float[Tensor, " p"]
    cross: Float[Tensor, "M p"]
    prior: Float[Tensor, " p"]

    def of(self, chosen: Int[Tensor, " m"]) -> "Beyond":
        """The same pixels and some of the coarse values."""
        return replace(self, cross=self.cross[chosen])


@dataclass(frozen=True, eq=False)
class Outside:
    """The ``pixels`` outside the archive, the ``scale`` s² of the kernel, and the ``ratio`` λ."""

    setting: Setting
    pixels: Int[np.ndarray, " b"]
    scale: float
    kriging: "_Kriging"
    ratio: float

    @staticmethod
    def of(setting: Setting, scale: float, check: Check) -> "Outside | None":
        """None if the archive covers the region. Raises ``Cancelled``."""
        if not setting.training.covers_part:
            return None
        known, rng = np.flatnonzero(setting.training.known), np.random.default_rng(0)
        points = np.sort(rng.choice(known, min(_POINTS, len(known)), replace=False))
        ratio = _ratio(setting, scale, points, check)
        return Outside(
            setting, np.flatnonzero(~setting.training.known), scale, _Kriging.of(setting, points, check), ratio
        )

    def tiles(self, check: Check) -> Iterator[tuple[np.ndarray, Beyond]]:
        """All pixels outside, a few at a time."""
        for pixels, cross, prior in self.setting.sums_at(self.pixels, check):
            yield pixels, self.kriging.at(self.setting, pixels, cross, prior)

    def usual(self, beyond: Beyond) -> tuple[Float[Tensor, " p"], Float[Tensor, " p"]]:
        """Mean and sd of some pixels over the training period: those of the climatology, and the kernel's variance."""
        design = torch.as_tensor(self.setting.coarse.design).to(beyond.climate)
        climate = design @ beyond.climate
        return climate.mean(0), (climate.var(0, correction=0) + self.scale * beyond.prior).sqrt()

    def with_cell_means(self, means: Float[np.ndarray, "T H W"]) -> Float[np.ndarray, "T H W"]:
        """The means of the series with the pixels of each cell that the archive covers in part moved alike, so that
        the cell has its coarse value.
        """
        series, problem = self.setting.series, self.setting.series.problem
        known = problem.on_grid(self.setting.training.known.astype(float)) == 1
        covered, total = problem.shares.valid_area(known, problem.grid.area)
        cut = (covered > 1e-6 * total) & (covered < (1 - 1e-6) * total) & problem.observed.ravel()
        aims = np.where(cut, series.coarse, np.nan)
        return np.stack([
            problem.shares.with_means(mean, aim, problem.grid.area, problem.cell)
            for mean, aim in zip(means, aims, strict=True)
        ])  # fmt: skip

    def gain(self, coarse: CoarseSide, beyond: Beyond) -> Gain:
        """The gain of some pixels from the coarse values of ``coarse``, its variance that of climatology and anomalies
        times λ.
        """
        gain = kernel_gain(coarse, beyond, self.scale)
        return Gain(gain.known, gain.weights, self.ratio * (gain.variance + beyond.variance))

    @property
    def lasting(self) -> ErrorsOfCoefficients:
        """The errors of the climatology at the times of the series."""
        basis = self.setting.seasons.design(self.setting.series.dates) * self.kriging.scales.sqrt().cpu().numpy()
        return ErrorsOfCoefficients(basis / np.linalg.norm(basis, axis=1, keepdims=True), self._climate_errors)

    def _climate_errors(
        self, count: int, generator: torch.Generator
    ) -> tuple[Float[Tensor, " P"], Float[Tensor, "count h P"]]:
        """The share of the climatology's errors in the variance, and errors of its coefficients over their sd, ``g(x) −
        w(x)ᵀ(g + e)`` with the weights w of the kriging.
        """
        setting, kriging, columns = self.setting, self.kriging, count * len(self.kriging.scales)
        problem = setting.series.problem
        prior, means = (each.to(kriging.dual) for each in kernel_draws(setting.spec, problem, columns, generator))
        weights, noise = weights_of_targets(setting.spec, problem, setting.sums)
        root = linalg.root(noise, "noise of the cells")
        cells = weights.T @ means + root @ normal((len(noise), columns), generator).to(root)
        known = torch.cat([cells, prior[torch.as_tensor(kriging.points)]])
        known += math.sqrt(kriging.noise) * normal(tuple(known.shape), generator).to(known)
        share, result = torch.zeros(len(prior)).double(), torch.zeros(columns, len(prior), dtype=torch.float64)
        for pixels, cross, variance in setting.sums_at(self.pixels, never):
            at = torch.as_tensor(pixels)
            v, _, off = kriging.beside(setting, pixels, cross)
            own = kriging.variance(v, off, variance).clamp_min(1e-24)
            left = prior[at] - kriging.weights(v, off).T @ known
            result[:, at] = (left / own.sqrt()[:, None]).T.cpu()
            beyond = kriging.at(setting, pixels, cross, variance)
            stated = kernel_gain(setting.coarse, beyond, self.scale).variance + beyond.variance
            share[at] = (beyond.variance / stated).cpu()
        return share, result.reshape(-1, count, len(prior)).transpose(0, 1)


def kernel_gain(coarse: CoarseSide, beyond: Beyond, scale: float) -> Gain:
    """The gain of the kernel alone, with the variance that it states; ``scale`` is s²."""
    shared, used = coarse.anomalies(np.arange(len(coarse.z))), coarse.used(_KERNEL)
    cross, weights = scale * beyond.cross, torch.zeros_like(beyond.cross)
    weights[used] = shared.factor(coarse, _KERNEL, scale).solve(cross[used])
    variance = (scale * beyond.prior - (weights * cross).sum(0)).clamp_min(1e-12)
    return Gain(Anomalies(beyond.climate, beyond.climate[:0], shared), weights, variance)


@dataclass(frozen=True, eq=False)
class _Kriging:
    """Universal kriging of the coefficients from n data: cells and ``points``.

    ``dual`` (n, h) is ``V⁻¹(d − Fβ)``, ``slopes`` β (q, h), ``drift`` (n, q) ``V⁻¹F``, ``spread`` (q, q)
    ``(FᵀV⁻¹F)⁻¹``, ``scales`` s_k² (h,), ``share`` the mean over the training period of ``Σ_k h_k(t)² s_k²``, and
    ``noise`` the variance on the diagonal of V that keeps it regular.
    """

    points: np.ndarray
    factor: linalg.Factor
    dual: Float[Tensor, "n h"]
    slopes: Float[Tensor, "q h"]
    drift: Float[Tensor, "n q"]
    spread: Float[Tensor, "q q"]
    scales: Float[Tensor, " h"]
    share: float
    noise: float

    @staticmethod
    def of(setting: Setting, points: np.ndarray, check: Check) -> "_Kriging":
        """From all cells and some pixels of the archive."""
        shared, cells = setting.coarse.anomalies(np.arange(len(setting.training))), ~setting.coarse.is_predictor
        y = torch.as_tensor(setting.training.at(points) / setting.unit).to(cells.device)
        data = torch.cat([shared.projector @ setting.coarse.truth[:, cells], shared.projector @ y], dim=1).T
        cross = torch.cat([each for _, each, _ in setting.sums_at(points, check)], dim=1)[cells]
        within = torch.cat([cross, _kernel(setting, points, points)])
        covariance = torch.cat([torch.cat([setting.coarse.gram[cells][:, cells], cross.T]), within], dim=1)
        noise = NOISE * float(covariance.diagonal().mean())
        covariance = covariance + noise * linalg.identity(len(covariance), covariance)
        factor = linalg.cholesky(covariance, "covariance of the climatology")
        design = torch.cat([_of_cells(setting), _columns(setting, points)]).to(data)
        trend = factor.solve(design)
        normal = (design.T @ trend).cpu().numpy()
        spread = torch.as_tensor(np.linalg.pinv(normal, hermitian=True)).to(data)  # covariates may be collinear
        slopes = spread @ (trend.T @ data)
        dual = factor.solve(data - design @ slopes)
        scale = (dual * (data - design @ slopes)).sum(0) / (len(data) - design.shape[1])
        share = float((shared.design.square().mean(0) * scale).sum())
        return _Kriging(points, factor, dual, slopes, trend, spread, scale, share, noise)

    def at(
        self, setting: Setting, pixels: np.ndarray, cross: Float[Tensor, "M p"], prior: Float[Tensor, " p"]
    ) -> Beyond:  # fmt: skip
        """The climatology of some pixels."""
        v, f, off = self.beside(setting, pixels, cross)
        climate = self.slopes.T @ f + self.dual.T @ v
        return Beyond(climate, self.share * self.variance(v, off, prior), cross, prior)

    def beside(
        self, setting: Setting, pixels: np.ndarray, cross: Float[Tensor, "M p"]
    ) -> tuple[Float[Tensor, "n p"], Float[Tensor, "q p"], Float[Tensor, "q p"]]:
        """The covariance v of some pixels with the data, f, and ``f − FᵀV⁻¹v``."""
        v = torch.cat([cross[~setting.coarse.is_predictor], _kernel(setting, self.points, pixels)])
        f = _columns(setting, pixels).to(v).T
        return v, f, f - self.drift.T @ v

    def weights(self, v: Float[Tensor, "n p"], off: Float[Tensor, "q p"]) -> Float[Tensor, "n p"]:
        """Those of the data."""
        return self.factor.solve(v) + self.drift @ (self.spread @ off)

    def variance(
        self, v: Float[Tensor, "n p"], off: Float[Tensor, "q p"], prior: Float[Tensor, " p"]
    ) -> Float[Tensor, " p"]:
        """The variance of the errors, for s_k² = 1."""
        variance = prior - (v * self.factor.solve(v)).sum(0) + (off * (self.spread @ off)).sum(0)
        return variance.clamp_min(0)


def _ratio(setting: Setting, scale: float, points: np.ndarray, check: Check) -> float:
    """λ: squared errors over variances where each quarter of the points is predicted from the others."""
    squares, stated = 0.0, 0.0
    for inside in _quarters(setting, points):
        kriging = _Kriging.of(setting, points[~inside], check)
        for pixels, cross, prior in setting.sums_at(points[inside], check):
            beyond = kriging.at(setting, pixels, cross, prior)
            gain = kernel_gain(setting.coarse, beyond, scale)
            y = torch.as_tensor(setting.training.at(pixels) / setting.unit).to(cross.device)
            squares += float((y - gain.mean(setting.coarse.design, setting.coarse.seen)).square().mean(0).sum())
            stated += float((gain.variance + beyond.variance).sum())
    return squares / stated


def _quarters(setting: Setting, points: np.ndarray) -> list[np.ndarray]:
    """Masks of the points in each of four parts of their area with equally many points."""
    grid, pixel = setting.series.problem.grid, setting.series.problem.pixel[points]
    places = unit_vectors(grid.latitude.flat[pixel], grid.longitude.flat[pixel])
    along = np.linalg.svd(places - places.mean(0), full_matrices=False)[0][:, :2]
    first = along[:, 0] > np.median(along[:, 0])
    halves = [first, ~first]
    return [
        half & (side == (along[:, 1] > np.median(along[half, 1]))) for half in halves for side in (True, False)
    ]  # fmt: skip


def _kernel(setting: Setting, left: np.ndarray, right: np.ndarray) -> Float[Tensor, "l r"]:
    """Kernel matrix between pixels."""
    problem, device = setting.series.problem, setting.coarse.z.device
    kernel = setting.spec.kernel.build(problem.columns).to(device)
    with torch.no_grad():
        return evaluate(kernel, *(problem.inputs[torch.as_tensor(each)].to(device) for each in (left, right)))


def _columns(setting: Setting, pixels: np.ndarray) -> Float[Tensor, "p q"]:
    """A constant and the covariates of pixels."""
    problem = setting.series.problem
    covariates = [n for n, name in enumerate(problem.columns) if name not in coordinate_names(problem)]
    chosen = problem.inputs[torch.as_tensor(pixels)][:, covariates]
    return torch.cat([torch.ones(len(pixels), 1).to(chosen), chosen], dim=1)


def _of_cells(setting: Setting) -> Float[Tensor, "M q"]:
    """Means over the cells of a constant and the covariates."""
    problem = setting.series.problem
    columns = _columns(setting, np.arange(len(problem.pixel))).numpy().T
    means = [problem.shares.mean(problem.on_grid(row), problem.grid.area)[problem.target_cell] for row in columns]
    return torch.as_tensor(np.stack(means, axis=1))
