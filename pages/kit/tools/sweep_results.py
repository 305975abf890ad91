"""What a sweep found: a sentence on its optima, every score over its settings, the picture at each of them."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from deconditioning.figures.small_multiples import small_curves, small_map, small_multiples
from deconditioning.figures.sweep import sweep_plot
from deconditioning.studies.sweep_content import Swept
from deconditioning.sweeps import Axis, Row, Values, choosing, erring, optimum
from deconditioning.wording import number
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.escaping import plain
from pages.kit.layout.theme import is_dark
from pages.kit.session import Key

#: Plots in a row; small pictures in a row.
A_ROW, SMALL = 3, 8


def draw(swept: Swept, key: str, now: Values | None = None, pick: Callable[[Row], None] | None = None) -> None:
    """Everything of a sweep that has rows; ``now`` marks the sliders, ``pick`` gets the row of a new click."""
    _optima_sentence(swept)
    shown = [name for name in swept.scores if any(name in row for row in swept.rows)]
    for first in range(0, len(shown), A_ROW):
        for name, column in zip(shown[first : first + A_ROW], st.columns(A_ROW), strict=False):
            with column:
                _plot(swept, name, f"{key}-{name}", now, pick)
    legend(swept, pick is not None)
    pictures(swept, key)


def main_plots(swept: Swept, key: str) -> None:
    """The sentence, what settings are chosen by, and the error: a sweep beside others."""
    _optima_sentence(swept)
    for name in dict.fromkeys((choosing(swept.rows, swept.scores), erring(swept.rows, swept.scores))):
        if name:
            _plot(swept, name, f"{key}-{name}", None, None)
    legend(swept, False)


def legend(swept: Swept, live: bool) -> None:
    """What the marks are."""
    words = ["Star: best of this picture"]
    if choosing(swept.rows, swept.scores):
        words.append("diamond: the best setting by a criterion that needs no truth")
    if live:
        words.append("circle: the present setting. Click to adopt a setting")
    st.caption("; ".join(words) + ".")


def _optima_sentence(swept: Swept) -> None:
    """Where the score that settings are chosen by and the error have their optimum, what the one costs in the other."""
    refused = sum("message" in row for row in swept.rows)
    chooser, error = choosing(swept.rows, swept.scores), erring(swept.rows, swept.scores)
    parts = [_highest(swept, name) for name in (chooser, error) if name]
    words = ", ".join(parts) or "No setting has a score yet"
    if chooser and error:
        words = f"{parts[0]}, {_cost(swept, chooser, error, parts[1])}"
    ends = "; ".join(sentence for name in (chooser, error) if name for sentence in _at_ends(swept, name))
    st.markdown(
        f"{words[0].upper()}{words[1:]}."
        + (f" {ends[0].upper()}{ends[1:]}." if ends else "")
        + (f" {refused} settings were rejected." if refused else "")
    )


def _called(swept: Swept, name: str) -> str:
    """A score inside a sentence."""
    usual = {"evidence": "the evidence", "rmse": "the error"}
    return usual.get(name, f"“{plain(swept.scores[name].title)}”")


def _highest(swept: Swept, name: str) -> str:
    best = optimum(swept.rows, name, swept.scores[name])
    way = "highest" if swept.scores[name].better == "more" else "lowest"
    return f"{_called(swept, name)} is {way} at {_worded(swept, best or {})}"


def _cost(swept: Swept, chooser: str, error: str, otherwise: str) -> str:
    """The error's optimum beside the choice without a truth."""
    first, second = (optimum(swept.rows, name, swept.scores[name]) for name in (chooser, error))
    if first == second:
        return f"{_called(swept, error)} is lowest at the same place"
    of = {tuple(row["values"].values()): row.get(error) for row in swept.rows}
    there, least = of.get(tuple((first or {}).values())), of.get(tuple((second or {}).values()))
    if there is None or not least:
        return otherwise
    whose = "the choice by the evidence" if chooser == "evidence" else "that choice"
    return f"{otherwise}: {whose} is {100 * (there / least - 1):.1f} % worse"


