"""What a person's hand does on the maps: hide or reveal cells, keep a region; their controls, and what pointing means.

Cells and region are settings of the problem with controls of their own in the sidebar, so that the address, undo, pins
and runs know them; what is pointed at on a map is put onto these controls.
"""

import base64
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.downscaling.source import Source, cells_shape
from deconditioning.errors import InputError
from deconditioning.fields.problem.cells import LEAST_SIDE, Cell, cells_of_text, cells_text
from deconditioning.fields.problem.map_selection import cell_at, number_of, region_touched, toggled
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from pages.downscaling.footprints import hidden
from pages.kit.controls import widgets
from pages.kit.controls.address import LONGEST, take_out
from pages.kit.controls.program_values import requested_value, set_on_next_run
from pages.kit.layout.page_layout import warnings
from pages.kit.session import Key
from pages.kit.state import offer_only

#: Keys of the controls.
HIDE, REVEAL, ROWS, COLUMNS = "hide", "reveal", "cell-rows", "cell-columns"
#: What pointing at a map does, by the control's value.
_MODES = {
    "look": "Look inside a cell", "turn": "Hide or reveal a cell", "value": "Hide or reveal a value of a source",
    "region": "Draw a region",
}  # fmt: skip
_HOW = {
    "look": "",
    "turn": "Click a cell on any map, or move to it with the arrow keys and press Enter.",
    "value": "Click a station, or inside a footprint, on any map; the nearest value is hidden or revealed.",
    "region": "Drag a rectangle on a map to keep only the cells it touches. By keyboard: press Enter at two corners.",
}
#: Cells whose values each map tells its reader.
_MOST_TOLD = 20_000
_MODE = "pointing"


@st.cache_resource(show_spinner=False, max_entries=16)
def _shape(source: dict[str, Any], spec: dict[str, Any], _opener: Any) -> tuple[int, int]:
    return cells_shape(Source.from_dict(source), DownscalingSpec.from_dict(spec), _opener)


def chosen(source: Source, spec: DownscalingSpec, opener: Any) -> DownscalingSpec:
    """The settings with the cells and the region of their controls; what these can't have is left out, with a note."""
    shape = _shape(source.to_dict(), replace(spec, withhold=0.0, seed=0).to_dict(), opener)
    of_cells = [source.fields, source.coarse, source.mediator, source.regions]  # stations leave cells as they are
    _forget_other_cells([of_cells, list(spec.block), list(shape)], shape)
    st.session_state[Key.CELL_NOTES] = []
    about = "Row-column, cells separated by dots, such as 12-3.14-7. Both count from 0 at the lower left."
    hide = _cells(widgets.text_input("Cells hidden by hand", key=HIDE, help=about), shape)
    reveal = _cells(widgets.text_input("Cells revealed by hand", key=REVEAL, help=about), shape)
    if both := sorted(set(hide) & set(reveal)):
        _say(f"{cells_text(both)} are both hidden and revealed by hand; they stay hidden.")
    region = None if source.regions else _region(shape)  # outlined regions are all used
    return replace(spec, hide=hide, reveal=tuple(cell for cell in reveal if cell not in hide), region=region)


def _forget_other_cells(cells: Any, shape: tuple[int, int]) -> None:
    """Cells of another size or of another field are not those that were pointed at; a link that is opened keeps its."""
    before = st.session_state.get(Key.CELL_GRID)
    if before is not None and before != cells:
        st.session_state[HIDE] = ""
        st.session_state[REVEAL] = ""
        st.session_state[ROWS] = (0, shape[0] - 1)
        st.session_state[COLUMNS] = (0, shape[1] - 1)
        take_out((ROWS, COLUMNS))  # sliders with other ends would begin with the address
    st.session_state[Key.CELL_GRID] = cells


