"""Which series is downscaled, how coarse its cells are, which times, and what is learned from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from deconditioning.datasets.entries import find
from deconditioning.downscaling.settings import AUTO, DownscaleSettings
from deconditioning.downscaling.source import Source, open_source, stored_uploads
from deconditioning.engine.reporting import Stopwatch
from deconditioning.engine.visitors.uploads import UPLOAD
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.guess.pairs import upper_variables
from deconditioning.fields.guess.variables import static_covariates
from deconditioning.fields.problem.assemble import LEAST_CELLS
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive.pair import downscale_pair
from deconditioning.period.archive.predictors import read_predictors
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.ensemble import downscale_ensemble, further_member, member_dimension, read_ensemble
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.scores import verified_result
from deconditioning.period.series import read_series
from deconditioning.period.times import time_dimension
from deconditioning.verification.report import Verification, verify
from pages.downscaling.dimensions import title_of
from pages.kit.controls import widgets
from pages.kit.controls.variable_choice import several
from pages.kit.layout.escaping import plain
from pages.kit.state import offer_only
from pages.kit.visitor import listed, put_into_link
from pages.period import timeline
from pages.period.archive import climatologies, left_behind
from pages.period.stations import choose as choose_stations

#: Data sets of the catalogue that are series.
_SERIES = ("era5-uk", "made-up-region")
#: Pixels along a cell that are offered.
_BLOCKS = (2, 4, 8, 16)
#: The option for all members of an ensemble.
_ALL = "All members"
#: Warps of the target, and those that only a series from cells alone has.
_WARPS = {AUTO: "Chosen from the archive", "none": "None", "box-cox": "Power (Box-Cox)"}
_WARPS_OF_CELLS = {AUTO: "None", "log": "Logarithm", "box-cox": "Power (Box-Cox)", "logit": "Logit, between two limits"}
#: Values of all times and pixels that the page computes; more go through the command.
_MOST_VALUES = 3_000_000


@dataclass(frozen=True)
class Choice:
    """What was chosen: file, variables, pixels in a cell, times to downscale and to learn from, predictors.

    ``pair`` are the lower and the upper variable where both are downscaled together; ``target`` is the one shown.
    ``select`` is the index along each further dimension, such as a level or a member; without one of the members, all
    are downscaled. ``stations`` is the key of a table of stations, ``column`` that of its values; "" for none.
    ``warp`` is that of the target, "auto" for the one that is best where it cannot be negative.
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

    @property
    def source(self) -> Source:
        """The files."""
        return Source(self.key, stations=self.stations or None, station_value=self.column)

    @property
    def problem(self) -> DownscalingSpec:
        """Variables, cells and selection."""
        block = (self.block, self.block)
        return DownscalingSpec(self.target, self.covariates, block=block, withhold=0.0, select=dict(self.select))

    @property
    def settings(self) -> DownscaleSettings:
        """The model."""
        return DownscaleSettings(model="area_to_point_gp", warp=self.warp)

    @property
    def times(self) -> tuple[str, ...]:
        """The downscaled times in the words of the library."""
        return ("#{}/#{}".format(*self.period),)

    @property
    def training_times(self) -> tuple[str, ...]:
        """The training period in the words of the library."""
        return tuple(timeline.as_words(self.training))


@dataclass(frozen=True, eq=False)
class Shown:
    """A downscaled series, how it compares with the truth if that is known, and how the archive was read.

    Of all members of an ensemble, ``result`` is the prediction of a further one, and ``members`` are those of each.
    ``climate`` is the archive's climatology of the pixels (T, P) and of the targets (T, M), None without an archive;
    ``left`` are sentences on where the series leaves the training period, ``seconds`` how long all took.
    """

    result: PeriodResult
    verification: Verification | None
    notes: tuple[str, ...]
    training: int
    members: tuple[PeriodResult, ...] = ()
    climate: tuple[np.ndarray, np.ndarray] | None = None
    left: tuple[str, ...] = ()
    seconds: float = 0.0


@st.cache_resource(show_spinner="Opening the fields …", max_entries=4)
def fields_of(key: str) -> Fields:
    """The fields of a data set of the catalogue, or of an upload."""
    return open_source(key)