def _at_ends(swept: Swept, name: str) -> list[str]:
    """Where an optimum is at an end of an axis, it may lie beyond."""
    best = optimum(swept.rows, name, swept.scores[name]) or {}
    held = [
        axis for axis in swept.axes if best.get(axis.name) in (axis.values[0], axis.values[-1]) and len(axis.values) > 2
    ]
    return [f"the optimum of {_called(swept, name)} is at an end of {plain(titled(swept, axis.name))}" for axis in held]


def titled(swept: Swept, name: str) -> str:
    """What a setting is called inside a sentence."""
    title = swept.names.get(name, name)
    return title[0].lower() + title[1:] if title[1:2].islower() else title


def _worded(swept: Swept, values: Mapping[str, float]) -> str:
    """A setting in a sentence."""
    return ", ".join(f"{plain(titled(swept, name))} = {number(value, 4)}" for name, value in values.items())


def _plot(swept: Swept, name: str, key: str, now: Values | None, pick: Callable[[Row], None] | None) -> None:
    rows, score, keys = swept.rows, swept.scores[name], list(swept.rows[0]["values"])
    chooser = choosing(rows, swept.scores)
    chosen = optimum(rows, chooser, swept.scores[chooser]) if chooser else None
    words = "choice by the evidence" if chooser == "evidence" else "choice without the truth"
    places = {"best here": optimum(rows, name, score), words: chosen, "the sliders": now}
    figure = sweep_plot(
        rows, name, score.title, places, log=[swept.axis(each).log for each in keys], names=swept.names,
        falls=score.better == "more", dark=is_dark(),
    )  # fmt: skip
    if pick is None:
        plotly_live(figure, key, later=True)
        return
    plotly_live(figure, key, later=True, on_click=lambda: None, clickable=True)
    point = (st.session_state.get(key) or {}).get("click")
    if point and st.session_state.get(Key.SWEEP_CLICK.of(key)) != point:
        st.session_state[Key.SWEEP_CLICK.of(key)] = point
        pick(nearest(rows, [swept.axis(each) for each in keys], point))


def nearest(rows: Sequence[Row], axes: Sequence[Axis], point: Sequence[float]) -> Row:
    """The row whose setting is nearest to a click."""
    return min(
        rows,
        key=lambda row: sum(
            axis.away(row["values"][axis.name], float(at)) for axis, at in zip(axes, point, strict=False)
        ),
    )


def pictures(swept: Swept, key: str) -> None:
    """The picture at every setting, side by side."""
    there = [row for row in swept.rows if "picture" in row]
    if not there:
        return
    columns = min(len(swept.axis(list(there[0]["values"])[-1]).values), SMALL)
    words = [", ".join(number(value, 4) for value in row["values"].values()) for row in there]
    shapes = [row["picture"] for row in there]
    if all("shape" in picture for picture in shapes):
        figure = small_multiples([small_map(picture) for picture in shapes], words, columns, dark=is_dark())
    else:
        figure = small_curves(shapes, words, columns, dark=is_dark())
    plotly_live(figure, f"{key}-maps", later=True)
    _draw_row(swept, there[0])


def _draw_row(swept: Swept, row: Row) -> None:
    """What stands above a small picture, and what is drawn in it."""
    words = (
        f"Above each picture: {', '.join(plain(titled(swept, name)) for name in row['values'])}. All have the same "
        "scale"
    )
    if "lines" in row["picture"]:
        first, *others = row["picture"]["lines"]
        band = " with ±2 sd" if "sd" in row["picture"] else ""
        words += f". Full line: {plain(first)}{band}" + f"; dotted: {plain(', '.join(others))}" * bool(others)
    st.caption(f"{words}.")
