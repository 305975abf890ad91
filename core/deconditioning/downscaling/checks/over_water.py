"""Orography that varies over water, where a land mask tells: what it does on land is then carried to the sea."""

import numpy as np

from deconditioning.fields.grids.roles import LAND, is_among, orography_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.wording import number

#: Names of masks of the other sign than those of land.
_SEA = ("sea_area_fraction", "sea_binary_mask", "seamask", "sea_mask", "sftof")
#: Quantiles of the orography over water that are compared, the least reported difference in metres and the least share
#: of land's sd.
_ENDS, _LEAST, _SHARE = (0.05, 0.95), 20.0, 0.02
#: Share of land below which a pixel is water, and the fewest pixels of it.
_WATER, _FEWEST = 0.01, 20


def over_water(problem: DownscalingProblem) -> tuple[str, float] | None:
    """A sentence on an orography among the covariates that varies over water, and its range there.

    None if no land mask is a covariate too, or the orography is flat over water.
    """
    names = problem.spec.covariates
    orography = orography_of(names)
    mask = next((name for name in names if is_among(name, (*LAND, *_SEA))), None)
    if orography is None or mask is None:
        return None
    height, land = _physical(problem, orography), _physical(problem, mask)
    land = land / 100 if land.max() > 1.5 else land
    land = 1 - land if is_among(mask, _SEA) else land
    water = land < _WATER
    if water.sum() < _FEWEST or water.all():
        return None
    low, high = (float(value) for value in np.quantile(height[water], _ENDS))
    if high - low < max(_LEAST, _SHARE * float(height[~water].std())):
        return None
    sentence = (
        f"`{orography}` varies over water, where `{mask}` is 0: from {number(low)} to {number(high)} at 90 % of those "
        "pixels. Its effect on land is applied there too: set it to a constant over water, or leave it out."
    )
    return sentence, high - low


def _physical(problem: DownscalingProblem, name: str) -> np.ndarray:
    """A covariate (P,) at the pixels, in its own units."""
    column = problem.columns.index(name)
    return problem.input_scaling.scales[column].backward(problem.inputs[:, column].numpy())
