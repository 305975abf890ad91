"""What the page says of its series, and how good it is."""

from collections.abc import Iterable

import numpy as np
import streamlit as st

from deconditioning.figures.colours import MODEL_NAMES
from deconditioning.period.archive.peers.fitted import ANALOGS, DELTA, EOFS, QUANTILES, RIDGE
from deconditioning.verification.report import Verification
from deconditioning.verification.series import BILINEAR, CONSERVING
from deconditioning.wording import number
from pages.kit.layout.escaping import MISSING, plain
from pages.kit.layout.page_layout import lead, warnings
from pages.kit.record import record_scores
from pages.period.result import Shown


def sentence(shown: Shown, region: str) -> None:
    """Which quantity of which ``region`` ("" where no name is known), how many times, how good; the warnings."""
    series, result = shown.result.series, shown.result
    cells, pixels = int(series.problem.observed.sum()), series.problem.grid.area.size
    known = f"The archive contains {shown.training} other times." if shown.training else "No archive is used."
    times = f"{len(series)} times, {series.labels[0]} to {series.labels[-1]}" if len(series) > 1 else series.labels[0]
    at = "at each, " if len(series) > 1 else ""
    what = ", ".join(filter(None, (_capital(plain(series.problem.long_name)), region)))
    lost = float(np.isnan(series.coarse[:, series.problem.target_cell]).mean())
    gaps = f" {number(100 * lost, 2)} % of their values are missing." if lost else ""
    lead(
        f"**{what}.** {times}: {at}{cells:,} coarse cells become a map of {pixels:,} pixels.{gaps} "
        f"{known}{_how_good(shown)}"
    )
    for sentence in ("order", "warp", "linked"):
        if sentence in result.diagnostics:
            st.caption(plain(result.diagnostics[sentence]))
    warnings((*result.warnings, *shown.left))
    if shown.verification is not None:
        _record(shown.verification, series.problem.units)


def covariance(shown: Shown) -> None:
    """What the prior covariance of a period with an archive is made of; of a pair, that of each part."""
    if shown.training:
        parts = "; ".join(map(_of_mixture, shown.result.diagnostics["mixture"].split("; ")))
        st.caption(f"Prior covariance: {parts}.")


def _of_mixture(words: str) -> str:
    """A mixture in words, behind the name of its part if it has one."""
    name, colon, mixture = words.rpartition(": ")
    share, more = mixture.split(" archive", 1)
    archive, more = 100 * float(share), more.replace("tapered over", "fading out between cells over")
    rest = f"{',' if more else ''} and {number(100 - archive)} % from the kernel" if archive < 100 else ""
    return f"{name}{colon}{number(archive)} % from the archive{more}{rest}"


def licence(shown: Shown) -> None:
    """Where the data come from."""
    problem = shown.result.series.problem
    st.caption(f"Data: {plain(problem.source)}. Licence: {plain(problem.licence)}.")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _how_good(shown: Shown) -> str:
    if shown.verification is None:
        return ""
    scores, units = shown.verification.scores, plain(shown.result.series.problem.units)
    (own, mine), *others = ((name, number(each.pooled["rmse"], 2)) for name, each in scores.items())
    pooled, errors = scores[own].pooled, dict(others)
    best = min(errors, key=lambda name: scores[name].pooled["rmse"])
    compared = f"bilinear interpolation has {errors[BILINEAR]} {units}"
    if best != BILINEAR:
        compared += f", the best other method {errors[best]} {units} ({_in_full(best)})"
    inside = f"{100 * pooled['coverage95']:.0f} % of the 95 % intervals contain the truth."
    return f" RMSE **{mine} {units}**; {compared}. {shown.trust.sentence if shown.trust else inside}"


#: Other methods in words; those that are missing have a name that says it.
_IN_FULL = {
    CONSERVING: "bilinear interpolation that keeps the cell means",
    DELTA: "the archive's climatology plus the coarse anomaly, BCSD",
    RIDGE: "climatology plus ridge regression on all cells",
    QUANTILES: "quantile mapping of each pixel",
    ANALOGS: "similar times of the archive, analogs",
    EOFS: "regression of the leading patterns, EOFs",
}


def _in_full(method: str) -> str:
    return _IN_FULL.get(method, method)


#: What the page calls the series that it made.
OWN = "Gaussian process"


def names_of(predictions: Iterable[str]) -> dict[str, str]:
    """What the page calls predictions, the first of which is the map itself."""
    model, *others = predictions
    return {model: OWN} | {name: MODEL_NAMES.get(name, name) for name in others}


#: The scores of the table and what its columns are called.
_COLUMNS = {"rmse": "RMSE", "crps": "CRPS", "coverage50": "Coverage of 50 %", "coverage95": "Coverage of 95 %",
            "tendency": "size of changes, truth = 1"}  # fmt: skip


def _rows(verification: Verification) -> list[list[str | None]]:
    """What each prediction is called, and its scores as they are written."""
    called = names_of(verification.scores)
    return [
        [called[name], *(_cell(score, each.pooled.get(score)) for score in _COLUMNS)]
        for name, each in verification.scores.items()
    ]


def _record(verification: Verification, units: str) -> None:
    """The scores, for slides and for what is pinned, whichever view is shown."""
    scores = {name: {score: each.pooled.get(score) for score in _COLUMNS} for name, each in verification.scores.items()}
    rows = [["", *_COLUMNS.values()], *([word or MISSING for word in row] for row in _rows(verification))]
    record_scores("Over all pixels of all times, weighted by area.", scores, names_of(scores), units, rows)


def table(shown: Shown) -> None:
    """The verdict on the intervals, and scores of the map, interpolation and other methods over all pixels and times,
    where the truth is known.
    """
    assert shown.verification is not None
    if shown.trust:
        (st.success if shown.trust.right else st.warning)(shown.trust.sentence)
    units = plain(shown.result.series.problem.units)
    labels = [f"{label} ({units})" if units and name in ("rmse", "crps") else label for name, label in _COLUMNS.items()]
    rows = [dict(zip(["", *labels], row, strict=True)) for row in _rows(shown.verification)]
    formats = {label: st.column_config.TextColumn(alignment="right") for label in labels}
    st.dataframe(rows, hide_index=True, column_config=formats, placeholder=MISSING)
    st.caption(
        f"Over all pixels of all times, weighted by area. {OWN}: the maps above. BCSD adds the coarse anomaly to the "
        "fine climatology of the archive; ridge regression, analogs and the random forest predict the rest from the "
        "cells. Size of changes: the root mean square change from one time to the next, divided by that of the truth."
    )


def _cell(score: str, value: float | None) -> str | None:
    """Coverage in per cent; other scores in three significant digits, also where the last is 0."""
    if value is not None and score.startswith("coverage"):
        return f"{100 * value:.0f} %"
    return None if value is None else f"{value:#.3g}" if 1e-3 < abs(value) < 100 else number(value)
