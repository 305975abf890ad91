"""Downscales a series with an archive: climatology, and anomalies by the archive's covariance mixed with a kernel's."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from deconditioning.device import choose
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.engine.reporting import NoReport, Stopwatch
from deconditioning.errors import Check
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.times import MONTHS
from deconditioning.models.learning.repeats import gap_patterns
from deconditioning.period.archive.by_value import ByValue, standardised
from deconditioning.period.archive.censoring import dry_limit
from deconditioning.period.archive.day import DayFactor
from deconditioning.period.archive.gain import FineSide, Gain
from deconditioning.period.archive.joint import residuals_of_archive
from deconditioning.period.archive.left_out import (
    Method,
    choose_mixture,
    error_ratio,
    left_out_errors,
    mixed,
    spread_of,
)
from deconditioning.period.archive.outside import Outside
from deconditioning.period.archive.peers import Peer, peers
from deconditioning.period.archive.seasons import Seasons, regressed
from deconditioning.period.archive.setting import Setting, parts_of, prepare
from deconditioning.period.archive.training import Training
from deconditioning.period.archive.warp_choice import choose_warp_of_period, has_warp, keeps_means, left_out_moments
from deconditioning.period.behind_warp import BehindWarp
from deconditioning.period.run import PeriodResult, of_a_series
from deconditioning.period.series import Series
from deconditioning.wording import number

#: Pixels that the mixture is chosen on.
_CHOSEN_ON = 4000
#: Of this CRPS or less a peer is called better; nearer ones differ by chance.
_BETTER = 0.98


def downscale_with_archive(
    series: Series, training: Training, settings: DownscaleSettings | dict[str, Any], context: Any = None,
    times: np.ndarray | None = None,
) -> PeriodResult:  # fmt: skip
    """Predict every pixel of a series at every time from its coarse values and a training period.

    ``mean = H_t c + G (z_t − H_t c_z)`` with the climatologies c and c_z of fine and coarse values and the gain G of
    the mixture that predicts blocks of time left out best; the sd is that of the errors of either half of the training
    period predicted from the other, times g(t) and h(x, t). Targets that cannot be negative are predicted in units of a
    warp, the one with the lowest left-out CRPS. ``times``, ascending, are those of the series that are predicted, by
    default all. Raises ``InputError``, ``Cancelled``.
    """
    settings = settings if isinstance(settings, DownscaleSettings) else DownscaleSettings.from_dict(settings)
    context = context or NoReport()
    found = predicted_with_archive(series, training, settings, context, times)
    return with_peers(found.result, training, found.crps, context, positive=found.result.behind is not None)


@dataclass(frozen=True, eq=False)
class WithoutPeers:
    """A ``result`` without other methods, its left-out ``crps``, the ``setting`` that it comes from, in units of the
    warp where there is one, and mean and sd (N, P) of left-out times there, if they are known.
    """

    result: PeriodResult
    crps: float
    setting: Setting
    left_out: tuple[np.ndarray, np.ndarray] | None = None

    def standard_errors(self, check: Check) -> np.ndarray:
        """(N, P) left-out errors over their sd, in units of the warp where there is one."""
        means, sds = self.left_out or left_out_moments(self.setting, check)
        return (self.setting.training.fine - means) / sds


def predicted_with_archive(
    series: Series, training: Training, settings: DownscaleSettings, context: Any, times: np.ndarray | None = None
) -> WithoutPeers:
    """The prediction without other methods. Raises ``InputError``, ``Cancelled``."""
    count, requested = len(series) if times is None else len(times), settings.warp
    settings = of_a_series(series, settings.replace(warp="none"), count)
    if (training.stored is not None or training.covers_part) and has_warp(series, training, requested):
        training = training.in_memory("A warp of the target, which `--warp none` switches off,")
    chosen = choose_warp_of_period(series, training, requested, settings, context)
    censored = chosen.censored
    if censored is None:
        result, setting = _gaussian(series, training, settings, context, times)
        crps = result.diagnostics["left_out_crps"][result.diagnostics["mixture"]]
    else:
        latent, setting = _gaussian(censored.series, censored.training, chosen.settings, context, times, chosen.setting)
        latent = replace(latent, amplitude=chosen.factor * latent.amplitude)
        result = _behind(latent, series if times is None else series.only(times), censored.warp, training)
        crps = min(chosen.crps.values())
    if chosen.sentence:
        more = {"warp": chosen.sentence, "left_out_crps_of_warps": chosen.crps, "factor_of_sd": chosen.factor}
        result = replace(result, diagnostics={**result.diagnostics, **more})
    return WithoutPeers(result, crps, setting, chosen.left_out)


def with_peers(
    result: PeriodResult, training: Training, crps: float, context: Any, *, positive: bool = False
) -> PeriodResult:  # fmt: skip
    """The result beside other methods, with a warning where one is better than its left-out ``crps``; ``positive`` if
    the target cannot be negative. An archive in a file has no other methods.
    """
    if training.stored is not None:
        return result
    context.report(message="Comparing with the delta method and ridge regression on the same blocks of time")
    seasons, series = Seasons.of(training.dates, result.series.dates), result.series
    others = peers(series, training, seasons, parts_of(training, seasons), context.check, positive=positive)
    by_name = {name: each.left_out_crps for name, each in others.items()}
    diagnostics = {**result.diagnostics, "left_out_crps_of_peers": by_name}
    return replace(
        result, peers=others, warnings=(*result.warnings, *_better(others, crps)), diagnostics=diagnostics
    )  # fmt: skip


def _behind(latent: PeriodResult, series: Series, warp: Warp, training: Training) -> PeriodResult:
    """A series in the target's units from one in units of the warp."""
    aims = np.where(series.problem.observed.ravel(), series.coarse, np.nan)
    if not keeps_means(training):
        aims = np.full_like(aims, np.nan)
    behind = BehindWarp(latent, warp, aims, dry_limit(training.fine))
    means = np.stack([behind.predictive(time).mean for time in range(len(series))])
    settings = latent.settings.replace(warp=warp.to_dict())
    return replace(latent, series=series, means=means, settings=settings, behind=behind)


