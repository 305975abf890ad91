"""Statistics of a period with honest uncertainty: of each joint draw, then over the draws.

The sd of a mean over N times is not sd/√N, because errors last, nor the mean of the sds, because not all do. Without an
archive the cells cannot show which share of the errors never changes: the sd is then given twice, for errors that last
as the coarse values do, and for errors that never change (``if_fixed``); the truth lies between.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.times import MONTHS, SEASONS
from deconditioning.period.correlation import days_of
from deconditioning.period.joint import linked_errors
from deconditioning.period.run import PeriodResult
from deconditioning.period.series import Series
from deconditioning.verification.indices import longest

#: What may be asked for; most of those with a value have a threshold.
_WORDS = ("mean", "month", "season", "max", "min", "change", "trend", "above=VALUE", "below=VALUE", "spell_above=VALUE",
         "spell_below=VALUE", "degree_days_above=VALUE", "degree_days_below=VALUE", "return=YEARS")  # fmt: skip
#: Ends of the central 90 % interval.
_LOW, _HIGH = 0.05, 0.95
_DAYS_A_YEAR = 365.2425
#: Years whose largest values give return levels, at least; share of the times of the fullest year that a year has.
_FEWEST_YEARS, _WHOLE_YEAR = 5, 0.9


@dataclass(frozen=True, eq=False)
class Statistic:
    """``of`` gives (G, P) values from fields (T, P), one for each of ``groups``."""

    name: str
    long_name: str
    units: str
    groups: tuple[str, ...]
    of: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class PeriodStatistic:
    """A statistic's posterior (G, H, W): ``mean``, ``sd``, ends of the 90 % interval; ``sd_if_fixed`` where the cells
    cannot show how long errors last; ``truth`` if it is known.
    """

    statistic: Statistic
    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray
    sd_if_fixed: np.ndarray | None
    truth: np.ndarray | None


#: A draw (T, P) of a series at the prediction pixels, and one whose errors never change, None with an archive.
Draw = tuple[np.ndarray, np.ndarray | None]


def period_draws(result: PeriodResult, count: int, seed: int) -> Iterator[Draw]:
    """``count`` joint draws of the series, in the target's units, one after another.

    ``mean + sd · u`` with ``u ~ N(0, ρ ⊗ R)``, R the correlation in space of the posterior's errors and ρ that in time,
    or the joint distribution of all times where it is known, in units of the warp where the target has one; every draw
    has the means of the cells then. Errors are drawn a few series at a time, so that the draws depend on ``count`` too.
    Raises ``InputError`` if pixels or cells change with time.
    """
    residuals = result.residuals
    if residuals is None:
        raise InputError(
            "Statistics need joint draws, which are not available when pixels or cells change with time: leave them "
            "out, or choose times at which covariates are known at the same pixels."
        )
    if result.behind:
        yield from ((draw, None) for draw in result.behind.draws(count, seed))
        return
    chosen, times = result.series.problem.pixel, len(result.series)
    means = result.means.reshape(times, -1)[:, chosen]
    sds = np.stack([result.sd(time).flat[chosen] for time in range(times)])
    for errors, first in linked_errors(residuals, days_of(result.series.dates), len(chosen), count, seed):
        yield means + sds * errors, None if residuals.of_archive else means + sds * first


def statistics_named(words: Sequence[str], series: Series) -> list[Statistic]:
    """The statistics that are asked for (`_WORDS`); ``InputError`` for others, and for months without dates."""
    return [_named(word, series) for word in words]


def _named(word: str, series: Series) -> Statistic:
    units, target = series.problem.units or "1", series.problem.long_name
    name, _, value = word.partition("=")
    if name in ("month", "season"):
        return _grouped(name, series)
    if name == "trend" and len(series) > 2:
        _check_dates(series, "trend")
        days = days_of(series.dates)
        slope = (days - days.mean()) / np.sum((days - days.mean()) ** 2) * _DAYS_A_YEAR
        return Statistic(name, f"linear trend of {target}", f"{units} year-1", ("",), lambda f: (slope @ f)[None])
    if name == "return":
        return _return_level(word, value, series)
    if name == "change" and len(series) > 1 and not value:
        about = f"root mean square change of {target} from one time to the next"
        return Statistic("change", about, units, ("",), lambda f: np.sqrt((np.diff(f, axis=0) ** 2).mean(0))[None])
    if name.rpartition("_")[2] in ("above", "below"):
        return _beyond(word, series)
    plain: dict[str, Callable[..., np.ndarray]] = {"mean": np.mean, "max": np.max, "min": np.min}
    if name not in plain or value:
        raise InputError(f"The statistic '{word}' is unknown: choose among {', '.join(_WORDS)}.")
    return Statistic(f"period_{name}", f"{name} of {target} over the period", units, ("",),
                     lambda f: plain[name](f, axis=0)[None])  # fmt: skip


def _check_dates(series: Series, what: str) -> None:
    if any(date is None for date in series.dates):
        raise InputError(f"The times have no dates, so there is no {what}: choose another statistic.")


def _number(word: str, what: str) -> float:
    """The value after the sign of equality."""
    name, _, value = word.partition("=")
    try:
        return float(value)
    except ValueError:
        raise InputError(f"`{word}` needs {what}: write {name}=300, for example.") from None


def _beyond(word: str, series: Series) -> Statistic:
    """Of values above or below a threshold: their number, their longest run, their sum over days."""
    name, units, target = word.partition("=")[0], series.problem.units or "1", series.problem.long_name
    limit = _number(word, f"a threshold in {units}")
    kind, _, side = name.rpartition("_")
    key = word.partition("=")[2].replace(".", "_").replace("-", "minus_")
    sign, named = (1 if side == "above" else -1), f"{target} {side} {limit:g} {units}"
    if kind == "":
        return Statistic(f"times_{side}_{key}", f"number of times with {named}", "1", ("",),
                         lambda f: (sign * (f - limit) > 0).sum(0, dtype=float)[None])  # fmt: skip
    if kind == "spell":
        return Statistic(f"spell_{side}_{key}", f"longest run of times with {named}", "1", ("",),
                         lambda f: longest(sign * (f - limit) > 0)[None])  # fmt: skip
    if kind == "degree_days" and len(series) > 1:
        _check_dates(series, "sum over days")
        step = float(np.median(np.diff(days_of(series.dates))))
        return Statistic(f"{name}_{key}", f"sum over days of {named}", f"{units} day", ("",),
                         lambda f: step * np.maximum(sign * (f - limit), 0).sum(0)[None])  # fmt: skip
    raise InputError(f"The statistic '{word}' is unknown: choose among {', '.join(_WORDS)}.")


def _return_level(word: str, value: str, series: Series) -> Statistic:
    """``μ − β ln(−ln(1 − 1/N))`` of a Gumbel distribution with the first two L-moments of the largest value of a year.

    Source: Hosking 1990, *L-moments*.
    """
    years = _number(word, "a number of years")
    if not years > 1:
        raise InputError(f"`{word}` is not a return period: give more than one year.")
    known = np.array([label[:4] for label in series.labels])
    names, counts = np.unique(known, return_counts=True)
    rows = [np.flatnonzero(known == name) for name in names[counts >= _WHOLE_YEAR * counts.max()]]
    if any(date is None for date in series.dates) or len(rows) < _FEWEST_YEARS:
        raise InputError(
            f"A return level needs the largest values of at least {_FEWEST_YEARS} years, and the series has "
            f"{len(rows)}: choose a longer period."
        )
    about = f"value of {series.problem.long_name} exceeded once in {years:g} years"
    return Statistic(f"return_level_{value.replace('.', '_')}", about, series.problem.units or "1", ("",),
                     lambda f: gumbel_level(np.stack([f[year].max(0) for year in rows]), years)[None])  # fmt: skip


def gumbel_level(largest: np.ndarray, years: float) -> np.ndarray:
    """(P,) return levels from the largest values (n, P) of n years."""
    ordered = np.sort(largest, axis=0)
    weight = np.arange(len(ordered)) / (len(ordered) - 1)
    mean = ordered.mean(0)
    scale = (2 * (weight[:, None] * ordered).mean(0) - mean) / np.log(2)
    return mean - np.euler_gamma * scale - scale * np.log(-np.log(1 - 1 / years))


def _grouped(kind: str, series: Series) -> Statistic:
    """Means of the months or seasons that occur."""
    _check_dates(series, f"mean of a {kind}")
    months = np.array([int(label[5:7]) for label in series.labels])
    sets = {name: (number + 1,) for number, name in enumerate(MONTHS)} if kind == "month" else SEASONS
    rows = {name: np.flatnonzero(np.isin(months, chosen)) for name, chosen in sets.items()}
    rows = {name: chosen for name, chosen in rows.items() if len(chosen)}
    return Statistic(
        f"{kind}_mean", f"mean of {series.problem.long_name} by {kind}", series.problem.units or "1", tuple(rows),
        lambda f: np.stack([f[chosen].mean(0) for chosen in rows.values()]),
    )  # fmt: skip


def period_statistics(
    result: PeriodResult, words: Sequence[str], count: int = 50, seed: int = 0, draws: Sequence[Draw] | None = None
) -> list[PeriodStatistic]:
    """The statistics of ``count`` joint draws, or of given ``draws``.

    Raises ``InputError`` as `statistics_named` and `period_draws` do.
    """
    series = result.series
    requested = statistics_named(words, series)
    _check_count(count if draws is None else len(draws))
    values = _values_of(requested, period_draws(result, count, seed) if draws is None else draws)
    return [
        _summary(series, each, of.draws, of.sd, None if of.fixed is None else of.fixed.std(0, ddof=1))
        for each, of in zip(requested, values, strict=True)
    ]


def statistics_of_members(
    members: Sequence[PeriodResult], words: Sequence[str], count: int = 50, seed: int = 0,
    draws: Sequence[Sequence[Draw]] | None = None,
) -> list[PeriodStatistic]:  # fmt: skip
    """The statistics of a further, exchangeable member of an ensemble, from ``count`` joint draws of each of at least
    two ``members``, or given ``draws`` of each.

    Its variance is the mean of the members' plus that between their means (`ensemble`). The interval is that of the
    draws of all members, whose means are moved apart by ``√(E/(E − 1))``, so that they have this variance too. There is
    no truth. Raises ``InputError`` as `period_statistics` does.
    """
    series = replace(members[0].series, fine=None)
    requested, found = statistics_named(words, series), list[list[_Values]]()
    for number, member in enumerate(members):
        _check_count(count if draws is None else len(draws[number]))
        found.append(_values_of(requested, period_draws(member, count, seed) if draws is None else draws[number]))
    result = []
    for statistic, each in zip(requested, zip(*found, strict=True), strict=True):
        values = np.stack([one.draws for one in each])
        means = values.mean(1, keepdims=True)
        apart = (means - means.mean(0)) * np.sqrt(len(each) / (len(each) - 1))
        fixed = [one.fixed for one in each if one.fixed is not None]
        result.append(
            _summary(
                series, statistic, np.concatenate(values - means + means.mean(0) + apart), _further(values),
                _further(np.stack(fixed)) if fixed else None,
            )
        )  # fmt: skip
    return result


def _check_count(count: int) -> None:
    if count < 2:
        raise InputError(f"{count} draws cannot show the spread of a statistic: request at least 2.")


@dataclass(frozen=True, eq=False)
class _Values:
    """A statistic of each of n draws (n, G, P), and of those whose errors never change, None with an archive."""

    draws: np.ndarray
    fixed: np.ndarray | None

    @property
    def sd(self) -> np.ndarray:
        """(G, P)."""
        return self.draws.std(0, ddof=1)


def _values_of(requested: Sequence[Statistic], draws: Iterable[Draw]) -> list[_Values]:
    of_draws: list[list[np.ndarray]] = [[] for _ in requested]
    of_fixed: list[list[np.ndarray]] = [[] for _ in requested]
    for draw, fixed in draws:
        for n, statistic in enumerate(requested):
            of_draws[n].append(statistic.of(draw))
            if fixed is not None:
                of_fixed[n].append(statistic.of(fixed))
    return [
        _Values(np.stack(mine), np.stack(fixed) if fixed else None)
        for mine, fixed in zip(of_draws, of_fixed, strict=True)
    ]


def _further(values: np.ndarray) -> np.ndarray:
    """(G, P) sd of a further member from draws (E, n, G, P)."""
    return np.sqrt(values.var(1, ddof=1).mean(0) + values.mean(1).var(0, ddof=1))


def _ends_of(values: np.ndarray) -> np.ndarray:
    """Ends (2, …) of the 90 % interval from draws (n, …), as order statistics of rank ``q (n + 1)``.

    A further draw lies below the k-th smallest of n with probability ``k / (n + 1)``, so that the interval holds 90 %
    however few the draws are, from 19 on; an interpolated quantile of 50 draws would hold 86.5 %. Source: Hyndman and
    Fan 1996, *The American Statistician* 50, definition 6.
    """
    return np.quantile(values, (_LOW, _HIGH), axis=0, method="weibull")


def _summary(
    series: Series, statistic: Statistic, values: np.ndarray, sd: np.ndarray, sd_if_fixed: np.ndarray | None
) -> PeriodStatistic:  # fmt: skip
    """From draws (n, G, P) and their sds (G, P)."""
    problem = series.problem

    def on_grid(rows: np.ndarray) -> np.ndarray:
        """Values (n, P) at the pixels as maps (n, H, W)."""
        return np.stack([problem.on_grid(row) for row in rows])

    truth = None
    if series.fine is not None:
        fields = np.stack([series.fine(time).flat[problem.pixel] for time in range(len(series))])
        truth = on_grid(statistic.of(fields))
    low, high = (on_grid(each) for each in _ends_of(values))
    return PeriodStatistic(
        statistic, on_grid(values.mean(0)), on_grid(sd), low, high,
        None if sd_if_fixed is None else on_grid(sd_if_fixed), truth,
    )  # fmt: skip
