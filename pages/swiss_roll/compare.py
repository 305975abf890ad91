"""All models beside each other: at the sliders' values, and the paper's Table 1 with our numbers."""

import json
from dataclasses import replace

import streamlit as st

from core.datasets.swiss_roll import MATCHINGS, RollSpec
from core.models.catalogue import GENERAL, MODELS
from core.models.spec import ModelSpec
from core.studies.swiss_roll.benchmark import MODELS as BENCHMARKED
from core.studies.swiss_roll.benchmark import PAPER
from pages.kit.background import awaited
from pages.kit.benchmark_table import BenchmarkTable, show, start_controls
from pages.kit.layout import score_table
from pages.kit.words import sentence_of
from pages.swiss_roll.picture import View, scores_later

COLUMNS = ("rmse", "mae", "crps", "coverage50", "coverage95")


def at_these_values(roll: RollSpec, spec: ModelSpec, view: View) -> None:
    """Every model at the sliders' hyperparameters, on the same roll; the others come after the picture."""
    others = [name for name in GENERAL if name != spec.model]
    key = json.dumps([roll.to_dict(), spec.to_dict()], sort_keys=True)
    work = scores_later(roll, [replace(spec, model=name) for name in others])
    rows, refused = {spec.model: view.scores}, []
    for name, found in zip(others, awaited(key, "roll-models", work, "The other models follow …") or [], strict=False):
        if isinstance(found, str):
            refused.append(f"{MODELS[name].title}: {found}")
        else:
            rows[name] = found
    score_table(
        rows, columns=COLUMNS, caption="All models at the sliders' hyperparameters, all points. "
        "Each would do better at its own: press Learn, or look at the benchmark."
    )  # fmt: skip
    if roll.matching == "indirect":
        st.caption(
            "Models without mediation get pseudo-targets E[g(y_j)] for their bags, each for its own bag. The paper's "
            "public code gives them in sorted order to bags in random order, so its indirect column is worse there."
        )
    for sentence in refused:
        st.caption(sentence_of(sentence))


def benchmark() -> None:
    """The paper's Table 1: stored results, or those of a run from this page."""
    groups = {matching: f"{matching.capitalize()} matching" for matching in MATCHINGS}
    table = BenchmarkTable("swiss-roll-benchmark", "swiss_roll.json", "matching", groups, PAPER, units="")
    start_controls(table, {"models": list(BENCHMARKED)})
    show(table)
    st.caption(
        "RMSE of the posterior mean against t over all points of the roll. Diamonds: as printed in the paper's Table 1."
    )
