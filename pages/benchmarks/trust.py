"""How near matched cells of real fields are brought to the truth, and how often the intervals hold it."""

from collections import Counter
from statistics import median
from typing import Any

import streamlit as st

from deconditioning.downscaling.settings import AUTO
from deconditioning.figures.colours import model_name
from deconditioning.figures.studies.real_fields import Measured
from deconditioning.metrics.intervals import AIM
from deconditioning.models.defaults import usual_model
from deconditioning.studies.downscaling.benchmark import BOOSTING, REAL_MATCHED, REAL_MEDIATED, SINGLE, picked
from deconditioning.studies.downscaling.trust_summary import TOLERATED, TrustSummary, trust_summary
from deconditioning.wording import percentages, rounded
from pages.benchmarks.fields import SOURCES, TITLES, by_field, measured, pictures
from pages.benchmarks.peers import DEFAULT, peer_rows, show_peers
from pages.kit.layout.page_layout import lead
from pages.kit.layout.table import show_table
from pages.kit.runs.benchmark_table import spread
from pages.kit.runs.stored_results import FOLDER, stored

FILE, REAL_FIELDS = "trust.json", "real_fields.json"


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
    fields = measured(by_field(peer_rows()))
    if not fields:
        st.info("No measurements yet: run `make bench-trust`, and the results appear here.")
        return
    lead(_sentence(fields))
    pictures(fields, DEFAULT, "fields")
    st.caption(SOURCES)
    if (FOLDER / REAL_FIELDS).is_file():
        st.markdown(f"**The default model on {len(REAL_MATCHED)} real fields**, with half of the cells hidden:")
        show_table(real_fields(stored(REAL_FIELDS)["rows"]))
        st.caption(
            "The test one scale up says, without a truth, which of two methods is the better one, or leaves it open; "
            "each map has several comparisons."
        )
    show_peers()
    if (FOLDER / FILE).is_file():
        with st.expander("More models on four of the fields, each with five draws of the hidden cells"):
            _everything(stored(FILE))


def _everything(document: dict[str, Any]) -> None:
    """Every model by itself, in pictures and numbers."""
    groups = by_field(document["rows"])
    pictures(measured(groups), usual_model(True, True).name, "trust")
    warned = Counter((row["case"], row["model"]) for row in document["rows"] if row.get("warned"))
    lines = [_line(case, entry, models, warned) for case, models in groups.items() for entry in models]
    show_table([line for line in lines if line])
    st.caption(
        f"{usual_model(True, True).phrase[:1].upper()}{usual_model(True, True).phrase[1:]} and regression kriging are "
        "each by itself here, not averaged. Means over the draws ± sd between them (stored; made by "
        f"`{document['command']}`, measured with version {document['version']}). Half of the cells are hidden, and all "
        "pixels are scored. Coverage: share of the truth inside the intervals. Warnings: draws for which the app warns "
        "a user without a truth, for example that bilinear interpolation is more accurate. CPU seconds for one fit "
        "with learning and its test one scale up, on one thread." + _choice(document["rows"])
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
    return [each.share for each in measured(by_field(peer_rows())) if each.model == DEFAULT]


def mediated_shares() -> list[float]:
    """The default's RMSE relative to the best interpolation on cells with a mediator, of each field; empty where it was
    not measured."""
    rows = stored(REAL_FIELDS)["rows"] if (FOLDER / REAL_FIELDS).is_file() else []
    mine = [row for row in rows if row["model"] == AUTO and row["case"] in REAL_MEDIATED and row["scores"]]
    return [row["scores"]["rmse"] / row["best_interpolation"]["rmse"] for row in mine]


def _sentence(rows: list[Measured]) -> str:
    """What the default model is, and how accurate it is on fields half of whose cells are hidden."""
    mine = [each for each in rows if each.model == DEFAULT]
    shares, inside = [each.share for each in mine], [each.coverage for each in mine if each.coverage is not None]
    good = sum(AIM[0] <= share <= AIM[1] for share in inside)
    return (
        f"The default model averages the {usual_model(True, True).phrase} and regression kriging, weighted by their "
        f"errors one scale up. On {len(mine)} real fields, half of whose cells are hidden, its error (RMSE) is "
        f"**{percentages(shares)}** of that of bilinear interpolation, {100 * median(shares):.0f} % in the median. Its "
        f"95 % intervals contain **{percentages(inside)}** of the truth: {percentages(AIM)}, as they should, on {good} "
        "fields."
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
