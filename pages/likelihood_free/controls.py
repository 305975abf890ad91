"""Controls of the page Likelihood-free inference: problem, simulations, hyperparameters."""

import hashlib
import math
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from deconditioning.errors import InputError
from deconditioning.likelihood_free.inference import Evidence, Settings, evidence
from deconditioning.likelihood_free.objective import Learned, learn
from deconditioning.likelihood_free.prior import Family, Marginal, Prior
from deconditioning.likelihood_free.simulators import (
    Problem,
    Simulations,
    exponential_gamma,
    simulate,
)
from deconditioning.likelihood_free.table import Table, open_table, problem_of_table, read_table
from deconditioning.settings.setting import Log
from deconditioning.studies.likelihood_free.settings import (
    BY_HAND,
    BY_Q,
    PREDATORS,
    PROBLEMS,
    KernelSettings,
    ModeSettings,
    NumberSettings,
    SimulatorSettings,
    SourceSettings,
)
from deconditioning.studies.likelihood_free.study import (
    Inference,
    exactness_gap,
    infer,
    kernels_at,
    numbers_of,
    problem_at,
)
from deconditioning.tables.gaps import Missing
from pages.kit.controls import widgets
from pages.kit.controls.address import forget_address
from pages.kit.controls.level import at_both_levels
from pages.kit.controls.missing_switch import table_missing
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.controls.settings import control, controls
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.runs.uploaded import content_bytes
from pages.kit.session import Key

#: Keys of the hyperparameters' sliders.
SLIDERS = tuple(each.key for each in KernelSettings.declared().values())
#: Key of the slider of a uniform prior's ends.
BOX = "lf-box"
#: A positive parameter that spans more than this in logarithms is worked with so.
WIDE = math.log(20)
_MODE = ModeSettings.mode.key


@dataclass(frozen=True)
class Choice:
    """What is simulated: a problem and what belongs to it; ``table`` names the table's columns and prior."""

    name: str
    numbers: tuple[float, ...] = ()
    count: int = 0
    seed: int = 0
    data: tuple[bytes, bytes | None] | None = None
    parameters: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    prior: Prior | None = None
    drawn_from_prior: bool = False
    missing: Missing = None


def choose() -> Choice:
    """The problem with its prior, and how many simulations."""
    name = controls(SourceSettings).problem
    _own_table_button(is_shown=name not in PROBLEMS)
    if name not in PROBLEMS:
        with at_both_levels("table"):
            return _choose_table()
    numbers = controls(NumberSettings, problem=name)
    box = _box(numbers) if PREDATORS["problem"] == (name,) else {}
    settings = controls(SimulatorSettings, **numbers.to_dict() | box)
    return Choice(name, numbers_of(settings), settings.simulations, settings.seed)


def _own_table_button(*, is_shown: bool) -> None:
    """Turns to a table of one's own, or back; the list of simulators is not an essential control."""
    setting = SourceSettings.problem
    label, value = ("Back to a simulator", setting.default) if is_shown else ("Use your own table", "table")
    st.button(label, key="lab-own-table", icon=":material/upload_file:", width="stretch",
              on_click=set_on_next_run, args=({setting.key: value},))  # fmt: skip


def _box(now: NumberSettings) -> dict[str, float]:
    """The ends of a uniform prior, on one slider."""
    ends, step = (NumberSettings.low.low or 0.0, NumberSettings.high.high or 0.0), NumberSettings.low.step
    low, high = widgets.slider("Prior: log θ uniform over", *ends, (now.low, now.high), step, key=BOX)
    return {"low": float(low), "high": float(high)}


@st.cache_resource(show_spinner=False, max_entries=8)
def _named(name: str, numbers: tuple[float, ...]) -> Problem:
    return problem_at(name, numbers)


@st.cache_resource(show_spinner="Simulating …", max_entries=16)
def simulated(choice: Choice) -> tuple[Problem, Simulations]:
    """The problem and its simulations."""
    if choice.data is not None:
        table = read_table(*choice.data, missing=choice.missing)
        return problem_of_table(
            table, choice.parameters, choice.prior, logs=choice.logs, drawn_from_prior=choice.drawn_from_prior
        )
    problem = _named(choice.name, choice.numbers)
    return problem, simulate(problem, choice.count, choice.seed)


