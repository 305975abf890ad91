"""Sweep this: a grid of one or two settings of the page on the engine; what it found; a click adopts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from deconditioning.engine.records import Run, RunSpec
from deconditioning.errors import InputError
from deconditioning.studies.sweep_content import Swept, swept
from deconditioning.sweeps import Axis, Row, cells_of, check_axes, choosing, optimum
from deconditioning.wording import number, slider_text
from pages.kit.controls import widgets
from pages.kit.controls.address import correct
from pages.kit.controls.essential import name_of
from pages.kit.controls.level import KEY
from pages.kit.layout.escaping import plain, sentence_of
from pages.kit.layout.page_layout import refusal
from pages.kit.record import page_record, same
from pages.kit.runs.run_panel import follow, is_busy, show_duration, show_owner
from pages.kit.session import Key
from pages.kit.state import get_engine, offer_only
from pages.kit.tools import history
from pages.kit.tools.sweep_results import draw, titled

NOTHING = "nothing else"
#: Seconds before the first setting: imports, reading.
_BEGIN_S = 2.0
#: Least and most where a setting stands at nothing.
_TINY = (1e-6, 1e-2)


@dataclass(frozen=True)
class Offer:
    """A setting that can be swept: its title, its value now, ends, kind of steps, and the control that shows it."""

    title: str
    now: float
    key: str
    low: float | None = None
    high: float | None = None
    log: bool = True
    whole: bool = False

    def ends(self) -> tuple[float, float]:
        """Around the present value: a decade either way, or a quarter of an even range, inside what is allowed."""
        if not self.log and self.low is not None and self.high is not None:
            quarter = (self.high - self.low) / 4
            low, high = max(self.low, self.now - quarter), min(self.high, self.now + quarter)
        else:
            low, high = (self.now / 10, self.now * 10) if self.now > _TINY[0] else _TINY
            low, high = (max(low, self.low or low), min(high, self.high or high))
        short = round if self.whole else lambda value: float(slider_text(value))
        return float(short(low)), float(short(high))


@dataclass(frozen=True)
class Sweepable:
    """What a page offers to sweep.

    Parameters
    ----------
    offers : by the names that the engine's task gives its axes.
    task, settings, seed : of the run, but for its axes.
    fits : whether a run's settings are about what the page shows.
    controls : a run's settings and the values of one of its rows → the controls that show them, by key.
    setting_s : seconds that one setting takes, where no sweep of these settings has measured it.
    """

    offers: Mapping[str, Offer]
    task: str
    settings: Mapping[str, Any]
    seed: int
    fits: Callable[[Mapping[str, Any]], bool]
    controls: Callable[[Mapping[str, Any], Mapping[str, float]], Mapping[str, Any]]
    setting_s: float = 0.1


def _turned() -> None:
    st.session_state[Key.SWEEP_TURNED] = True


@dataclass(frozen=True)
class SweepTool:
    """The tool on a page; what can be swept is asked for once the page has drawn its controls."""

    make: Callable[[], Sweepable | None]

    def switch(self) -> None:
        """In the line of tools."""
        about = "Compute the scores over a grid of one or two settings and find the optima of evidence and error"
        widgets.toggle("Sweep", key="sweep", help=about, on_change=_turned)

    def panel(self) -> None:
        """Below the line of tools, where the switch is on."""
        turned = st.session_state.pop(Key.SWEEP_TURNED, None)
        if not st.session_state.get("sweep"):
            return
        result = self.make()
        if turned and result is not None:
            _begin_with_last(result)
        with st.container(border=True):
            if result is None or not result.offers:
                st.caption("Nothing on this page can be swept at present.")
                return
            _panel(result)


def _begin_with_last(sweepable: Sweepable) -> None:
    """The slider that was moved last is the first axis."""
    by_key = {offer.key: name for name, offer in sweepable.offers.items()}
    last = history.moved_last(by_key)
    if last is not None:
        st.session_state.update({"sweep-x": by_key[last]})


def offer(make: Callable[[], Sweepable | None]) -> None:
    """Offer a sweep of this page in its line of tools; ``make`` is called when all controls have been drawn."""
    page_record().sweep = SweepTool(make)


def _panel(sweepable: Sweepable) -> None:
    axes, run = _axes(sweepable), _run(sweepable)
    _buttons(sweepable, axes, run)
    if run is None:
        return
    show_owner(run)
    if run.active:
        follow(run, lambda rows: None, doing="Sweeping")
        return
    if run.status == "failed":
        refusal(run.message)
    known = swept(run)
    if known is not None and known.rows:
        _show_results(sweepable, run, known)


def _axes(sweepable: Sweepable) -> list[Axis]:
    """One or two axes as the controls have them; an empty list, and a sentence, where they are none."""
    names = list(sweepable.offers)
    offer_only("sweep-x", names)

    def shown(name: str) -> str:
        return name if name == NOTHING else sweepable.offers[name].title

    for key in ("sweep-x", "sweep-y"):  # an address may have the name that the command line and the files have
        requested = st.query_params.get(key)
        if requested is not None and requested in names and key not in st.session_state:
            correct(key, [shown(requested)])
    left, right = st.columns(2)
    first = widgets.selectbox("Sweep", names, key="sweep-x", place=left, format_func=shown)
    others = [NOTHING, *(name for name in names if name != first)]
    offer_only("sweep-y", others)
    second = widgets.selectbox("and", others, key="sweep-y", place=right, format_func=shown)
    try:
        axes = [_axis(first, sweepable.offers[first], "x", left)]
        if second != NOTHING:
            axes.append(_axis(second, sweepable.offers[second], "y", right))
        check_axes(axes, names)
    except InputError as error:
        refusal(error)
        return []
    return axes


def _axis(name: str, given: Offer, which: str, place: Any) -> Axis:
    low, high, count = place.columns(3)
    least, most = given.ends()
    mark, far = f"sweep-{which}-{name}", {"format": "%d" if given.whole else "%.4g"}
    bottom = None if given.low is not None and given.low < 0 else 0.0
    begin = low.number_input("from", bottom, None, least, key=f"{mark}-low", **far)
    end = high.number_input("to", bottom, None, most, key=f"{mark}-high", **far)
    many = count.number_input("values", 2, 100, 5, key=f"{mark}-count")
    log = place.toggle("logarithmic spacing", given.log, key=f"{mark}-log")
    for edge, value in (("below", begin), ("above", end)):
        limit = given.low if edge == "below" else given.high
        if limit is not None and (value < limit if edge == "below" else value > limit):
            raise InputError(
                f"The axis {given.title} goes {edge} {number(limit, 6)}, the end of its slider: stay within the range "
                "of the slider."
            )
    return Axis(name, float(begin), float(end), int(many), bool(log), given.whole)


def _run(sweepable: Sweepable) -> Run | None:
    """The sweep of the address or of this session, if it is about what the page shows."""
    requested = st.query_params.get("swept") or st.session_state.get(Key.SWEEP_RUN.of(page_record().page))
    if not requested:
        return None
    try:
        run = get_engine().get(requested)
    except InputError:
        return None
    return run if run.spec.task == sweepable.task and sweepable.fits(run.spec.settings) else None


def _buttons(sweepable: Sweepable, axes: Sequence[Axis], run: Run | None) -> None:
    count = cells_of(axes) if axes else 0
    with st.container(horizontal=True):
        busy = is_busy(run)
        if st.button(f"Sweep {count} settings", key="sweep-begin", type="primary", disabled=busy or not axes):
            _begin(sweepable, {**sweepable.settings, "axes": [asdict(axis) for axis in axes], "page": _address()})
        stopped = run is not None and not run.active and run.status != "done"
        if (
            run is not None
            and stopped
            and st.button("Go on", key="sweep-on", help="Computes only settings that are missing")
        ):
            _begin(sweepable, run.spec.settings | {"rows": (run.result or {}).get("cells") or []})
    if count:
        show_duration("The sweep", _BEGIN_S + count * (_took(run) or sweepable.setting_s))


def _took(run: Run | None) -> float | None:
    """Seconds that one setting took in the last sweep; None where it made none, or took rows from another run."""
    if run is None or run.started is None or run.ended is None or run.spec.settings.get("rows"):
        return None
    rows = (run.result or {}).get("cells") or []
    return max(0.0, run.ended - run.started - _BEGIN_S) / len(rows) if rows else None


def _address() -> dict[str, str]:
    """Where page Runs finds this page as it is now."""
    query = {key: st.query_params.get_all(key) for key in st.query_params if key not in ("swept", "run", KEY)}
    return {"url": page_record().page, "query": urlencode(query, doseq=True)}


def _begin(sweepable: Sweepable, settings: dict[str, Any]) -> None:
    names = " × ".join(sweepable.offers[axis["name"]].title for axis in settings["axes"])
    try:
        run_id = get_engine().submit(RunSpec(sweepable.task, settings, sweepable.seed, f"Sweep of {names}"))
    except InputError as error:
        refusal(error)
        return
    st.session_state[Key.SWEEP_RUN.of(page_record().page)] = run_id
    st.query_params["swept"] = run_id
    st.rerun()


def _show_results(sweepable: Sweepable, run: Run, known: Swept) -> None:
    """What came of it, and the way to put one of its settings on the sliders."""
    now = {name: given.now for name, given in sweepable.offers.items() if name in known.rows[0]["values"]}

    def pick(row: Row) -> None:
        history.request_values(sweepable.controls(run.spec.settings, row["values"]))
        st.rerun()

    _elsewhere(sweepable, run, known)
    draw(known, "sweep", now if len(now) == len(known.axes) else None, pick)
    _adopt(known, pick)


def _elsewhere(sweepable: Sweepable, run: Run, known: Swept) -> None:
    """Which settings the page shows otherwise than the sweep kept them."""
    values = sweepable.controls(run.spec.settings, {})
    swept_now = {sweepable.offers[axis.name].key for axis in known.axes if axis.name in sweepable.offers}
    controls = page_record().controls
    moved = [
        f"{plain(name_of(controls[key]))} = {controls[key].shows(value)}"
        for key, value in values.items()
        if key in controls and key not in swept_now and not same(controls[key].value, value)
    ]
    if moved:
        st.caption(
            f"This sweep was computed at {', '.join(moved)}, which differs from the current settings of the page. "
            "Adopting a setting restores it."
        )


def _adopt(known: Swept, pick: Callable[[Row], None]) -> None:
    """The same by a list and a button."""
    chooser = choosing(known.rows, known.scores)
    usual = optimum(known.rows, chooser, known.scores[chooser]) if chooser else None
    index = next((i for i, row in enumerate(known.rows) if row["values"] == usual), 0)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = st.selectbox("Setting", range(len(known.rows)), index, lambda i: _label(known, i), key="sweep-pick")
        if st.button("Adopt", key="sweep-adopt"):
            pick(known.rows[row])


def _label(known: Swept, index: int) -> str:
    row = known.rows[index]
    scores = [f"{score.title} {number(row[name], 4)}" for name, score in known.scores.items() if name in row][:3]
    values = ", ".join(f"{titled(known, name)} = {number(value, 4)}" for name, value in row["values"].items())
    return f"{values} ({'; '.join(scores) or sentence_of(row.get('message', ''))})"
