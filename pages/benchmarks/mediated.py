"""Cells matched through a mediator: how often one scale up chose the nearer model, and when mediation helps."""

from typing import Any

import streamlit as st

from core.figures.colours import model_name
from core.metrics import pairwise_wilcoxon
from core.models.defaults import CANDIDATES
from core.studies.benchmark_table import table_rows
from core.studies.downscaling.benchmark import MEDIATORS, chosen
from pages.kit.benchmark_table import spread
from pages.kit.stored import FOLDER, stored

FILE, REGIME = "downscaling.json", "mediation.json"
MEDIATED, PLAIN = "shrinkage_cmp", "bag_gp"


def choice() -> str:
    """How often the model that one scale up chose is the nearer one at the pixels; nothing without rows."""
    pairs = chosen(stored(FILE)["rows"]) if (FOLDER / FILE).is_file() else []
    if not pairs:
        return ""
    right = sum(taken <= other for taken, other in pairs)
    first, other = (model_name(name) for name in CANDIDATES)
    worst = max(taken / min(taken, other) for taken, other in pairs)
    return (
        f"Between {first} on pseudo-targets and {other}, one scale up chose the one that is nearer at the pixels "
        f"{right} of {len(pairs)} times; where it did not, the RMSE was at most {100 * (worst - 1):.0f} % above that "
        "of the other."
    )


def regime() -> str:
    """When mediation helps, in one sentence with its numbers; nothing without rows."""
    lines = _lines()
    if not lines:
        return ""
    low, high = lines[0], lines[-1]
    return (
        "On made-up fields of which coordinates tell nothing mediation helps where the mediator knows the target "
        f"through the covariates alone (RMSE {low['S-CMP']} with {model_name(MEDIATED)}, {low['Bag GP']} with "
        f"{model_name(PLAIN)} on pseudo-targets), and harms where it knows the target itself ({high['S-CMP']} and "
        f"{high['Bag GP']})."
    )


def show_regime() -> None:
    """The same field by field."""
    lines = _lines()
    if not lines:
        return
    st.markdown("**When mediation helps**, made-up fields by what their mediator knows")
    st.dataframe(lines, hide_index=True, width="stretch")
    st.caption(
        "0: the mediator knows the target through the covariate alone; 1: it knows the target itself. RMSE, mean ± sd; "
        "Wilcoxon's signed-rank test over seeds, two-sided. `docs/downscaling.md` says what follows."
    )


def _lines() -> list[dict[str, Any]]:
    """One a kind of mediator."""
    if not (FOLDER / REGIME).is_file():
        return []
    rows, lines = stored(REGIME)["rows"], []
    for case, about in MEDIATORS.items():
        mine = [row for row in rows if row["case"] == case and row["model"] in (MEDIATED, PLAIN)]
        if not mine:
            continue
        found = {entry["model"]: entry for entry in table_rows(mine, "case", case)}
        (test,) = pairwise_wilcoxon(mine, "rmse")
        lines.append(
            {
                "Mediator": f"{about['told']:g}",
                "S-CMP": spread(found[MEDIATED]["mean"], found[MEDIATED]["sd"]),
                "in 95 %": f"{100 * found[MEDIATED]['means']['coverage95']:.0f} %",
                "Bag GP": spread(found[PLAIN]["mean"], found[PLAIN]["sd"]),
                "in 95 % ": f"{100 * found[PLAIN]['means']['coverage95']:.0f} %",
                "p": "–" if test.note else f"{test.p_value:.1g}",
                "Seeds": found[PLAIN]["n"],
            }
        )
    return lines
