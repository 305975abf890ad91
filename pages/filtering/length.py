"""Error against the length of the training series: stored runs, extended live."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.figures.studies.against_size import scores_against
from deconditioning.filtering.systems import RotationSystem
from deconditioning.studies.filtering.study import compare, rotation_problem
from deconditioning.wording import number
from pages.filtering.words import TITLES
from pages.kit.chart.extension import extendable
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.theme import is_dark
from pages.kit.runs.stored_results import stored

STORED = "filtering.json"


def show(system: RotationSystem, name: str, steps: int) -> None:
    """Stored rows where the system is one of the paper's and its angle starts from the noisy state, and runs measured
    here."""
    document = stored(STORED)
    settings, rows, first = document["settings"], [], 0
    sentence = "No stored results for this system. "
    if name in settings["system"] and system.generator == settings["generator"]:
        rows = [row for row in document["results"] if row["system"] == name]
        first = settings["runs"]
        sentence = (
            f"Stored, seeds 0 to {first - 1}; made by `deconditioning kbr-filter --system "
            f"{' '.join(settings['system'])} --train {' '.join(map(str, settings['train']))} --runs {first} --json "
            f"FILE`, measured with version {document['version']}; its milliseconds do not include the pre-image. "
        )

    def work(seed: int) -> Iterator[dict[str, Any]]:
        for train in settings["train"]:
            for row in compare(rotation_problem(system, train, settings["test"], seed), seed):
                yield {**row, "train": train}

    st.subheader("Error against training length")
    sentence += (
        "Each run uses one training and one test series. β and ε are chosen by validation. Bars are standard errors."
    )
    extendable(
        "f-length",
        repr(system),
        rows,
        work,
        lambda rows: _draw(rows, steps),
        seed=first,
        sentence=sentence,
    )


def compared_with_paper(by_method: dict[str, dict[float, list[float]]]) -> str:
    """EKF and UKF, which the paper cannot tell apart, in numbers; from which T on examples come nearer than either."""
    if not {"kbr", "ekf", "ukf"} <= set(by_method):
        return ""
    most = max(by_method["kbr"])
    mean = {name: {size: float(np.mean(runs)) for size, runs in by_size.items()}
            for name, by_size in by_method.items()}  # fmt: skip
    ekf, ukf = mean["ekf"][most], mean["ukf"][most]
    difference = ekf / ukf - 1
    values = (
        f"Here they differ by {100 * difference:.0f} %: {ekf:.4f} and {ukf:.4f} at T = {number(most, 6)}. With "
        "α = κ = 1 the sigma points of the UKF are far enough apart to be affected by the waves. The paper does not "
        "report its values of α and κ."
        if difference > 0.02
        else f"The same is true here: {ekf:.4f} and {ukf:.4f} at T = {number(most, 6)}."
    )
    return f"The paper reports no visible difference between EKF and UKF. {values} {_nearer(mean)}"


def _nearer(mean: dict[str, dict[float, float]]) -> str:
    sentences = []
    for name, title in (("ekf", "EKF"), ("ukf", "UKF")):
        better = [size for size, error in mean["kbr"].items() if error < mean[name][size]]
        at = f"more accurate than the {title} at T = {', '.join(number(size, 6) for size in sorted(better))}"
        sentences.append(
            f"The kernel Bayes filter is {at if better else f'less accurate than the {title} at every T'}."
        )
    return " ".join(sentences)


def _draw(rows: list[dict[str, Any]], steps: int) -> None:
    by_method: dict[str, dict[float, list[float]]] = {}
    times: dict[float, list[float]] = {}
    for row in rows:
        by_method.setdefault(row["model"], {}).setdefault(row["train"], []).append(row["scores"]["mse"])
        if row["model"] == "kbr":
            times.setdefault(row["train"], []).append(row["scores"]["ms_per_step"])
    st.markdown(compared_with_paper(by_method))
    left, right = st.columns([3, 2])
    with left:
        figure = scores_against(by_method, title="Mean square error", labels=("training steps T", "MSE"), names=TITLES,
                                now=steps, dark=is_dark())  # fmt: skip
        plotly_live(figure, "f-length")
    with right:
        figure = scores_against({"kbr": times}, title="Milliseconds per step", labels=("training steps T", "ms"),
                                names=TITLES, now=steps, dark=is_dark())  # fmt: skip
        plotly_live(figure, "f-times")