def _region(shape: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """Rows and columns of the sliders; None where they are all there are."""
    if min(shape) < LEAST_SIDE:
        return None
    about = "Cells outside are left out of the data and of the map; 0 is the first {} of cells of the file."
    last_row, last_column = shape[0] - 1, shape[1] - 1
    rows = widgets.slider("Rows of cells kept", 0, last_row, (0, last_row), key=ROWS, help=about.format("row"))
    columns = widgets.slider(
        "Columns of cells kept", 0, last_column, (0, last_column), key=COLUMNS, help=about.format("column")
    )
    result = int(rows[0]), int(rows[1]), int(columns[0]), int(columns[1])
    return None if result == (0, shape[0] - 1, 0, shape[1] - 1) else result


def _cells(text: str, shape: tuple[int, int]) -> tuple[Cell, ...]:
    try:
        result = cells_of_text(text)
    except InputError as error:
        _say(f"Left out: {error}")
        return ()
    beyond = [cell for cell in result if cell[0] >= shape[0] or cell[1] >= shape[1]]
    if beyond:
        _say(
            f"Ignored: there is no cell {cells_text(beyond[:3])}; rows run from 0 to {shape[0] - 1} and columns 0 to "
            f"{shape[1] - 1}."
        )
    return tuple(cell for cell in result if cell not in beyond)


def _say(sentence: str) -> None:
    st.session_state[Key.CELL_NOTES] = [*st.session_state.get(Key.CELL_NOTES, []), sentence]


def bar(problem: DownscalingProblem) -> None:
    """Above the maps: what a click does, what was done by hand, and how to take it back.

    Its height is the same after a click as before, so that the maps stay under the pointer.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="lab-by-hand"):
        left_out = {"region": problem.regions is not None, "value": not problem.sources}
        modes = [each for each in _MODES if not left_out.get(each)]
        offer_only(_MODE, modes)
        st.segmented_control(
            "A click on a map", modes,
            default="look", key=_MODE, format_func=_MODES.__getitem__,
            label_visibility="collapsed", width="content",
        )  # fmt: skip
        if refusal := _done(problem):
            st.markdown(refusal, width="content")
        if problem.spec.hide or problem.spec.reveal:
            st.button(
                "As drawn by the seed", on_click=_set_controls, args=({HIDE: "", REVEAL: ""},), key="lab-as-drawn"
            )
        if hidden.count(problem):
            st.button("Show all values", on_click=_set_controls, args=({hidden.KEY: ""},), key="lab-all-values")
        if problem.spec.region is not None:
            rows, columns = ((0, size - 1) for size in problem.whole_shape)
            st.button(
                "Whole field", on_click=_set_controls, args=({ROWS: rows, COLUMNS: columns},), key="lab-whole-field"
            )
    if how := _HOW[mode()]:
        st.caption(how)
    warnings([*st.session_state.get(Key.CELL_NOTES, []), *st.session_state.pop(Key.CELL_REFUSALS, [])])


def knows_too_much(problem: DownscalingProblem, learned_from: DownscalingSpec | None) -> None:
    """Says so where the sliders' hyperparameters were learned from values that are hidden now."""
    count = _hidden_since(problem, learned_from)
    if count:
        cells = "a cell that is" if count == 1 else f"{count} cells that are"
        st.caption(
            f"The hyperparameters on the sliders were learned from data that include the value of {cells} now hidden. "
            "Press Learn hyperparameters to learn them again without it."
        )


def values_of(spec: DownscalingSpec) -> dict[str, Any]:
    """What the controls must hold for these settings; give it to ``set_values``."""
    values: dict[str, Any] = {HIDE: cells_text(spec.hide), REVEAL: cells_text(spec.reveal)}
    if spec.region is not None:
        values |= {ROWS: spec.region[:2], COLUMNS: spec.region[2:]}
    return values


def _hidden_since(problem: DownscalingProblem, before: DownscalingSpec | None) -> int:
    """How many cells are hidden that other settings of the same draw left visible; 0 where those are not known."""
    if before is None:
        return 0
    drawn = {
        (row + problem.corner[0], column + problem.corner[1]) for row, column in np.argwhere(problem.drawn).tolist()
    }
    now, then = ((drawn | {*spec.hide}) - {*spec.reveal} for spec in (problem.spec, before))
    return sum(number_of(problem, cell) is not None for cell in now - then)


def mode() -> str:
    """What pointing at a map does: a key of ``_MODES``."""
    return st.session_state.get(_MODE) or "look"


def _set_controls(values: dict[str, Any]) -> None:
    set_on_next_run(values)


def _done(problem: DownscalingProblem) -> str:
    """What was done by hand, with its marks on the coarse map."""
    spec, parts = problem.spec, list[str]()
    hide, reveal = (sum(number_of(problem, cell) is not None for cell in cells) for cells in (spec.hide, spec.reveal))
    if hide:
        parts.append(f"{hide} {'cell' if hide == 1 else 'cells'} hidden (×)")
    if reveal:
        parts.append(f"{reveal} revealed (○)")
    if values := hidden.count(problem):
        parts.append(f"{values} {'value' if values == 1 else 'values'} of sources hidden (×)")
    sentence = [f"{', '.join(parts)} by hand"] if parts else []
    if spec.region is not None:
        (ny, nx), (all_y, all_x) = problem.coarse_shape, problem.whole_shape
        sentence.append(f"region of {ny} × {nx} of {all_y} × {all_x} cells")
    return " · ".join(sentence)


def lattice(problem: DownscalingProblem, known: bool) -> dict[str, Any]:
    """The coarse cells as the maps' reader needs them (cells.js); ``known``: with values and states."""
    y, x = _edges(problem)
    result: dict[str, Any] = {
        "mode": "turn" if mode() == "value" else mode(),
        "y": y,
        "x": x,
        "first": problem.corner,
        "seen": st.session_state.get(Key.CELL_EVENT, 0.0),
    }
    if known and y is not None and problem.coarse.size <= _MOST_TOLD:
        result["known"] = _current(problem)
    return result


def _edges(problem: DownscalingProblem) -> tuple[list[float] | None, list[float] | None]:
    """Edges of the cells in the map's own coordinates; None where the two grids do not have the same."""
    fine, coarse = problem.grid, problem.coarse_grid
    same = problem.truth is not None or (fine.kind == coarse.kind != "curvilinear" and fine.mapping == coarse.mapping)
    return (coarse.y_edges.tolist(), coarse.x_edges.tolist()) if same else (None, None)


_STATES = (
    "seen by the model", "hidden from the model", "hidden from the model by hand", "revealed by hand",
    "has no value",
)  # fmt: skip


def _current(problem: DownscalingProblem) -> dict[str, Any]:
    """Coarse values and what became of each cell, for those who cannot see the map."""
    states = np.where(problem.observed, 0, np.where(problem.drawn, 1, 4)).astype(float)
    for cells, state in ((problem.spec.hide, 2), (problem.spec.reveal, 3)):
        for cell in cells:
            if (number := number_of(problem, cell)) is not None:
                states.flat[number] = state
    encoded = [base64.b64encode(v.astype("<f4").tobytes()).decode("ascii") for v in (problem.coarse_truth, states)]
    return {
        "values": encoded[0],
        "states": encoded[1],
        "shape": " ".join(map(str, problem.coarse_shape)),
        "words": list(_STATES),
    }


def pointed(problem: DownscalingProblem, events: Iterable[list[float]]) -> None:
    """Put what was pointed at onto the controls, each event once; call it in a callback, before the page runs."""
    new = [event for event in events if event[0] > st.session_state.get(Key.CELL_EVENT, 0.0)]
    if not new:
        return
    values: dict[str, Any] = {}
    try:  # of two quick clicks the second comes before the first has made a problem
        hide, reveal = (cells_of_text(requested_value(key, "")) for key in (HIDE, REVEAL))
        problem = replace(problem, spec=replace(problem.spec, hide=hide, reveal=reveal))
        for event in new:
            if len(event) == 3 and mode() == "value":
                values |= hidden.turned(problem, event[1], event[2])
            elif len(event) == 3:
                problem = _turned(problem, event[1], event[2])
                values |= {HIDE: cells_text(problem.spec.hide), REVEAL: cells_text(problem.spec.reveal)}
            else:
                top, bottom, left, right = region_touched(problem, (event[1], event[3]), (event[2], event[4]))
                values |= {ROWS: (top, bottom), COLUMNS: (left, right)}
    except InputError as error:
        st.session_state[Key.CELL_REFUSALS] = [str(error)]
    st.session_state[Key.CELL_EVENT] = max(event[0] for event in new)
    set_on_next_run(values)


def _turned(problem: DownscalingProblem, x: float, y: float) -> DownscalingProblem:
    """The problem's settings with the cell at a point the other way round."""
    st.session_state[Key.SHOWN_CELL] = (x, y)
    cell = cell_at(problem, x, y)
    if cell is None:
        raise InputError("The point you clicked is outside every coarse cell.")
    hide, reveal = toggled(problem, cell)
    if max(len(cells_text(cells)) for cells in (hide, reveal)) > LONGEST:
        raise InputError(
            "No more cells can be chosen by hand because the address would become too long. Let the seed draw them "
            "instead."
        )
    return replace(problem, spec=replace(problem.spec, hide=hide, reveal=reveal))
