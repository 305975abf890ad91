"""Downscales a series with an archive: climatology, and anomalies by the archive's covariance mixed with a kernel's."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import Tensor

from deconditioning.device import choose
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.engine.reporting import NoReport, Stopwatch
from deconditioning.errors import Check, InputError
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.times import MONTHS
from deconditioning.period.archive.by_value import ByValue, standardised
from deconditioning.period.archive.censoring import dry_limit
from deconditioning.period.archive.day import DayFactor
from deconditioning.period.archive.gain import FineSide
from deconditioning.period.archive.joint import residuals_of_archive
from deconditioning.period.archive.left_out import (
    choose_for_cells,
    choose_mixture,
    error_ratio,
    left_out_errors,
    mixed,
    spread_of,
)
from deconditioning.period.archive.outside import Outside
from deconditioning.period.archive.peers.fitted import SHORT, Peer, peers
from deconditioning.period.archive.predicted import MissingCells, Predicted, Recipe, predicted
from deconditioning.period.archive.seasons import Seasons, regressed
from deconditioning.period.archive.setting import Setting, parts_of, prepare
from deconditioning.period.archive.stations import Network
from deconditioning.period.archive.training import Training, keeps_means
from deconditioning.period.archive.warp_choice import choose_warp_of_period, has_warp, left_out_moments
from deconditioning.period.behind_warp import BehindWarp
from deconditioning.period.linking.archive import linked_cells
from deconditioning.period.run import PeriodResult, of_a_series
from deconditioning.period.series import Series
from deconditioning.wording import number

#: Pixels that the mixture is chosen on.
_CHOSEN_ON = 4000
#: Of this CRPS or less a peer is called better; nearer ones differ by chance.
_BETTER = 0.98
#: Mean anomalies of this many sds of the training period's are far from what it shows.
_FAR = 2.0


def downscale_with_archive(
    series: Series, training: Training, settings: DownscaleSettings | dict[str, Any], context: Any = None,
    times: np.ndarray | None = None, *, link: bool | None = None,
) -> PeriodResult:  # fmt: skip
    """Predict every pixel of a series at every time from its coarse values and a training period.

    ``mean = H_t c + G (z_t − H_t c_z)`` with the climatologies c and c_z of fine and coarse values and the gain G of
    the mixture that predicts blocks of time left out best; the sd is that of the errors of either half of the training
    period predicted from the other, times g(t) and h(x, t). Targets that cannot be negative are predicted in units of a
    warp, the one with the lowest left-out CRPS. ``times``, ascending, are those of the series that are predicted, by
    default all. ``link`` the times, or not, where cells are missing (`linking.archive`); by default they are linked if
    left-out times with cells missing are then predicted better. Raises ``InputError``, ``Cancelled``.
    """
    settings = settings if isinstance(settings, DownscaleSettings) else DownscaleSettings.from_dict(settings)
    context = context or NoReport()
    found = predicted_with_archive(series, training, settings, context, times, link=link)
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
    series: Series, training: Training, settings: DownscaleSettings, context: Any, times: np.ndarray | None = None,
    *, link: bool | None = None,
) -> WithoutPeers:  # fmt: skip
    """The prediction without other methods. Raises ``InputError``, ``Cancelled``."""
    count, requested = len(series) if times is None else len(times), settings.warp
    settings = of_a_series(series, settings.replace(warp="none"), count)
    if series.stations is not None:
        _check_stations(series, training, requested)
    if series.errors is not None:
        _check_errors(series, training, requested)
    if (training.stored is not None or training.covers_part) and has_warp(series, training, requested):
        training = training.in_memory("A warp of the target, which `--warp none` switches off,")
    chosen = choose_warp_of_period(series, training, requested, settings, context)
    censored = chosen.censored
    if censored is None:
        result, setting = _gaussian(series, training, settings, context, times, link)
        crps = result.diagnostics["left_out_crps"][result.diagnostics["mixture"]]
    else:
        latent, setting = _gaussian(
            censored.series, censored.training, chosen.settings, context, times, link, chosen.setting
        )
        latent = replace(latent, amplitude=chosen.factor * latent.amplitude)
        result = _behind(latent, series if times is None else series.only(times), censored.warp, training)
        crps = min(chosen.crps.values())
    if chosen.sentence:
        more = {"warp": chosen.sentence, "left_out_crps_of_warps": chosen.crps, "factor_of_sd": chosen.factor}
        result = replace(result, diagnostics={**result.diagnostics, **more})
    return WithoutPeers(result, crps, setting, chosen.left_out)


def _check_stations(series: Series, training: Training, requested: Any) -> None:
    """Raise ``InputError`` for what stations with an archive are not there for."""
    if training.covers_part:
        raise InputError(
            "Stations need an archive of the whole region, and this one covers only part of it: leave them out, or "
            "choose a smaller region."
        )
    if has_warp(series, training, requested):
        raise InputError(
            "Stations cannot be combined with an archive if the target has a warp, such as that of rain: leave them "
            "out, or give `--warp none`."
        )


def _check_errors(series: Series, training: Training, requested: Any) -> None:
    """Raise ``InputError`` for what errors of cells with an archive are not there for."""
    if series.stations is not None:
        raise InputError("With an archive, errors of cells cannot be combined with stations: leave one of them out.")
    if has_warp(series, training, requested):
        raise InputError(
            "Errors of cells cannot be combined with an archive if the target has a warp, such as that of rain: leave "
            "them out, or give `--warp none`."
        )


def with_peers(
    result: PeriodResult, training: Training, crps: float, context: Any, *, positive: bool = False
) -> PeriodResult:  # fmt: skip
    """The result beside other methods, with a warning where one is better than its left-out ``crps``; ``positive`` if
    the target cannot be negative. An archive in a file has no other methods, nor have cells with errors, which they do
    not know.
    """
    if training.stored is not None or result.series.errors is not None:
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
    link: bool | None, like: Setting | None = None,
) -> tuple[PeriodResult, Setting]:  # fmt: skip
    """The prediction of a target as it is, or in units of its warp, without other methods, and its setting."""
    setting = prepare(series, training, settings, context, like)
    watch, chosen = Stopwatch(), np.arange(len(series)) if times is None else times
    context.report(message="Choosing the mixture of the archive's covariance and the kernel on left-out blocks of time")
    some = setting.some(_CHOSEN_ON, context.check)
    choice = choose_mixture(setting.coarse, some, context.check)
    method = mixed(choice, setting.coarse, some, setting.parts)
    left_out = left_out_errors(setting.coarse, some, method, setting.parts)
    ratio = error_ratio(*left_out)
    network = Network.of(setting, choice, ratio, settings)
    lacking, whole = _lacks_cells(setting), setting
    of_cells = choose_for_cells(setting.coarse, choice, context.check) if lacking else choice
    linked = linked_cells(setting, of_cells, method, some, left_out, link, context.check)
    if times is not None:
        series = series.only(times)
        setting = replace(setting, series=series)
    context.report(message=f"Predicting {series.problem.grid.area.size:,} pixels at {len(series)} times")
    outside = Outside.of(setting, choice.scale, context.check)
    missing = MissingCells.of(setting.coarse, of_cells) if lacking else None
    recipe = Recipe.of(setting, method, ratio, chosen, outside, network, linked, missing)
    result = predicted(recipe, context)
    day, (known, used) = _day_factor(setting, result.squares)
    means, spreads = (setting.on_grid(rows) for rows in (result.means, result.spreads))
    if outside is not None and series.errors is None and keeps_means(training):
        means = outside.with_cell_means(means)
    residuals = residuals_of_archive(setting, choice, outside, recipe.drawn)
    if linked is not None:
        residuals = replace(residuals, together=linked.draws(whole, method, residuals, result.sd)).only(chosen)
    prediction = PeriodResult(
        series, recipe.spec, spec_to_settings(settings, recipe.spec), means, spreads, result.spread_of,
        day(*used), np.full(len(series), np.nan), watch.seconds(), _warnings(setting, network, (known[1], used[1])),
        {
            "device": str(choose(settings.device)), "jitter": 0.0, "mixture": choice.mixture.words,
            "left_out_crps": {words: setting.unit * value for words, value in choice.crps.items()},
            "training_times": len(training), "harmonics": [setting.seasons.annual, setting.seasons.diurnal],
            **({} if network is None else {"stations": network.reports()}), **(linked.report if linked else {}),
        },
        residuals,
        by_value=_by_value(result, setting, some, left_out, day(*known)),
    )  # fmt: skip
    return prediction, setting


def _far_away(setting: Setting, known: np.ndarray, used: np.ndarray) -> list[str]:
    """A sentence if the mean coarse values of the series are far from the climatology of the training period."""
    shift = np.nanmean(np.where(np.isfinite(used).any(0), used, 0.0), axis=0)
    ratio = float(np.sqrt(np.mean(np.square(shift)) / max(np.mean(np.square(known)), 1e-30)))
    if ratio < _FAR:
        return []
    apart = setting.series.fine is None and keeps_means(setting.training)
    biased = " The coarse file has no values of that period, by which a bias would be removed." if apart else ""
    return [
        f"The coarse values are on average {ratio:.1f} times the sd of the training period's anomalies away from its "
        f"climatology: errors there say little of those here, and intervals may be too narrow.{biased}"
    ]


def _lacks_cells(setting: Setting) -> bool:
    """Whether coarse values are missing at some times, and are the only ones, without errors of their own."""
    alone = setting.series.stations is None and setting.coarse.own is None and not setting.training.covers_part
    return alone and bool(setting.of_series().isnan().any())


def _better(others: dict[str, Peer], crps: float) -> tuple[str, ...]:
    """A sentence on every peer that predicts left-out times better by more than 2 %."""
    short = {name: word for word, name in SHORT.items()}
    better = {name: each.left_out_crps for name, each in others.items() if each.left_out_crps < _BETTER * crps}
    return tuple(
        f"On left-out blocks of time, `{name}` has a smaller CRPS, {number(its)}, than this prediction, "
        f"{number(crps)}: `--other-method {short[name]}` uses it instead." for name, its in better.items()
    )  # fmt: skip


#: A design and coarse anomalies of some times.
_Days = tuple[np.ndarray, np.ndarray]


def _day_factor(setting: Setting, squares: np.ndarray) -> tuple[DayFactor, tuple[_Days, _Days]]:
    """g(t) from the squared errors of the training times, and what it looks at of these and of the series' times."""
    cells = ~setting.coarse.is_predictor
    design, z = setting.seasons.design(setting.series.dates), setting.of_series()[:, cells].cpu().numpy()
    known, known_z = setting.coarse.design, setting.coarse.seen[:, cells].cpu().numpy()
    climate = regressed(known, known_z)
    training, series = (known, known_z - known @ climate), (design, z - design @ climate)
    errors, own = setting.errors_of_series(), setting.coarse.own
    if errors is not None and own is not None:  # as large as they would be with the mean errors
        usual = training[1].var(0)
        more = (errors - own.variance)[:, cells].cpu().numpy()
        series = (design, series[1] * np.sqrt(usual / (usual + more).clip(1e-12)))
    return DayFactor.fit(squares, *training), (training, series)


