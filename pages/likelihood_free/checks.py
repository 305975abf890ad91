"""What the answers are worth: q̄ and its limits, error against simulations, calibration."""

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.figures.studies.likelihood_free import errors_plot, q_surface_plot, ranks_plot
from deconditioning.likelihood_free.inference import METHODS, evidence
from deconditioning.likelihood_free.objective import TIE, Learned, surface
from deconditioning.studies.likelihood_free.guards import GIVEN, NO_EPSILON, NO_LIMITS
from deconditioning.studies.likelihood_free.study import Calibration, Inference, calibration, mean_errors, run_problem
from deconditioning.wording import number
from pages.kit.chart.background import awaited
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.theme import is_dark
from pages.kit.runs.stored_results import stored
from pages.likelihood_free.controls import Choice, simulated
from pages.likelihood_free.picture import NAMES

STORED, LIMITS = "likelihood_free.json", "likelihood_free_guards.json"
SCORES = {"error": "Error of the posterior mean", "width": "Width of the 95 % interval"}
LABELS = {"error": "median |mean − exact|", "width": "relative to the exact one"}
#: What the shape of a histogram of ranks means.
_SHAPES = {"hill": "too wide", "bowl": "too narrow", "slope": "biased"}
#: Points a side of the q̄ picture; simulations and seeds of a live error curve; data sets of a live calibration.
SIDE, _LIVE_COUNTS, _LIVE_SEEDS, _LIVE_REPEATS = 15, (25, 50, 100, 200), 4, 100


def q_bar(choice: Choice, learned: Learned, inference: Inference) -> None:
    """The objective over ℓ and ε, or ℓ and λ, far beyond its guards."""
    left, right = st.columns([3, 2])
    with right:
        other = st.segmented_control("q̄ over ℓ and", ["ε", "λ"], default="ε", key="lf-surface") or "ε"
    values = awaited(
        f"lf-surface-{hash((choice, other))}", "lf-surface", lambda check: _surface(choice, learned, other, check),
        "Computing the picture of q̄ …",
    )  # fmt: skip
    guards = learned.guards
    with right:
        ends = {"least": "lower", "most": "upper"}
        held = [f"{name} at its {ends[end]} limit" for name, end in (word.split() for word in learned.bound)]
        bound = f", {' and '.join(held)}" if held else ", not at a limit"
        if values is not None:
            st.markdown(who_chooses(_inside(values, learned, other)))
        st.markdown(
            "q̄ estimates the probability of the observation: the share of draws of the prior whose simulations are "
            "close to it. The kernels are chosen to maximise q̄. Inside the limits (the box) log q̄ is largest at ε = "
            f"{number(learned.settings.epsilon)} and ℓ = {number(learned.length)} times the sd of the parameters near "
            f"the observation{bound}."
        )
        if values is not None:
            beyond = float(values[np.isfinite(values)].max()) - learned.log_q
            if beyond > 0.05:
                st.markdown(
                    f"Outside the box log q̄ is up to {number(beyond, 2)} larger (red) because the fit follows single "
                    "simulations there: larger is not better."
                )
        st.caption(
            "The limits: the ε-kernel covers √n simulations, is not narrower than the noise of the simulator "
            f"({number(guards.noise, 2)} sd) and may be 1.5 times as wide; ℓ is 1 to 1.5 times the sd of the "
            "parameters that this ε accepts; λ = 10⁻³ ℓ, k = max(ε, 2 × noise), and δ is a tenth of the evidence."
        )
        st.caption(_without_limits())
    if values is not None:
        with left:
            _draw_surface(values, learned, inference, other)


def who_chooses(inside: float) -> str:
    """Who chooses the kernels where log q̄ changes by so much within the limits."""
    change = f"log q̄ changes by {number(inside, 2)} within the limits"
    if inside < 0.5:
        return f"**The data cannot choose the kernels here ({change}), so the limits do.**"
    return f"**The data choose the kernels within limits: {change}.**"


