"""The default model beside other tools, on the same cells of real fields."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from deconditioning.downscaling.settings import AUTO
from deconditioning.figures.colours import model_name
from deconditioning.studies.downscaling.benchmark import expanded
from deconditioning.studies.downscaling.peer_summary import PeerSummary, peer_summaries
from pages.kit.layout.table import show_table
from pages.kit.runs.stored_results import FOLDER, stored

_FILE = "peers.json"
#: The default model in charts and tables.
DEFAULT = "default"
#: What the default model is for although regression kriging is as accurate on these fields.
_LINEAR = " It assumes that the effect of the covariates is linear; the default model does not."


def peer_rows() -> list[dict[str, Any]]:
    """The stored rows, each interpolation in one of its own, the default model by its name; empty if not measured."""
    if not (FOLDER / _FILE).is_file():
        return []
    rows = expanded(stored(_FILE)["rows"])
    return [row | {"model": DEFAULT} if row["model"] == AUTO else row for row in rows]


def show_peers() -> None:
    """One line a method; nothing where it was not measured."""
    rows = peer_rows()
    if not rows:
        return
    summaries = peer_summaries(rows, DEFAULT)
    st.markdown(f"**Compared with other tools** on the same {summaries[0].fields} fields:")
    show_table([_line(each) for each in summaries])
    if sentence := _as_accurate(summaries):
        st.markdown(sentence)
    st.caption(
        "Errors are geometric means relative to the default model (below 1: more accurate). Re-aggregation error: RMSE "
        "between the map averaged over the visible cells and the values of these cells, in standard deviations of the "
        "values. Optimal interpolation (gridpp) is applied to the residuals of a regression on the covariates; "
        "gradient boosting is that of scikit-learn. Area-to-point kriging by pyinterpolate is not listed because it "
        f"predicts inside a block without using the value of that block. Stored; made by `{stored(_FILE)['command']}`."
    )


def _as_accurate(summaries: Sequence[PeerSummary]) -> str:
    """Which method is as accurate as the default one, to two decimals of the RMSE, in less time; empty if none is."""
    default = next((each for each in summaries if each.model == DEFAULT), None)
    if default is None or not default.cpu_s:
        return ""
    close = [each for each in summaries if each.model != DEFAULT and each.cpu_s and round(each.rmse_ratio, 2) <= 1]
    faster = [(each.cpu_s or 0) / default.cpu_s for each in close]
    if not faster or min(faster) >= 1:
        return ""
    best = close[faster.index(min(faster))]
    return (
        f"{model_name(best.model)} is as accurate as the default model (RMSE "
        f"{best.rmse_ratio:.2f} times as large) and takes {100 * min(faster):.0f} % of its CPU time."
    ) + _LINEAR * (best.model == "regression_kriging")


def _line(each: PeerSummary) -> dict[str, str | None]:
    def number(value: float | None, digits: str = ".2f") -> str | None:
        return None if value is None else format(value, digits)

    return {
        "Method": model_name(each.model),
        "RMSE": number(each.rmse_ratio),
        "CRPS": number(each.crps_ratio),
        "More accurate than the default model on": "" if each.model == DEFAULT else f"{each.better} of {each.fields}",
        "Coverage of 95 %": None if each.coverage is None else f"{100 * each.coverage:.0f} %",
        "Re-aggregation error": "< 0.001" if (each.reaggregated or 1) < 0.001 else number(each.reaggregated),
        "CPU time, s": number(each.cpu_s, ".1f"),
    }
