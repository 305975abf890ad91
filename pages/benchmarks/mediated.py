"""Cells matched through a mediator: how often one scale up chose the nearer model, and when mediation helps."""

from typing import Any

import streamlit as st

from deconditioning.figures.colours import model_name
from deconditioning.metrics.significance import pairwise_wilcoxon
from deconditioning.models.defaults import CANDIDATES
from deconditioning.studies.benchmark_table import table_rows
from deconditioning.studies.downscaling.benchmark import CHOSEN, JOINT, MEDIATORS, chosen
from deconditioning.wording import number, rounded
from pages.kit.layout.table import show_table
from pages.kit.runs.stored_results import FOLDER, stored

FILE, _REGIME = "downscaling.json", "mediation.json"
MEDIATED, PLAIN = "task_transformed_gp", "bag_gp"
PAPERS = "shrinkage_cmp"
MODELS = (MEDIATED, PAPERS, JOINT, CHOSEN, PLAIN)


def choice() -> str:
    """How often the model that one scale up chose is the nearer one at the pixels; nothing without rows."""
    pairs = chosen(stored(FILE)["rows"]) if (FOLDER / FILE).is_file() else []
    if not pairs:
        return ""
    right = sum(rmse <= other for rmse, other in pairs)
    first, other = (model_name(name) for name in CANDIDATES)
    worst = max(rmse / min(rmse, other) for rmse, other in pairs)
    sentence = (
        f"; elsewhere its RMSE was at most {100 * (worst - 1):.0f} % higher than the other's"
        if right < len(pairs)
        else ""
    )
    return (
        f"Of {first} and {other}, the one with the smaller error one scale up, clearly smaller or not, is the more "
        f"accurate one at the pixels in {right} of {len(pairs)} cases{sentence}."
    )


def regime() -> str:
    """When mediation helps, with numbers; empty without rows."""
    result = {case: _means(case) for case in MEDIATORS}
    helped, harmed = (result[case] for case in ("mediator-0-0", "mediator-1-0.5"))
    if not (helped and harmed):
        return ""
    return (
        "On synthetic fields mediation helps if the mediator depends on the covariates alone (RMSE "
        f"{number(helped[MEDIATED]['mean'])}, against {model_name(PLAIN)} {number(helped[PLAIN]['mean'])}) and hurts "
        f"if it depends on the target itself ({number(harmed[MEDIATED]['mean'])}, against "
        f"{number(harmed[PLAIN]['mean'])})."
    )


def show_regime() -> None:
    """The same field by field."""
    lines = [_line(case, result) for case in MEDIATORS if (result := _means(case))]
    if not lines:
        return
    st.markdown("**When mediation helps**: synthetic fields, grouped by what the mediator depends on")
    show_table(lines)
    st.caption(
        "Mediator 0: it depends on the covariate alone; 1: on the target itself. Unexplained: sd of the part of the "
        "target that no covariate explains. RMSE and share of the truth in 95 % intervals are means over the seeds; "
        f"p: {model_name(MEDIATED)} against {model_name(PLAIN)}, Wilcoxon's signed-rank test, two-sided. "
        "`docs/downscaling.md` discusses the consequences."
    )


def _rows(case: str) -> list[dict[str, Any]]:
    rows = stored(_REGIME)["rows"] if (FOLDER / _REGIME).is_file() else []
    return [row for row in rows if row["case"] == case and row["model"] in MODELS]


def _means(case: str) -> dict[str, dict[str, Any]]:
    """A case's models summed up, by name; empty where one is missing."""
    result = {entry["model"]: entry for entry in table_rows(_rows(case), "case", case) if entry["mean"] is not None}
    return result if set(result) == set(MODELS) else {}


def _line(case: str, result: dict[str, dict[str, Any]]) -> dict[str, Any]:
    pair = [row for row in _rows(case) if row["model"] in (MEDIATED, PLAIN)]
    (test,) = pairwise_wilcoxon(pair, "rmse")
    each = {
        model_name(name): f"{rounded(entry['mean'])} ({100 * entry['means']['coverage95']:.0f} %)"
        for name, entry in result.items()
    }
    about = MEDIATORS[case]
    return {
        "Unexplained": number(about["unexplained"], 6),
        "Mediator": number(about["mediator"], 6),
        **each,
        "p": test.note or number(test.p_value, 1),
        "Seeds": result[PLAIN]["n"],
    }
