"""What is on the maps: the distributions of the pixels' values, and what is not exact about them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.downscaling.further_sources.posterior import SourcePosterior
from deconditioning.downscaling.interactive import Later
from deconditioning.downscaling.warping.physical_map import in_units
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.predictive import Predictive


@dataclass(frozen=True)
class View:
    """What is on the maps: distributions of the pixels' values (H, W) in the target's units, what is not exact about
    them.

    ``sd_latent`` is the sd of the latent field where the exact picture has another one (ς² > 0), ``left_out`` the RMSE
    (standardised) of the targets, each predicted from all others, ``scale`` the local scale κ, ``sources`` what the
    exact posterior says of stations and other further sources. A preview holds for
    every ``every``-th pixel each way (its sd for every ``sd_every``-th), the others repeat it.
    """

    mean_later: Later[np.ndarray]
    predictive_later: Later[Predictive]
    approximations: tuple[str, ...]
    evidence: float | None
    jitter: float
    exact: bool
    every: int = 1
    sd_every: int = 1
    left_out: float | None = None
    sd_latent: np.ndarray | None = None
    scale: np.ndarray | None = None
    sources: SourcePosterior | None = None

    @property
    def mean(self) -> np.ndarray:
        """Posterior mean (H, W)."""
        return self.mean_later()

    @property
    def predictive(self) -> Predictive:
        """The distributions (H, W); a preview computes them when they are first asked for."""
        return self.predictive_later()

    @property
    def sd(self) -> np.ndarray:
        """Standard deviations (H, W)."""
        return self.predictive.sd

    def thin(self, values: np.ndarray) -> np.ndarray:
        """A field (H, W) at the pixels for which this view holds."""
        return values[:: self.every, :: self.every]

    @property
    def thinned(self) -> Predictive:
        """The distributions at the pixels for which this view holds."""
        return self.predictive[:: self.every, :: self.every]


def mean_of(problem: DownscalingProblem, mean: Any, moments: Later[Predictive]) -> Later[np.ndarray]:
    """The posterior mean (H, W) from a standardised one, which behind a warp depends on the sd as well."""
    if problem.warp is not None:
        return Later(lambda: moments().mean)
    return Later(lambda: in_units(problem, problem.physical_mean(mean)))