def _with_times(fields: Fields) -> list[str]:
    """The variables that have several times."""
    result = []
    for name in fields.variables():
        try:
            time_dimension(fields, name)
        except InputError:
            continue
        result.append(name)
    return result


def choose() -> Choice:
    """The controls. Raises ``InputError`` for a file without times."""
    names = {key: find(key).title for key in _SERIES} | listed(stored_uploads, "p-data")
    key = widgets.selectbox("Series", list(names), key="p-data", format_func=names.__getitem__)
    fields = fields_of(key)
    targets = _with_times(fields)
    if not targets:
        raise InputError("This file has no variable with several times: choose another, or page Downscaling.")
    target = _target(fields, targets)
    block = _block(fields.grid.shape)
    labels = fields.check(target).extra[time_dimension(fields, target)]
    archive = bool(
        widgets.toggle(
            "Use the archive", value=True, key="p-archive",
            help="The archive is the fine truth of other times: climatology and covariance come from it. Off: only the "
            "coarse values of the downscaled times are used.",
        )
    )  # fmt: skip
    period, training = timeline.choose(labels, max(1, _MOST_VALUES // fields.grid.area.size), archive)
    pair = _pair(fields, targets, target) if archive else ()
    others = [name for name in targets if name not in (target, *pair)] if archive else []
    covariates = tuple(guess.value for guess in static_covariates(fields, (*pair, target)[0]))
    predictors = _predictors(fields, others)
    select = _select(fields, (target, *pair, *predictors, *covariates), not (pair or predictors))
    stations = ("", "") if pair else choose_stations()
    warp = AUTO if pair else _warp(archive)
    put_into_link(*(each for each in (key, stations[0]) if each.startswith(UPLOAD)))
    return Choice(
        key, target, covariates, block, period, training, archive, predictors, pair, select, *stations, warp
    )  # fmt: skip


def _select(fields: Fields, names: Sequence[str], together: bool) -> tuple[tuple[str, int], ...]:
    """The index along every dimension of several values but that of the times, with a sentence on what is taken;
    without a control where there is no such dimension. All members are offered where they may go ``together``."""
    target, time = names[0], time_dimension(fields, names[0])
    members = member_dimension(fields, DownscalingSpec(target))
    further = {dim: labels for name in names for dim, labels in fields.check(name).extra.items() if dim != time}
    result: dict[str, int] = {}
    for dim, labels in further.items():
        if len(labels) < 2:
            continue
        title, key = title_of(dim), f"p-dim-{dim}"
        options = [*labels, _ALL] if together and dim == members else list(labels)
        offer_only(key, options)
        label = str(widgets.selectbox(plain(title), options, key=key))
        if label == _ALL:
            st.caption(f"All {len(labels)} members of {plain(dim)} are downscaled together.")
            continue
        result[dim] = labels.index(label)
        taken = f"Member {label} of {dim}" if dim == members else f"{title} {label}"
        st.caption(f"{plain(taken)} is downscaled, one of {len(labels)} in the file.")
    return tuple(result.items())


def _pair(fields: Fields, targets: list[str], target: str) -> tuple[str, ...]:
    """The lower and the upper variable if both are downscaled together; without a control where there is no pair."""
    pairs = [pair for pair in upper_variables(fields, targets).items() if target in pair]
    if not pairs:
        return ()
    known = fields.variables()
    lower, upper = (known[name].long_name for name in pairs[0])
    together = widgets.toggle(
        "Minimum and maximum together", value=False, key="p-pair",
        help=f"{plain(lower)} and {plain(upper)} are downscaled together, so that the lower one is never above the "
        "upper one, in means, quantiles and draws. *Target* chooses which of them is shown.",
    )  # fmt: skip
    return pairs[0] if together else ()


def _warp(archive: bool) -> str:
    """The warp of the target: with an archive roots, from cells alone also those that the command has."""
    warps = _WARPS if archive else _WARPS_OF_CELLS
    offer_only("p-warp", list(warps))
    return str(
        widgets.selectbox(
            "Warp of the target", list(warps), key="p-warp", format_func=warps.__getitem__,
            help="The scale on which the target is modelled, so that rain or wind is never negative. Chosen from the "
            "archive: roots are tried on left-out blocks of time for targets that cannot be negative, and no others "
            "have a warp.",
        )
    )  # fmt: skip


def _predictors(fields: Fields, names: list[str]) -> tuple[str, ...]:
    """Which other variables predict the target; without a control where there is none."""
    if not names:
        return ()
    chosen = several(
        "Predictors", "p-predictors", names, [], _titles(fields, names),
        help="Other variables whose coarse values predict the target through their covariance with it in the archive. "
        "They are used if that lowers the CRPS on left-out blocks of time.",
    )  # fmt: skip
    return tuple(chosen)


def _target(fields: Fields, names: list[str]) -> str:
    """Which variable, by what it is called; without a control where there is one."""
    if len(names) == 1:
        return names[0]
    return str(widgets.selectbox("Target", names, key="p-target", format_func=_titles(fields, names).__getitem__))


def _titles(fields: Fields, names: list[str]) -> dict[str, str]:
    """What variables are called, their names where two are called the same."""
    known = fields.variables()
    called = {name: known[name].long_name or name for name in names}
    return {name: text if list(called.values()).count(text) == 1 else name for name, text in called.items()}


def _block(shape: tuple[int, int]) -> int:
    """Pixels along a cell, of which the grid has enough cells."""
    sizes = [size for size in _BLOCKS if (shape[0] // size) * (shape[1] // size) >= LEAST_CELLS]
    if not sizes:
        raise InputError(
            f"The grid has {shape[0]} × {shape[1]} pixels, fewer than {LEAST_CELLS} cells of 2 × 2: choose another."
        )
    if len(sizes) == 1:
        return sizes[0]
    usual = 8 if 8 in sizes else sizes[-1]
    return int(widgets.select_slider("Pixels along a cell", sizes, value=usual, key="p-block"))


def series_title(choice: Choice) -> str:
    """What the catalogue calls the chosen series; "" for a file of a person."""
    return find(choice.key).title if choice.key in _SERIES else ""


def all_members(choice: Choice) -> str | None:
    """The dimension of the members that are downscaled together; None for a single one."""
    return member_dimension(fields_of(choice.key), choice.problem)


def too_many(choice: Choice) -> str:
    """A sentence if the chosen times are too many to be shown; "" otherwise."""
    fields, members = fields_of(choice.key), all_members(choice)
    count, pixels = choice.period[1] - choice.period[0] + 1, fields.grid.area.size
    if count * pixels * (len(fields.check(choice.target).extra[members]) if members else 1) <= _MOST_VALUES:
        return ""
    return f"{count:,} times of {pixels:,} pixels are too many to be shown: choose fewer, or write them all to a file."


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
    settings, earlier = choice.settings, list(choice.training_times)
    if all_members(choice):
        return {choice.target: _of_all_members(choice, source, spec, times)}
    series = read_series(source, spec, fields_of, times)
    if not choice.archive:
        return {choice.target: _shown(downscale_series(series, settings), None)}
    predictors = read_predictors(source, spec, fields_of, times, choice.predictors, series)
    training = read_training(series, fields, earlier, predictors)
    if not choice.pair:
        return {choice.target: _shown(downscale_with_archive(series, training, settings), training)}
    upper = read_series(source, replace(spec, target=choice.pair[1]), fields_of, times, series)
    known = read_training(upper, fields, earlier)
    pair = downscale_pair(series, upper, (training, known), settings)
    return dict(zip(choice.pair, (_shown(pair.lower, training), _shown(pair.upper, known)), strict=True))


def _of_all_members(choice: Choice, source: Source, spec: DownscalingSpec, times: list[str]) -> Shown:
    """All members downscaled together, as the prediction of a further one."""
    ensemble = read_ensemble(source, spec, fields_of, times)
    assert ensemble is not None
    training = None
    if choice.archive:
        training = read_training(ensemble.pooled, fields_of(choice.key), list(choice.training_times))
    result = downscale_ensemble(ensemble, choice.settings, training=training)
    shown = _shown(further_member(ensemble, result), training)
    return replace(shown, members=result.members)


def _shown(result: PeriodResult, training: Training | None) -> Shown:
    """A result with its scores, and what is told of its training period."""
    verified = None if result.series.fine is None else verify(verified_result(result, result.spec.model.name))
    if training is None:
        return Shown(result, verified, (), 0)
    series = result.series
    about = climatologies(training, series.dates), left_behind(training, series)
    return Shown(result, verified, training.notes, len(training), (), *about)
