"""Stations beside the cells of a series with an archive, in one posterior.

A station is a bag of one pixel, or of its footprint: what the archive's covariance says of it is that of the archive's
own values there, tapered as those of its cell are, and what the kernel says is its bag sum. Its value is

    s_t = H_t c + u_t + h·b + e_t,      cov(u_t) = λ C,      e_t ~ N(0, τ² + error²),

with the climatology c of its pixel, the mixture C (`archive.gain`), the offset and the effect of altitude b that all
times share. τ² and λ are those of the largest evidence of the stations given the cells at a hundred times at most; λ
has a log-normal prior about the mean squared left-out error of cells alone over the variance that C states, which an
archive of few times states too small, and one that lacks seasons too large.

The sd with all stations is that of left-out times, as it is for cells alone: the archive's values at the stations'
pixels stand in for theirs, and what their errors add is known. Between times without stations and times with all, the
squared sd is linear in the variance that C states.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import minimize, minimize_scalar
from torch import Tensor
from torch.nn.functional import pad

from deconditioning import linalg
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.errors import Check, InputError
from deconditioning.models.learning.parameters import NOISE as NOISE_BOUNDS
from deconditioning.models.learning.repeats import gap_patterns, log_densities
from deconditioning.models.spec import ModelSpec
from deconditioning.period.archive.gain import NOISE, CoarseAnomalies, CoarseSide, FineSide, Gain
from deconditioning.period.archive.left_out import Choice, Method, error_ratio, left_out_errors, spread_of
from deconditioning.period.archive.setting import Setting, weights_of_targets
from deconditioning.period.effects import SharedEffects, alike, shared_effects
from deconditioning.period.stations import report_of_stations

#: Times that τ² and λ are learned from at most, the sd of the prior of log λ, the sds that are searched, and the last
#: step of the search.
_MOST_TIMES, _WIDTH, _FAR, _STEP = 100, 0.5, 4.0, 1e-7
#: Pixels that show λ with all stations.
_SOME = 1000


@dataclass(frozen=True, eq=False)
class Given:
    """Times (t,) that have values at the same ``rows`` (m,) of the coarse values, and these as a ``side``; if stations
    are among them, ``cells`` are the others, which come first.
    """

    rows: Int[Tensor, " m"]
    times: Int[Tensor, " t"]
    side: CoarseSide
    cells: CoarseSide | None = None


@dataclass(frozen=True, eq=False)
class Network:
    """All stations of a series, in units of the setting.

    Parameters
    ----------
    setting : that of the cells with the stations behind all coarse values.
    choice, ratio : the mixture C, and λ.
    values : (T, S) at the times of the series, NaN where missing.
    member : (T,) the member of an ensemble that each time is of.
    variance : (S,) squared errors that are known, without τ².
    design, prior : H (S, q), and the variances (q,) of b.
    tau : τ².
    lost : stations on pixels that the archive lacks, which are left out.
    learned : whether τ² is learned: the evidence can explain it by a rougher field.
    """

    setting: Setting
    choice: Choice
    ratio: float
    values: Float[Tensor, "T S"]
    member: Int[Tensor, " T"]
    variance: Float[Tensor, " S"]
    design: Float[Tensor, "S q"]
    prior: Float[Tensor, " q"]
    tau: float
    lost: int = 0
    learned: bool = False

    @staticmethod
    def of(setting: Setting, choice: Choice, ratio: float, settings: DownscaleSettings) -> "Network | None":
        """The stations of a series, τ² as given or learned; None without any. Raises ``InputError`` if none is left."""
        series = setting.series
        if series.stations is None:
            return None
        (source,), points, device = series.problem.sources, series.problem.joint_data.points, setting.coarse.z.device
        assert points is not None
        fine = _archive_at_stations(setting)
        chosen = torch.as_tensor(np.flatnonzero(np.isfinite(fine).all(0)))
        if not len(chosen):
            raise InputError(
                f"All {len(source.row)} stations lie on pixels that the archive lacks: leave the stations out."
            )
        square = (series.scale / setting.unit) ** 2
        (tau,) = setting.spec.noises_of_sources
        result = Network(
            _joined(setting, torch.as_tensor(fine)[:, chosen].to(device), chosen.to(device)), choice, ratio,
            torch.as_tensor(series.stations / setting.unit)[:, chosen].to(device),
            torch.as_tensor(series.member).to(device), square * points.variance[chosen].to(device),
            points.effects[chosen].to(device), square * points.prior.to(device), square * tau,
            len(source.row) - len(chosen),
        )  # fmt: skip
        held = {"representativeness", "representativeness-1"} & set(settings.hold or ())
        return result._with_evidence(square if settings.learn and not held else None)

    @property
    def spec(self) -> ModelSpec:
        """The model with this τ²."""
        tau = self.tau * (self.setting.unit / self.setting.series.scale) ** 2
        return replace(self.setting.spec, representativeness=tau)

    @cached_property
    def _used(self) -> Int[Tensor, " m"]:
        return self.setting.coarse.used(self.choice.mixture)

    @cached_property
    def _known(self) -> CoarseAnomalies:
        return self.setting.coarse.anomalies(np.arange(len(self.setting.coarse.z)))

    @cached_property
    def _first(self) -> int:
        """The place of the first station among all coarse values."""
        return len(self.setting.coarse.cell) - len(self.variance)

    @cached_property
    def _common(self) -> Float[Tensor, "M q"]:
        """H, and 0 for the cells."""
        return pad(self.design, (0, 0, self._first, 0))

    @cached_property
    def _observed(self) -> Float[Tensor, "T M"]:
        return torch.cat([self.setting.of_series(), self.values], dim=1)

    @cached_property
    def _anomalies(self) -> Float[Tensor, "T M"]:
        """What the climatology leaves of all coarse values of the series, the effects in those of stations."""
        known = self._known
        design = torch.as_tensor(self.setting.seasons.design(self.setting.series.dates)).to(known.a)
        return (self._observed - design @ known.coefficients) * known.slope

    @cached_property
    def _least(self) -> float:
        """The `NOISE` of the cells."""
        coarse, cells = self.setting.coarse, torch.arange(self._first, device=self.values.device)
        of_cells = self._known.of(cells).mixed(coarse.of(cells), self.choice.mixture, self.choice.scale)
        return NOISE * float(of_cells.diagonal().mean())

    @cached_property
    def _errors(self) -> Float[Tensor, " M"]:
        """The variances of all errors, over λ."""
        return pad((self.variance + self.tau) / self.ratio, (self._first, 0)) + self._least

    def _covariance(self) -> Float[Tensor, "m m"]:
        """That of the coarse values that the mixture looks at, with their errors, without the effects."""
        gram = self._known.mixed(self.setting.coarse, self.choice.mixture, self.choice.scale)
        return self.ratio * (gram + torch.diag(self._errors[self._used]))

    @cached_property
    def effects(self) -> tuple[SharedEffects, ...]:
        """The posterior of b of each member, from the cells and stations of all times."""
        anomalies, common = self._anomalies[:, self._used].T, self._common[self._used]
        return shared_effects(self._covariance(), anomalies, common, self.prior, self.member)

    def reports(self) -> dict[str, float] | list[dict[str, float]]:
        """What the stations differ by from the cells, of several members one after another."""
        series, unit = self.setting.series, self.setting.unit / self.setting.series.scale
        assert series.stations is not None
        found = [
            report_of_stations(
                series.problem, series.stations[series.member == number],
                SharedEffects(unit * each.mean, unit**2 * each.covariance),
                self.spec.noises_of_sources[0],
            )
            for number, each in enumerate(self.effects)
        ]  # fmt: skip
        return found[0] if series.members == 1 else found

    def side(self, shared: SharedEffects) -> CoarseSide:
        """All coarse values, with their errors and what is uncertain in the effects."""
        carried = self._common @ linalg.root(shared.covariance / self.ratio, "covariance of the stations' effects")
        return self.setting.coarse.with_errors(self._errors, carried)

    def given(
        self, times: Int[np.ndarray, " t"], alone: CoarseSide
    ) -> tuple[Float[Tensor, "t M"], list[Given]]:  # fmt: skip
        """All coarse values at some times of the series, less the effects, and these times in groups that have values
        at the same cells and stations, in one member or in members whose effects are as uncertain; ``alone`` are the
        coarse values without stations.
        """
        member = self.member[torch.as_tensor(times).to(self.member.device)]
        means = torch.stack([each.mean for each in self.effects])[member]
        z, result = self._observed[times] - means @ self._common.T, list[Given]()
        for rows, columns in gap_patterns(z.T):
            cells = alone.some(rows[rows < self._first])
            if len(cells.cell) == len(rows):
                result.append(Given(rows, columns, cells))
                continue
            for chosen, shared in alike(columns, self.effects, member):
                result.append(Given(rows, chosen, self.side(shared).of(rows), cells))
        return z, result

    def _given_cells(
        self, rows: Int[Tensor, " m"], values: Float[Tensor, "m t"]
    ) -> tuple[Float[Tensor, "s s"], Float[Tensor, "s s"], Float[Tensor, "s t"]]:
        """Of the stations among ``rows`` of what the mixture looks at: C given the cells, the covariance of all errors
        but τ², and what the cells leave of their anomalies.
        """
        gram, cells = self._known.mixed(self.setting.coarse, self.choice.mixture, self.choice.scale), self._least
        gram = gram[rows][:, rows] + cells * linalg.identity(len(rows), gram)
        count = int((self._used[rows] < self._first).sum())
        stations = self._used[rows][count:] - self._first
        common = self.design[stations]
        gain = linalg.cholesky(gram[:count, :count], "covariance of the coarse anomalies").solve(gram[:count, count:])
        left = gram[count:, count:] - gain.T @ gram[:count, count:]
        errors = torch.diag(self.variance[stations]) + (common * self.prior) @ common.T
        return left, errors, values[count:] - gain.T @ values[:count]

    def _with_evidence(self, square: float | None) -> "Network":
        """With the λ of the largest evidence, and τ² if ``square`` is given, the variance of a standardised unit."""
        there = np.flatnonzero(torch.isfinite(self.values).any(1).cpu().numpy())
        some = there[np.unique(np.linspace(0, len(there) - 1, min(_MOST_TIMES, len(there))).round().astype(int))]
        values = self._anomalies[some][:, self._used].T
        given = [self._given_cells(rows, values[rows][:, times]) for rows, times in gap_patterns(values)]

        def loss(log_ratio: float, tau: float) -> float:
            """Minus the sum over the times of the log densities of the stations given the cells, and the log prior."""
            total = 0.5 * ((log_ratio - np.log(self.ratio)) / _WIDTH) ** 2
            for covariance, errors, residual in given:
                noise = errors + tau * linalg.identity(len(errors), errors)
                factor = linalg.cholesky(np.exp(log_ratio) * covariance + noise, "covariance of the stations")
                total -= float(log_densities(residual, factor).sum())
            return total

        tau, near = self.tau, np.log(self.ratio) + _WIDTH * np.array([-_FAR, _FAR])
        if square is not None:
            start, bounds = (np.log(self.ratio), np.log(tau / square)), (tuple(near), tuple(np.log(NOISE_BOUNDS)))
            both = minimize(lambda at: loss(at[0], square * np.exp(at[1])), start, method="Nelder-Mead", bounds=bounds)
            tau = square * float(np.exp(both.x[1]))
        best = minimize_scalar(lambda at: loss(at, tau), bounds=near, method="bounded", options={"xatol": _STEP})
        return replace(self, tau=tau, ratio=float(np.exp(best.x)), learned=square is not None)


@dataclass(frozen=True)
class Whole:
    """What all stations make of some pixels: the ``square`` of the sd (p,) of left-out times, and the ``variance`` (p,)
    that the mixture states.
    """

    square: Float[Tensor, " p"]
    variance: Float[Tensor, " p"]


@dataclass(frozen=True, eq=False)
class AllStations:
    """All cells and stations as the one ``side``, and ``ratio``, the λ of left-out times with all of them."""

    network: Network
    method: Method
    side: CoarseSide
    ratio: float

    @staticmethod
    def of(network: Network, method: Method, check: Check) -> "AllStations":
        """Some pixels show λ."""
        result = AllStations(network, method, network.side(network.effects[0]), 1.0)
        errors, variance, more, _ = result._left_out(network.setting.some(_SOME, check))
        return replace(result, ratio=error_ratio(errors, variance, more))

    def _left_out(self, fine: FineSide) -> tuple[Tensor, Tensor, Tensor, Gain]:
        """Errors (N, p) of left-out times, where the archive stands in for the stations, the variance stated, that of
        what the stations' errors add, and the gain from all times.
        """
        coarse, first = self.side, len(self.side.cell) - len(self.network.variance)
        errors, variance = left_out_errors(coarse, fine, self.method, self.network.setting.parts)
        gain = self.method(coarse, fine, np.arange(len(coarse.z)))
        assert coarse.errors is not None and coarse.carried is not None
        single = coarse.errors[first:] @ gain.weights[first:].square()
        shared = (coarse.carried.T @ gain.weights).square().sum(0)
        return errors, variance, self.network.ratio * (single + shared), gain

    def at(self, fine: FineSide) -> Whole:
        """At some pixels."""
        errors, variance, more, gain = self._left_out(fine)
        return Whole(spread_of(errors, variance, self.ratio, more).square(), gain.variance)


def _archive_at_stations(setting: Setting) -> np.ndarray:
    """(N, S) the archive's values at the pixels or over the footprints of the stations, NaN where it lacks one."""
    (source,), pixels = setting.series.problem.sources, np.unique(setting.series.problem.sources[0].pixels)
    values = setting.training.at(pixels)
    values = np.where(setting.training.known[pixels], values, np.nan)[:, np.searchsorted(pixels, source.pixels)]
    return source.bags(setting.series.problem.inputs).mean(torch.as_tensor(values.T)).numpy().T / setting.unit


