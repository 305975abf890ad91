"""The gain from coarse to fine anomalies: the archive's covariance, tapered, mixed with a kernel's.

With the climatology taken out of fine values, ``r = y − Hc``, and out of coarse ones, ``a = z − Hc_z``,

    cov(r(x), a_j) = w (rᵀa/N)(x, j) ρ(cell(x), j) + (1 − w) s² c_j(x),      ρ = exp(−½ (d/L)²),

and likewise between coarse values, with the bag sums c of a kernel and the distance d between cells. The taper is
constant inside a cell, so that the cell means of the posterior mean remain the coarse values. Coarse values may be
those of another model: its own climatology is taken out of them, so that a bias of this climatology has no effect, and
their anomalies are multiplied by the slope of the archive's cell means on them, cell by cell; what these then differ by
is noise of the kernel's part. Predictors, coarse values of other variables, join them through the archive's covariance;
in the kernel's part they are noise of their own variance.
Source: Houtekamer and Mitchell 2001, *Monthly Weather Review* 129 (tapering); Hamill and Snyder 2000, *ibid.* 128 (the
mixture).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from deconditioning import linalg

#: Added to the diagonal of the coarse anomalies' covariance, as a share of its mean.
NOISE = 1e-4


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


@dataclass(frozen=True)
class CoarseSide:
    """What all pixels share.

    ``design`` (N, h), coarse values ``z`` (N, M) and the archive's means over the same cells, ``truth`` (N, M), of the
    training period; the kernel's covariance of coarse values ``gram`` (M, M); the coarse ``cell`` (M,) of each, and the
    ``distance`` (C, C) between all coarse cells in cell widths. Some may be predictors, ``is_predictor`` (M,): their
    ``truth`` is ``z``, and their rows of ``gram`` are 0.
    """

    design: np.ndarray
    z: Float[Tensor, "N M"]
    truth: Float[Tensor, "N M"]
    gram: Float[Tensor, "M M"]
    cell: Int[Tensor, " M"]
    distance: Float[Tensor, "C C"]
    is_predictor: Bool[Tensor, " M"]

    def used(self, mixture: Mixture) -> Int[Tensor, " m"]:
        """Places of the coarse values that a mixture looks at."""
        return torch.nonzero(~self.is_predictor | mixture.predictors)[:, 0]

    def taper(self, mixture: Mixture) -> Float[Tensor, "C M"]:
        """ρ between every coarse cell and those with coarse values."""
        distance = self.distance[:, self.cell]
        return torch.ones_like(distance) if mixture.reach is None else torch.exp(-0.5 * (distance / mixture.reach) ** 2)

    def of(self, chosen: Int[Tensor, " m"]) -> "CoarseSide":
        """Some of the coarse values."""
        return replace(
            self,
            z=self.z[:, chosen],
            truth=self.truth[:, chosen],
            gram=self.gram[chosen][:, chosen],
            cell=self.cell[chosen],
            is_predictor=self.is_predictor[chosen],
        )


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
    """A climatology from some times: coefficients of the ``fine`` (h, p) and ``coarse`` (h, M) values, what is left of
    these, ``r`` (n, p) and ``a`` (n, M), the latter times ``slope`` (M,), and its degrees of freedom; ``noise`` (M,) is
    the variance of the archive's cell means about ``a``, and that of ``a`` itself for predictors.
    """

    fine: Float[Tensor, "h p"]
    coarse: Float[Tensor, "h M"]
    r: Float[Tensor, "n p"]
    a: Float[Tensor, "n M"]
    slope: Float[Tensor, " M"]
    noise: Float[Tensor, " M"]
    freedom: int


def anomalies(coarse: CoarseSide, fine: FineSide, rows: np.ndarray) -> Anomalies:
    """Climatology and anomalies of the training times ``rows``."""
    design, values = coarse.design[rows], torch.cat([coarse.z[rows], coarse.truth[rows], fine.y[rows]], dim=1)
    coefficients = torch.as_tensor(np.linalg.lstsq(design, values.cpu().numpy(), rcond=None)[0]).to(values.device)
    left = values - torch.as_tensor(design).to(values.device) @ coefficients
    sizes = [coarse.z.shape[1], coarse.z.shape[1], fine.y.shape[1]]
    (a, truth, r), (of_z, _, of_y) = left.split(sizes, dim=1), coefficients.split(sizes, dim=1)
    slope = (a * truth).sum(0) / a.square().sum(0).clamp_min(1e-30)
    freedom = max(1, len(rows) - design.shape[1])
    noise = torch.where(coarse.is_predictor, a, truth - slope * a).square().sum(0) / freedom
    return Anomalies(of_y, of_z, r, slope * a, slope, noise, freedom)


def kernel_scale(coarse: CoarseSide, fine: FineSide, known: Anomalies) -> float:
    """s²: mean squared error of predicting fine anomalies by the kernel alone over the mean variance it states."""
    gain = _factor(coarse.gram).solve(fine.cross)
    stated = (fine.prior - (gain * fine.cross).sum(0)).clamp_min(0).mean()
    return float((known.r - known.a @ gain).square().mean() / stated)


@dataclass(frozen=True)
class Gain:
    """``weights`` (M, p) of the coarse anomalies, and the ``variance`` (p,) that they leave."""

    known: Anomalies
    weights: Float[Tensor, "M p"]
    variance: Float[Tensor, " p"]

    def mean(self, design: np.ndarray, z: Float[Tensor, "t M"]) -> Float[Tensor, "t p"]:
        """``Hc + (z − Hc_z) b G``, the fine values of other times."""
        columns = torch.as_tensor(design).to(z.device)
        anomaly = (z - columns @ self.known.coarse) * self.known.slope
        return columns @ self.known.fine + anomaly @ self.weights


def gains(
    coarse: CoarseSide, fine: FineSide, known: Anomalies, scale: float, mixtures: Sequence[Mixture]
) -> list[Gain]:
    """The gain of each mixture; ``scale`` is s²."""
    of_a, of_r = known.a.T @ known.a / known.freedom, known.a.T @ known.r / known.freedom
    variance_of_archive, result = known.r.square().sum(0) / known.freedom, []
    for mixture in mixtures:
        w, taper = mixture.share, coarse.taper(mixture)
        kernel, used = scale * coarse.gram + torch.diag(known.noise), coarse.used(mixture)
        gram = w * of_a * taper[coarse.cell] + (1 - w) * kernel
        cross = w * of_r * taper[fine.cell].T + (1 - w) * scale * fine.cross
        weights = torch.zeros_like(cross)
        weights[used] = _factor(gram[used][:, used]).solve(cross[used])
        variance = w * variance_of_archive + (1 - w) * scale * fine.prior - (weights * cross).sum(0)
        result.append(Gain(known, weights, variance.clamp_min(1e-12)))
    return result


def _factor(gram: Float[Tensor, "M M"]) -> linalg.Factor:
    identity = linalg.identity(len(gram), gram)
    return linalg.cholesky(gram + NOISE * gram.diagonal().mean() * identity, "covariance of the coarse anomalies")
