"""Cells that are missing at some times of a series with an archive, linked with those before and after.

The anomalies of the cells have the covariance S of the mixture that makes those of left-out times likeliest
(`left_out.choose_for_cells`), with the patterns U and the variances λ₁ ≥ λ₂ ≥ …, ``S = U diag(λ) Uᵀ``. The amplitude of
each pattern is a Markov chain, and large patterns last longer:

    a_t = U diag(√λ) v_t,      corr(v_jt, v_js) = exp(−|t − s|/τ_j),      τ_j = τ (λ_j/λ₁)^β.

τ and β are those of the largest evidence of the training period, whose cells are complete, with S held. Given the cells
of a time, a pixel depends on no other time. So with the moments û_t and V_t of the cells given those of all times
(`space_time.smoothed_chain`), and the gain G and the sd of all cells,

    mean_t(x) = climatology + G(x)ᵀ û_t,      sd_t²(x) = sd²(x) + μ G(x)ᵀ V_t G(x).

μ is the mean squared error of û over the mean of V when each part of the training period is predicted from the others,
with the cells missing that the series lacks. Complete times are those of each time by itself.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.optimize import minimize
from torch import Tensor

from deconditioning import linalg
from deconditioning.errors import Check, InputError, never
from deconditioning.period.archive.gain import FineSide, Gain
from deconditioning.period.archive.left_out import Choice, Method, error_ratio, folds, gaussian_crps, spread_of
from deconditioning.period.archive.setting import Setting
from deconditioning.period.correlation import days_of
from deconditioning.period.joint import Residuals
from deconditioning.period.linking.cells import BOUNDS, MARGIN, START, Lasting, most_missing, worth_trying
from deconditioning.period.space_time import Chain, Filtered, drawn_chain, smoothed_chain


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns of S: the ``used`` coarse values (m,) that the mixture looks at, the variances ``values`` λ (m,) and
    the ``loading`` U diag(√λ) (m, m); ``coefficients`` (h, m) and ``slope`` (m,) as `CoarseAnomalies` has them.
    """

    used: Int[Tensor, " m"]
    values: Float[Tensor, " m"]
    loading: Float[Tensor, "m m"]
    coefficients: Float[Tensor, "h m"]
    slope: Float[Tensor, " m"]

    @staticmethod
    def of(setting: Setting, choice: Choice, rows: Int[np.ndarray, " n"]) -> "Patterns":
        """From the training times ``rows``."""
        coarse = setting.coarse
        known, used = coarse.anomalies(rows), coarse.used(choice.mixture)
        lower = known.factor(coarse, choice.mixture, choice.scale).lower
        values, vectors = linalg.eigen(lower @ lower.T, "covariance of the coarse anomalies")
        return Patterns(used, values, vectors * values.sqrt(), known.coefficients[:, used], known.slope[used])

    def anomalies(self, design: np.ndarray, z: Float[Tensor, "t M"]) -> Float[Tensor, "t m"]:
        """What the climatology leaves of coarse values, NaN where missing."""
        return (z[:, self.used] - torch.as_tensor(design).to(z) @ self.coefficients) * self.slope

    def amplitudes(self, anomalies: Float[Tensor, "t m"]) -> Float[Tensor, "t m"]:
        """v of complete anomalies."""
        return anomalies @ (self.loading / self.values)


def log_density(amplitudes: Float[Tensor, "T m"], kept: Float[Tensor, "T m"]) -> float:
    """``log p(v)`` of chains of standard Gaussians from their correlation with the time before, 0 where one begins."""
    before = torch.cat([torch.zeros_like(amplitudes[:1]), amplitudes[:-1]])
    left = 1 - kept.square()
    return float(-0.5 * ((amplitudes - kept * before).square() / left + (2 * math.pi * left).log()).sum())