def _joined(setting: Setting, fine: Float[Tensor, "N s"], chosen: Int[Tensor, " s"]) -> Setting:
    """The setting with the ``chosen`` stations, whose archive is ``fine``, behind its coarse values."""
    problem, coarse = setting.series.problem, setting.coarse
    weights, noise = weights_of_targets(setting.spec, problem, setting.sums)
    rows = len(problem.target_cell) + chosen
    own = weights[:, rows]
    across = setting.project.T @ setting.sums.gram @ own
    of_cells = int((~coarse.is_predictor).sum())
    across[:of_cells] += noise[:of_cells][:, rows]
    within = own.T @ setting.sums.gram @ own + noise[rows][:, rows]
    gram = torch.cat([torch.cat([coarse.gram, across], dim=1), torch.cat([across.T, within], dim=1)])
    cell = torch.as_tensor(setting.cell[problem.sources[0].row]).to(coarse.cell)[chosen]
    joined = replace(
        coarse, z=torch.cat([coarse.z, fine], dim=1), truth=torch.cat([coarse.truth, fine], dim=1), gram=gram,
        cell=torch.cat([coarse.cell, cell]), is_predictor=pad(coarse.is_predictor, (0, len(chosen))),
    )  # fmt: skip
    return replace(setting, coarse=joined, project=torch.cat([setting.project, own], dim=1))
