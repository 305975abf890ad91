"""Which subjects: the paper's simulation, the generated stand-in, or an own table."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from deconditioning.distribution_regression.simulate import Simulated, SimulationSpec, simulate
from deconditioning.distribution_regression.stand_in import LABEL, accelerometer_stand_in
from deconditioning.distribution_regression.table import MOST_BYTES, MOST_ROWS, Roles, guess_roles
from deconditioning.engine.visitors.uploads import NotStored
from deconditioning.errors import InputError
from deconditioning.studies.distribution_regression.compare import Prepared
from deconditioning.studies.distribution_regression.settings import (
    LARGEST,
    STAND_IN,
    SimulationSettings,
    SourceSettings,
    StandInSettings,
)
from deconditioning.studies.distribution_regression.study import part
from deconditioning.studies.distribution_regression.tables import (
    keep_table,
    stored_tables,
    table_columns,
    table_subjects,
)
from pages.kit.controls import widgets
from pages.kit.controls.default_or_choice import take_earlier_words
from pages.kit.controls.essential import group, labelled
from pages.kit.controls.level import at_both_levels
from pages.kit.controls.missing_switch import table_missing
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.controls.settings import controls
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.runs.uploaded import content_bytes, deletable, discard
from pages.kit.session import Key
from pages.kit.state import offer_only
from pages.kit.visitor import listed, put_into_link, visitor_mark


@dataclass(frozen=True)
class Chosen:
    """The subjects with a name of their own, what they are in words, and what only a simulation knows."""

    key: str
    prepared: Prepared
    words: str
    simulated: Simulated | None = None
    spec: SimulationSpec | None = None


@st.cache_resource(show_spinner=False, max_entries=6)
def _simulated(spec: SimulationSpec) -> tuple[Simulated, Prepared]:
    """Subjects of equal measures are the first of the largest draw, which is kept while n and m move."""
    drawn = simulate(spec) if spec.unequal else part(_largest(spec.seed, spec.spread), spec.subjects, spec.measures)
    return drawn, Prepared(drawn.subjects)


@st.cache_resource(show_spinner=False, max_entries=4)
def _largest(seed: int, spread: float) -> Simulated:
    return simulate(SimulationSpec(LARGEST[0], LARGEST[1], seed, spread=spread))


@st.cache_resource(show_spinner=False, max_entries=3)
def _stand_in(people: int, seed: int) -> Prepared:
    return Prepared(accelerometer_stand_in(people, seed))


@st.cache_resource(show_spinner="Reading the table …", max_entries=2)
def _table(key: str, roles: Roles) -> Prepared:
    return Prepared(table_subjects(key, roles))


def choose_data() -> Chosen:
    """The data controls; raises ``InputError`` with a sentence when they make no subjects."""
    take_earlier_words(SourceSettings.source.key, {"Stand-in": STAND_IN})
    source = controls(SourceSettings).source
    if source == "table":
        return _uploaded()
    if source == "stand-in":
        requested = controls(StandInSettings)
        words = f"{LABEL} {requested.people} people, 1,440 minutes each."
        return Chosen(
            f"stand-in {requested.people} {requested.seed}", _stand_in(requested.people, requested.seed), words
        )
    settings = controls(SimulationSettings)
    spec = SimulationSpec(settings.n, settings.m, settings.seed, settings.unequal, spread=settings.spread)
    drawn, prepared = _simulated(spec)
    return Chosen(str(spec), prepared, f"Simulation (20): {settings.n} subjects, m = {settings.m}.", drawn, spec)


def _uploaded() -> Chosen:
    """A table that is kept, or a new one."""
    _upload()
    tables = listed(stored_tables, "d-table")
    if not tables:
        raise InputError(
            "No table yet: upload a CSV with one row per measurement and columns for the subject, the value and the "
            "outcome."
        )
    offer_only("d-table", tables)
    key = widgets.selectbox("Table", list(tables), key="d-table", format_func=tables.__getitem__)
    put_into_link(str(key))
    roles = _roles(str(key))
    prepared = _table(str(key), roles)
    result = prepared.subjects
    for note in result.notes:
        st.caption(plain(note))
    sizes = result.bags.sizes.numpy(force=True)
    words = (
        f"{plain(tables[str(key)])}: {result.count} subjects, {sizes.min():.0f} to {sizes.max():.0f} measurements each."
    )
    return Chosen(f"table {key} {roles}", prepared, words)


def _upload() -> None:
    """Keep a new file; a bad one is refused with its sentence and changes nothing."""
    limits = f"One row per measurement. At most {MOST_ROWS:,} rows and {MOST_BYTES / 1e6:,.0f} MB."
    name, about = labelled("d-file", "Long table (CSV)", limits)
    file = st.file_uploader(name, type=None, key="d-file", help=about)
    deletable(stored_tables, "d-table")
    if file is None:
        return
    mark = Key.TABLE.of(file.file_id)
    if mark not in st.session_state:
        try:
            key = keep_table(content_bytes(file), file.name, visitor_mark())
        except NotStored as error:  # tried again at every run
            refusal(f"{file.name}: {error}")
            return
        except InputError as error:
            st.session_state[mark] = str(error)
            discard(file)
        else:
            discard(file)
            set_on_next_run({"d-table": key})
            st.session_state[mark] = None
            st.rerun()
    if st.session_state.get(mark):
        refusal(f"{file.name}: {st.session_state.get(mark)}")


def _roles(key: str) -> Roles:
    """Which column is what; guessed by name on opening."""
    names = table_columns(key)
    guess = guess_roles(names)
    assert guess is not None  # kept tables have three columns
    with group("Columns", expanded=True), at_both_levels("columns"):
        one = {"subject": guess.subject, "value": guess.values[0], "outcome": guess.outcome}
        chosen = {
            role: str(st.selectbox(role.capitalize(), names, names.index(start), key=f"d-{role}-{key}"))
            for role, start in one.items()
        }
        rest = [name for name in names if name not in chosen.values()]
        more = st.multiselect("Further values", rest, key=f"d-values-{key}")
        start = [name for name in guess.covariates if name in rest and name not in more]
        extra = st.multiselect("Covariates", [n for n in rest if n not in more], start, key=f"d-covariates-{key}")
        drop = st.toggle("Skip rows with missing cells", False, key=f"d-drop-{key}")
        missing = table_missing("d-missing")
    return Roles(chosen["subject"], (chosen["value"], *more), chosen["outcome"], tuple(extra), bool(drop),
                 None if missing is None else ())  # fmt: skip


def start_values(chosen: Chosen) -> dict[str, float]:
    """Lengthscale, variance and noise that the sliders of real data open with, from their spread."""
    subjects = chosen.prepared.subjects
    y, x = subjects.outcomes.numpy(force=True), subjects.measures[:, 0].numpy(force=True)
    spread = float(y.var())
    return {"scale": 0.3 * max(float(np.ptp(x)), 1e-9), "size": 30 * spread, "noise": 0.6 * spread}