@dataclass(frozen=True, eq=False)
class Conditioned:
    """Cells given those of all times: their ``patterns``, the ``chain`` of the amplitudes, the anomalies ``targets``
    (m, T), NaN where missing, and the moments ``given`` of the amplitudes.
    """

    patterns: Patterns
    chain: Chain
    targets: Float[Tensor, "m T"]
    given: Filtered

    @staticmethod
    def of(patterns: Patterns, kept: Float[Tensor, "T m"], targets: Float[Tensor, "m T"]) -> "Conditioned":
        """Amplitudes whose correlation with the time before is ``kept``."""
        chain = Chain(patterns.loading, kept, torch.zeros_like(patterns.loading))  # cells are seen without errors
        return Conditioned(patterns, chain, targets, smoothed_chain(chain, targets))

    @property
    def mean(self) -> Float[Tensor, "T m"]:
        """û."""
        return self.given.mean @ self.patterns.loading.T

    def covariance(self, time: int) -> tuple[Bool[Tensor, " m"], Float[Tensor, "k k"]]:
        """The cells that are missing at a time, and V of these."""
        missing = self.targets[:, time].isnan()
        loading = self.patterns.loading[missing]
        return missing, loading @ self.given.covariance[time] @ loading.T

    def added(self, gain: Gain, times: Int[np.ndarray, " t"]) -> Float[Tensor, "t p"]:
        """``G(x)ᵀ V_t G(x)``."""
        weights = gain.weights[self.patterns.used]
        result = weights.new_zeros(len(times), weights.shape[1])
        for row, time in enumerate(times):
            missing, covariance = self.covariance(time)
            result[row] = (covariance @ weights[missing]).mul_(weights[missing]).sum(0).clamp_min(0)
        return result


@dataclass(frozen=True, eq=False)
class LinkedCells:
    """The ``cells`` of all times of a series, linked; how long they last, μ as ``ratio``, and the CRPS of left-out
    times with cells missing, of each time by itself and linked.
    """

    cells: Conditioned
    lasting: Lasting
    ratio: float
    crps: tuple[float, float]

    @property
    def report(self) -> dict[str, Any]:
        """A sentence for the diagnostics, and the CRPS behind it."""
        alone, linked = self.crps
        small = self.lasting.median(self.cells.patterns.values)
        return {
            "linked": f"Missing cells are linked with those before and after: the largest pattern lasts "
            f"τ = {self.lasting.days:.3g} days, one of median size {small:.2g} days. CRPS of left-out times with cells "
            f"missing: {linked:.3g} instead of {alone:.3g}.",
            "left_out_crps_of_gaps": {"each time by itself": alone, "linked": linked},
        }

    def moments(
        self, gain: Gain, design: np.ndarray, times: Int[np.ndarray, " t"]
    ) -> tuple[Float[Tensor, "t p"], Float[Tensor, "t p"]]:
        """Means of the pixels of a gain of all cells at some times, and what missing cells add to the squared sd."""
        climate = torch.as_tensor(design).to(gain.weights) @ gain.known.fine
        anomaly = self.cells.mean[times] @ gain.weights[self.cells.patterns.used]
        return climate + anomaly, self.ratio * self.cells.added(gain, times)

    def draws(
        self, setting: Setting, method: Method, residuals: Residuals, sd: Float[np.ndarray, " P"]
    ) -> Callable[[int, torch.Generator], Float[Tensor, "count T P"]]:
        """What draws errors of all times of a setting's series together, over the sd of each pixel and time.

        ``sd(x) ε_t(x) + √μ G(x)ᵀ (u_t − û_t)`` with joint draws of the cells u and with errors ε of complete cells,
        which last as the ``residuals`` do.
        """
        series, coarse, cells = setting.series, setting.coarse, self.cells
        assert residuals.correlation is not None
        between = residuals.correlation.matrix(days_of(series.dates)) * np.equal.outer(series.member, series.member)
        root = linalg.root(torch.as_tensor(between).to(cells.targets), "correlation in time")
        every, times = np.arange(len(coarse.z)), np.arange(len(series))

        def draw(count: int, generator: torch.Generator) -> Float[Tensor, "count T P"]:
            """Standardised errors (count, T, P)."""
            states = drawn_chain(cells.chain, cells.targets, count, generator) - cells.given.mean[:, :, None]
            drawn = math.sqrt(self.ratio) * torch.einsum("md,tdn->ntm", cells.patterns.loading, states)
            result = residuals.draw(count * len(times), generator).reshape(count, len(times), -1)
            for pixels, fine in setting.tiles(never):
                gain, whole = method(coarse, fine, every), torch.as_tensor(sd[pixels]).to(drawn)
                errors = root @ result[:, :, pixels].to(drawn) * whole + drawn @ gain.weights[cells.patterns.used]
                spread = (whole.square() + self.ratio * cells.added(gain, times)).sqrt()
                result[:, :, pixels] = (errors / spread).cpu()
            return result

        return draw


