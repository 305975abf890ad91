"""What the page says of its series, and how good it is."""

import streamlit as st

from deconditioning.wording import number
from pages.kit.layout.escaping import MISSING, plain, sentence_of
from pages.period.controls import Shown


def sentence(shown: Shown) -> None:
    """How many times, from what, and the warnings."""
    series, result = shown.result.series, shown.result
    cells, pixels = int(series.problem.observed.sum()), series.problem.grid.area.size
    known = (
        f"The fine truth of {shown.training} earlier times is the prior; weights: {result.diagnostics['mixture']}."
        if shown.training
        else "Nothing fine is known."
    )
    st.markdown(
        f"{len(series)} times, {series.labels[0]} to {series.labels[-1]}: {cells:,} coarse cells become {pixels:,} "
        f"pixels. {known}"
    )
    st.caption(f"Data: {plain(series.problem.source)}. Licence: {plain(series.problem.licence)}.")
    for warning in result.warnings:
        st.warning(sentence_of(warning))


def table(shown: Shown) -> None:
    """Scores over all pixels and times, where the truth is known."""
    if shown.verification is None:
        st.caption("There is no fine truth, so there are no scores.")
        return
    st.subheader("Scores", anchor=False)
    names = {"rmse": "RMSE", "crps": "CRPS", "coverage50": "in 50 % interval", "coverage95": "in 95 % interval",
             "tendency": "change between times, relative to the truth's"}  # fmt: skip
    shown_rows = [
        {"": title, **{label: _cell(each.pooled.get(name)) for name, label in names.items()}}
        for title, each in shown.verification.scores.items()
    ]
    formats = {label: st.column_config.TextColumn(alignment="right") for label in names.values()}
    st.dataframe(shown_rows, hide_index=True, column_config=formats, placeholder=MISSING)
    units = plain(shown.result.series.problem.units)
    st.caption(f"Over all pixels of all times, weighted by area; RMSE and CRPS in {units}.")


def _cell(value: float | None) -> str | None:
    return None if value is None else number(value)
