"""All models beside each other: at the sliders' values, and the paper's Table 1 with our numbers."""

import json
from dataclasses import replace

import numpy as np
import streamlit as st

from deconditioning.datasets.swiss_roll import MATCHINGS, RollSpec
from deconditioning.figures.colours import model_name
from deconditioning.models.catalogue import GENERAL
from deconditioning.models.defaults import usual_model
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.swiss_roll.benchmark import MODELS as BENCHMARKED
from deconditioning.studies.swiss_roll.benchmark import PAPER
from deconditioning.wording import number
from pages.kit.chart.background import awaited
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.score_table import score_table
from pages.kit.runs.benchmark_table import BenchmarkTable, show, start_controls
from pages.kit.runs.stored_results import stored
from pages.swiss_roll.picture import View, scores_later

FILE, _ABLATION = "swiss_roll.json", "swiss_roll_ablation.json"
_PAIR, _AT_BOUND = ("cmp", "bag_gp"), "λ at its lower bound"
COLUMNS = ("rmse", "mae", "crps", "coverage50", "coverage95")


def at_these_values(roll: RollSpec, spec: ModelSpec, view: View) -> None:
    """Every model at the sliders' hyperparameters, on the same roll; the others come after the picture."""
    others = [model for model in GENERAL.values() if model != spec.model]
    key = json.dumps([roll.to_dict(), spec.to_dict()], sort_keys=True)
    work = scores_later(roll, [replace(spec, model=model) for model in others])
    rows, refused = {spec.model.name: view.scores}, []
    for model, result in zip(
        others, awaited(key, "roll-models", work, ("Computing the other models …")) or [], strict=False
    ):
        if isinstance(result, str):
            refused.append(f"{model.title}: {result}")
        else:
            rows[model.name] = result
    caption = (
        "All models with the hyperparameters of the sliders, over all points. Each may be more accurate with its own "
        "hyperparameters: press Learn, or see the benchmark."
    )
    rows, same = without_repeats(rows)
    if len(rows) > 1:
        st.markdown(_ranked(rows, spec.model.name))
    score_table(rows, columns=COLUMNS, caption=caption)
    if same:
        repeated = ", ".join(f"{model_name(name)} (like {model_name(first)})" for name, first in same.items())
        st.caption(f"Not listed, as equal to three digits: {repeated}.")
    if roll.matching == "indirect":
        st.caption(
            "Models without mediation get pseudo-targets E[g(y_j)], each for its own bag. The paper's public code "
            "assigns sorted pseudo-targets to bags in random order, so its indirect column is worse for these models."
        )
    for sentence in refused:
        st.caption(sentence_of(sentence))


def without_repeats(rows: dict[str, dict[str, float]]) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    """The rows in the order of their RMSE, without those that repeat another to three digits; these, and which."""
    first: dict[tuple[str, ...], str] = {}
    same: dict[str, str] = {}
    for name, scores in rows.items():
        text = tuple(number(scores[column]) for column in COLUMNS)
        if first.setdefault(text, name) != name:
            same[name] = first[text]
    shown = sorted(first.values(), key=lambda name: rows[name]["rmse"])
    return {name: rows[name] for name in shown}, same


def _ranked(rows: dict[str, dict[str, float]], model: str) -> str:
    """Which model is the most accurate, and where the one in the picture stands."""
    best = next(iter(rows))
    rmse = f"RMSE **{number(rows[best]['rmse'])}**"
    if best == model:
        return (
            f"With these hyperparameters the model in the picture, {model_name(model)}, is the most accurate: {rmse}."
        )
    return (
        f"With these hyperparameters the most accurate model is {model_name(best)}: {rmse}. The model in the picture, "
        f"{model_name(model)}, has RMSE {number(rows[model]['rmse'])}."
    )


def in_practice(matching: str) -> str:
    """Which model to choose: the most accurate one after learning, over the stored seeds, and those that are as good
    within a standard error."""
    rows = [row for row in stored(FILE)["rows"] if row["matching"] == matching and row["scores"]]
    found = {
        name: [row["scores"]["rmse"] for row in rows if row["model"] == name]
        for name in dict.fromkeys(row["model"] for row in rows)
    }
    mean = {name: float(np.mean(values)) for name, values in found.items()}
    best = min(mean, key=mean.__getitem__)
    error = float(np.std(found[best], ddof=1)) / len(found[best]) ** 0.5
    worse = min((name for name in mean if mean[name] > mean[best] + error), key=mean.__getitem__)
    near = [name for name in _PAIR if name != best and mean[name] <= mean[best] + error]
    equal = "".join(f", as accurate as {model_name(name)} ({mean[name]:.3f})" for name in near)
    return (
        f"**In practice** learn the hyperparameters and use {model_name(best)}: learned on each of {len(found[best])} "
        f"rolls it has an RMSE of {mean[best]:.3f} on average{equal}; {model_name(worse)} has {mean[worse]:.3f}."
    )


def compared_with_paper() -> str:
    """The paper's reading of Table 1 beside the stored rows: CMP and bag GP, both learned and with λ held as there."""
    rows = [row for row in stored(FILE)["rows"] if row["matching"] == "direct" and row["scores"]]
    mean = {name: np.mean([row["scores"]["rmse"] for row in rows if row["model"] == name]) for name in _PAIR}
    bound = [
        sum(_AT_BOUND in (row["message"] or "") for row in rows if row["model"] == name)
        for name in ("cmp", "shrinkage_cmp")
    ]
    seeds = sum(row["model"] == "cmp" for row in rows)
    held = [row for row in stored(_ABLATION)["results"] if row["way"].startswith("adam, λ held") and row["scores"]]
    then = {name: np.mean([row["scores"]["rmse"] for row in held if row["model"] == name]) for name in _PAIR}
    printed = PAPER["direct"]
    return (
        f"According to the paper's Table 1 the CMP is more accurate than the bag GP ({printed['cmp'][0]:.2f} against "
        f"{printed['bag_gp'][0]:.2f}, direct matching). **If both models are optimised, the difference vanishes**: "
        f"{mean['cmp']:.3f} against {mean['bag_gp']:.3f}. λ ends at its lower bound in {min(bound)} to {max(bound)} of "
        f"{seeds} seeds (CMP, shrinkage CMP), where a CMP *is* a bag GP. With Adam, as in the paper, from one start "
        f"and with λ fixed at 0.01, we find {then['cmp']:.2f} against {then['bag_gp']:.2f} over "
        f"{sum(row['model'] == 'cmp' for row in held)} seeds. Neither procedure gives the printed order."
    )


def benchmark() -> None:
    """The paper's Table 1: stored results, or those of a run from this page."""
    groups = {matching: f"{matching.capitalize()} matching" for matching in MATCHINGS}
    usual = {matching: usual_model(matching == MATCHINGS[0], place=False).name for matching in MATCHINGS}
    table = BenchmarkTable("swiss-roll-benchmark", FILE, "matching", groups, PAPER, units="", references=usual)
    st.markdown(compared_with_paper())
    start_controls(table, {"models": list(BENCHMARKED)})
    show(table)
    st.caption("RMSE of the posterior mean over all points of the roll. Diamonds: the values in the paper's Table 1.")