@st.cache_resource(show_spinner="Learning the kernels …", max_entries=32)
def learned_for(choice: Choice) -> Learned:
    """ε and ℓ of the largest q̄ inside its guards, and what follows from them."""
    problem, simulations = simulated(choice)
    return learn(problem.prior, simulations, problem.observed, seed=choice.seed)


@st.cache_resource(show_spinner="Inferring …", max_entries=32)
def inferred(choice: Choice, settings: Settings) -> Inference:
    """Every method at these hyperparameters."""
    problem, simulations = simulated(choice)
    data = _evidence(choice, settings.epsilon)
    return infer(problem, simulations, seed=choice.seed, settings=settings, data=data)


@st.cache_resource(show_spinner=False, max_entries=2)
def _evidence(choice: Choice, epsilon: float) -> Evidence:
    """What the methods see; it keeps what herding has computed while other sliders than ε's are moved."""
    problem, simulations = simulated(choice)
    return evidence(problem.prior, simulations, problem.observed, epsilon, seed=choice.seed)


@st.cache_resource(show_spinner=False, max_entries=32)
def gap_of(choice: Choice, settings: Settings) -> float:
    """How far theorem 6.1's condition is from holding with these kernels."""
    return exactness_gap(inferred(choice, settings))


def choose_settings(learned: Learned) -> Settings:
    """Sliders that stand where q̄ puts them, until one is moved: then all are in one's own hands."""
    if Key.LIKELIHOOD_FREE_SLIDERS not in st.session_state and _MODE not in st.query_params:
        # an address without a mode means q̄: its slider values are of another moment
        forget_address(*SLIDERS)
    if _moved():
        st.session_state[_MODE] = BY_HAND
    mode = control(ModeSettings.mode, ModeSettings())
    st.session_state[Key.LIKELIHOOD_FREE_MODE] = mode
    sliders = _placed(learned)
    if mode == BY_Q:
        places = {each.key: each.default for each in sliders.values()}
        st.session_state[Key.LIKELIHOOD_FREE_SLIDERS] = places
        st.session_state.update(places)
    chosen = controls(KernelSettings, sliders)
    return learned.settings if mode == BY_Q else kernels_at(chosen, learned.guards)


def _placed(learned: Learned) -> dict[str, Log]:
    """The sliders of the hyperparameters, which begin where q̄ puts them: three digits, inside their ends."""
    result = learned.settings
    values = {
        "epsilon": result.epsilon, "length": learned.length, "kernel_scale": result.kernel_scale,
        "regularisation": result.regularisation, "second_regularisation": result.second_regularisation,
    }  # fmt: skip
    return {name: _beginning(getattr(KernelSettings, name), value) for name, value in values.items()}


def _beginning(slider: Log, value: float) -> Log:
    assert slider.low is not None and slider.high is not None
    return slider.copy(default=float(f"{min(max(value, slider.low), slider.high):.3g}"))


def _moved() -> bool:
    """Whether a person has moved a slider away from where q̄ put it on the last run."""
    placed = st.session_state.get(Key.LIKELIHOOD_FREE_SLIDERS, {})
    followed = st.session_state.get(_MODE) == st.session_state.get(Key.LIKELIHOOD_FREE_MODE) == BY_Q
    return followed and any(
        key in st.session_state and not math.isclose(st.session_state[key], value, rel_tol=1e-6)
        for key, value in placed.items()
    )


def _example_table() -> bytes:
    """Simulations of exponential-gamma as a table with its observed row last: what an own table looks like."""
    problem = exponential_gamma()
    runs = simulate(problem, 200, 0)
    rows = [f"{theta:.6f},{np.exp(x):.6f}" for theta, x in
            zip(np.exp(runs.parameters[:, 0]), runs.summaries[:, 0], strict=True)]  # fmt: skip
    return ("theta,mean\n" + "\n".join(rows) + f"\n,{NumberSettings.observed.default:g}\n").encode()


