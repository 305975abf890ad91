"""Risk against n and m: stored curves, and runs that are added here."""

from collections.abc import Collection
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.figures.colours import model_name
from deconditioning.figures.studies.distribution_regression import risk_plot
from deconditioning.studies.distribution_regression.curves import slope, theory_exponent
from deconditioning.studies.distribution_regression.study import CUT, NARROW, MethodSettings, risk_sweep
from deconditioning.wording import signed
from pages.distribution_regression import paper_results
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.page_layout import explain, refusals
from pages.kit.layout.table import show_table
from pages.kit.layout.theme import is_dark
from pages.kit.runs.stored_results import stored
from pages.kit.session import Key

STORED = "distribution_regression.json"
_ALONG = {"n": ("subjects", "measures", "n, subjects"), "m": ("measures", "subjects", "m, measurements of each")}
#: The stored size that a curve is drawn at on opening.
FIXED = {"n": 2000, "m": 400}
_MOST_RUNS = 20
#: Methods whose names do not say what they do.
_TOLD = {
    NARROW: "density estimation with the narrower of Silverman's two bandwidths",
    CUT: "the same, cut off at the ends of [0, 1]",
}
#: The p below which mean risks are said to differ.
_SIGNIFICANT = 0.05
#: What is drawn beside the Gaussian process on opening: what the paper draws, and what it could have had.
SHOWN = ("kde", "bdr10", "bdr50", "shrunk")


@st.cache_resource(show_spinner=False, max_entries=64)
def _one_run(n: int, m: int, seed: int) -> list[dict[str, Any]]:
    """One run of all methods at the paper's settings."""
    return risk_sweep([n], [m], [seed], MethodSettings())


def show() -> None:
    """Stored curves with the runs of this session on them."""
    document = stored(STORED)
    st.subheader("Risk against n and m", anchor=False)
    along, fixed = _choose(document)
    first, second, label = _ALONG[along]
    picked = {
        model: sorted((c[first], c["mean"], c["se"] or 0.0) for c in document["curves"] if c["model"] == model and
                      c[second] == fixed)
        for model in _shown_models(document)
    }  # fmt: skip
    curves = {name: tuple(np.array(v, float) for v in zip(*rows, strict=True)) for name, rows in picked.items()}
    left, right = st.columns([3, 2])
    with right:
        _words(curves, along, fixed)
        _add(along, fixed)
    with left:
        other = "m" if along == "n" else "n"
        figure = risk_plot(curves, title=f"Posterior risk, {other} = {fixed}", label=label,  # type: ignore[arg-type]
                           lines=_lines(curves, along), now=_now(first, second, fixed, curves), height=440,
                           dark=is_dark())  # fmt: skip
        plotly_live(figure, "d-risk")
    _below(document, curves, along, fixed)


def _shown_models(document: dict[str, Any]) -> list[str]:
    """The Gaussian process and what is chosen beside it, in the order of the file."""
    offered = document["settings"]["methods"][1:]
    chosen = widgets.multiselect(
        "Risks compared with the Gaussian process", offered, [name for name in SHOWN if name in offered],
        key="d-risk-methods", format_func=model_name,
    )  # fmt: skip
    return ["gpdr", *(name for name in offered if name in chosen)]


def _choose(document: dict[str, Any]) -> tuple[str, int]:
    across, size = st.columns([1, 3])
    with across:
        along = widgets.segmented_control("Against", list(_ALONG), default="n", key="d-along") or "n"
    second = _ALONG[along][1]
    offered = sorted({c[second] for c in document["curves"]})
    with size:
        other = "m" if along == "n" else "n"
        fixed = widgets.segmented_control(f"At {other}", offered, default=FIXED[along], key=f"d-fixed-{other}")
    return str(along), int(fixed or FIXED[along])


