"""What can be swept of distribution regression on its simulation, and its scores at a setting."""

from functools import lru_cache
from typing import Any

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.distribution_regression.gpdr import Fitted
from deconditioning.distribution_regression.simulate import SimulationSpec, regression_function, simulate
from deconditioning.distribution_regression.spectrum import SpectralPosterior, log_evidence
from deconditioning.figures.small_multiples import small_lines
from deconditioning.studies.distribution_regression.compare import Prepared
from deconditioning.studies.distribution_regression.settings import LARGEST, SweptSettings
from deconditioning.studies.distribution_regression.study import MethodSettings, part, posterior_risk, regress
from deconditioning.studies.sweeping import Study
from deconditioning.sweeps import Score

#: Points of a small picture.
_POINTS = 50


@lru_cache(maxsize=2)
def prepared_at(spec: SimulationSpec) -> Prepared:
    """Subjects of equal measures are the first of the largest draw, as on the page; kept while only kernels move."""
    if spec.unequal:
        return Prepared(simulate(spec).subjects)
    return Prepared(part(_largest(spec.seed, spec.spread), spec.subjects, spec.measures).subjects)


@lru_cache(maxsize=1)
def _largest(seed: int, spread: float) -> Any:
    return simulate(SimulationSpec(*LARGEST, seed, spread=spread))


@one_thread()
def row(values: dict[str, Any]) -> dict[str, Any]:
    """Evidence, left-out outcomes, the posterior risk of GPDR, and f."""
    requested = SweptSettings(**values)
    prepared = prepared_at(
        SimulationSpec(requested.n, requested.m, requested.seed, requested.unequal, spread=requested.spread)
    )
    settings = MethodSettings(
        requested.family, requested.scale, requested.size, requested.noise, requested.noise_by, requested.rank or None,
        intercept=requested.intercept,
    )  # fmt: skip
    spec = settings.regression(prepared.subjects.columns)
    result, drawn = regress(prepared.sums("gpdr", settings), prepared.subjects, spec, settings)
    entry: dict[str, Any] = {"risk": posterior_risk(result)}
    if isinstance(result, Fitted):
        missed = result.left_out() - prepared.subjects.outcomes
        entry |= {"evidence": result.evidence, "left_out": float(missed.square().mean().sqrt())}
    elif isinstance(result, SpectralPosterior) and drawn is None and settings.rank is None:
        entry["evidence"] = log_evidence(result.spectrum, 1.0, result.spec.noise)
    x = np.linspace(0, 1, _POINTS)
    mean, variance = result.moments(torch.from_numpy(x)[:, None].to(result.outcomes), centred=settings.intercept)
    truth = regression_function(x)
    error = mean.numpy(force=True) - truth
    entry["rmse"] = float(np.sqrt(np.mean(error**2)))
    lines = {"mean": mean.numpy(force=True), "truth": truth}
    return entry | {"picture": small_lines(x, lines, variance.sqrt().numpy(force=True))}


SWEEP = Study(
    "Distribution regression",
    SweptSettings.declared(),
    {
        "evidence": Score("Log evidence", "more", truth=False),
        "left_out": Score("RMSE of outcomes left out", truth=False),
        "risk": Score("Posterior risk"),
        "rmse": Score("RMSE of f"),
    },
    row,
)
