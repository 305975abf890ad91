"""What others do with a simulator: one of their methods beside the page's own, and the stored comparison of all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import mean, median, stdev
from typing import Any

import streamlit as st

from deconditioning.likelihood_free.inference import METHODS
from deconditioning.likelihood_free.other_methods import OTHERS, RUNS, other_posterior
from deconditioning.studies.likelihood_free.study import Inference
from pages.kit.chart.background import awaited
from pages.kit.controls import widgets
from pages.kit.layout.score_table import score_table
from pages.kit.runs.stored_results import stored
from pages.likelihood_free.controls import Choice
from pages.likelihood_free.words import TITLES

NONE = "none"
#: Exponential-gamma at the paper's observation, at drawn parameters; Lotka-Volterra at drawn parameters.
GIVEN, DRAWN, PREDATORS = "likelihood_free_methods.json", "likelihood_free_drawn.json", "lotka_volterra_drawn.json"
Rows = Sequence[Mapping[str, Any]]


def choose() -> str:
    """Which other method is computed, if any."""
    return widgets.selectbox(
        "Also by", [NONE, *OTHERS], key="lf-also", format_func=lambda name: TITLES.get(name, name),
        help=(
            f"A method that the paper compares with, on the same simulations. Sequential ABC runs up to {RUNS[0][0]:,} "
            f"additional simulations ({RUNS[-1][0]:,} for several parameters)."
        ),
    ) or NONE  # fmt: skip


def joined(choice: Choice, result: Inference, method: str) -> Inference:
    """The page's answers and that of one more method, which is computed in the background."""
    if method == NONE:
        return result
    answer = awaited(
        f"lf-also-{hash((choice, result.settings, method))}", "lf-also",
        lambda check: other_posterior(
            method, result.problem, result.simulations, result.data, result.settings, seed=choice.seed, check=check
        ),
        f"Computing {TITLES[method]} …",
    )  # fmt: skip
    return replace(result, answers=result.answers | {method: answer}) if answer else result


def comparison() -> None:
    """Stored scores of all nine methods on both problems, and what they say."""
    exponential, drawn, predators = (stored(file) for file in (GIVEN, DRAWN, PREDATORS))
    st.markdown(lesson(exponential["results"], predators["results"]))
    tables = zip(
        (f"{name}, {document['settings']['simulations'][0]:,} simulations"
         for name, document in (("Exponential-gamma", exponential), ("Predators and prey", predators))),
        (lambda method: _exponential(exponential["results"], drawn["results"], method),
         lambda method: _predators(predators["results"], method)),
        strict=True,
    )  # fmt: skip
    for caption, scores in tables:
        rows = {method: scores(method) for method in METHODS + OTHERS}
        score_table(rows, columns=tuple(rows["dme"]), names=TITLES, digits=2, caption=caption)
    st.caption(
        f"Medians; in the first table over {len(exponential['settings']['seeds'])} seeds at an observed mean of 9.42. "
        "**contains θ**: the share of true parameters inside the 95 % intervals, for data simulated at θ drawn from "
        f"the prior ({len(drawn['settings']['seeds'])} data sets in the first table, "
        f"{len(predators['settings']['seeds'])} with four parameters each in the second); the nominal value is 95 %. "
        "**share of prior**: the width of the interval in log θ relative to that of the prior. **runs**: runs of the "
        f"simulator per data set{_discarded(predators['results'])}. Stored; made by "
        f"`{exponential['settings']['command']} --json FILE`, for **contains θ** in the first table with `--seeds "
        f"0-{len(drawn['settings']['seeds']) - 1} --drawn`, in the second with `--problem lotka-volterra --simulations "
        f"{predators['settings']['simulations'][0]} --drawn`."
    )


def _discarded(rows: Rows) -> str:
    """How many runs of the simulator were not used, in the median over data sets."""
    many = median(row["discarded"] for row in rows if row["model"] == "dme")
    return f"; of predators and prey, {many:,.0f} of them reached 10,000 events and were discarded and repeated"


def lesson(exponential: Rows, predators: Rows) -> str:
    """What the stored rows say: who is nearest from the same runs, and what runs of one's own are worth."""
    same = [method for method in METHODS + OTHERS if method != "smc_abc"]
    best, new_runs = [], []
    for rows, score in ((exponential, "error"), (predators, "distance")):
        first = _nearest(rows, score, same)
        best.append(_named(first))
        nearest = _nearest(rows, score, [*first, "smc_abc"])
        verb = "is closest" if nearest == ["smc_abc"] else "ties" if "smc_abc" in nearest else "is farther away"
        new_runs.append(f"{median(_of(rows, 'smc_abc', 'used')):,.0f} runs (median) it {verb}")
    return (
        f"With the same runs, {best[0]} closest to the mean of the exact posterior, and for predators and prey "
        f"{best[1]} closest to the true rates; differences within two standard errors count as ties. "
        f"*{TITLES['smc_abc']}* needs new runs for every observation: with {new_runs[0]} on exponential-gamma, "
        f"with {new_runs[1]} on predators and prey."
    )


def _named(methods: list[str]) -> str:
    """Their titles, with the verb that follows."""
    titles = [f"*{TITLES[method]}*" for method in methods]
    return f"{', '.join(titles[:-1])} and {titles[-1]} come" if titles[1:] else f"{titles[0]} comes"


def _nearest(rows: Rows, score: str, methods: list[str]) -> list[str]:
    """The method of the least median, and those whose mean difference to it is below two standard errors."""
    result = {method: _by_seed(rows, method, score) for method in methods}
    best = min(methods, key=lambda method: median(result[method].values()))
    differences = {
        method: [result[method][seed] - result[best][seed] for seed in result[method].keys() & result[best].keys()]
        for method in methods
        if method != best
    }
    tied = [method for method, each in differences.items() if mean(each) < 2 * stdev(each) / len(each) ** 0.5]
    return [best, *tied]


def _by_seed(rows: Rows, method: str, score: str) -> dict[int, float]:
    return {row["seed"]: row["scores"][score] for row in rows if row["model"] == method and row["scores"]}


def _exponential(rows: Rows, drawn: Rows, method: str) -> dict[str, float | None]:
    return {
        "error": median(_scores(rows, method, "error")),
        "width / exact one": median(_scores(rows, method, "width")),
        "contains θ": mean(_scores(drawn, method, "holds")),
        "runs": median(_of(rows, method, "used")),
    }


def _predators(rows: Rows, method: str) -> dict[str, float | None]:
    return {
        "error of log θ": median(_scores(rows, method, "distance")),
        "share of prior": median(_scores(rows, method, "share")),
        "contains θ": mean(_scores(rows, method, "holds")),
        "runs": median(_of(rows, method, "used")),
    }


def _of(rows: Rows, method: str, key: str) -> list[float]:
    return [row[key] for row in rows if row["model"] == method and row["scores"]]


def _scores(rows: Rows, method: str, score: str) -> list[float]:
    return [row["scores"][score] for row in rows if row["model"] == method and row["scores"]]
