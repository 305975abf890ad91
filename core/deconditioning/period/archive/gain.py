"""The gain from coarse to fine anomalies: the archive's covariance, tapered, mixed with a kernel's.

With the climatology taken out of fine values, ``r = y − Hc``, and out of coarse ones, ``a = z − Hc_z``,

    cov(r(x), a_j) = w (rᵀa/N)(x, j) ρ(cell(x), j) + (1 − w) s² c_j(x),      ρ = exp(−½ (d/L)²),

and likewise between coarse values, with the bag sums c of a kernel and the distance d between cells. The taper is
constant inside a cell, so that the cell means of the posterior mean remain the coarse values. Coarse values may be
those of another model: its own climatology is taken out of them, so that a bias of this climatology has no effect, and
their anomalies are multiplied by the slope of the archive's cell means on them, cell by cell; what these then differ by
is noise of the kernel's part. Predictors, coarse values of other variables, join them through the archive's covariance;
in the kernel's part they are noise of their own variance. Coarse values whose errors are known have the variance of
these, times the square of the slope, added to theirs.
Source: Houtekamer and Mitchell 2001, *Monthly Weather Review* 129 (tapering); Hamill and Snyder 2000, *ibid.* 128 (the
mixture).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from deconditioning import linalg

#: Added to the diagonal of the coarse anomalies' covariance, as a share of its mean.
NOISE = 1e-4
#: Sets of training times whose coarse anomalies are kept, and their bytes beyond which only two are.
_SETS, _SETS_BYTES = 12, 500_000_000


@dataclass(frozen=True)
class Mixture:
    """``share`` w of the archive's covariance, tapered over ``reach`` L cells, None for no taper, and whether it uses
    ``predictors``.
    """

    share: float
    reach: float | None
    predictors: bool = False

    @property
    def words(self) -> str:
        """Such as "0.75 archive, tapered over 4 cells"."""
        tapered = "" if self.reach is None else f", tapered over {self.reach:g} cells"
        return f"{self.share:g} archive{tapered}{', with predictors' if self.predictors else ''}"


@dataclass(frozen=True, eq=False)
class CoarseAnomalies:
    """The climatology ``coefficients`` (h, M) of the coarse values from some times, their anomalies ``a`` (n, M) times
    ``slope`` (M,), and the degrees of freedom; ``noise`` (M,) is the variance of the archive's cell means about ``a``,
    and that of ``a`` itself for predictors. ``projector`` (h, n) gives the coefficients of other values at these times.
    """

    design: Float[Tensor, "n h"]
    projector: Float[Tensor, "h n"]
    coefficients: Float[Tensor, "h M"]
    a: Float[Tensor, "n M"]
    slope: Float[Tensor, " M"]
    noise: Float[Tensor, " M"]
    covariance: Float[Tensor, "M M"]
    freedom: int
    _factors: "dict[tuple[Mixture, float], linalg.Factor]" = field(default_factory=dict, init=False, repr=False)

    def at(self, design: np.ndarray, z: Float[Tensor, "t M"]) -> Float[Tensor, "t M"]:
        """The anomalies, times ``slope``, of coarse values at times with a ``design`` (t, h)."""
        return (z - torch.as_tensor(design).to(z) @ self.coefficients) * self.slope

    def of(self, chosen: Int[Tensor, " m"]) -> "CoarseAnomalies":
        """Some of the coarse values."""
        return replace(
            self, coefficients=self.coefficients[:, chosen], a=self.a[:, chosen], slope=self.slope[chosen],
            noise=self.noise[chosen], covariance=self.covariance[chosen][:, chosen],
        )  # fmt: skip

    def mixed(self, coarse: "CoarseSide", mixture: Mixture, scale: float) -> Float[Tensor, "m m"]:
        """The covariance in a mixture of the coarse anomalies that it looks at; ``scale`` is s²."""
        w, used = mixture.share, coarse.used(mixture)
        kernel = scale * coarse.gram + torch.diag(self.noise)
        gram = w * self.covariance * coarse.taper(mixture, coarse.cell) + (1 - w) * kernel
        return gram[used][:, used]

    def factor(self, coarse: "CoarseSide", mixture: Mixture, scale: float) -> linalg.Factor:
        """The factor of this covariance, the latest one kept."""
        if (mixture, scale) not in self._factors:
            gram, used = self.mixed(coarse, mixture, scale), coarse.used(mixture)
            errors = None if coarse.errors is None else coarse.errors[used]
            self._factors.clear()
            self._factors[mixture, scale] = _factor(gram, errors, self.own(coarse)[used])
        return self._factors[mixture, scale]

    def own(self, coarse: "CoarseSide") -> Float[Tensor, " M"]:
        """Variances of the errors that the anomalies ``a`` have from the errors of the coarse values, 0 without any."""
        return torch.zeros_like(self.slope) if coarse.own is None else self.slope.square() * coarse.own.variance


@dataclass(frozen=True, eq=False)
class CellErrors:
    """Variances (M,) of the errors of coarse values that those of the training period do not have, and errors ``drawn``
    (N, M) with these variances, which left-out times have in place of them.
    """

    variance: Float[Tensor, " M"]
    drawn: Float[Tensor, "N M"]

    def of(self, chosen: Int[Tensor, " m"]) -> "CellErrors":
        """Those of some of the coarse values."""
        return CellErrors(self.variance[chosen], self.drawn[:, chosen])


@dataclass(frozen=True, eq=False)
class CoarseSide:
    """What all pixels share.

    ``design`` (N, h), coarse values ``z`` (N, M) and the archive's means over the same cells, ``truth`` (N, M), of the
    training period; the kernel's covariance of coarse values ``gram`` (M, M); the coarse ``cell`` (M,) of each, and the
    ``distance`` (C, C) between all coarse cells in cell widths. Some may be predictors, ``is_predictor`` (M,): their
    ``truth`` is ``z``, and their rows of ``gram`` are 0. Measurements may be behind them: then all have
    ``errors`` of these variances (M,), in place of `NOISE`, and ``carried`` (M, q) times standard Gaussians, what is
    uncertain in effects that all times share and has been subtracted; both are None without any. ``own`` are the errors
    of the coarse values themselves.
    """

    design: np.ndarray
    z: Float[Tensor, "N M"]
    truth: Float[Tensor, "N M"]
    gram: Float[Tensor, "M M"]
    cell: Int[Tensor, " M"]
    distance: Float[Tensor, "C C"]
    is_predictor: Bool[Tensor, " M"]
    errors: Float[Tensor, " M"] | None = None
    carried: Float[Tensor, "M q"] | None = None
    own: CellErrors | None = None
    _whole: "tuple[CoarseSide, Tensor | None] | None" = field(default=None, init=False, repr=False)
    _sets: dict[bytes, CoarseAnomalies] = field(default_factory=dict, init=False, repr=False)

    @property
    def seen(self) -> Float[Tensor, "N M"]:
        """The coarse values of the training period as they would be with their own errors."""
        return self.z if self.own is None else self.z + self.own.drawn

    def used(self, mixture: Mixture) -> Int[Tensor, " m"]:
        """Places of the coarse values that a mixture looks at."""
        return torch.nonzero(~self.is_predictor | mixture.predictors)[:, 0]

    def taper(self, mixture: Mixture, cells: Int[Tensor, " c"]) -> Float[Tensor, "c M"]:
        """ρ between some coarse cells and those with coarse values."""
        distance = self.distance[cells][:, self.cell]
        return torch.ones_like(distance) if mixture.reach is None else torch.exp(-0.5 * (distance / mixture.reach) ** 2)

    def of(self, chosen: Int[Tensor, " m"]) -> "CoarseSide":
        """Some of the coarse values."""
        result = replace(
            self,
            z=self.z[:, chosen],
            truth=self.truth[:, chosen],
            gram=self.gram[chosen][:, chosen],
            cell=self.cell[chosen],
            is_predictor=self.is_predictor[chosen],
            errors=None if self.errors is None else self.errors[chosen],
            carried=None if self.carried is None else self.carried[chosen],
            own=None if self.own is None else self.own.of(chosen),
        )
        object.__setattr__(result, "_whole", (self, chosen))
        return result

    def with_errors(self, errors: Float[Tensor, " M"], carried: Float[Tensor, "M q"]) -> "CoarseSide":
        """The same coarse values with errors of measurements."""
        result = replace(self, errors=errors, carried=carried)
        object.__setattr__(result, "_whole", (self, torch.arange(len(self.cell), device=self.cell.device)))
        return result

    def with_own(self, variance: Float[Tensor, " M"] | None) -> "CoarseSide":
        """The same coarse values with other variances of their own errors."""
        if variance is None or self.own is None or torch.equal(variance, self.own.variance):
            return self
        result = replace(self, own=replace(self.own, variance=variance))
        object.__setattr__(result, "_whole", (self, None))
        return result

    def some(self, chosen: Int[Tensor, " m"]) -> "CoarseSide":
        """The same where all coarse values are chosen, else some of them."""
        return self if len(chosen) == len(self.cell) else self.of(chosen)

    def anomalies(self, rows: np.ndarray) -> CoarseAnomalies:
        """Climatology and anomalies of the training times ``rows``, which all pixels share; the latest are kept."""
        key = np.asarray(rows).tobytes()
        if key not in self._sets:
            if self._whole is not None:
                known, chosen = self._whole[0].anomalies(rows), self._whole[1]
                return replace(known) if chosen is None else known.of(chosen)
            each = 8 * self.z.shape[1] * (self.z.shape[1] + len(rows))
            while self._sets and len(self._sets) >= max(2, min(_SETS, _SETS_BYTES // each)):
                self._sets.pop(next(iter(self._sets)))
            self._sets[key] = _coarse_anomalies(self, rows)
        return self._sets[key]


@dataclass(frozen=True)
class FineSide:
    """Some pixels: ``y`` (N, p) of the training period, the kernel's covariance ``cross`` (M, p) with coarse values and
    ``prior`` (p,) variance, and the coarse ``cell`` (p,) that each lies in or is nearest to.
    """

    y: Float[Tensor, "N p"]
    cross: Float[Tensor, "M p"]
    prior: Float[Tensor, " p"]
    cell: Int[Tensor, " p"]

    def of(self, chosen: Int[Tensor, " m"]) -> "FineSide":
        """The same pixels and some of the coarse values."""
        return replace(self, cross=self.cross[chosen])


@dataclass(frozen=True)
class Anomalies:
    """A climatology from some times: coefficients ``fine`` (h, p) of some pixels, what is left of their values, ``r``
    (n, p), and the ``coarse`` side of the same times.
    """

    fine: Float[Tensor, "h p"]
    r: Float[Tensor, "n p"]
    coarse: CoarseAnomalies


def _coarse_anomalies(coarse: CoarseSide, rows: np.ndarray) -> CoarseAnomalies:
    columns, device = coarse.design[rows], coarse.z.device
    inverse = np.linalg.pinv(columns, rcond=len(rows) * np.finfo(float).eps)
    design, projector = torch.as_tensor(columns).to(device), torch.as_tensor(inverse).to(device)
    coefficients = projector @ coarse.z[rows]
    left = coarse.z[rows] - design @ coefficients
    truth = coarse.truth[rows] - design @ (projector @ coarse.truth[rows])
    slope = (left * truth).sum(0) / left.square().sum(0).clamp_min(1e-30)
    freedom = max(1, len(rows) - design.shape[1])
    noise = torch.where(coarse.is_predictor, left, truth - slope * left).square().sum(0) / freedom
    a = slope * left
    return CoarseAnomalies(design, projector, coefficients, a, slope, noise, a.T @ a / freedom, freedom)


def anomalies(coarse: CoarseSide, fine: FineSide, rows: np.ndarray) -> Anomalies:
    """Climatology and anomalies of the training times ``rows``."""
    shared, y = coarse.anomalies(rows), fine.y[rows]
    of_y = shared.projector @ y
    return Anomalies(of_y, y - shared.design @ of_y, shared)


def kernel_scale(coarse: CoarseSide, fine: FineSide, known: Anomalies) -> float:
    """s²: mean squared error of predicting fine anomalies by the kernel alone over the mean variance it states."""
    gain = _factor(coarse.gram).solve(fine.cross)
    stated = (fine.prior - (gain * fine.cross).sum(0)).clamp_min(0).mean()
    return float((known.r - known.coarse.a @ gain).square().mean() / stated)


@dataclass(frozen=True)
class Gain:
    """``weights`` (M, p) of the coarse anomalies, and the ``variance`` (p,) that they leave."""

    known: Anomalies
    weights: Float[Tensor, "M p"]
    variance: Float[Tensor, " p"]

    def mean(self, design: np.ndarray, z: Float[Tensor, "t M"]) -> Float[Tensor, "t p"]:
        """``Hc + (z − Hc_z) b G``, the fine values of other times."""
        climate = torch.as_tensor(design).to(z.device) @ self.known.fine
        return climate + self.known.coarse.at(design, z) @ self.weights


def gains(
    coarse: CoarseSide, fine: FineSide, known: Anomalies, scale: float, mixtures: Sequence[Mixture]
) -> Iterator[Gain]:
    """The gain of each mixture; ``scale`` is s²."""
    shared = known.coarse
    of_r, variance_of_archive = shared.a.T @ known.r / shared.freedom, known.r.square().sum(0) / shared.freedom
    for mixture in mixtures:
        w, used = mixture.share, coarse.used(mixture)
        cross = w * of_r * coarse.taper(mixture, fine.cell).T + (1 - w) * scale * fine.cross
        weights = torch.zeros_like(cross)
        weights[used] = shared.factor(coarse, mixture, scale).solve(cross[used])
        variance = w * variance_of_archive + (1 - w) * scale * fine.prior - (weights * cross).sum(0)
        if coarse.carried is not None:
            variance = variance + (coarse.carried.T @ weights).square().sum(0)
        yield Gain(known, weights, variance.clamp_min(1e-12))


def _factor(
    gram: Float[Tensor, "M M"], errors: Float[Tensor, " M"] | None = None, own: Float[Tensor, " M"] | float = 0.0
) -> linalg.Factor:  # fmt: skip
    noise = (NOISE * gram.diagonal().mean()).expand(len(gram)) if errors is None else errors
    return linalg.cholesky(gram + torch.diag(noise + own), "covariance of the coarse anomalies")
