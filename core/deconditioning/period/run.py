"""Downscales a series: learn once, factorise once, predict every time."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch

from deconditioning.device import choose
from deconditioning.downscaling.run import jitter_sentence
from deconditioning.downscaling.settings import AUTO, DownscaleSettings
from deconditioning.downscaling.starting import completed, spec_to_settings, starting_spec
from deconditioning.engine.reporting import NoReport, Stopwatch
from deconditioning.errors import Check, InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.spec import ModelSpec
from deconditioning.period.joint import Residuals, correlation_of_group, residuals_of_kernel
from deconditioning.period.learning import learn_pooled, spread_times
from deconditioning.period.linking.cells import Linked, single_times
from deconditioning.period.linking.moving import same_places
from deconditioning.period.linking.moving_draws import residuals_of_moving
from deconditioning.period.linking.series import linked_series
from deconditioning.period.one_scale_up import held_one_scale_up, sentences_one_scale_up
from deconditioning.period.posterior import (
    PixelSums,
    Together,
    condition_times,
    moments_of_times,
    pixel_sums,
    pooled_scale,
    some_times,
)
from deconditioning.period.series import Block, Series
from deconditioning.period.stations import report_of_stations
from deconditioning.period.warped import WarpedCells, at_limits, beyond_limits, in_warp, warp_of_series

if TYPE_CHECKING:
    from deconditioning.period.archive.peers.fitted import Peer

#: Times that the correlation in time is learned from.
_LINKED_BY = 500
#: Bytes of the means of all times that may be held in memory.
MOST_BYTES = 4_000_000_000


class Behind(Protocol):
    """The distributions of a series that is not a Gaussian."""

    def predictive(self, time: int) -> Predictive:
        """The distributions (H, W) of the pixels' values at a time."""
        ...

    def draws(self, count: int, seed: int) -> Iterator[np.ndarray]:
        """Joint draws (T, P) at the pixels, in the target's units."""
        ...


@dataclass(frozen=True, eq=False)
class PeriodResult:
    """A downscaled series, in the target's units.

    Parameters
    ----------
    series : what was downscaled.
    spec, settings : the model, and the settings that reproduce it.
    means : (T, H, W) posterior means.
    spreads : (G, H, W) posterior sds of a pixel's value for an amplitude of one, ``spread_of`` (T,) which of them each
        time has.
    amplitude : (T,) the factor a_t of each time's sd.
    by_value : a further factor (H, W) from the means (H, W) of a time; None without an archive.
    behind : the distributions of a target that is not a Gaussian, such as one behind a warp (`BehindWarp`);
        ``spreads``, ``amplitude`` and ``by_value`` are then those of the Gaussian behind them. None for a Gaussian.
    evidence : (T,) log evidence of each time, standardised; given all earlier times if times are linked.
    seconds : CPU and wall time after learning; ``warnings`` are messages.
    residuals : joint draws of the errors; None if pixels or cells change with time.
    peers : other methods from the same archive, by name; none without one.
    linked : the cells of all times of the series, linked through time; None if each time is conditioned by itself.
    method : the other method whose prediction this is (`archive.peers.fitted.SHORT`); empty for that of ``spec``.
    """

    series: Series
    spec: ModelSpec
    settings: DownscaleSettings
    means: np.ndarray
    spreads: np.ndarray
    spread_of: np.ndarray
    amplitude: np.ndarray
    evidence: np.ndarray
    seconds: dict[str, float]
    warnings: tuple[str, ...] = ()
    diagnostics: dict[str, Any] = field(default_factory=dict)
    residuals: Residuals | None = None
    peers: "dict[str, Peer]" = field(default_factory=dict)
    by_value: Callable[[np.ndarray], np.ndarray] | None = None
    behind: Behind | None = None
    linked: Linked | None = None
    method: str = ""

    def predictive(self, time: int) -> Predictive:
        """The distributions (H, W) of the pixels' values at a time."""
        return self.behind.predictive(time) if self.behind else Predictive(self.means[time], self.sd(time))

    def sd(self, time: int) -> np.ndarray:
        """(H, W) posterior sd of a pixel's value at a time."""
        if self.behind:
            return self.behind.predictive(time).sd
        sd = self.amplitude[time] * self.spreads[self.spread_of[time]]
        return sd if self.by_value is None else sd * self.by_value(self.means[time])