def linked_cells(
    setting: Setting, of_cells: Choice, method: Method, some: FineSide, left_out: tuple[Tensor, Tensor],
    wanted: bool | None, check: Check = never,
) -> LinkedCells | None:  # fmt: skip
    """The cells of a setting's series linked through time; None if they are not: not ``wanted``, complete, or, where
    that is left open, without a gain at left-out times.

    ``of_cells`` is the mixture for the cells; ``left_out`` are errors and stated variance of ``some`` pixels at times
    left out, with all cells. Raises ``InputError`` if linking is requested and impossible.
    """
    if wanted is False:
        return None
    why = _impossible(setting)
    if why:
        if wanted:
            raise InputError(f"The times cannot be linked: {why}.")
        return None
    series, every = setting.series, Patterns.of(setting, of_cells, np.arange(len(setting.coarse.z)))
    targets = every.anomalies(setting.seasons.design(series.dates), setting.of_series()).T
    missing = targets.isnan()
    if not bool(missing.any()) or (wanted is None and not worth_trying(targets, series.members)):
        return None
    lasting = _learned_lasting(every, setting)
    gaps = missing[:, most_missing(targets, series.member)].T
    tried = _Tried(setting, of_cells, method, some, left_out, gaps, check)
    alone, linked = tried.crps(None, error_ratio(*left_out)), tried.crps(lasting)
    if wanted is None and not linked[0] < (1 - MARGIN) * alone[0]:
        return None
    cells = Conditioned.of(every, lasting.kept(days_of(series.dates), series.member, every.values), targets)
    return LinkedCells(cells, lasting, linked[1], (setting.unit * alone[0], setting.unit * linked[0]))


def _impossible(setting: Setting) -> str:
    """Why the times of a setting cannot be linked; empty if they can."""
    series = setting.series
    if series.stations is not None:
        return "stations share an offset between times"
    if setting.coarse.own is not None:
        return "beside an archive, cells with errors are predicted each time by itself"
    if setting.training.covers_part:
        return "the archive covers only part of the region"
    for dates, member in ((series.dates, series.member), (setting.training.dates, np.zeros(len(setting.training)))):
        if (np.diff(days_of(dates))[np.diff(member) == 0] <= 0).any():
            return "they are not in order"
    return ""


def _learned_lasting(patterns: Patterns, setting: Setting) -> Lasting:
    """τ and β of the largest evidence of the training period's amplitudes."""
    coarse, days = setting.coarse, days_of(setting.training.dates)
    amplitudes = patterns.amplitudes(patterns.anomalies(coarse.design, coarse.z))
    step, member = float(np.median(np.diff(days))), np.zeros(len(days), dtype=int)

    def lasting(at: np.ndarray) -> Lasting:
        return Lasting(step * math.exp(at[0]), float(at[1]))

    def loss(at: np.ndarray) -> float:
        """Minus the log evidence at log τ/step and β."""
        return -log_density(amplitudes, lasting(at).kept(days, member, patterns.values))

    return lasting(minimize(loss, START, method="Nelder-Mead", bounds=BOUNDS).x)


@dataclass(frozen=True, eq=False)
class _Tried:
    """Left-out times of the training period, at which cells are missing as in ``gaps`` (n, m) in turn."""

    setting: Setting
    of_cells: Choice
    method: Method
    some: FineSide
    left_out: tuple[Tensor, Tensor]
    gaps: Bool[Tensor, "n m"]
    check: Check

    def crps(self, lasting: Lasting | None, ratio: float | None = None) -> tuple[float, float]:
        """The CRPS of some pixels, of each time by itself without ``lasting``, and the ``ratio`` μ, by default that of
        the missing cells.
        """
        coarse, days = self.setting.coarse, days_of(self.setting.training.dates)
        square, squares, stated = spread_of(*self.left_out).square(), 0.0, 0.0
        errors, added = list[Tensor](), list[Tensor]()
        for block, rest in folds(len(coarse.z), self.setting.parts):
            self.check()
            block = block[: len(self.gaps)]
            patterns = Patterns.of(self.setting, self.of_cells, rest)
            truth, member = patterns.anomalies(coarse.design[block], coarse.z[block]), np.zeros(len(block), dtype=int)
            kept = torch.zeros_like(truth) if lasting is None else lasting.kept(days[block], member, patterns.values)
            cells = Conditioned.of(patterns, kept, truth.masked_fill(self.gaps[: len(block)], math.nan).T)
            gain, off = self.method(coarse, self.some, rest), truth - cells.mean
            errors.append(self.left_out[0][block] + off @ gain.weights[patterns.used])
            added.append(cells.added(gain, np.arange(len(block))))
            squares += float(off.square().sum())
            stated += sum(float(cells.covariance(time)[1].trace()) for time in range(len(block)))
        ratio = squares / stated if ratio is None else ratio
        return gaussian_crps(torch.cat(errors), (square + ratio * torch.cat(added)).sqrt()), ratio