def _without_limits() -> str:
    """What stored runs say of q̄ without its limits: median and largest width of the DME's interval."""
    document = stored(LIMITS)

    def widths(way: str) -> list[float]:
        return [row["scores"]["width"] for row in document["results"] if (row["model"], row["way"]) == ("dme", way)]

    def line(name: str, way: str) -> str:
        return f"| {name} | {np.median(widths(way)):.1f} | {max(widths(way)):.1f} |"

    settings = document["settings"]
    ways = (("all limits", GIVEN), ("ε free", NO_EPSILON), ("ε and ℓ free", NO_LIMITS))
    lines = [line(name, way) for name, way in ways]
    return (
        f"Why there are limits: they prevent the worst case, an interval {max(widths(NO_EPSILON)):.1f} times as wide "
        f"as the exact one ({max(widths(GIVEN)):.1f} with them). Width relative to the exact one with "
        f"{settings['simulations']:,} simulations, over {len(settings['seeds'])} "
        f"seeds at {len(settings['observed'])} observations (stored; made by `deconditioning likelihood-free-guards "
        "--json FILE`):\n\n| | median | largest |\n|:--|--:|--:|\n" + "\n".join(lines)
    )


def _axes(learned: Learned, other: str) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.geomspace(0.15, 8, SIDE)
    least = learned.guards.epsilon[0]
    return lengths, np.geomspace(least / 12, 5 * least, SIDE) if other == "ε" else np.geomspace(1e-8, 1e-1, SIDE)


def _surface(choice: Choice, learned: Learned, other: str, check: Callable[[], None]) -> np.ndarray:
    problem, simulations = simulated(choice)
    guards = learned.guards
    data = evidence(problem.prior, simulations, problem.observed, guards.epsilon[0], seed=choice.seed)
    lengths, others = _axes(learned, other)
    columns = []
    for length in lengths:
        check()
        epsilons, lams = (others, None) if other == "ε" else (np.array([learned.settings.epsilon]), others)
        columns.append(surface(data, guards, epsilons, np.array([length]), lams)[:, 0])
    return np.stack(columns, axis=1)


def _inside(values: np.ndarray, learned: Learned, other: str) -> float:
    """By how much log q̄ changes over the picture's points in the box, or nearest it."""
    lengths, others = _axes(learned, other)
    low, high = learned.guards.length
    least, most = learned.guards.epsilon if other == "ε" else (TIE * low, TIE * high)
    columns = (lengths >= low / 1.2) & (lengths <= high * 1.2)
    rows = (others >= least / 1.2) & (others <= most * 1.2)
    part = values[np.ix_(rows, columns)]
    part = part[np.isfinite(part)]
    return float(np.ptp(part)) if part.size else 0.0


def _draw_surface(values: np.ndarray, learned: Learned, inference: Inference, other: str) -> None:
    lengths, others = _axes(learned, other)
    guards, settings = learned.guards, inference.settings
    frame = guards.epsilon if other == "ε" else (TIE * guards.length[0], TIE * guards.length[1])
    now = settings.epsilon if other == "ε" else settings.regularisation
    length = float(np.clip(settings.lengthscales[0] / guards.spread[0], lengths[0], lengths[-1]))
    figure = q_surface_plot(
        lengths, others, values, other=other, box=(guards.length, frame), inside=learned.log_q,
        now=(length, float(np.clip(now, others[0], others[-1]))), dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "lf-q", later=True)


def errors(choice: Choice) -> None:
    """Stored errors of every method against the number of simulations; the same for today's problem on demand."""
    document = stored(STORED)
    rows = [row for row in document["results"] if row["model"] in METHODS]
    left, right = st.columns(2)
    for column, (score, title) in zip((left, right), SCORES.items(), strict=True):
        curves = {method: mean_errors(rows, method, score) for method in METHODS}
        with column:
            plotly_live(
                errors_plot(curves, title=title, label=LABELS[score], now=choice.count, names=NAMES, dark=is_dark()),
                f"lf-{score}",
            )
    seeds = document["settings"]["seeds"]
    st.caption(
        f"Exponential-gamma at 9.42, median over seeds {seeds[0]} to {seeds[-1]}. Stored; made by "
        f"`{document['settings']['command']} --json FILE`, measured with version {document['version']}."
    )
    _live_errors(choice)


