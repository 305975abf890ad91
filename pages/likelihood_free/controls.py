"""Controls of the page Likelihood-free inference: problem, simulations, hyperparameters."""

import hashlib
import math
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from deconditioning.errors import InputError
from deconditioning.likelihood_free.inference import Settings
from deconditioning.likelihood_free.objective import Learned, learn
from deconditioning.likelihood_free.prior import Family, Marginal, Prior
from deconditioning.likelihood_free.simulators import (
    Problem,
    Simulations,
    exponential_gamma,
    gaussian,
    lotka_volterra,
    simulate,
)
from deconditioning.likelihood_free.table import Table, open_table, problem_of_table, read_table
from deconditioning.studies.likelihood_free.study import Inference, exactness_gap, infer
from deconditioning.tables.gaps import Missing
from pages.kit.controls import widgets
from pages.kit.controls.address import forget_address
from pages.kit.controls.missing_switch import table_missing
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.runs.uploaded import content_bytes
from pages.kit.session import Key
from pages.kit.state import log_slider, on_sliders

PROBLEMS = {
    "exponential-gamma": "Exponential-gamma",
    "gaussian": "Gaussian",
    "lotka-volterra": "Lotka-Volterra",
    "table": "Own table",
}
#: Problem → fewest, most, first number of simulations and the slider's step.
COUNTS = {
    "exponential-gamma": (20, 500, 100, 10),
    "gaussian": (50, 1000, 200, 50),
    "lotka-volterra": (200, 2000, 2000, 200),
}
#: Slider → its label, range and help.
SLIDERS = {
    "lf-eps": (
        "ε, of the ε-kernel",
        0.01,
        10.0,
        "In sd of the summaries. It affects q̄ and the region where herding searches, not the weights.",
    ),
    "lf-len": (
        "ℓ, in sd of near parameters",
        0.1,
        10.0,
        (
            "Near parameters are those with simulations inside the narrowest allowed ε-kernel; 1 is their standard "
            "deviation."
        ),
    ),
    "lf-k": ("k", 0.01, 10.0, "Lengthscale for the summaries, in their standard deviations."),
    "lf-lam": ("λ", 1e-8, 1.0, "Regularisation of the operator of the simulator; it enters as nλ."),
    "lf-del": ("δ", 1e-6, 1.0, "Regularisation of the inverse; it enters as mδ."),
}
#: A positive parameter that spans more than this in logarithms is worked with so.
WIDE = math.log(20)
BY_Q, BY_HAND = "by the evidence", "by hand"


@dataclass(frozen=True)
class Choice:
    """What is simulated: a problem and what belongs to it; ``table`` names the table's columns and prior."""

    name: str
    numbers: tuple[float, ...] = ()
    count: int = 100
    seed: int = 0
    data: tuple[bytes, bytes | None] | None = None
    parameters: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    prior: Prior | None = None
    drawn_from_prior: bool = False
    missing: Missing = None


def choose() -> Choice:
    """The problem with its prior, and how many simulations."""
    name = widgets.selectbox("Simulator", list(PROBLEMS), key="lf-problem", format_func=PROBLEMS.__getitem__)
    if name == "table":
        return _choose_table()
    numbers = {"exponential-gamma": _exponential, "gaussian": _gaussian, "lotka-volterra": _predators}[name]()
    low, high, first, step = COUNTS[name]
    count = int(widgets.slider("Simulations", low, high, first, step, key=f"lf-n-{name}"))
    seed = int(widgets.number_input("Seed", 0, 9999, 0, key="lf-seed"))
    return Choice(name, numbers, count, seed)


def _exponential() -> tuple[float, ...]:
    observed = widgets.slider("Observed mean", 1.25, 75.0, 9.42, 0.01, key="lf-y")
    shape = log_slider("Prior: shape", "lf-shape", 0.01, 100.0, 0.1)
    rate = log_slider("Prior: rate", "lf-rate", 0.01, 100.0, 0.1)
    return float(observed), shape, rate


def _gaussian() -> tuple[float, ...]:
    dimension = int(widgets.slider("Parameters", 1, 5, 2, key="lf-d"))
    noise = log_slider("Noise σ of the simulator", "lf-noise", 0.05, 2.0, 0.5)
    spread = log_slider("Prior: sd", "lf-sd", 0.1, 5.0, 1.0)
    return dimension, noise, spread


def _predators() -> tuple[float, ...]:
    low, high = widgets.slider("Prior: log θ uniform over", -7.0, 3.0, (-5.0, 2.0), 0.5, key="lf-box")
    return float(low), float(high)


@st.cache_resource(show_spinner=False, max_entries=8)
def _named(name: str, numbers: tuple[float, ...]) -> Problem:
    if name == "exponential-gamma":
        return exponential_gamma(numbers[0], shape=numbers[1], rate=numbers[2])
    if name == "gaussian":
        return gaussian(int(numbers[0]), noise=numbers[1], prior_sd=numbers[2])
    return lotka_volterra(box=(numbers[0], numbers[1]))


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
    return infer(problem, simulations, seed=choice.seed, settings=settings)


