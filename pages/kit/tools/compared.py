"""A, which was pinned, and B, which is shown: the settings that differ, the scores' differences, B − A as a map."""

import json
from collections.abc import Mapping
from html import escape

import streamlit as st

from deconditioning.figures.difference import difference_map
from deconditioning.wording import number
from pages.kit import record
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.essential import name_of
from pages.kit.record import PageRecord, Table, page_record, same
from pages.kit.runs.score_names import HIGHER_IS_BETTER, LOWER_IS_BETTER, SCORE_NAMES
from pages.kit.tools import history


def tools() -> None:
    """What can be done with A, in the line of tools, where something is pinned on this page."""
    first = record.pinned()
    if first is None:
        return
    for label, key, does, about in (
        ("Back to A", "lab-back", _go_back, "Set the controls to the settings of A"),
        ("Swap", "lab-swap", _swap, "Pin B and return to the settings of A"),
        ("Unpin", "lab-unpin", record.unpin, "Show a single picture again"),
    ):
        st.button(label, key=key, type="tertiary", help=about, on_click=does)


def show() -> None:
    """What differs between A and B, below the page's pictures, which stay where they are."""
    first, second = record.pinned(), page_record()
    if first is None:
        return
    with st.container(border=True, key="lab-compared"):
        st.markdown("**A** is pinned, **B** is live. Dotted curves and the left side of divided maps show A.")
        left, right = st.columns([1.3, 1])
        with left:
            _settings(first, second)
            _scores(first, second)
        with right:
            _difference(first, second)


def _go_back() -> None:
    first = record.pinned()
    if first is not None:
        history.request_values(first.values())


def _swap() -> None:
    first = record.pinned()
    if first is not None:
        record.pin()
        history.request_values(first.values())


def changed(first: PageRecord, second: PageRecord) -> list[tuple[str, str, str]]:
    """What differs: the control's label, its text in A and in B.

    Controls come and go with the model, and those of files with the picture they are made of: one that A or B lacks is
    named, with a dash there, only where it was set to something of its own.
    """
    rows = []
    for key in dict.fromkeys([*second.controls, *first.controls]):
        a, b = first.controls.get(key), second.controls.get(key)
        named = b or a
        assert named is not None
        if not same(a.value, b.value) if a and b else named.differs:
            rows.append((name_of(named), a.text if a else "–", b.text if b else "–"))
    return rows


def _settings(first: PageRecord, second: PageRecord) -> None:
    rows = changed(first, second)
    if not rows:
        st.caption("A and B have the same settings: move a slider.")
        return
    body = "".join(
        f'<tr><th scope="row">{escape(label)}</th><td>{escape(a)}</td><td>{escape(b)}</td></tr>' for label, a, b in rows
    )
    _table("Settings that differ", "<th></th><th>A</th><th>B</th>", body)


def _table(name: str, head: str, body: str) -> None:
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    st.html(f'<div class="lab-table"><div class="lab-scroll" data-name="{name}" tabindex="0">{table}</div></div>')


def _scores(first: PageRecord, second: PageRecord) -> None:
    """For the tables of both, in order: every model that both name, and the first ones that only one does."""
    body = ""
    for a, b in zip(first.tables.values(), second.tables.values(), strict=False):
        for label, left, right in _pairs(a, b):
            for name in SCORE_NAMES:
                x, y = left.get(name), right.get(name)
                if x is not None and y is not None and x == x and y == y and x != y:
                    body += (
                        f'<tr><th scope="row">{escape(label)}: {escape(SCORE_NAMES[name])}</th><td>{_short(x)}</td>'
                        f"<td>{_short(y)}</td><td>{_arrow(name, y - x)}</td></tr>"
                    )
    if body:
        _table("Scores that differ", "<th></th><th>A</th><th>B</th><th>B − A</th>", body)


def _pairs(a: Table, b: Table) -> list[tuple[str, Mapping[str, float | None], Mapping[str, float | None]]]:
    from deconditioning.figures.colours import model_name

    def named(table: Table, model: str) -> str:
        return table.names.get(model, model_name(model))

    both = [model for model in b.rows if model in a.rows]
    result = [(named(b, model), a.rows[model], b.rows[model]) for model in both]
    alone_a, alone_b = ([m for m in one.rows if m not in other.rows] for one, other in ((a, b), (b, a)))
    if alone_a and alone_b:
        label = f"{named(a, alone_a[0])} → {named(b, alone_b[0])}"
        result.insert(0, (label, a.rows[alone_a[0]], b.rows[alone_b[0]]))
    return result


def _short(value: float) -> str:
    return number(value).replace("-", "−")


def _arrow(name: str, difference: float) -> str:
    """The difference with its direction, and whether that is for the better."""
    good = LOWER_IS_BETTER if difference < 0 else HIGHER_IS_BETTER
    word = " better" if name in good else " worse" if name in LOWER_IS_BETTER + HIGHER_IS_BETTER else ""
    return f"{'▲' if difference > 0 else '▼'} {_short(difference)}{word}"


def _difference(first: PageRecord, second: PageRecord) -> None:
    """B − A of the map that is chosen among those that differ."""
    maps = {
        key: json.loads(figure.text)
        for key, figure in second.figures.items()
        if key in first.figures and first.figures[key].stamp != figure.stamp and '"role":"map"' in figure.text
    }
    if not maps:
        return
    names = {key: (figure["layout"].get("title") or {}).get("text") or key for key, figure in maps.items()}
    usual = "map-mean" if "map-mean" in maps else next(iter(maps))
    key = usual
    if len(maps) > 1:
        key = st.selectbox("B − A of", list(maps), list(maps).index(usual), names.__getitem__, key="lab-difference-of")
    figure = difference_map(json.loads(first.figures[key].text), maps[key], f"B − A: {names[key]}")
    if figure is None:
        st.caption("A and B are on different grids, so no difference can be computed.")
    else:
        plotly_live(figure, "lab-difference", later=True)
