"""Which model to use for which data, with what was measured of it, from the stored rows."""

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from deconditioning.errors import InputError
from deconditioning.studies.measurements import Measured, measured
from deconditioning.wording import percentages
from pages.benchmarks import headlines
from pages.benchmarks.measured import FOLDER as MEASURED
from pages.benchmarks.trust import matched_shares, mediated_shares
from pages.kit.runs.stored_results import FOLDER, stored


def show_advice() -> None:
    """A row for each kind of data; nothing is said of what was not measured."""
    rows = (
        ("Coarse cells, covariates at every pixel", "the default model; regression kriging if time is short",
         _of_interpolation(matched_shares(), "bilinear interpolation")),
        ("Coarse cells, covariates elsewhere, and a mediator", "the default model, which compares its candidates one "
         "scale up", _of_interpolation(mediated_shares(), "the best interpolation")),
        ("Coarse cells and stations", "both in one model", _stations()),
        ("A series with earlier times at high resolution", "the archive as prior (page Period)",
         headlines.smaller_than_bcsd(_measured("period"))),
        ("Very many cells", "inducing points (variational CMP)",
         headlines.seconds_per_map(_measured("scale"))),
    )  # fmt: skip
    lines = [_line(*row) for row in rows if row[-1]]
    if lines:
        st.subheader("What to use when", anchor=False)
        head = "".join(f'<th scope="col">{name}</th>' for name in ("Your data", "Use", "Measured"))
        body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
        st.html(f'<div class="lab-measured"><table>{body}</table></div>')


def _line(data: str, use: str, measured: str) -> str:
    cells = f'<td data-label="Use">{escape(use)}</td><td data-label="Measured">{escape(measured)}</td>'
    return f'<tr><th scope="row">{escape(data)}</th>{cells}</tr>'


def _of_interpolation(shares: Sequence[float], which: str) -> str:
    if not shares:
        return ""
    return f"RMSE of the default model {percentages(shares)} of that of {which}, on {len(shares)} fields"


def _measured(name: str) -> list[Measured]:
    """One stored benchmark; nothing where it cannot be read, which the page says further down."""
    try:
        return [measured(MEASURED / f"{name}.json")]
    except InputError:
        return []


def _stations() -> str:
    """By how much one model of cells and stations is more accurate than the better one of the two alone."""
    files = [name for name in ("stations.json", "stations_real.json") if (FOLDER / name).is_file()]
    cases: dict[str, list[Mapping[str, float]]] = {}
    for name in files:
        for row in stored(name)["rows"]:
            cases.setdefault(row.get("case", "generated"), []).append(row)
    gains = []
    for mine in cases.values():
        both, cells, alone = (sum(row[name] for row in mine) for name in ("both", "cells", "stations"))
        gains.append(1 - both / min(cells, alone))
    return f"RMSE {percentages(gains)} smaller than that of cells or stations alone" if gains else ""