def _live_errors(choice: Choice) -> None:
    if choice.name not in ("exponential-gamma", "gaussian"):
        st.caption(
            "This problem has no exact posterior from which errors could be measured. The stored curves are for "
            "another problem."
        )
        return
    if not st.toggle("The same for the problem on the left", key="lf-live-errors"):
        return

    def work(check: Callable[[], None]) -> list[dict[str, Any]]:
        problem, rows = simulated(choice)[0], []
        for count in _LIVE_COUNTS:
            for seed in range(_LIVE_SEEDS):
                check()
                rows += [{**row, **row["more"]} for row in run_problem(problem, count, seed)[1]]
        return rows

    rows = awaited(f"lf-errors-{hash(choice)}", "lf-errors", work, "Simulating and inferring …")
    if rows is not None:
        left, right = st.columns(2)
        for column, (score, title) in zip((left, right), SCORES.items(), strict=True):
            curves = {method: mean_errors(rows, method, score) for method in METHODS}
            with column:
                figure = errors_plot(
                    curves, title=f"{title}, here", label=LABELS[score], now=choice.count, names=NAMES, dark=is_dark()
                )
                plotly_live(figure, f"lf-live-{score}")


def ranks(choice: Choice) -> None:
    """Stored calibration ranks of every method, and today's problem on demand."""
    document = stored(STORED)
    records = [
        Calibration(r["model"], r["parameter"], np.array(r["ranks"]), r["samples"]) for r in document["calibration"]
    ]
    _draw_ranks(records, "lf-ranks")
    repeats, count = len(records[0].ranks), document["calibration"][0]["simulations"]
    st.caption(
        f"{repeats} data sets, each simulated at a θ drawn from the prior, with inference from the same {count} "
        "simulations of exponential-gamma. For a calibrated posterior 95 % of the bars lie in the grey band. Stored by "
        "the same command."
    )
    if choice.name not in ("exponential-gamma", "gaussian") or not st.toggle(
        f"{_LIVE_REPEATS} data sets of the problem on the left", key="lf-live-ranks"
    ):
        return
    methods = ("dme", "cme")
    result = awaited(
        f"lf-ranks-{hash(choice)}", "lf-ranks",
        lambda check: calibration(simulated(choice)[0], choice.count, methods, _LIVE_REPEATS, seed=choice.seed,
                                  check=lambda done: check()),
        f"Calibrating over {_LIVE_REPEATS} data sets …",
    )  # fmt: skip
    if result is not None:
        _draw_ranks(result, "lf-live-ranks-now")


def rank_verdict(records: list[Calibration]) -> str:
    """What the histograms show, tested at 5 % each: "All 4 are hills: the posteriors are too wide."."""
    by_shapes: dict[tuple[str, ...], list[str]] = {}
    for record in records:
        by_shapes.setdefault(record.shapes(), []).append(NAMES[record.method])
    sentences = []
    for shapes, names in by_shapes.items():
        many, count = len(names) > 1, f"{len(names)} of {len(records)}"
        every = "Both" if len(records) == 2 else f"All {len(records)}"
        who = f"{every if len(by_shapes) == 1 and many else count} {'are' if many else 'is'}"
        named = "" if len(by_shapes) == 1 else f" ({', '.join(names)})"
        what = " and ".join(f"{shape}s" if many else f"a {shape}" for shape in shapes) or "uniform"
        meaning = " and ".join(_SHAPES[shape] for shape in shapes) or "calibrated"
        sentences.append(f"{who} {what}: the posterior{'s are' if many else ' is'} {meaning}{named}.")
    return " ".join(sentences)


def _draw_ranks(records: list[Calibration], key: str) -> None:
    st.markdown(rank_verdict(records))
    columns = st.columns(min(4, len(records)))
    for index, record in enumerate(records):
        with columns[index % len(columns)]:
            figure = ranks_plot(
                record.counts(), record.band(), method=record.method, parameter=record.parameter, names=NAMES,
                dark=is_dark(),
            )  # fmt: skip
            plotly_live(figure, f"{key}-{index}")
