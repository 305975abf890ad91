"""The scores of a map at stations that no method used."""

import math
from collections.abc import Mapping
from typing import Any

from pages.kit.layout.score_table import score_table

#: The row of the map without what all stations differ by.
_MAP = "map"


def station_scores(model: str, scored: Mapping[str, Any], units: str) -> None:
    """A table of ``scored`` (`deconditioning.downscaling.further_sources.report.source_report`): the model named
    ``model``, its map alone where the stations' learned offset makes a difference, and the baselines."""
    scores = {"rmse": scored["rmse"], "bias": scored["bias"], "crps": scored["crps"]}
    scores |= {f"coverage{level}": scored[f"inside_{level}"] for level in (50, 90, 95)}
    rows: dict[str, dict[str, float | None]] = {model: scores}
    maps = {name: {"rmse": rmse, "bias": scored["bias_of"][name]} for name, rmse in scored["rmse_of"].items()}
    alone = maps.pop(model)
    caption = f"Scores at the {scored['count']} stations that no method used; error is prediction − measured value."
    if not math.isclose(alone["rmse"], scored["rmse"], rel_tol=1e-6):
        rows[_MAP] = alone
        caption += (
            " Only the first row includes the learned offset of the stations: compare the others with each other."
        )
    score_table(rows | maps, units=units, names={_MAP: "Posterior mean without the offset"}, caption=caption)
