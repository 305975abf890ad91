"""How near matched cells of real fields are brought to the truth, and how often the intervals hold it."""

from collections import Counter
from html import escape
from typing import Any

import streamlit as st

from deconditioning.downscaling.settings import AUTO
from deconditioning.figures.colours import model_colour, model_name
from deconditioning.figures.studies.real_fields import Measured, accuracy, coverage
from deconditioning.metrics.intervals import AIM
from deconditioning.models.defaults import usual_model
from deconditioning.studies.benchmark_table import table_rows
from deconditioning.studies.downscaling.benchmark import BOOSTING, REAL_MATCHED, REAL_MEDIATED, SINGLE, expanded, picked
from deconditioning.studies.downscaling.trust_summary import TOLERATED, TrustSummary, trust_summary
from deconditioning.wording import percentages, rounded
from pages.benchmarks.peers import show_peers
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.page_layout import lead
from pages.kit.layout.table import show_table
from pages.kit.layout.theme import is_dark
from pages.kit.runs.benchmark_table import spread
from pages.kit.runs.stored_results import FOLDER, stored

FILE, REAL_FIELDS = "trust.json", "real_fields.json"
TITLES = {
    "ukv-645m-matched": "UKV, 645 m",
    "ukv-75m-matched": "UKV, 75 m",
    "era5-t2m-matched": "ERA5, 2 m temperature",
    "gdas-ttop-matched": "GDAS, cloud tops",
}


