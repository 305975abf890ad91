"""How near matched cells of real fields are brought to the truth, and how often the intervals hold it."""

from typing import Any

import streamlit as st

from core.figures.colours import model_name
from core.models.catalogue import named
from core.models.defaults import usual_model
from core.studies.benchmark_table import table_rows
from core.studies.downscaling.benchmark import expanded
from pages.kit.stored import FOLDER, stored

FILE = "trust.json"
TITLES = {
    "ukv-645m-matched": "UKV, 645 m (K)",
    "ukv-75m-matched": "UKV, 75 m (K)",
    "era5-t2m-matched": "ERA5, 2 m temperature (K)",
    "gdas-ttop-matched": "GDAS, cloud tops (K)",
}


def show_trust() -> None:
    """One sentence on the default model, and a line a field and model."""
    if not (FOLDER / FILE).is_file():
        st.info("Nothing is measured yet: `make bench-trust` measures, and what it finds stands here.")
        return
    kept = stored(FILE)
    groups = {case: table_rows(expanded(kept["rows"]), "case", case) for case in TITLES}
    groups = {case: models for case, models in groups.items() if models}
    st.markdown(_sentence(groups, len({row["seed"] for row in kept["rows"]})))
    warned = {(row["case"], row["model"]): 0 for row in kept["rows"]}
    for row in kept["rows"]:
        warned[row["case"], row["model"]] += bool(row.get("warned"))
    lines = [_line(case, entry, models, warned) for case, models in groups.items() for entry in models]
    st.dataframe([line for line in lines if line], hide_index=True, width="stretch")
    st.caption(
        f"Means over the draws (stored; made by `{kept['command']}`, version {kept['version']}). Half of the cells are "
        "hidden, all pixels are scored. In 50 %, in 95 %: share of the truth inside these intervals. Warned: draws on "
        "which the app says that something is wrong, such as that bilinear interpolation is the better guess. "
        "CPU seconds of one fit with learning, one thread."
    )


def _sentence(groups: dict[str, list[dict[str, Any]]], seeds: int) -> str:
    usual = usual_model(True, True)
    found = {case: {entry["model"]: entry for entry in models} for case, models in groups.items()}
    shares = [by_name[usual]["mean"] / by_name["bilinear"]["mean"] for by_name in found.values()]
    inside = {level: [by_name[usual]["means"][f"coverage{level}"] for by_name in found.values()] for level in (50, 95)}
    spans = {level: f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %" for level, shares in inside.items()}
    return (
        f"On {len(found)} real fields, half of whose cells are hidden ({seeds} draws), the RMSE of the "
        f"{named(usual).phrase}, the default, is {100 * min(shares):.0f} to {100 * max(shares):.0f} % of that of "
        f"bilinear interpolation; its 95 % intervals hold {spans[95]} of the truth, its 50 % intervals {spans[50]}."
    )


def _line(
    case: str, entry: dict[str, Any], models: list[dict[str, Any]], warned: dict[tuple[str, str], int]
) -> dict[str, Any]:
    """One row of the table; nothing for interpolations but bilinear."""
    if entry["model"] in ("constant", "bicubic"):
        return {}
    bilinear = next(each["mean"] for each in models if each["model"] == "bilinear")
    means = entry["means"]

    def share(name: str) -> str:
        return f"{100 * means[name]:.0f} %" if means.get(name) is not None else "–"

    fitted = entry["seconds"] is not None
    return {
        "Data": TITLES[case],
        "Model": model_name(entry["model"]),
        "RMSE": f"{entry['mean']:.3g} ± {entry['sd']:.2g}" if entry["sd"] else f"{entry['mean']:.3g}",
        "of bilinear": f"{100 * entry['mean'] / bilinear:.0f} %",
        "CRPS": f"{means['crps']:.3g}" if means.get("crps") is not None else "–",
        "In 50 %": share("coverage50"),
        "In 95 %": share("coverage95"),
        "CPU s": f"{entry['seconds']:.1f}" if fitted else "–",
        "Warned": f"{warned[case, entry['model']]} of {entry['n']}" if fitted else "–",
    }
