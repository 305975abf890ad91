"""Which times are downscaled and which are learned from, chosen and drawn on one axis of time."""

import re
from collections.abc import Sequence
from html import escape

import streamlit as st

from deconditioning.errors import InputError
from deconditioning.fields.times import MONTHS
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.kit.state import show_as

#: Slider handles are named by dates in series of fewer times than this.
_MOST_NAMED = 5000
_DATE = re.compile(r"(-?\d+)-(\d\d)-(\d\d)\b.*")

#: First and last index of a stretch of times.
Stretch = tuple[int, int]


def choose(labels: Sequence[str], fitting: int, archive: Sequence[str]) -> tuple[Stretch, tuple[int, ...]]:
    """The stretch of ``labels`` that is downscaled, at first the last quarter or as many of its times as are
    ``fitting``, and the times of the ``archive`` that are the training period, at first all before, or all where its
    times are others; none without an archive.
    """
    last, same = len(labels) - 1, tuple(labels) == tuple(archive)
    begin = max(1, 3 * len(labels) // 4)
    first, end = widgets.slider(
        "Downscaled period", 0, last, (begin, min(last, begin + fitting - 1)), key="p-period",
        help="The times of which maps are made.",
    )  # fmt: skip
    show_as("p-period", _named(labels))
    if not archive:
        st.caption(f"Downscaled: {_in_words(labels, first, end)}.")
        return (first, end), ()
    known = len(archive) - 1
    start, stop = widgets.slider(
        "Training period", 0, known, (0, max(0, first - 1) if same else known), key="p-training",
        help="The times whose fine truth is known: climatology and covariance come from them. Times that are "
        "downscaled are left out.",
    )  # fmt: skip
    show_as("p-training", _named(archive))
    taken = set(labels[first : end + 1])
    training = tuple(n for n in range(start, stop + 1) if archive[n] not in taken)
    if not training:
        raise InputError("No time is left for the training period: move it, or downscale fewer times.")
    if same:
        rows = {"training": _stretches(training), "downscaled": [(first, end)]}
        st.html(_drawn(rows, last, tuple(short_date(labels[n], labels) for n in (0, last))))
    st.caption(f"Training: {_trained(archive, training)}. Downscaled: {_in_words(labels, first, end)}.")
    return (first, end), training


def _named(labels: Sequence[str]) -> dict[str, str]:
    """What the handles of a slider over times are called; nothing for long series."""
    if len(labels) > _MOST_NAMED:
        return {}
    return {str(n): short_date(label, labels) for n, label in enumerate(labels)}


def as_words(times: Sequence[int]) -> list[str]:
    """Indices, ascending, as stretches that `chosen_times` reads."""
    return [f"#{first}/#{last}" for first, last in _stretches(times)]


def short_date(label: str, labels: Sequence[str]) -> str:
    """A time as ``24 Mar`` where all are of one year, ``24 Mar 2019`` of two, else ``Mar 2019``; other labels as
    they are.
    """
    parts, ends = _DATE.fullmatch(label), [_DATE.fullmatch(labels[n]) for n in (0, -1)]
    if parts is None or None in ends:
        return label
    year, month, day = (int(part) for part in parts.groups())
    years = 1 + int(ends[1][1]) - int(ends[0][1]) if ends[0] and ends[1] else 1
    name = MONTHS[month - 1][:3]
    return f"{day} {name}" if years == 1 else f"{day} {name} {year}" if years == 2 else f"{name} {year}"


def _stretches(times: Sequence[int]) -> list[Stretch]:
    """Ascending indices as stretches without a gap."""
    begins = [n for k, n in enumerate(times) if k == 0 or times[k - 1] != n - 1]
    ends = [n for k, n in enumerate(times) if k == len(times) - 1 or times[k + 1] != n + 1]
    return list(zip(begins, ends, strict=True))


def _in_words(labels: Sequence[str], first: int, last: int) -> str:
    times = last - first + 1
    return f"{times:,} time{'s' * (times > 1)}, {plain(labels[first])} to {plain(labels[last])}"


def _trained(labels: Sequence[str], training: Sequence[int]) -> str:
    """The training period in words, with the gap that the downscaled times leave."""
    gap = len(_stretches(training)) > 1
    return f"{len(training):,} times, {plain(labels[training[0]])} to {plain(labels[training[-1]])}" + (
        ", without those that are downscaled" if gap else ""
    )


def _drawn(rows: dict[str, list[Stretch]], last: int, ends: tuple[str, ...]) -> str:
    """Bars of each row on one axis, whose ends are named."""
    parts = []
    for name, stretches in rows.items():
        bars = "".join(
            f'<i style="left: {100 * first / (last + 1):.3f}%; width: {100 * (end - first + 1) / (last + 1):.3f}%"></i>'
            for first, end in stretches
        )
        parts.append(f'<span>{name}</span><div class="lab-{name}">{bars}</div>')
    below = "".join(f"<span>{escape(each)}</span>" for each in ends)
    return f'<div class="lab-timeline" aria-hidden="true">{"".join(parts)}<span></span><p>{below}</p></div>'
