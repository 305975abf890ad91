"""Posteriors as pictures: marginals with every method's interval, pairs, samples drawn one by one."""

from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.figures.colours import MODEL_NAMES
from deconditioning.figures.studies.likelihood_free import corner_plot, marginal_plot
from deconditioning.figures.studies.one_dimension import pairs_plot
from deconditioning.studies.likelihood_free.study import Inference
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.controls.play_words import NEXT, PAUSE, PLAY
from pages.kit.layout.theme import is_dark

#: Seconds between two drawn samples, and samples a beat.
BEAT, _PER_BEAT = 0.3, 3
NAMES = MODEL_NAMES | {
    "dme": "Deconditional embedding", "kbr": "Kernel Bayes' rule", "abc": "Rejection ABC",
    "cme_evidence": "Conditional mean by its own evidence", "mdn": "Mixture density network",
}  # fmt: skip
#: Units of the parameter and of its observation, by the problem.
UNITS = {"exponential-gamma": ("buses per minute", "minutes")}
Interval = tuple[float, float, float]


def in_logs(result: Inference) -> bool:
    """Whether parameters are shown as logarithms: where they are worked with so and no exact posterior is beside."""
    return result.exact is None and all(part.log for part in result.problem.prior.marginals)


def variables(result: Inference) -> list[str]:
    """The parameters' names as shown."""
    return [f"log {name}" if in_logs(result) else name for name in result.problem.prior.names]


def _shown_samples(result: Inference, method: str) -> np.ndarray:
    """Herded samples (S, p) in what is shown."""
    samples = result.answers[method].samples
    return np.log(samples) if in_logs(result) else samples


def intervals(result: Inference, index: int) -> dict[str, Interval]:
    """Method → (low, mean, high) of one parameter in what is shown, the exact one first."""
    lines: dict[str, Interval] = {}
    if result.exact:
        low, high = result.exact.interval[index]
        lines["exact"] = (float(low), float(result.exact.mean[index]), float(high))
    for method in result.answers:
        values = _shown_samples(result, method)[:, index]
        low, high = np.quantile(values, [0.025, 0.975])
        lines[method] = (float(low), float(values.mean()), float(high))
    return lines


def limits(result: Inference, index: int) -> tuple[float, float]:
    """The axis of one parameter: what all intervals need, inside the prior's support."""
    spans = list(intervals(result, index).values())
    low, high = min(span[0] for span in spans), max(span[2] for span in spans)
    pad = 0.12 * max(high - low, 1e-9)
    ends = result.problem.prior.marginals[index].support
    if not in_logs(result):
        ends = tuple(result.problem.prior.marginals[index].natural(np.array(ends)).tolist())
    return max(low - pad, ends[0]), min(high + pad, ends[1])


def player(result: Inference, method: str) -> None:
    """Herded samples, all of them or one after the other."""
    last = len(result.answers[method].samples)
    if not 1 <= int(st.session_state.get("lf-step", last)) <= last:
        st.session_state["lf-step"] = last  # only when it must: what is about to be sent would be lost
    playing = bool(st.session_state.get("lf-play", False))

    @st.fragment(run_every=BEAT if playing else None)
    def show() -> None:
        if playing:
            following = st.session_state.get("lf-step", last) + _PER_BEAT
            st.session_state["lf-step"] = following if following <= last else 1
        above = st.container()
        with st.container(horizontal=True, vertical_alignment="bottom"):
            if st.button(PAUSE if playing else f"{PLAY} the samples one by one", key="lf-play-button"):
                st.session_state["lf-play"] = not playing
                st.rerun(scope="app")
            if st.button(NEXT, key="lf-next", disabled=playing):
                st.session_state["lf-step"] = st.session_state.get("lf-step", last) % last + 1
            drawn = int(
                widgets.slider("Samples drawn (kernel herding)", 1, last, last, key="lf-step", disabled=playing)
            )
        _draw(result, method, drawn, above)

    show()


def _draw(result: Inference, method: str, drawn: int, above: DeltaGenerator) -> None:
    """The posterior: of one parameter, or of every two with that of each below."""
    count = len(result.problem.prior.names)
    if count == 1:
        with above:
            plotly_live(_marginal(result, method, 0, drawn, 400), "lf-marginal-0")
        return
    with above:
        plotly_live(_corner(result, method, drawn), "lf-corner")
    places = [column for _ in range((count + 1) // 2) for column in st.columns(2)]
    for index in range(count):
        with places[index]:
            plotly_live(_marginal(result, method, index, drawn, 330), f"lf-marginal-{index}", later=True)


def _corner(result: Inference, method: str, drawn: int) -> dict[str, Any]:
    truth, exact, count = result.problem.truth, result.exact, len(result.problem.prior.names)
    return corner_plot(
        _shown_samples(result, method)[:drawn], variables(result), shown=method,
        limits=np.array([limits(result, j) for j in range(count)]),
        exact=(exact.mean, exact.covariance) if exact and exact.covariance is not None else None,
        truth=None if truth is None else np.log(truth) if in_logs(result) else truth,
        methods=NAMES, height=400 if count == 2 else 480, dark=is_dark(),
    )  # fmt: skip


def _marginal(result: Inference, method: str, index: int, drawn: int, height: int) -> dict[str, Any]:
    part, span = result.problem.prior.marginals[index], limits(result, index)
    grid = np.linspace(*span, 400)
    u = grid if in_logs(result) else part.working(grid)
    inner = 1.0 if in_logs(result) or not part.log else 1 / grid  # p(θ) = p(u) du/dθ
    prior = np.exp(part.log_density(u)) * inner
    exact = (grid, result.exact.marginals[index].pdf(grid)) if result.exact else None
    truth = result.problem.truth
    mark = None if truth is None else float(np.log(truth[index]) if in_logs(result) else truth[index])
    return marginal_plot(
        _shown_samples(result, method)[:drawn, index], intervals(result, index), variable=variables(result)[index],
        units="" if in_logs(result) else UNITS.get(result.problem.name, ("", ""))[0],
        limits=span, shown=method, prior=(grid, prior), exact=exact, truth=mark, names=NAMES,
        legend=len(result.problem.prior.names) == 1, height=height, dark=is_dark(),
    )  # fmt: skip


def simulations(result: Inference) -> None:
    """What was simulated, and what was observed: the first summary against the first parameter."""
    part, summary = result.problem.prior.marginals[0], result.problem.summary_names[0]
    logs = part.log, summary.startswith("log ")
    units = UNITS.get(result.problem.name, ("", ""))
    natural = tuple(np.exp if log else np.asarray for log in logs)
    figure = pairs_plot(
        natural[0](result.simulations.parameters[:, 0]), natural[1](result.simulations.summaries[:, 0]),
        rule=float(natural[1](result.problem.observed[0])), title="Simulations (dots) and the observation (line)",
        labels=(_label(part.name, units[0]), _label(summary.removeprefix("log "), units[1])), logs=logs, height=300,
        dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "lf-simulations", later=True)


def _label(name: str, units: str) -> str:
    return f"{name}, {units}" if units else name