def downscale_series(
    series: Series, settings: DownscaleSettings | dict[str, Any], context: Any = None,
    times: np.ndarray | None = None, like: PeriodResult | None = None, *, link: bool | None = None,
) -> PeriodResult:  # fmt: skip
    """Learn a model from the series (if requested) and predict mean and sd of every pixel at every time.

    ``link`` the times, or not, where cells are missing or noisy (`period.linking`); by default they are linked if cells
    are missing and values left out are then predicted better.
    ``times``, ascending, are those of the series that are predicted, by default all; what they share comes from all of
    the series either way, or, to save time, from ``like``, a result of other times whose covariates do not change. A
    requested warp is that of all times (`WarpedCells`). Raises ``InputError`` for models without bag sums, and for
    series that do not fit into memory or that a requested warp does not suit; ``Cancelled``.
    """
    settings = settings if isinstance(settings, DownscaleSettings) else DownscaleSettings.from_dict(settings)
    requested, settings = settings.warp, settings.replace(warp="none")
    warp = None if requested in (AUTO, "none") else warp_of_series(series, requested)
    if warp is None:
        result = _gaussian(series, settings, context, times, like, link)
        return replace(result, warnings=(*result.warnings, *beyond_limits(series, result.means)))
    before = None
    if like is not None:
        assert isinstance(like.behind, WarpedCells) and isinstance(like.behind.latent, PeriodResult)
        before = like.behind.latent
    latent = _gaussian(in_warp(series, warp), settings, context, times, before, link)
    behind = WarpedCells(latent, warp, series if times is None else series.only(times))
    means = np.stack([behind.predictive(time).mean for time in range(len(behind.series))])
    about = {"warp": f"The model uses {warp.formula} of the target, as requested."}
    return replace(
        latent, series=behind.series, means=means, settings=latent.settings.replace(warp=warp.to_dict()),
        diagnostics={**latent.diagnostics, **about}, behind=behind,
        warnings=(*latent.warnings, *at_limits(series, warp)),
    )  # fmt: skip


def _gaussian(
    series: Series, settings: DownscaleSettings, context: Any, times: np.ndarray | None, like: PeriodResult | None,
    link: bool | None,
) -> PeriodResult:  # fmt: skip
    """The series without a warp, as `downscale_series` says."""
    context, device = context or NoReport(), choose(settings.device)
    chosen = np.arange(len(series)) if times is None else times
    settings = of_a_series(series, settings, len(chosen))
    warnings, diagnostics = tuple[str, ...](), dict[str, Any]()
    if like is not None:
        spec = like.spec
    elif settings.learn:
        spec, warnings, diagnostics = _learned(series, settings, context)
    else:
        spec = starting_spec(series.problem, settings)
    watch, linked = Stopwatch(), None
    part = series if times is None else series.only(chosen)
    filled = _Filled.of(part)
    context.report(message=f"Predicting {series.problem.grid.area.size:,} pixels at {len(part)} times")
    for number, block in enumerate(series.blocks() if series.varying is None else part.blocks()):
        sums = pixel_sums(spec, block.problem, device, context.check)
        if not number:
            linked = like.linked if like else linked_series(series, spec, sums, settings, link, context.check)
        spec = spec if linked is None else replace(spec, noise=linked.noise)
        groups = condition_times(
            spec, block.problem, block.targets, sums.gram, series.member[block.times], block.errors
        )
        own, means, spreads = _predicted(series, spec, block, sums, groups, chosen, linked, like, context.check)
        filled.add(part, block.problem, block.times if series.varying else np.arange(len(part)), own, means, spreads)
    if linked is not None:
        filled.link(linked, chosen)
        diagnostics |= linked.report
    jitter = filled.jitter
    return PeriodResult(
        part, spec, spec_to_settings(settings, spec), filled.means, np.stack(filled.spreads), filled.spread_of,
        filled.amplitude, filled.evidence, watch.seconds(),
        warnings + jitter_sentence(jitter),
        {"device": str(device), "jitter": jitter, "learned_from": len(spread_times(series)), **diagnostics,
         **_about_stations(series, spec, groups, linked)},
        _residuals(series, spec, sums, groups, linked, chosen) if filled.alike else None, linked=linked,
    )  # fmt: skip


def _learned(
    series: Series, settings: DownscaleSettings, context: Any
) -> tuple[ModelSpec, tuple[str, ...], dict[str, Any]]:  # fmt: skip
    """The model that is learned, with warnings and diagnostics, those of the test one scale up among them."""
    learned = learn_pooled(series, settings, context)
    above = held_one_scale_up(series, settings, context.check)
    about = {"left_out_start": learned.start, "left_out_learned": learned.after}
    return (
        learned.learned.spec,
        (*learned.sentences, *sentences_one_scale_up(above)),
        about | ({"one_scale_up": above} if above else {}),
    )


def _predicted(
    series: Series, spec: ModelSpec, block: Block, sums: PixelSums, groups: Sequence[Together], chosen: np.ndarray,
    linked: Linked | None, like: PeriodResult | None, check: Check,
) -> tuple[Sequence[Together], np.ndarray, list[np.ndarray]]:  # fmt: skip
    """Groups of the chosen times, the standardised means (n, P) of these times, and the sd field of each group."""
    own = groups if series.varying else some_times(groups, chosen)
    if linked is not None:
        own = single_times(own)
        means, variances = linked.moments(sums, chosen[block.times] if series.varying else chosen, check)
    else:
        count = len(block.times) if series.varying else len(chosen)
        means, variances = moments_of_times(sums, own, count, check, means_only=like is not None)
        if like is not None:
            return own, (means + spec.mean).numpy(), list(like.spreads)
    scale = pooled_scale(spec, block.problem, groups)
    sds = [spec.value_sd(v if scale is None else scale.square() * v).cpu().numpy() for v in variances]
    return own, (means + spec.mean).numpy(), [series.scale * block.problem.on_grid(sd) for sd in sds]