def real_fields(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """How far the default model can be trusted on real fields, a line for matched cells and one for mediated ones."""
    kinds = ("matched", REAL_MATCHED, True), ("matched through a mediator", REAL_MEDIATED, False)
    lines = []
    for name, cases, matched in kinds:
        chosen = [row for row in rows if row["case"] in cases]
        summary = trust_summary(chosen, AUTO, SINGLE[matched])
        if summary is not None:
            lines.append({"Cells": name, **_counts(summary)})
    return lines


def _counts(summary: TrustSummary) -> dict[str, str]:
    """Coverage, losses and the test one scale up, as counts."""
    right, claimed, asked = (sum(each.values()) for each in (summary.right, summary.claimed, summary.asked))
    kept_up = f"{summary.runs - summary.lost} of {summary.runs}{_warned(summary.lost, summary.lost_warned)}"
    return {
        f"95 % intervals contain {percentages(AIM)}": f"{summary.inside} of {summary.runs} maps",
        "Coverage, mean": f"{100 * summary.coverage:.0f} %",
        f"No worse than the best interpolation (within {100 * TOLERATED:.0f} %)": kept_up,
        "Test one scale up": f"{right} right, {claimed - right} wrong, {asked - claimed} open of {asked} comparisons",
    }


def _warned(lost: int, warned: int) -> str:
    """How many of the maps that lost came with a warning; nothing where none lost."""
    if not lost:
        return ""
    all_of_them = "the other" if lost == 1 else f"the other {lost}"
    return f"; a warning on {all_of_them if warned == lost else f'{warned} of the other {lost}'}"


def show_trust() -> None:
    """How far the default can be trusted; one sentence on its accuracy and a line a field; all models folded."""
    if not (FOLDER / FILE).is_file():
        st.info("No measurements yet: run `make bench-trust`, and the results appear here.")
        return
    document = stored(FILE)
    groups = _groups(document["rows"])
    lead(_sentence(groups))
    _pictures(_measured(groups), usual_model(True, True).name)
    if (FOLDER / REAL_FIELDS).is_file():
        st.markdown(f"**The default model on {len(REAL_MATCHED)} real fields**, with half of the cells hidden:")
        show_table(real_fields(stored(REAL_FIELDS)["rows"]))
        st.caption(
            "The test one scale up says, without a truth, which of two methods is the better one, or leaves it open; "
            "each map has several comparisons."
        )
    warned = Counter((row["case"], row["model"]) for row in document["rows"] if row.get("warned"))
    lines = [_line(case, entry, models, warned) for case, models in groups.items() for entry in models]
    show_peers()
    with st.expander("All models, and what the columns mean"):
        _everything(document, [line for line in lines if line])


def _measured(groups: dict[str, list[dict[str, Any]]]) -> list[Measured]:
    """Every model on every field beside bilinear interpolation."""
    result = []
    for case, models in groups.items():
        (bilinear,) = [entry["mean"] for entry in models if entry["model"] == "bilinear"]
        result += [
            Measured(
                TITLES[case],
                entry["model"],
                entry["mean"] / bilinear,
                entry["means"].get("coverage95"),
            )
            for entry in models
            if entry["model"] not in ("bilinear", "constant") and entry["mean"] is not None
        ]
    return result


def _pictures(rows: list[Measured], usual: str) -> None:
    """Accuracy and coverage beside each other, and above both the colours of the models."""
    models = sorted({row.model: None for row in rows}, key=lambda model: model != usual)
    marks = "".join(
        f'<span><i style="{_dot(model_colour(model, is_dark()), filled=model == usual)}"></i> '
        f"{escape(model_name(model))}</span>"
        for model in models
    )
    st.html(f'<p class="lab-legend">{marks}</p>')
    left, right = st.columns(2)
    with left:
        plotly_live(accuracy(rows, usual, dark=is_dark()), "trust-accuracy")
    with right:
        plotly_live(coverage(rows, usual, dark=is_dark()), "trust-coverage")


def _dot(colour: str, *, filled: bool) -> str:
    """The style of a model's mark in a legend."""
    inside = colour if filled else "transparent"
    return (
        "display: inline-block; width: .6em; height: .6em; border-radius: 50%; "
        f"border: 2px solid {colour}; background: {inside}"
    )


def _everything(document: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    show_table(lines)
    st.caption(
        "UKV: weather model of the UK Met Office; ERA5: reanalysis of ECMWF; GDAS: analysis of the US weather service "
        f"(NCEP). Means over the draws (stored; made by `{document['command']}`, measured with version "
        f"{document['version']}). Half of the cells are hidden, and all pixels are scored. In 50 % and 95 % intervals: "
        "share of the truth inside these intervals. "
        "Warnings: "
        "draws for which the app warns a user without a truth, for example that bilinear interpolation is more "
        "accurate. CPU seconds for one fit with learning and its test one scale up, on one thread."
        + _choice(document["rows"])
    )


def _choice(rows: list[dict[str, Any]]) -> str:
    """How often the check one scale up, which sees no fine truth, told which way is nearer at the pixels."""
    right, pairs = picked(rows)
    if not pairs:
        return ""
    return (
        " Of two methods, the one with the smaller error one scale up is the more accurate one at the pixels in "
        f"{right} of {pairs} comparisons, counting those in which the app leaves the question open."
    )


def matched_shares() -> list[float]:
    """The default's RMSE relative to bilinear interpolation on matched cells, of each field; empty where it was not
    measured."""
    if not (FOLDER / FILE).is_file():
        return []
    shares, _, _ = _shares(_groups(stored(FILE)["rows"]))
    return shares


def mediated_shares() -> list[float]:
    """The default's RMSE relative to the best interpolation on cells with a mediator, of each field; empty where it was
    not measured."""
    rows = stored(REAL_FIELDS)["rows"] if (FOLDER / REAL_FIELDS).is_file() else []
    mine = [row for row in rows if row["model"] == AUTO and row["case"] in REAL_MEDIATED and row["scores"]]
    return [row["scores"]["rmse"] / row["best_interpolation"]["rmse"] for row in mine]


def _groups(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The sums of every model by case; none of cases without rows."""
    groups = {case: table_rows(expanded(rows), "case", case) for case in TITLES}
    return {case: models for case, models in groups.items() if models}


def _shares(groups: dict[str, list[dict[str, Any]]]) -> tuple[list[float], dict[int, list[float]], int]:
    """Over the fields that the default and bilinear interpolation have numbers of: ratios of their errors, shares of
    the truth in the default's intervals by their level, and the draws of a field."""
    usual, shares, seeds = usual_model(True, True), [], {0}
    inside: dict[int, list[float]] = {50: [], 95: []}
    for models in groups.values():
        result = {entry["model"]: entry for entry in models if entry["mean"] is not None}
        if usual.name in result and "bilinear" in result:
            shares.append(result[usual.name]["mean"] / result["bilinear"]["mean"])
            seeds.add(result[usual.name]["n"])
            for level, values in inside.items():
                values.append(result[usual.name]["means"][f"coverage{level}"])
    return shares, inside, max(seeds)


def _sentence(groups: dict[str, list[dict[str, Any]]]) -> str:
    """What the default does, over the fields that it and bilinear interpolation have numbers of."""
    shares, inside, seeds = _shares(groups)
    if not shares:
        return ""
    missed = sum(not AIM[0] <= share <= AIM[1] for share in inside[95])
    fields = "one field" if missed == 1 else f"{missed} fields"
    aim = f"; on {fields} that is outside the aim of {percentages(AIM)}" if missed else ""
    return (
        f"On {len(shares)} real fields, half of whose cells are hidden {seeds} times, the error (RMSE) of the "
        f"{usual_model(True, True).phrase}, the default model, is **{percentages(shares)}** of that of bilinear "
        f"interpolation. Its 95 % intervals contain **{percentages(inside[95])}** of the truth{aim}; its 50 % "
        f"intervals contain {percentages(inside[50])}."
    )


def _line(
    case: str, entry: dict[str, Any], models: list[dict[str, Any]], warned: dict[tuple[str, str], int]
) -> dict[str, Any]:
    """One row of the table; nothing for interpolations but bilinear."""
    if entry["model"] in ("constant", "bicubic"):
        return {}
    bilinear = next((each["mean"] for each in models if each["model"] == "bilinear"), None)
    mean, means, fitted = entry["mean"], entry["means"], entry["seconds"] is not None

    def share(name: str) -> str:
        return f"{100 * means[name]:.0f} %" if means.get(name) is not None else "–"

    return {
        "Data": TITLES[case],
        "Model": model_name(entry["model"]),
        "RMSE, K": spread(mean, entry["sd"]),
        "RMSE relative to bilinear": f"{100 * mean / bilinear:.0f} %" if mean is not None and bilinear else "–",
        "CRPS, K": rounded(means["crps"]) if means.get("crps") is not None else "–",
        "Coverage of 50 %": share("coverage50"),
        "Coverage of 95 %": share("coverage95"),
        "CPU time, s": f"{entry['seconds']:.1f}" if fitted else "–",
        "Warnings": f"{warned[case, entry['model']]} of {entry['n']}" if fitted and entry["model"] != BOOSTING else "–",
    }
