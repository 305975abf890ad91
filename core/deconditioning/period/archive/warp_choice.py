"""Which warp a period's target has: none, or the power of a censored Gaussian with the lowest left-out CRPS.

Roots of order two, three and four are tried for targets that cannot be negative and for skewed ones without negative
values; without a warp only if dry values are rare, for a Gaussian has none. The CRPS is that of some cells, all of
their pixels, on blocks of time left out of the training period, in the target's units and with the means of the cells.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import skew

from deconditioning.downscaling.settings import AUTO, DownscaleSettings
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.errors import Check, InputError
from deconditioning.fields.problem.physical_limits import limits_of
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.units import is_temperature
from deconditioning.metrics.predictive import Predictive
from deconditioning.period.archive.censoring import Censored
from deconditioning.period.archive.left_out import BLOCKS, choose_mixture, left_out_errors, mixed, spread_of
from deconditioning.period.archive.setting import Setting, prepare
from deconditioning.period.archive.training import Training, keeps_means
from deconditioning.period.behind_warp import CellsOfPixels, Shifted
from deconditioning.period.series import Series
from deconditioning.wording import number

#: The orders n of the roots that are tried.
_ORDERS = (2, 3, 4)
#: Skewness from which a target without limits is tried; share of dry values beyond which none is a Gaussian.
_SKEWED, _MOST_DRY = 0.5, 0.05
#: Negative values that are zeros after packing, as a share of the mean size.
_ROUNDED = 1e-3
#: Factors of the sd that are tried: drawn dry values make it too wide for wet ones.
_FACTORS = (0.6, 0.7, 0.8, 0.9, 1.0)
#: How often dry values are drawn; pixels that the mixture is chosen on; pixels and times of the CRPS.
_ROUNDS, _CHOSEN_ON, _PIXELS, _TIMES = 1, 4000, 2000, 60


#: What is said where no warp is best.
_NONE = "its own values"


@dataclass(frozen=True, eq=False)
class WarpOfPeriod:
    """The series in units of the warp that is best, None for the target itself, the ``settings`` of its model, the
    left-out CRPS of each warp that was tried, in the target's units, by its formula, and the ``factor`` of the sd in
    units of the warp. ``left_out`` are mean and sd (N, P) of left-out times in these units, and ``setting`` is what
    they come from.
    """

    censored: Censored | None
    settings: DownscaleSettings
    crps: dict[str, float]
    factor: float = 1.0
    left_out: tuple[np.ndarray, np.ndarray] | None = None
    setting: Setting | None = None

    @property
    def sentence(self) -> str:
        """What was chosen, and by what; empty where nothing was tried."""
        if not self.crps and self.censored is None:
            return ""
        chosen = self.censored.warp.formula if self.censored else _NONE
        among = "; ".join(f"{number(value)} with {name}" for name, value in self.crps.items())
        return f"The target is modelled by {chosen}" + (f": CRPS on left-out blocks of time {among}." if among else ".")


def choose_warp_of_period(
    series: Series, training: Training, requested: Any, settings: DownscaleSettings, context: Any
) -> WarpOfPeriod:
    """The warp that is ``requested`` ("auto", "none", "box-cox", or one as a dictionary).

    All are tried with the hyperparameters of the first one; those of the best are then learned, and its dry values
    drawn once more from the beginning, so that a run with these hyperparameters repeats them. Raises ``InputError`` for
    other warps and for values that do not allow them; ``Cancelled``.
    """
    warps = _candidates(series, training, requested)
    if not warps:
        return WarpOfPeriod(None, settings, {})
    context.report(message="Choosing the warp of the target on left-out blocks of time")
    crps: dict[str, float] = {}
    best, setting, at_first, checked = None, None, settings, _Checked.of(series, training)
    for warp in warps:
        censored, setting, left_out = _augmented(series, training, warp, at_first, context, setting)
        at_first = spec_to_settings(settings, setting.spec).replace(learn=False)
        crps[warp.formula], factor = checked.best(warp, *left_out)
        if crps[warp.formula] == min(crps.values()):
            best = WarpOfPeriod(censored, settings, crps, factor, left_out, setting)
    if requested == AUTO and _dry_share(training) <= _MOST_DRY:
        setting = prepare(series, training, at_first, context, setting)
        crps[_NONE] = checked.crps(None, *left_out_moments(setting, context.check))
        if crps[_NONE] == min(crps.values()):
            return WarpOfPeriod(None, settings, crps)
    assert best is not None and best.censored is not None
    if not settings.learn:
        return best
    setting = prepare(best.censored.series, best.censored.training, settings, context)
    settings = spec_to_settings(settings, setting.spec).replace(learn=False)
    censored, setting, left_out = _augmented(series, training, best.censored.warp, settings, context, setting)
    return WarpOfPeriod(censored, settings, crps, checked.best(censored.warp, *left_out)[1], left_out, setting)


def _candidates(series: Series, training: Training, requested: Any) -> list[Warp]:
    if isinstance(requested, Mapping):
        warp = Warp.from_dict(requested)
        if warp.kind != "box-cox" or warp.shift or warp.power not in [1 / n for n in _ORDERS]:
            raise InputError(
                f"A period has no warp such as {warp.formula}: give the Box-Cox warp of v with λ = 1/2, 1/3 or 1/4."
            )
        return [warp]
    if requested not in (AUTO, "none", "box-cox"):
        raise InputError(f"A period has no warp of kind '{requested}': choose 'box-cox', 'none' or 'auto'.")
    limits, fine = limits_of(series.problem), training.at(_some_known(training))
    lowest, usual = float(fine.min()), float(np.abs(fine).mean()) or 1.0
    if requested == "none" or (requested == AUTO and not _suits(series, limits, fine, lowest / usual)):
        return []
    if lowest < -_ROUNDED * usual:
        raise InputError(
            f"The archive has negative values, such as {number(lowest)}, so the target has no root: leave `warp` out."
        )
    return [Warp("box-cox", 1 / n) for n in _ORDERS]


def _some_known(training: Training) -> Int[np.ndarray, " p"]:
    """All pixels with values, some of them if the archive is in a file."""
    known = np.flatnonzero(training.known)
    return known if training.stored is None else known[:: max(1, len(known) // _PIXELS)]


def has_warp(series: Series, training: Training, requested: Any) -> bool:
    """Whether warps are tried, which needs the fine values in memory. Raises ``InputError`` as the choice does."""
    return bool(_candidates(series, training, requested))


def _suits(series: Series, limits: tuple[float, float] | None, fine: np.ndarray, lowest: float) -> bool:
    """Whether the target cannot be negative, or is skewed and never is."""
    if is_temperature(series.problem.units):
        return False
    if limits is not None:
        return limits == (0.0, np.inf)
    return lowest >= -_ROUNDED and float(skew(fine.ravel()[:: max(1, fine.size // 100_000)])) > _SKEWED


def _dry_share(training: Training) -> float:
    fine = training.fine[:, np.isfinite(training.fine[0])]
    return float(np.mean(fine <= 1e-6 * fine.mean()))


def _augmented(
    series: Series,
    training: Training,
    warp: Warp,
    settings: DownscaleSettings,
    context: Any,
    like: Setting | None = None,
) -> tuple[Censored, Setting, tuple[np.ndarray, np.ndarray]]:
    """Dry values drawn some times over, the setting, and mean and sd (N, P) of left-out times."""
    censored = Censored.of(series, training, warp)
    setting = prepare(censored.series, censored.training, settings, context, like)
    rng, left_out = np.random.default_rng(1), left_out_moments(setting, context.check)
    for _ in range(_ROUNDS if censored.dry.any() else 0):
        censored = censored.drawn(*left_out, rng)
        left_out = left_out_moments(setting.with_fine(censored.training), context.check)
    return censored, setting, left_out


def left_out_moments(setting: Setting, check: Check) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sd (N, P) of every pixel of the training period, blocks of time left out in turn."""
    some = setting.some(_CHOSEN_ON, check)
    method = mixed(choose_mixture(setting.coarse, some, check), setting.coarse, some, BLOCKS)
    means, sds = (np.full(setting.training.fine.shape, np.nan) for _ in range(2))
    for tile, fine in setting.tiles(check):
        errors, variance = left_out_errors(setting.coarse, fine, method, BLOCKS)
        means[:, tile] = setting.unit * (fine.y - errors).cpu().numpy()
        sds[:, tile] = setting.unit * spread_of(errors, variance).cpu().numpy()
    return means, sds