def _gaussian(
    series: Series, training: Training, settings: DownscaleSettings, context: Any, times: np.ndarray | None,
    like: Setting | None = None,
) -> tuple[PeriodResult, Setting]:  # fmt: skip
    """The prediction of a target as it is, or in units of its warp, without other methods, and its setting."""
    setting = prepare(series, training, settings, context, like)
    if times is not None:
        series = series.only(times)
        setting = replace(setting, series=series)
    watch = Stopwatch()
    context.report(message="Choosing the mixture of the archive's covariance and the kernel on left-out blocks of time")
    some = setting.some(_CHOSEN_ON, context.check)
    choice = choose_mixture(setting.coarse, some, context.check)
    method = mixed(choice, setting.coarse, some, setting.parts)
    left_out = left_out_errors(setting.coarse, some, method, setting.parts)
    context.report(message=f"Predicting {series.problem.grid.area.size:,} pixels at {len(series)} times")
    outside = Outside.of(setting, choice.scale, context.check)
    result = _predicted(setting, method, error_ratio(*left_out), outside, context)
    day, (known, used) = _day_factor(setting, result.squares)
    means, spreads = (setting.on_grid(rows) for rows in (result.means, result.spreads))
    if outside is not None and keeps_means(training):
        means = outside.with_cell_means(means)
    prediction = PeriodResult(
        series, setting.spec, spec_to_settings(settings, setting.spec), means, spreads, result.spread_of,
        day(*used), np.full(len(series), np.nan), watch.seconds(), _warnings(setting),
        {
            "device": str(choose(settings.device)), "jitter": 0.0, "mixture": choice.mixture.words,
            "left_out_crps": {words: setting.unit * value for words, value in choice.crps.items()},
            "training_times": len(training), "harmonics": [setting.seasons.annual, setting.seasons.diurnal],
        },
        residuals_of_archive(setting, choice, outside),
        by_value=_by_value(result, setting, some, left_out, day(*known)),
    )  # fmt: skip
    return prediction, setting


def _better(others: dict[str, Peer], crps: float) -> tuple[str, ...]:
    """A sentence on every peer that predicts left-out times better by more than 2 %."""
    return tuple(
        f"On left-out blocks of time, `{name}` has a smaller CRPS, {number(each.left_out_crps)}, than this "
        f"prediction, {number(crps)}." for name, each in others.items() if each.left_out_crps < _BETTER * crps
    )  # fmt: skip