@st.cache_resource(show_spinner=False, max_entries=32)
def gap_of(choice: Choice, settings: Settings) -> float:
    """How far theorem 6.1's condition is from holding with these kernels."""
    return exactness_gap(inferred(choice, settings))


def choose_settings(learned: Learned) -> Settings:
    """Sliders that stand where q̄ puts them, until one is moved: then all are in one's own hands."""
    if Key.LIKELIHOOD_FREE_SLIDERS not in st.session_state and "lf-mode" not in st.query_params:
        # an address without a mode means q̄: its slider values are of another moment
        forget_address(*SLIDERS)
    if _moved():
        st.session_state["lf-mode"] = BY_HAND
    mode = (
        widgets.segmented_control(
            "Hyperparameters",
            [BY_Q, BY_HAND],
            default=BY_Q,
            key="lf-mode",
            help=(
                "q̄ estimates the probability of the observation from the simulations alone. The kernels maximise q̄, "
                "within limits that prevent overfitting to single simulations. Move any slider to set them yourself."
            ),
        )
        or BY_Q
    )
    st.session_state[Key.LIKELIHOOD_FREE_MODE] = mode
    found, guards = learned.settings, learned.guards
    values = (found.epsilon, learned.length, found.kernel_scale, found.regularisation, found.second_regularisation)
    places = dict(zip(SLIDERS, map(_rounded, SLIDERS.values(), values), strict=True))
    if mode == BY_Q:
        st.session_state[Key.LIKELIHOOD_FREE_SLIDERS] = on_sliders(places)
        st.session_state.update(on_sliders(places))
    chosen = [
        log_slider(label, key, low, high, places[key], help=words) for key, (label, low, high, words) in SLIDERS.items()
    ]
    if mode == BY_Q:
        return found
    epsilon, length, scale, lam, delta = chosen
    return Settings(epsilon, tuple(float(v) for v in length * guards.spread), scale, lam, delta)


def _rounded(slider: tuple[str, float, float, str], value: float) -> float:
    """Where a slider stands for this value: four digits, inside its range."""
    _, low, high, _ = slider
    return float(f"{min(max(value, low), high):.4g}")


def _moved() -> bool:
    """Whether a person has moved a slider away from where q̄ put it on the last run."""
    placed = st.session_state.get(Key.LIKELIHOOD_FREE_SLIDERS, {})
    followed = st.session_state.get("lf-mode") == st.session_state.get(Key.LIKELIHOOD_FREE_MODE) == BY_Q
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
    return ("theta,mean\n" + "\n".join(rows) + "\n,9.42\n").encode()


def _choose_table() -> Choice:
    about = (
        "One column per parameter and per summary, one row per simulation. The observed row has empty parameters or is "
        "a separate file."
    )
    files = st.file_uploader("Table of simulations (CSV)", key="lf-table", help=about)
    row = st.file_uploader("Observed row (CSV), if not in the table", key="lf-row")
    st.download_button("An example table", _example_table(), "simulations.csv", "text/csv", on_click="ignore")
    missing = table_missing("lf-missing") if files or Key.LIKELIHOOD_FREE_DATA in st.session_state else None
    data = _kept_table(content_bytes(files) if files else None, content_bytes(row) if row else None, missing)
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
        st.caption("The rows are assumed to be drawn evenly over their range (of the logarithm, where one is used).")
    return replace(choice, prior=prior, drawn_from_prior=bool(drawn))


def _kept_table(data: bytes | None, row: bytes | None, missing: Missing) -> tuple[bytes, bytes | None]:
    """The uploaded table if it can be read; otherwise its refusal, and the last good one (or the example)."""
    kept = st.session_state.get(Key.LIKELIHOOD_FREE_DATA, (_example_table(), None))
    if data is None:
        return kept
    try:
        _read(data, row, missing)
    except InputError as error:
        refusal(error)
        st.caption("The last valid table is still in use.")
        return kept
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
        cells, said = (np.log(cells), f"log {name}") if name in logs else (cells, name)
        words = ("from", "to") if kind == "uniform" else ("mean", "sd")
        starts = (cells.min(), cells.max()) if kind == "uniform" else (cells.mean(), cells.std())
        numbers = [
            column.number_input(f"{plain(said)}: {word}", value=float(start), key=f"lf-{word}-{said}", format="%.6g")
            for column, word, start in zip(st.columns(2), words, starts, strict=True)
        ]
        family: Family = "uniform" if kind == "uniform" else "normal"
        parts.append(Marginal(name, family, float(numbers[0]), float(numbers[1]), log=name in logs))
    return Prior(tuple(parts))
