"""Fields drawn from a known covariance, so that the hyperparameters that made them are known, and their cells."""

from dataclasses import replace

import numpy as np
import xarray as xr

from deconditioning.downscaling.checks.local_scale_inputs import local_scale_inputs
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.warping.physical_map import physical_map
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.metrics.intervals import trust
from deconditioning.models.spec import ModelSpec

#: Lengthscale of the drawn fields and side of their cells, in pixels of 0.05° near the equator.
REACH, BLOCK, STEP = 12.0, 5, 0.05


def drawn_problem(pixels: int, alpha: float, seed: int) -> DownscalingProblem:
    """Cells of a stationary field of variance one, ``exp(−(d/12)^α)`` in pixels, half of them withheld.

    Drawn by circulant embedding in a torus of four times its side. Source: Dietrich and Newsam 1997, *SIAM Journal on
    Scientific Computing* 18.
    """
    side = 4 * pixels
    along = np.minimum(np.arange(side), side - np.arange(side))
    power = np.fft.fft2(np.exp(-((np.hypot(along[:, None], along) / REACH) ** alpha))).real
    rng = np.random.default_rng(seed)
    white = rng.standard_normal((2, side, side))
    field = np.fft.fft2(np.sqrt(np.maximum(power, 0.0)) * (white[0] + 1j * white[1])).real[:pixels, :pixels] / side
    places = STEP * (np.arange(pixels) - pixels // 2)
    dataset = xr.Dataset(
        {"f": (("latitude", "longitude"), field, {"units": "K"})},
        coords={
            "latitude": ("latitude", places, {"units": "degrees_north"}),
            "longitude": ("longitude", places, {"units": "degrees_east"}),
        },
    )
    given = {"target": "f", "covariates": [], "block": [BLOCK, BLOCK], "withhold": 0.5, "seed": seed}
    return make_problem(fields_from_dataset(dataset), DownscalingSpec.from_dict(given))


def learned(problem: DownscalingProblem) -> ModelSpec:
    """Regression kriging with learned hyperparameters; without covariates it is the default, too."""
    settings = DownscaleSettings(model="regression_kriging", choose=False)
    return learn_model(problem, settings)[0].spec


def generating(problem: DownscalingProblem, spec: ModelSpec, alpha: float) -> ModelSpec:
    """The model with the hyperparameters that made the field, and no local scale."""
    rough, *rest = spec.kernel.terms
    (factor,) = rough.factors
    pixel = local_scale_inputs(problem).width / BLOCK
    known = Factor(factor.family, factor.columns, (REACH * pixel,), {"alpha": alpha})
    kernel = KernelSpec((Term((known,), problem.target_sd**-2), *rest))
    return replace(spec, kernel=kernel, local_scale=False, spread=None)


def judged(problem: DownscalingProblem, spec: ModelSpec) -> tuple[float, float, float]:
    """Share of the pixels in the 95 % intervals, the factor by which these should be wider, and the log evidence."""
    assert problem.truth is not None
    result = predict(spec, matched_data(problem, spec), problem)
    found = trust(problem.truth, physical_map(problem, result.parts))
    return found.held[-1], found.widen, result.evidence