@dataclass(frozen=True, eq=False)
class _Checked:
    """Some whole cells (k,), as places among the targets, with their pixels (p,), and some times (t,)."""

    series: Series
    training: Training
    cells: CellsOfPixels
    chosen: Int[np.ndarray, " k"]
    pixels: Int[np.ndarray, " p"]
    times: Int[np.ndarray, " t"]

    @staticmethod
    def of(series: Series, training: Training) -> "_Checked":
        """Random cells with at most so many pixels, and times evenly spread."""
        cells = CellsOfPixels.of(series.problem, np.isfinite(training.fine[0]))
        rng, target = np.random.default_rng(0), series.problem.target_cell
        count = min(len(target), max(1, _PIXELS * len(target) // max(1, len(cells.row))))
        chosen = rng.permutation(len(target))[:count]
        chosen = chosen[np.argsort(target[chosen])]
        part, pixels = cells.some(target[chosen])
        times = np.unique(np.linspace(0, len(training) - 1, min(_TIMES, len(training))).round().astype(int))
        return _Checked(series, training, part, chosen, pixels, times)

    def crps(
        self, warp: Warp | None, means: Float[np.ndarray, "N P"], sds: Float[np.ndarray, "N P"], factor: float = 1.0
    ) -> float:
        """Mean CRPS in the target's units of these means and sds in units of a warp, times a factor."""
        total, exact = 0.0, keeps_means(self.training)
        for time in self.times:
            m, s, y = means[time, self.pixels], factor * sds[time, self.pixels], self.training.fine[time, self.pixels]
            if warp is None:
                predictive = Predictive(m, s, limits=limits_of(self.series.problem))
            else:
                shifted, aim = Shifted(warp, self.cells), self.training.cells[time, self.chosen]
                delta = shifted.shift(aim, m, s) if exact else np.zeros(len(aim))
                predictive = shifted.predictive(*shifted.gaussian(delta, m, s))
            total += float(predictive.crps(y).mean())
        return total / len(self.times)

    def best(
        self, warp: Warp, means: Float[np.ndarray, "N P"], sds: Float[np.ndarray, "N P"]
    ) -> tuple[float, float]:  # fmt: skip
        """The lowest CRPS, and the factor that it has."""
        return min((self.crps(warp, means, sds, factor), factor) for factor in _FACTORS)
