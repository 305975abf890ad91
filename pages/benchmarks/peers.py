"""The default model beside other tools, on the same cells of real fields."""

from collections.abc import Sequence

import streamlit as st

from deconditioning.downscaling.settings import AUTO
from deconditioning.figures.colours import model_name
from deconditioning.studies.downscaling.benchmark import expanded
from deconditioning.studies.downscaling.peer_summary import PeerSummary, peer_summaries
from pages.kit.layout.table import show_table
from pages.kit.runs.stored_results import FOLDER, stored

_FILE = "peers.json"
#: What the default model is for although regression kriging is as accurate on these fields.
_LINEAR = (
    " It assumes that the covariates act linearly; the default averages it with a model that does not, weighted by "
    "their errors one scale up."
)
#: Names of what has no colour in charts.
_NAMES = {AUTO: "Default model", "optimal_interpolation": "Optimal interpolation"}


def show_peers() -> None:
    """One line a method; nothing where it was not measured."""
    if not (FOLDER / _FILE).is_file():
        return
    document = stored(_FILE)
    summaries = peer_summaries(expanded(document["rows"]), AUTO)
    st.markdown(f"**Beside other tools**, on {summaries[0].fields} real fields with half of the cells hidden:")
    show_table([_line(each) for each in summaries])
    if sentence := _as_accurate(summaries):
        st.markdown(sentence)
    st.caption(
        "Errors are geometric means relative to the default model (below 1: more accurate). Re-aggregation error: RMSE "
        "between the map averaged over the visible cells and the values of these cells, in standard deviations of the "
        "values. Optimal interpolation (gridpp) is applied to the residuals of a regression on the covariates; "
        "gradient boosting is that of scikit-learn. Area-to-point kriging by pyinterpolate is not listed because it "
        f"predicts inside a block without using the value of that block. Stored; made by `{document['command']}`."
    )


def _as_accurate(summaries: Sequence[PeerSummary]) -> str:
    """Which method is as accurate as the default one, to two decimals of the RMSE, in less time; empty if none is."""
    default = next((each for each in summaries if each.model == AUTO), None)
    if default is None or not default.cpu_s:
        return ""
    close = [each for each in summaries if each.model != AUTO and each.cpu_s and round(each.rmse_ratio, 2) <= 1]
    faster = [(each.cpu_s or 0) / default.cpu_s for each in close]
    if not faster or min(faster) >= 1:
        return ""
    best = close[faster.index(min(faster))]
    return (
        f"{_NAMES.get(best.model) or model_name(best.model)} is as accurate as the default model (RMSE "
        f"{best.rmse_ratio:.2f} times as large) and takes {100 * min(faster):.0f} % of its CPU time."
    ) + _LINEAR * (best.model == "regression_kriging")


def _line(each: PeerSummary) -> dict[str, str | None]:
    def number(value: float | None, digits: str = ".2f") -> str | None:
        return None if value is None else format(value, digits)

    return {
        "Method": _NAMES.get(each.model) or model_name(each.model),
        "RMSE": number(each.rmse_ratio),
        "CRPS": number(each.crps_ratio),
        "More accurate than the default on": "" if each.model == AUTO else f"{each.better} of {each.fields}",
        "Coverage of 95 %": None if each.coverage is None else f"{100 * each.coverage:.0f} %",
        "Re-aggregation error": "< 0.001" if (each.reaggregated or 1) < 0.001 else number(each.reaggregated),
        "CPU time, s": number(each.cpu_s, ".1f"),
    }