@dataclass(eq=False)
class _Predicted:
    """Arrays of the result, (T, P) and (G, P), the squared standardised left-out errors (N,) behind g(t), and mean and
    sd (2, P) of the training period.
    """

    means: np.ndarray
    spreads: np.ndarray
    spread_of: np.ndarray
    squares: np.ndarray
    usual: np.ndarray

    def place(
        self, setting: Setting, group: int, at: tuple[np.ndarray, Tensor, Tensor], z: Tensor, gain: Gain, sd: Tensor
    ) -> None:  # fmt: skip
        """Fill in some pixels of the times of a group, which have some of the coarse values ``z``."""
        tile, where, rows = at
        times = where.cpu().numpy()
        design = setting.seasons.design([setting.series.dates[time] for time in times])
        self.spread_of[times] = group
        self.means[np.ix_(times, tile)] = gain.mean(design, z[where][:, rows]).cpu().numpy()
        self.spreads[group, tile] = sd.cpu().numpy()


def _predicted(
    setting: Setting, method: Method, ratio: float, outside: Outside | None, context: Any
) -> _Predicted:  # fmt: skip
    """Means and sds of all pixels, tile by tile; ``ratio`` is λ."""
    series, coarse, pixels = setting.series, setting.coarse, len(setting.series.problem.pixel)
    z = setting.of_series()
    groups, every = gap_patterns(z.T), np.arange(len(coarse.z))
    sides = [coarse if len(rows) == len(coarse.cell) else coarse.of(rows) for rows, _ in groups]
    means, spreads, usual = (np.full((rows, pixels), np.nan) for rows in (len(series), len(groups), 2))
    result = _Predicted(means, spreads, np.zeros(len(series), dtype=int), np.zeros(len(every)), usual)
    count, total = 0, int(setting.training.known.sum())
    for tile, fine in setting.tiles(context.check):
        errors, variance = left_out_errors(coarse, fine, method, setting.parts)
        sd, whole = spread_of(errors, variance, ratio), method(coarse, fine, every)
        result.squares += (errors / sd).square().sum(1).cpu().numpy()
        result.usual[:, tile] = torch.stack([fine.y.mean(0), fine.y.std(0, correction=0)]).cpu().numpy()
        count += len(tile)
        context.report(step=count, total=total, message="Predicting pixels")
        for n, (rows, times) in enumerate(groups):
            gain = whole if sides[n] is coarse else method(sides[n], fine.of(rows), every)
            more = ratio * (gain.variance - whole.variance).clamp_min(0)
            result.place(setting, n, (tile, times, rows), z, gain, (sd.square() + more).sqrt())
    if outside is not None:
        for tile, beyond in outside.tiles(context.check):
            result.usual[:, tile] = torch.stack(outside.usual(beyond)).cpu().numpy()
            for n, (rows, times) in enumerate(groups):
                gain = outside.gain(sides[n], beyond.of(rows))
                result.place(setting, n, (tile, times, rows), z, gain, gain.variance.sqrt())
    result.squares /= count
    return result


#: A design and coarse anomalies of some times.
_Days = tuple[np.ndarray, np.ndarray]


def _day_factor(setting: Setting, squares: np.ndarray) -> tuple[DayFactor, tuple[_Days, _Days]]:
    """g(t) from the squared errors of the training times, and what it looks at of these and of the series' times."""
    cells = ~setting.coarse.is_predictor
    design, z = setting.seasons.design(setting.series.dates), setting.of_series()[:, cells].cpu().numpy()
    known, known_z = setting.coarse.design, setting.coarse.z[:, cells].cpu().numpy()
    climate = regressed(known, known_z)
    training, series = (known, known_z - known @ climate), (design, z - design @ climate)
    return DayFactor.fit(squares, *training), (training, series)


def _by_value(
    result: _Predicted, setting: Setting, some: FineSide, left_out: tuple[Tensor, Tensor], g: np.ndarray
) -> ByValue:  # fmt: skip
    """h(x, t) from left-out errors of some pixels, over sd(x) and g (N,) of the training times."""
    errors, variance = left_out
    standard = (errors / spread_of(errors, variance)).cpu().numpy() / g[:, None]
    y = some.y.cpu().numpy()
    s = standardised(y - errors.cpu().numpy(), y.mean(0), y.std(0))
    return ByValue.fit(standard, s, *setting.on_grid(result.usual))


def _warnings(setting: Setting) -> tuple[str, ...]:
    months = setting.seasons.unseen_months(setting.training.dates, setting.series.dates)
    if not months:
        return ()
    named = ", ".join(MONTHS[month - 1] for month in months)
    return (f"The training period has no {named}: the climatology of these months is extrapolated from others.",)
