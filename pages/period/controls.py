"""Which series is downscaled, how coarse its cells are, which times, and what is learned from."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from deconditioning.datasets.entries import find
from deconditioning.downscaling.settings import AUTO
from deconditioning.downscaling.source import stored_uploads
from deconditioning.engine.visitors.uploads import UPLOAD
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.guess.pairs import upper_variables
from deconditioning.fields.guess.variables import static_covariates
from deconditioning.fields.problem.assemble import LEAST_CELLS
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive.training import variable_of
from deconditioning.period.ensemble import member_dimension
from deconditioning.period.times import time_dimension
from pages.downscaling.dimensions import title_of
from pages.kit.controls import widgets
from pages.kit.controls.variable_choice import several
from pages.kit.layout.escaping import plain
from pages.kit.state import offer_only
from pages.kit.visitor import listed, put_into_link
from pages.period import cells, result, timeline
from pages.period.result import Choice, fields_of
from pages.period.stations import choose as choose_stations

#: Pixels along a cell that are offered.
_BLOCKS = (2, 4, 8, 16)
#: The option for all members of an ensemble.
_ALL = "All members"
#: Warps of the target, and those that only a series from cells alone has.
_WARPS = {AUTO: "Chosen from the archive", "none": "None", "box-cox": "Power (Box-Cox)"}
_WARPS_OF_CELLS = {AUTO: "None", "log": "Logarithm", "box-cox": "Power (Box-Cox)", "logit": "Logit, between two limits"}


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
    names = {key: find(key).title for key in result.SERIES} | listed(stored_uploads, "p-data")
    key = widgets.selectbox("Series", list(names), key="p-data", format_func=names.__getitem__)
    coarse = cells.choose_file(key)
    fields, held = fields_of(key), fields_of(coarse or key)
    targets = _with_times(held)
    if not targets:
        raise InputError("This file has no variable with several times: choose another, or page Downscaling.")
    target = _target(held, targets)
    block = 0 if coarse else _block(fields.grid.shape)
    period, training = _periods(fields, held, target)
    archive = bool(training)
    pair = _pair(held, targets, target) if archive else ()
    others = [name for name in targets if name not in (target, *pair)] if archive else []
    covariates = tuple(guess.value for guess in static_covariates(fields, (*pair, target)[0]))
    predictors = _predictors(held, others)
    selected = (target, *pair, *predictors, *(() if coarse else covariates))
    select = _select(held, selected, not (pair or predictors))
    error = cells.choose_error(held, selected, held.check(target).units) if coarse and not pair else ""
    stations = ("", "") if pair else choose_stations()
    warp = AUTO if pair else _warp(archive)
    put_into_link(*(each for each in (key, coarse, stations[0]) if each.startswith(UPLOAD)))
    choice = Choice(
        key, target, covariates, block, period, training, archive, predictors, pair, select, *stations, warp, coarse,
        error,
    )  # fmt: skip
    return replace(choice, link=cells.choose_link()) if error or result.has_gaps(choice) else choice


def _periods(fields: Fields, held: Fields, target: str) -> tuple[timeline.Stretch, tuple[int, ...]]:
    """The downscaled times of the target and the training period of the fine fields, empty without an archive."""
    labels, known = held.check(target).extra[time_dimension(held, target)], _times_of_archive(fields, target)
    archive = bool(known) and widgets.toggle(
        "Use the archive", value=True, key="p-archive",
        help="The archive is the fine truth of other times: climatology and covariance come from it. Off: only the "
        "coarse values of the downscaled times are used.",
    )  # fmt: skip
    return timeline.choose(labels, max(1, result.MOST_VALUES // fields.grid.area.size), known if archive else ())


def _times_of_archive(fields: Fields, target: str) -> tuple[str, ...]:
    """The times at which the fine target is known; none if it is at no or one time only."""
    try:
        name, _ = variable_of(fields, target)
        return tuple(fields.check(name).extra[time_dimension(fields, name)])
    except InputError:
        return ()


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
