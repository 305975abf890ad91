"""What can be swept of the swiss roll, and its scores at a setting."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.datasets.swiss_roll import RollSpec, SwissRoll, make_swiss_roll
from deconditioning.figures.small_multiples import small_lines
from deconditioning.models.catalogue import BAG_GP
from deconditioning.models.leave_one_out import leave_one_out
from deconditioning.observations import IndirectData
from deconditioning.studies.sweeping import Study
from deconditioning.studies.swiss_roll.settings import SwissRollSettings
from deconditioning.studies.swiss_roll.study import conditioned, data_for, inducing_points, model_spec, roll_spec, score
from deconditioning.sweeps import Score

#: Parts of the sheet over whose points a small picture averages.
_PARTS = 40
_SUMS = SumsStore(100_000_000)


@lru_cache(maxsize=2)
def roll_at(spec: RollSpec) -> SwissRoll:
    """The roll, kept while only the model moves."""
    return make_swiss_roll(spec)


@lru_cache(maxsize=2)
def _data(spec: RollSpec, pseudo: bool) -> IndirectData:
    return data_for(roll_at(spec), BAG_GP) if pseudo else roll_at(spec).data


def row(values: dict[str, Any]) -> dict[str, Any]:
    """Scores against t, evidence and left-out slices where sums are kept, and the mean along the sheet."""
    settings = SwissRollSettings(**values)
    spec, model = roll_spec(settings), model_spec(settings)
    roll = roll_at(spec)
    if model.model.uses("inducing"):
        places = inducing_points(roll, model.model, model.inducing.count, model.inducing.seed)
        model = replace(model, inducing=replace(model.inducing, locations=places))
    data = _data(spec, not model.model.reads(roll.data))
    result, mean, variance = conditioned(model, data, roll.inputs, roll.points, cache=(_SUMS, repr(spec)))
    scores = score(roll, mean, variance.sqrt())
    entry = {name: scores[name] for name in SWEEP.scores if name in scores}
    if result is not None:
        entry |= {"evidence": float(result.evidence), "left_out": leave_one_out(result).rmse}
    return entry | {"picture": _along(roll.truth.numpy(), mean.numpy(), variance.sqrt().numpy())}


def _along(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> dict[str, Any]:
    """Mean prediction and mean sd over parts of the sheet of as many points each, against their mean t."""
    parts = np.array_split(np.argsort(truth, kind="stable"), _PARTS)
    t, m, s = (np.array([values[part].mean() for part in parts]) for values in (truth, mean, sd))
    return small_lines(t, {"mean": m, "truth": t}, s)


SWEEP = Study(
    "Swiss roll",
    SwissRollSettings.declared(),
    {
        "evidence": Score("Log evidence", "more", truth=False),
        "left_out": Score("RMSE of slice means left out", truth=False),
        "rmse": Score("RMSE against t"),
        "crps": Score("CRPS against t"),
        "coverage50": Score("t in 50 % intervals", ""),
        "coverage95": Score("t in 95 % intervals", ""),
    },
    row,
)