def _lines(curves: dict[str, Any], along: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The theory's slope through the first point of the Gaussian process, in n only."""
    theory = theory_exponent("rbf")
    if along != "n" or theory is None:
        return {}
    sizes, means, _ = curves["gpdr"]
    return {"theory's limit n⁻¹": (sizes, means[0] * (sizes / sizes[0]) ** theory)}


def _words(curves: dict[str, Any], along: str, fixed: int) -> None:
    """Slopes, beside the theory's."""
    result = {name: slope(sizes, means) for name, (sizes, means, _) in curves.items()}
    values = ", ".join(f"{model_name(name)} {signed(value, 2)}" for name, value in result.items())
    st.markdown(f"Measured slopes in {along}: {values}.")
    if along == "n":
        explain(
            r"Theorem 3 bounds the risk by $n^{-2\alpha/(2\alpha+1)}$, for a Matérn prior with the smoothness α of f₀ "
            f"and enough measurements: the exponent is −{5 / 6:.2f} at α = 5/2 and approaches −1 as α grows; the "
            f"Gaussian kernel is that limit. With so few subjects and m = {fixed} the limit is not reached."
        )


def _below(document: dict[str, Any], curves: dict[str, Any], along: str, fixed: int) -> None:
    """What the paper says of it, the paired tests, and where the numbers come from."""
    for sentence in (paper_results.on_densities(document), paper_results.on_embeddings(document)):
        if sentence:
            st.markdown(sentence)
    if told := [f"*{model_name(name)}*: {_TOLD[name]}" for name in document["settings"]["methods"] if name in _TOLD]:
        st.caption(f"{'; '.join(told)}.")
    with st.expander("Mean risks, compared over the same runs"):
        rows = [row for name in curves if name != "gpdr" for row in _compared(document, name, along, fixed)]
        show_table(rows)
    settings = document["settings"]
    runs = f"{settings['seeds'][0]}-{settings['seeds'][-1]}"
    command = (
        f"deconditioning distribution-regression --subjects {_list(settings['subjects'])} --measures "
        f"{_list(settings['measures'])} --methods {_list(settings['methods'])} --seeds {runs} --curves --json FILE"
    )
    st.caption(
        f"Stored: mean ± 2 standard errors over {len(settings['seeds'])} runs, paired t-tests over the same; made by "
        f"`{command}`, measured with version {document['version']}, seeds {runs}."
    )


def _compared(document: dict[str, Any], name: str, along: str, fixed: int) -> list[dict[str, str]]:
    """A row a size: the Gaussian process against another method, by a paired t-test of the mean risks."""
    tests = [t for t in document["tests"] if t["second"] == name and t[_ALONG[along][1]] == fixed]
    tests.sort(key=lambda t: t[_ALONG[along][0]])
    return [_test(each, name, along) for each in tests]


def _list(values: list[Any]) -> str:
    return " ".join(map(str, values))


def _test(test: dict[str, Any], name: str, along: str) -> dict[str, str]:
    p, lower = test["p_mean"], test["first"] if test["mean_difference"] < 0 else test["second"]
    return {
        f"{model_name('gpdr')} against": model_name(name),
        along: str(test[_ALONG[along][0]]),
        "Lower mean risk": model_name(lower) if p < _SIGNIFICANT else "no significant difference",
        "p": "< 0.001" if p < 0.001 else f"{p:.3f}" if p < _SIGNIFICANT else f"{p:.2f}",
    }


def _add(along: str, fixed: int) -> None:
    """Runs at a chosen n and m on seeds that the stored ones do not have."""
    with st.container(border=True):
        one, two, three = st.columns(3, vertical_alignment="bottom")
        n = int(one.number_input("n", 5, 400, 150 if along == "n" else fixed, key=f"d-add-n-{along}-{fixed}"))
        m = int(two.number_input("m", 5, 2000, fixed if along == "n" else 150, key=f"d-add-m-{along}-{fixed}"))
        if three.button("Add a run", key="d-add", width="stretch"):
            done = st.session_state.setdefault(Key.DISTRIBUTION_RUNS, [])
            if len(done) >= _MOST_RUNS:
                del done[0]
            seed = 1000 + len([run for run in done if run[:2] == (n, m)])
            with refusals(), st.spinner("One run of every method …"):
                _one_run(n, m, seed)
                done.append((n, m, seed))
        runs = st.session_state.get(Key.DISTRIBUTION_RUNS, [])
        if runs:
            n, m, seed = runs[-1]
            risks = ", ".join(
                f"{model_name(r['model'])} {r['scores']['posterior_risk']:.4f}" for r in _one_run(n, m, seed)
            )
            st.caption(f"Your runs (circles): {len(runs)}. The last, with n = {n}, m = {m} and seed {seed}: {risks}.")


def _now(first: str, second: str, fixed: int, models: Collection[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The session's runs at the drawn size, by method."""
    result: dict[str, list[tuple[float, float]]] = {}
    for n, m, seed in st.session_state.get(Key.DISTRIBUTION_RUNS, []):
        for row in _one_run(n, m, seed):
            if row[second] == fixed and row["model"] in models:
                result.setdefault(row["model"], []).append((row[first], row["scores"]["posterior_risk"]))
    return {name: (np.array([a for a, _ in v]), np.array([b for _, b in v])) for name, v in result.items()}
