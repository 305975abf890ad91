"""Error and coverage of every method on several real fields, beside each other."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from deconditioning.figures.colours import model_colour, model_name
from deconditioning.figures.studies.real_fields import Measured, accuracy, coverage
from deconditioning.studies.benchmark_table import table_rows
from deconditioning.studies.downscaling.benchmark import expanded
from deconditioning.studies.downscaling.given_fields import FIELDS
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.theme import is_dark

#: Fields by their cases: those that come with the project, and those that are given.
TITLES = {
    "ukv-645m-matched": "UKV, 645 m",
    "ukv-75m-matched": "UKV, 75 m",
    "era5-t2m-matched": "ERA5, 2 m temperature",
    "gdas-ttop-matched": "GDAS, cloud tops",
}  # fmt: skip
_GIVEN = {f"{name}-matched": field.title.rpartition(" (")[0] for name, field in FIELDS.items()}
#: What the abbreviations in their titles stand for.
SOURCES = (
    "UKV: weather model of the UK Met Office, potential temperature 645 m and 75 m above ground; ERA5: reanalysis of "
    "ECMWF; GDAS: analysis of the US weather service (NCEP); NDVI: vegetation index of satellites."
)


def by_field(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The sums of every model by case (`table_rows`); none of cases without rows."""
    every = expanded(rows)
    groups = {case: table_rows(every, "case", case) for case in TITLES | _GIVEN}
    return {case: models for case, models in groups.items() if models}


def measured(groups: Mapping[str, list[dict[str, Any]]]) -> list[Measured]:
    """Every model on every field beside bilinear interpolation."""
    result = []
    for case, models in groups.items():
        (bilinear,) = [entry["mean"] for entry in models if entry["model"] == "bilinear"]
        result += [
            Measured(
                (TITLES | _GIVEN)[case], entry["model"], entry["mean"] / bilinear, entry["means"].get("coverage95")
            )
            for entry in models
            if entry["model"] not in ("bilinear", "constant") and entry["mean"] is not None
        ]
    return result


def pictures(rows: Sequence[Measured], usual: str, key: str) -> None:
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
        plotly_live(accuracy(rows, usual, dark=is_dark()), f"{key}-accuracy")
    with right:
        plotly_live(coverage(rows, usual, dark=is_dark()), f"{key}-coverage")


def _dot(colour: str, *, filled: bool) -> str:
    """The style of a model's mark in a legend."""
    inside = colour if filled else "transparent"
    return (
        "display: inline-block; width: .6em; height: .6em; border-radius: 50%; "
        f"border: 2px solid {colour}; background: {inside}"
    )