def _choose_table() -> Choice:
    about = (
        "One column per parameter and per summary, one row per simulation. The observed row has empty parameters or is "
        "a separate file."
    )
    files = st.file_uploader("Table of simulations (CSV)", key="lf-table", help=about)
    row = st.file_uploader("Observed row (CSV), if not in the table", key="lf-row")
    st.download_button("An example table", _example_table(), "simulations.csv", "text/csv", on_click="ignore")
    missing = table_missing("lf-missing") if files or Key.LIKELIHOOD_FREE_DATA in st.session_state else None
    data = _last_good_table(content_bytes(files) if files else None, content_bytes(row) if row else None, missing)
    table = _read(*data, missing)
    for note in table.notes:
        st.caption(plain(note))
    mark = hashlib.blake2b(data[0], digest_size=6).hexdigest()
    parameters = tuple(st.multiselect("Parameters", table.columns, list(table.suggested), key=f"lf-columns-{mark}"))
    positive = [c for c in parameters if (table.values[:, table.columns.index(c)] > 0).all()]
    wide = [c for c in positive if np.ptp(np.log(table.values[:, table.columns.index(c)])) > WIDE]
    logs = tuple(st.multiselect("Use logarithms of", positive, wide, key=f"lf-logs-{mark}",
                                help=(
                                    "Parameters that span more than a factor of 20 are selected at the start."
                                )))  # fmt: skip
    choice = Choice("table", (), len(table.values), 0, data, parameters, logs, missing=missing)
    prior = _choose_prior(table, parameters, logs)
    drawn = prior is not None and st.segmented_control(
        "Rows were drawn", ["evenly over their range", "from this prior"], default="evenly over their range",
        key="lf-drawn", help="Rows that were not drawn from the prior are weighted by prior over design.",
    ) == "from this prior"  # fmt: skip
    if prior is None:
        st.caption(
            "The rows are assumed to be drawn evenly over their range (or over the range of the logarithm, if it is "
            "used)."
        )
    return replace(choice, prior=prior, drawn_from_prior=bool(drawn))


def _last_good_table(data: bytes | None, row: bytes | None, missing: Missing) -> tuple[bytes, bytes | None]:
    """The uploaded table if it can be read; otherwise its refusal, and the last good one (or the example)."""
    last = st.session_state.get(Key.LIKELIHOOD_FREE_DATA, (_example_table(), None))
    if data is None:
        return last
    try:
        _read(data, row, missing)
    except InputError as error:
        refusal(error)
        st.caption("The last valid table is still in use.")
        return last
    st.session_state[Key.LIKELIHOOD_FREE_DATA] = (data, row)
    return data, row


@st.cache_resource(show_spinner="Reading …", max_entries=4)
def _read(data: bytes, row: bytes | None, missing: Missing) -> Table:
    ours = (data, row) == (_example_table(), None)
    return read_table(data, row) if ours else open_table(data, row, missing=missing)


def _choose_prior(table: Table, parameters: tuple[str, ...], logs: tuple[str, ...]) -> Prior | None:
    """Uniform over the table's range (None), or uniform or normal with one's own numbers, in what is worked with."""
    kinds = ["the table's range", "uniform", "normal"]
    kind = st.segmented_control("Prior", kinds, default=kinds[0], key="lf-prior") or kinds[0]
    if kind == kinds[0] or not parameters:
        return None
    parts = []
    for name in parameters:
        cells = table.values[:, table.columns.index(name)]
        cells, label = (np.log(cells), f"log {name}") if name in logs else (cells, name)
        words = ("from", "to") if kind == "uniform" else ("mean", "sd")
        starts = (cells.min(), cells.max()) if kind == "uniform" else (cells.mean(), cells.std())
        numbers = [
            column.number_input(f"{plain(label)}: {word}", value=float(start), key=f"lf-{word}-{label}", format="%.6g")
            for column, word, start in zip(st.columns(2), words, starts, strict=True)
        ]
        family: Family = "uniform" if kind == "uniform" else "normal"
        parts.append(Marginal(name, family, float(numbers[0]), float(numbers[1]), log=name in logs))
    return Prior(tuple(parts))
