"""What can be swept of the swiss roll, and its scores at a setting."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.datasets.swiss_roll import INPUTS, MEDIATORS, RollSpec, SwissRoll, make_swiss_roll
from deconditioning.figures.small_multiples import small_lines
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.catalogue import BAG_GP, GENERAL, named
from deconditioning.models.leave_one_out import leave_one_out
from deconditioning.models.named_model import Hyperparameter
from deconditioning.models.spec import Inducing, ModelSpec
from deconditioning.observations import IndirectData
from deconditioning.studies.sweeping import Setting, Settings, Study
from deconditioning.studies.swiss_roll.study import conditioned, data_for, inducing_points, score
from deconditioning.sweeps import Score

#: Parts of the sheet over whose points a small picture averages.
PARTS = 40
_SUMS = SumsStore(100_000_000)


@lru_cache(maxsize=2)
def roll_at(spec: RollSpec) -> SwissRoll:
    """The roll, kept while only the model moves."""
    return make_swiss_roll(spec)


@lru_cache(maxsize=2)
def _data(spec: RollSpec, pseudo: bool) -> IndirectData:
    return data_for(roll_at(spec), BAG_GP) if pseudo else roll_at(spec).data


def model_at(given: Settings) -> ModelSpec:
    """The model at its settings."""
    scales = (given["k_x"], given["k_width"], given["k_height"])
    k = KernelSpec((Term((Factor("rbf", INPUTS, scales),), given["k_size"]),))
    ell = KernelSpec((Term((Factor("rbf", MEDIATORS, (given["l_scale"],)),), given["l_size"]),))
    points = Inducing(given["inducing"], seed=given["seed"])
    return ModelSpec(named(str(given["model"])), k, ell, given["regularisation"], given["noise"], inducing=points)


def row(given: Settings) -> dict[str, Any]:
    """Scores against t, evidence and left-out slices where sums are kept, and the mean along the sheet."""
    spec = RollSpec(given["points"], given["slices"], given["slice_noise"], str(given["matching"]), given["seed"])
    roll, model = roll_at(spec), model_at(given)
    if model.model.uses("inducing"):
        places = inducing_points(roll, model.model, model.inducing.count, model.inducing.seed)
        model = replace(model, inducing=replace(model.inducing, locations=places))
    data = _data(spec, not model.model.reads(roll.data))
    found, mean, variance = conditioned(model, data, roll.inputs, roll.points, kept=(_SUMS, repr(spec)))
    scores = score(roll, mean, variance.sqrt())
    told = {name: scores[name] for name in SWEEP.scores if name in scores}
    if found is not None:
        told |= {"evidence": float(found.evidence), "left_out": leave_one_out(found).rmse}
    return told | {"picture": _along(roll.truth.numpy(), mean.numpy(), variance.sqrt().numpy())}


def _along(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> dict[str, Any]:
    """Mean prediction and mean sd over parts of the sheet of as many points each, against their mean t."""
    parts = np.array_split(np.argsort(truth, kind="stable"), PARTS)
    t, m, s = (np.array([values[part].mean() for part in parts]) for values in (truth, mean, sd))
    return small_lines(t, {"mean": m, "truth": t}, s)


def _with(what: Hyperparameter) -> dict[str, tuple[str, ...]]:
    """Models that use a hyperparameter."""
    return {"model": tuple(name for name, model in GENERAL.items() if model.uses(what))}


SWEEP = Study(
    "Swiss roll",
    {
        "matching": Setting("Matching", "direct"),
        "points": Setting("Points on the roll", 2000, 200, 5000, whole=True, draws=True),
        "slices": Setting("Slices", 50, 2, 100, whole=True, draws=True),
        "slice_noise": Setting("Noise of a slice mean (sd)", 0.05, 0.0, 1.0, log=False, draws=True),
        "seed": Setting("Seed", 0),
        "model": Setting("Model", "cmp"),
        "inducing": Setting("Inducing points", 200, 5, 1000, whole=True, draws=True, only=_with("inducing")),
        "regularisation": Setting("λ", 1e-5, 1e-9, 1.0, only=_with("regularisation")),
        "l_scale": Setting("Lengthscale of ℓ (height)", 0.1, 2e-2, 5.0, only=_with("mediator_kernel")),
        "l_size": Setting("Variance of ℓ", 1.0, 1e-3, 1e3, only=_with("mediator_variance")),
        "k_x": Setting("Lengthscale of k: x", 1.9, 5e-2, 50.0, draws=True),
        "k_width": Setting("Lengthscale of k: width", 2.9, 5e-2, 50.0, draws=True),
        "k_height": Setting("Lengthscale of k: height", 1.9, 5e-2, 50.0, draws=True),
        "k_size": Setting("Variance of k", 3.5, 1e-2, 100.0),
        "noise": Setting("σ²", 3e-3, 1e-5, 10.0),
    },
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
