"""What a sweep found: a sentence on its optima, every score over its settings, the picture at each of them."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from deconditioning.figures.small_multiples import small_curves, small_map, small_multiples
from deconditioning.figures.sweep import sweep_plot
from deconditioning.studies.sweep_content import Swept
from deconditioning.sweeps import Axis, Row, Values, choosing, erring, optimum
from deconditioning.wording import slider_text
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.escaping import plain
from pages.kit.layout.theme import is_dark
from pages.kit.session import Key

#: Plots in a row; small pictures in a row.
A_ROW, SMALL = 3, 8


def draw(found: Swept, key: str, now: Values | None = None, pick: Callable[[Row], None] | None = None) -> None:
    """Everything of a sweep that has rows; ``now`` marks the sliders, ``pick`` gets the row of a new click."""
    _optima_sentence(found)
    shown = [name for name in found.scores if any(name in row for row in found.rows)]
    for first in range(0, len(shown), A_ROW):
        for name, column in zip(shown[first : first + A_ROW], st.columns(A_ROW), strict=False):
            with column:
                _plot(found, name, f"{key}-{name}", now, pick)
    legend(found, pick is not None)
    pictures(found, key)


def main_plots(found: Swept, key: str) -> None:
    """The sentence, what settings are chosen by, and the error: a sweep beside others."""
    _optima_sentence(found)
    for name in dict.fromkeys((choosing(found.rows, found.scores), erring(found.rows, found.scores))):
        if name:
            _plot(found, name, f"{key}-{name}", None, None)
    legend(found, False)


def legend(found: Swept, live: bool) -> None:
    """What the marks are."""
    words = ["Star: best of this picture"]
    if choosing(found.rows, found.scores):
        words.append("diamond: the best setting by a criterion that needs no truth")
    if live:
        words.append("circle: the values of the sliders. Click to adopt a setting")
    st.caption("; ".join(words) + ".")


def _optima_sentence(found: Swept) -> None:
    """Where the score that settings are chosen by and the error have their optimum, what the one costs in the other."""
    refused = sum("message" in row for row in found.rows)
    chooser, error = choosing(found.rows, found.scores), erring(found.rows, found.scores)
    parts = [_highest(found, name) for name in (chooser, error) if name]
    words = ", ".join(parts) or "No setting has a score yet"
    if chooser and error:
        words = f"{parts[0]}, {_cost(found, chooser, error, parts[1])}"
    ends = "; ".join(sentence for name in (chooser, error) if name for sentence in _at_ends(found, name))
    st.markdown(
        f"{words[0].upper()}{words[1:]}."
        + (f" {ends[0].upper()}{ends[1:]}." if ends else "")
        + (f" {refused} settings were rejected." if refused else "")
    )


def _called(found: Swept, name: str) -> str:
    """A score inside a sentence."""
    usual = {"evidence": "the evidence", "rmse": "the error"}
    return usual.get(name, f"“{plain(found.scores[name].title)}”")


def _highest(found: Swept, name: str) -> str:
    place = optimum(found.rows, name, found.scores[name])
    way = "highest" if found.scores[name].better == "more" else "lowest"
    return f"{_called(found, name)} is {way} at {_worded(found, place or {})}"


def _cost(found: Swept, chooser: str, error: str, otherwise: str) -> str:
    """The error's optimum beside the choice without a truth."""
    first, second = (optimum(found.rows, name, found.scores[name]) for name in (chooser, error))
    if first == second:
        return f"{_called(found, error)} is lowest at the same place"
    of = {tuple(row["values"].values()): row.get(error) for row in found.rows}
    there, least = of.get(tuple((first or {}).values())), of.get(tuple((second or {}).values()))
    if there is None or not least:
        return otherwise
    whose = "the choice by the evidence" if chooser == "evidence" else "that choice"
    return f"{otherwise}: {whose} is {100 * (there / least - 1):.1f} % worse"


def _at_ends(found: Swept, name: str) -> list[str]:
    """Where an optimum is at an end of an axis, it may lie beyond."""
    place = optimum(found.rows, name, found.scores[name]) or {}
    held = [
        axis
        for axis in found.axes
        if place.get(axis.name) in (axis.values[0], axis.values[-1]) and len(axis.values) > 2
    ]
    return [f"the optimum of {_called(found, name)} is at an end of {plain(titled(found, axis.name))}" for axis in held]


def titled(found: Swept, name: str) -> str:
    """What a setting is called inside a sentence."""
    title = found.names.get(name, name)
    return title[0].lower() + title[1:] if title[1:2].islower() else title


def _worded(found: Swept, values: Mapping[str, float]) -> str:
    """A setting in a sentence."""
    return ", ".join(f"{plain(titled(found, name))} = {slider_text(value)}" for name, value in values.items())


def _plot(found: Swept, name: str, key: str, now: Values | None, pick: Callable[[Row], None] | None) -> None:
    rows, score, keys = found.rows, found.scores[name], list(found.rows[0]["values"])
    chooser = choosing(rows, found.scores)
    chosen = optimum(rows, chooser, found.scores[chooser]) if chooser else None
    words = "choice by the evidence" if chooser == "evidence" else "choice without the truth"
    places = {"best here": optimum(rows, name, score), words: chosen, "the sliders": now}
    figure = sweep_plot(
        rows, name, score.title, places, log=[found.axis(each).log for each in keys], names=found.names,
        falls=score.better == "more", dark=is_dark(),
    )  # fmt: skip
    if pick is None:
        plotly_live(figure, key, later=True)
        return
    plotly_live(figure, key, later=True, on_click=lambda: None, clickable=True)
    point = (st.session_state.get(key) or {}).get("click")
    if point and st.session_state.get(Key.SWEEP_CLICK.of(key)) != point:
        st.session_state[Key.SWEEP_CLICK.of(key)] = point
        pick(nearest(rows, [found.axis(each) for each in keys], point))


def nearest(rows: Sequence[Row], axes: Sequence[Axis], point: Sequence[float]) -> Row:
    """The row whose setting is nearest to a click."""
    return min(
        rows,
        key=lambda row: sum(
            axis.away(row["values"][axis.name], float(at)) for axis, at in zip(axes, point, strict=False)
        ),
    )


def pictures(found: Swept, key: str) -> None:
    """The picture at every setting, side by side."""
    there = [row for row in found.rows if "picture" in row]
    if not there:
        return
    columns = min(len(found.axis(list(there[0]["values"])[-1]).values), SMALL)
    words = [", ".join(slider_text(value) for value in row["values"].values()) for row in there]
    shapes = [row["picture"] for row in there]
    if all("shape" in picture for picture in shapes):
        figure = small_multiples([small_map(picture) for picture in shapes], words, columns, dark=is_dark())
    else:
        figure = small_curves(shapes, words, columns, dark=is_dark())
    plotly_live(figure, f"{key}-maps", later=True)
    _drawn(found, there[0])


def _drawn(found: Swept, row: Row) -> None:
    """What stands above a small picture, and what is drawn in it."""
    words = (
        f"Above each picture: {', '.join(plain(titled(found, name)) for name in row['values'])}. All have the same "
        "scale"
    )
    if "lines" in row["picture"]:
        first, *others = row["picture"]["lines"]
        band = " with ±2 sd" if "sd" in row["picture"] else ""
        words += f". Full line: {plain(first)}{band}" + f"; dotted: {plain(', '.join(others))}" * bool(others)
    st.caption(f"{words}.")
