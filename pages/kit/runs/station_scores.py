"""The scores of a map at stations that no method used."""

import math
from collections.abc import Mapping
from typing import Any

from pages.kit.layout.score_table import score_table

#: The row of the map without what all stations differ by.
_MAP = "map"
#: The row of the same model without stations and other further sources.
FROM_CELLS = "cells alone"


def with_offset(scored: Mapping[str, Any], name: str, offset: float) -> dict[str, float | None]:
    """RMSE and bias of a map at the scored stations once ``offset`` is added to it: the spread of its errors stays."""
    rmse, bias = scored["rmse_of"][name], scored["bias_of"][name]
    return {"rmse": math.sqrt(max(0.0, rmse**2 - bias**2 + (bias + offset) ** 2)), "bias": bias + offset}


def station_scores(model: str, scored: Mapping[str, Any], units: str, offset: float | None = None) -> None:
    """A table of ``scored`` (`deconditioning.downscaling.further_sources.report.source_report`): the model named
    ``model`` and the baselines, all with the stations' learned ``offset``; without one, baselines as they are, and the
    model's map alone where that makes a difference."""
    scores = {"rmse": scored["rmse"], "bias": scored["bias"], "crps": scored["crps"]}
    scores |= {f"coverage{level}": scored[f"inside_{level}"] for level in (50, 90, 95)}
    rows: dict[str, dict[str, float | None]] = {model: scores}
    caption = f"Scores at the {scored['count']} stations that no method used; error is prediction − measured value."
    if offset is not None:
        caption += " The offset of the stations, as the model learned it, is added to every row."
        maps = {name: with_offset(scored, name, offset) for name in scored["rmse_of"] if name != model}
    else:
        maps = {name: {"rmse": rmse, "bias": scored["bias_of"][name]} for name, rmse in scored["rmse_of"].items()}
        alone = maps.pop(model)
        if not math.isclose(scored["rmse_of"][model], scored["rmse"], rel_tol=1e-6):
            rows[_MAP] = alone
            caption += (
                " Only the first row includes the learned offset of the stations: compare the others with each other."
            )
    names = {_MAP: "Posterior mean without the offset", FROM_CELLS: "The same model, cells alone"}
    score_table(rows | maps, units=units, names=names, caption=caption)
