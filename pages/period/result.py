"""A chosen series, downscaled: what was chosen, in the words of the library, and what comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from deconditioning.datasets.entries import find
from deconditioning.downscaling.checks.assumptions import intervals, refused
from deconditioning.downscaling.settings import AUTO, DownscaleSettings
from deconditioning.downscaling.source import Source, open_source
from deconditioning.engine.reporting import Stopwatch
from deconditioning.fields.gridded import Fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.metrics.intervals import Trust
from deconditioning.period.archive.pair import downscale_pair
from deconditioning.period.archive.predictors import read_predictors
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.ensemble import Ensemble, downscale_ensemble, further_member, member_dimension, read_ensemble
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.scores import verified_result
from deconditioning.period.series import Series, read_series
from deconditioning.verification.report import Verification, verify
from pages.period import timeline
from pages.period.archive import climatologies, left_behind

#: Data sets of the catalogue that are series.
SERIES = ("era5-uk", "made-up-region")
#: Values of all times and pixels that the page computes; more go through the command.
MOST_VALUES = 3_000_000
#: Times of a longer series that show whether cells are missing, and whether Gaussian intervals can be right.
_TRIED = 12


@dataclass(frozen=True)
class Choice:
    """What was chosen: files, variables, pixels in a cell, times to downscale and to learn from, predictors.

    ``pair`` are the lower and the upper variable where both are downscaled together; ``target`` is the one shown.
    ``select`` is the index along each further dimension, such as a level or a member; without one of the members, all
    are downscaled. ``stations`` is the key of a table of stations, ``column`` that of its values; "" for none.
    ``warp`` is that of the target, "auto" for the one that is best where it cannot be negative. ``coarse`` is the key
    of a file with the coarse values, whose cells have no ``block`` then (0); "" for means of the fine field.
    ``error`` is the field, or the number, with the sds of their errors; "" for none. ``link`` the times, or not; None
    if that is left to the library.
    """

    key: str
    target: str
    covariates: tuple[str, ...]
    block: int
    period: timeline.Stretch
    training: tuple[int, ...]
    archive: bool
    predictors: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    select: tuple[tuple[str, int], ...] = ()
    stations: str = ""
    column: str = ""
    warp: str = AUTO
    coarse: str = ""
    error: str = ""
    link: bool | None = None

    @property
    def source(self) -> Source:
        """The files."""
        return Source(
            self.key, coarse=self.coarse or None, stations=self.stations or None, station_value=self.column
        )  # fmt: skip

    @property
    def problem(self) -> DownscalingSpec:
        """Variables, cells and selection."""
        spec = DownscalingSpec(self.target, self.covariates, withhold=0.0, error=self.error or None)
        if self.coarse:
            return replace(spec, coarse_select=dict(self.select))
        return replace(spec, block=(self.block, self.block), select=dict(self.select))

    @property
    def settings(self) -> DownscaleSettings:
        """The model."""
        return DownscaleSettings(model="area_to_point_gp", warp=self.warp)

    @property
    def times(self) -> tuple[str, ...]:
        """The downscaled times in the words of the library."""
        return ("#{}/#{}".format(*self.period),)

    @property
    def count(self) -> int:
        """The number of downscaled times."""
        return self.period[1] - self.period[0] + 1

    @property
    def training_times(self) -> tuple[str, ...]:
        """The training period in the words of the library."""
        return tuple(timeline.as_words(self.training))

    @property
    def held(self) -> Fields:
        """The fields that the target is among."""
        return fields_of(self.coarse or self.key)


@dataclass(frozen=True, eq=False)
class Shown:
    """A downscaled series, how it compares with the truth if that is known, and how the archive was read.

    Of all members of an ensemble, ``result`` is the prediction of a further one, and ``members`` are those of each.
    ``climate`` is the archive's climatology of the pixels (T, P) and of the targets (T, M), None without an archive;
    ``left`` are sentences on where the series leaves the training period, ``trust`` is the verdict on the intervals,
    None without a truth and where no interval can be right, ``seconds`` how long all took.
    """

    result: PeriodResult
    verification: Verification | None
    notes: tuple[str, ...]
    training: int
    members: tuple[PeriodResult, ...] = ()
    climate: tuple[np.ndarray, np.ndarray] | None = None
    left: tuple[str, ...] = ()
    trust: Trust | None = None
    seconds: float = 0.0


@st.cache_resource(show_spinner="Opening the fields …", max_entries=4)
def fields_of(key: str) -> Fields:
    """The fields of a data set of the catalogue, or of an upload."""
    return open_source(key)


def series_title(choice: Choice) -> str:
    """What the catalogue calls the chosen series; "" for a file of a person."""
    return find(choice.key).title if choice.key in SERIES else ""


def all_members(choice: Choice) -> str | None:
    """The dimension of the members that are downscaled together; None for a single one."""
    return member_dimension(choice.held, choice.problem)


def too_many(choice: Choice) -> str:
    """A sentence if the chosen times are too many to be shown; "" otherwise."""
    members, pixels = all_members(choice), fields_of(choice.key).grid.area.size
    each = len(choice.held.check(choice.target).extra[members]) if members else 1
    if choice.count * pixels * each <= MOST_VALUES:
        return ""
    return (
        f"{choice.count:,} times of {pixels:,} pixels are too many to be shown: choose fewer, or write them all to a "
        "file."
    )


def has_gaps(choice: Choice) -> bool:
    """Whether cells are missing at some of the chosen times, of which a few are looked at where they are too many to be
    shown. Raises ``InputError`` as `read_series` does.
    """
    times = choice.times
    if too_many(choice):
        some = np.unique(np.linspace(*choice.period, _TRIED).round().astype(int))
        times = tuple(timeline.as_words(some.tolist()))
    read = _read(choice.source, choice.problem, times)
    series = read.pooled if isinstance(read, Ensemble) else read
    return bool(np.isnan(series.coarse[:, series.problem.target_cell]).any())


@st.cache_resource(show_spinner="Reading the coarse values …", max_entries=8)
def _read(source: Source, spec: DownscalingSpec, times: Sequence[str]) -> Series | Ensemble:
    """The series of the target, or those of all members."""
    return read_ensemble(source, spec, fields_of, times) or read_series(source, spec, fields_of, times)


def downscaled(choice: Choice) -> Shown:
    """The chosen times downscaled."""
    return _downscaled(replace(choice, target=choice.pair[0]) if choice.pair else choice)[choice.target]


@st.cache_resource(show_spinner="Downscaling all times …", max_entries=8)
def _downscaled(choice: Choice) -> dict[str, Shown]:
    """The target, or each variable of a pair, downscaled; kept for all sessions."""
    watch = Stopwatch()
    result = _computed(choice)
    return {name: replace(shown, seconds=watch.seconds()["wall"]) for name, shown in result.items()}


def _computed(choice: Choice) -> dict[str, Shown]:
    fields, source, spec, times = fields_of(choice.key), choice.source, choice.problem, list(choice.times)
    settings, earlier, link = choice.settings, list(choice.training_times), choice.link
    series = _read(source, spec, choice.times)
    if isinstance(series, Ensemble):
        return {choice.target: _of_all_members(choice, series)}
    if not choice.archive:
        return {choice.target: _shown(downscale_series(series, settings, link=link), None)}
    predictors = read_predictors(source, spec, fields_of, times, choice.predictors, series)
    training = read_training(series, fields, earlier, predictors)
    if not choice.pair:
        return {choice.target: _shown(downscale_with_archive(series, training, settings, link=link), training)}
    upper = read_series(source, replace(spec, target=choice.pair[1]), fields_of, times, series)
    known = read_training(upper, fields, earlier)
    pair = downscale_pair(series, upper, (training, known), settings, link=link)
    return dict(zip(choice.pair, (_shown(pair.lower, training), _shown(pair.upper, known)), strict=True))


def _of_all_members(choice: Choice, ensemble: Ensemble) -> Shown:
    """All members downscaled together, as the prediction of a further one."""
    training = None
    if choice.archive:
        training = read_training(ensemble.pooled, fields_of(choice.key), list(choice.training_times))
    result = downscale_ensemble(ensemble, choice.settings, training=training, link=choice.link)
    shown = _shown(further_member(ensemble, result), training)
    return replace(shown, members=result.members)


def _shown(result: PeriodResult, training: Training | None) -> Shown:
    """A result with its scores, and what is told of its training period."""
    series = result.series
    shown = Shown(result, None, (), 0)
    if series.fine is not None:
        verified = verify(verified_result(result, result.spec.model.name))
        shown = replace(shown, verification=verified, trust=_trust(result, verified))
    if training is None:
        return shown
    return replace(
        shown, notes=training.notes, training=len(training), climate=climatologies(training, series.dates),
        left=left_behind(training, series),
    )  # fmt: skip


def _trust(result: PeriodResult, verified: Verification) -> Trust | None:
    """The verdict on the intervals of all times; None if Gaussian ones cannot be right at most of a few times."""
    if result.behind is None:
        some = np.unique(np.linspace(0, len(result.series) - 1, _TRIED).round().astype(int))
        wrong = [refused([intervals(result.series.at(n), result.means[n], result.sd(n))]) for n in map(int, some)]
        if sum(map(bool, wrong)) > len(some) / 2:
            return None
    return Trust.of_scores(verified.scores[result.spec.model.name].pooled)
