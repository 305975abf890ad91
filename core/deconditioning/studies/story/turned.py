"""A point on a circle followed by a filter that was taught another turn: how far off it is, and how one would know."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.filtering.systems import RotationSystem
from deconditioning.studies.filtering.settings import KernelSettings
from deconditioning.studies.filtering.study import TEST_SEED, FilterSettings, estimates, mse, train

#: The turn that is taught (radians a step), examples, steps to follow; settings with which page Filtering opens.
TAUGHT, _EXAMPLES, STEPS = 0.3, 200, 150
SETTINGS = FilterSettings(KernelSettings.scale.default, KernelSettings.regularisation.default, device="cpu")


@dataclass(frozen=True)
class Turned:
    """A series of states ``truth`` (n, 2) and their noisy observations ``observed`` (n, 2), and the filter on it.

    ``means`` (n, 2) are its estimates, ``ahead`` (n − 1, 2) its predictions of all but the first state, each made
    before that state is observed.
    """

    truth: np.ndarray
    observed: np.ndarray
    means: np.ndarray
    ahead: np.ndarray

    @property
    def errors(self) -> tuple[float, float]:
        """Root mean square distance from the truth: of the filter, of the looks."""
        return mse(self.means, self.truth) ** 0.5, mse(self.observed, self.truth) ** 0.5

    @property
    def surprise(self) -> float:
        """Root mean square distance between predictions and the looks that follow: needs no truth."""
        return mse(self.ahead, self.observed[1:]) ** 0.5


@one_thread()
def follow_turned(turn: float) -> Turned:
    """Taught on system (a), which turns by 0.3 radians a step, and set to follow one that turns by ``turn``."""
    taught = RotationSystem.named("a")
    states, observations = taught.simulate(_EXAMPLES + 1, 0)
    kbr = train(states, observations[:-1], SETTINGS).filter
    truth, observed = replace(taught, eta=turn).simulate(STEPS, TEST_SEED)
    steps = kbr.run(torch.as_tensor(observed[None]))
    weights = torch.cat([kbr.transition_weights(step.weights) for step in steps[:-1]])
    return Turned(truth, observed, estimates(kbr, steps)[0].numpy(), kbr.estimate(weights, ahead=True).numpy())
