"""All models beside each other: at the sliders' values, and the paper's Table 1 with our numbers."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from core.datasets.swiss_roll import MATCHINGS, RollSpec
from core.engine import Run, RunSpec
from core.errors import InputError
from core.experiments.swiss_roll_benchmark import MODELS as BENCHMARKED
from core.experiments.swiss_roll_benchmark import table_rows
from core.figures.colours import model_name
from core.figures.roll import model_dots
from core.metrics import pairwise_wilcoxon
from core.models.catalogue import MODELS
from core.models.spec import ModelSpec
from pages.shared.layout import score_table
from pages.shared.plotly_live import plotly_live
from pages.shared.run_panel import begin_run, follow, outcome, run_of
from pages.shared.swiss_roll.picture import view_of
from pages.shared.theme import is_dark

STORED = Path(__file__).resolve().parents[3] / "data" / "benchmarks" / "swiss_roll.json"
TASK = "swiss-roll-benchmark"
COLUMNS = ("rmse", "mae", "crps", "coverage50", "coverage95")


def at_these_values(roll: RollSpec, spec: ModelSpec) -> None:
    """Every model at the sliders' hyperparameters, on the same roll."""
    rows: dict[str, dict[str, float]] = {}
    refused, begun = [], time.perf_counter()
    for name in MODELS:
        try:
            rows[name] = view_of(roll, replace(spec, model=name)).scores
        except InputError as error:
            refused.append(f"{MODELS[name].title}: {error}")
    took = time.perf_counter() - begun
    score_table(
        rows, columns=COLUMNS, caption=f"All models at the sliders' hyperparameters, all points ({took:.1f} s). "
        "Each would do better at its own: press Learn, or look at the benchmark."
    )  # fmt: skip
    if roll.matching == "indirect":
        st.caption(
            "Models without mediation get pseudo-targets E[g(y_j)] for their bags, each for its own bag. The paper's "
            "public code gives them in sorted order to bags in random order, so its indirect column is worse there."
        )
    for sentence in refused:
        st.caption(sentence)


@st.cache_data(show_spinner=False)
def _stored(changed: float) -> dict[str, Any]:
    return json.loads(STORED.read_text(encoding="utf-8"))


def benchmark() -> None:
    """Stored results, or those of a run of this page: partial while it goes on."""
    run = run_of(TASK)
    rows, told = _stored_rows()
    if run is not None and run.result and run.result.get("rows"):
        rows, told = run.result["rows"], f"from run {run.id}"
    _buttons(run)
    if run is not None and run.active:
        follow(run, lambda trace: tables([row["row"] for row in trace if "row" in row], "so far"), doing="Benchmark")
        return
    if run is not None:
        outcome(run, "The benchmark is done", "Cancelled; the finished fits are shown")
    tables(rows, told)


def _stored_rows() -> tuple[list[dict[str, Any]], str]:
    if not STORED.is_file():
        return [], ""
    kept = _stored(STORED.stat().st_mtime)
    return kept["rows"], f"stored; made by `{kept['command']}`, version {kept['version']}"


def _buttons(run: Run | None) -> None:
    active = run is not None and run.active
    left, middle, _ = st.columns([2, 2, 3], vertical_alignment="bottom")
    seeds = left.number_input("Seeds", 1, 50, 2, key="r-bench-seeds", bind="query-params")
    if middle.button("Run the benchmark here", disabled=active, key="r-bench", width="stretch"):
        settings = {"seeds": list(range(int(seeds))), "models": list(BENCHMARKED)}
        begin_run(RunSpec(TASK, settings, title=f"Swiss roll benchmark, {seeds} seeds"))


def tables(rows: list[dict[str, Any]], told: str) -> None:
    """One table and picture a matching, and the signed-rank tests."""
    if not rows:
        st.caption("No fit is finished yet.")
        return
    for column, matching in zip(st.columns(2), MATCHINGS, strict=True):
        found = table_rows(rows, matching)
        if found:
            with column:
                title = f"{matching.capitalize()} matching"
                plotly_live(model_dots(found, title=title, score="RMSE", dark=is_dark()), f"dots-{matching}")
                st.dataframe([_line(row) for row in found], hide_index=True, width="stretch")
    st.caption(
        f"RMSE of the posterior mean against t over all points, mean ± sd over seeds ({told}). Diamonds: the paper's "
        "Table 1. CPU seconds of one fit, one thread."
    )
    with st.expander("Which differences are more than chance? Wilcoxon's signed-rank test"):
        for matching in MATCHINGS:
            _tests([row for row in rows if row["matching"] == matching], matching)


def _line(row: dict[str, Any]) -> dict[str, Any]:
    ours = "–" if row["mean"] is None else f"{row['mean']:.3f}" + (f" ± {row['sd']:.3f}" if row["sd"] else "")
    paper = "–" if not row["paper"] else f"{row['paper'][0]:.2f} ± {row['paper'][1]:.2f}"
    coverage = "–" if row["coverage95"] is None else f"{row['coverage95']:.0%}"
    return {
        "Model": model_name(row["model"]), "RMSE, ours": ours, "RMSE, paper": paper, "Coverage of 95 %": coverage,
        "CPU s": None if row["seconds"] is None else round(row["seconds"], 1), "Seeds": row["n"],
    }  # fmt: skip


def _tests(rows: list[dict[str, Any]], matching: str) -> None:
    try:
        pairs = pairwise_wilcoxon(rows, "rmse")
    except InputError as error:
        st.caption(f"{matching.capitalize()}: {error}")
        return
    st.markdown(f"**{matching.capitalize()} matching**, two-sided, p values corrected for the number of pairs (Holm)")
    st.dataframe(
        [
            {
                "Better": model_name(p.first if p.difference < 0 else p.second),
                "Worse": model_name(p.second if p.difference < 0 else p.first),
                "Median difference": f"{abs(p.difference):.3f}",
                "p": p.note or f"{p.p_value:.1e}",
                "p corrected": "" if p.note else f"{p.p_holm:.1e}",
                "Seeds": p.n,
            }
            for p in pairs
        ],
        hide_index=True,
        width="stretch",
    )