def _about_stations(
    series: Series, spec: ModelSpec, groups: Sequence[Together], linked: Linked | None
) -> dict[str, Any]:  # fmt: skip
    """What stations differ by from the cells, for several members one after another; nothing without any."""
    if series.stations is None:
        return {}
    ((noise,), effects), values = (spec.noises_of_sources, groups[0].effects), series.stations
    points = series.problem.joint_data.points
    if linked is not None and points is not None:
        effects = linked.effects(points.prior, series.member)
    reports = [
        report_of_stations(series.problem, values[series.member == number], each, noise)
        for number, each in enumerate(effects)
    ]
    return {"stations": reports[0] if series.members == 1 else reports}


def of_a_series(series: Series, settings: DownscaleSettings, times: int) -> DownscaleSettings:
    """The settings of one model of a series, without what is of one time alone, to predict so many of its times."""
    settings = completed(series.problem, settings.replace(average=False, choose=False, warp="none"))
    needed = 8 * times * series.problem.grid.area.size
    if needed > MOST_BYTES:
        raise InputError(
            f"{times} times of {series.problem.grid.area.size:,} pixels need {needed / 1e9:.1f} GB: choose fewer times "
            "or a region, or `--output OUT.zarr`, which the command writes piece by piece."
        )
    return settings.replace(integrate=False) if settings.learn else settings


@dataclass(eq=False)
class _Filled:
    """The result's arrays, filled block by block."""

    means: np.ndarray
    spread_of: np.ndarray
    amplitude: np.ndarray
    evidence: np.ndarray
    spreads: list[np.ndarray] = field(default_factory=list)
    jitter: float = 0.0
    alike: bool = True  # whether all times have the same pixels and cells

    @staticmethod
    def of(series: Series) -> "_Filled":
        count, nothing = len(series), np.full(len(series), math.nan)
        means = np.full((count, *series.problem.grid.shape), math.nan)
        return _Filled(means, np.zeros(count, dtype=int), nothing.copy(), nothing.copy())

    def add(
        self, series: Series, problem: DownscalingProblem, at: np.ndarray, groups: Sequence[Together],
        means: np.ndarray, spreads: list[np.ndarray],
    ) -> None:  # fmt: skip
        """Fill in the times ``at``: standardised means (n, P) of all, and the sd field of each group of times."""
        self.alike &= same_places(series.problem, problem)
        for column, time in enumerate(at):
            self.means[time] = series.level[time] + series.scale * problem.on_grid(means[column])
        for group, spread in zip(groups, spreads, strict=True):
            times = at[group.times.cpu().numpy()]
            self.spread_of[times] = len(self.spreads)
            self.spreads.append(spread)
            self.amplitude[times] = group.amplitude.cpu().numpy()
            self.evidence[times] = group.evidence.cpu().numpy()
            self.jitter = max(self.jitter, group.conditioning.factor.jitter)

    def link(self, linked: Linked, times: np.ndarray) -> None:
        """The evidence of these times given those before."""
        self.evidence[:] = linked.given.evidence[times].cpu().numpy()
        self.jitter = max(self.jitter, linked.jitter)


def _residuals(
    series: Series, spec: ModelSpec, sums: PixelSums, groups: Sequence[Together], linked: Linked | None,
    chosen: np.ndarray,
) -> Residuals:  # fmt: skip
    """Joint draws of the errors at the ``chosen`` times, as long-lived as the evidence of the cells has them; σ² is new
    at every time. Of linked times, they are those of the joint posterior.

    Of an ensemble, the first member shows how long they last.
    """
    if series.varying is not None:
        return residuals_of_moving(series, spec, sums, linked, chosen)
    largest = max(groups, key=lambda group: (len(group.times), len(group.rows)))
    alike = [group.times for group in groups if torch.equal(group.rows, largest.rows)]  # whose errors may differ
    times = np.sort(torch.cat(alike).cpu().numpy())
    times = times[times < len(series) // series.members]  # members at the same time do not share their errors
    some = times[np.unique(np.linspace(0, len(times) - 1, min(_LINKED_BY, len(times))).round().astype(int))]
    scale = None if linked is None else linked.lasting.days
    correlation = correlation_of_group(series, spec, sums, largest, some, scale)
    result = residuals_of_kernel(spec, series.problem, sums, largest, correlation)
    if linked is None:
        return result
    return replace(result, together=linked.draws(spec, series, sums)).only(chosen)