def _by_value(
    result: Predicted, setting: Setting, some: FineSide, left_out: tuple[Tensor, Tensor], g: np.ndarray
) -> ByValue:  # fmt: skip
    """h(x, t) from left-out errors of some pixels, over sd(x) and g (N,) of the training times."""
    errors, variance = left_out
    standard = (errors / spread_of(errors, variance)).cpu().numpy() / g[:, None]
    y = some.y.cpu().numpy()
    s = standardised(y - errors.cpu().numpy(), y.mean(0), y.std(0))
    return ByValue.fit(standard, s, *setting.on_grid(result.usual))


def _warnings(
    setting: Setting, network: Network | None, anomalies: tuple[np.ndarray, np.ndarray]
) -> tuple[str, ...]:  # fmt: skip
    """Messages, also on ``anomalies`` of cells at the training times (N, M) and at those of the series (T, M)."""
    result, months = (
        _far_away(setting, *anomalies),
        setting.seasons.unseen_months(setting.training.dates, setting.series.dates),
    )
    if months:
        named = ", ".join(MONTHS[month - 1] for month in months)
        result.append(f"The training period has no {named}: the climatology there is extrapolated from other months.")
    if any(date is None for date in (*setting.training.dates, *setting.series.dates)):
        result.append("The times have no dates, so that the climatology is one mean, without seasons.")
    if network is not None and network.lost:
        result.append(f"{network.lost} stations lie on pixels that the archive lacks and are left out.")
    if network is not None and network.learned:
        result.append(
            "The noise of the stations is learned from values that a rougher field explains as well, and is often too "
            "small: the intervals at the stations' pixels may be too narrow. If you know the noise, state it "
            "(`--representativeness` with `--hold representativeness`)."
        )
    return tuple(result)
