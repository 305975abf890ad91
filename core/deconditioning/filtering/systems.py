"""A point on a wavy circle, observed with noise: the state-space systems of the kernel Bayes' rule paper."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deconditioning.errors import InputError

_SYSTEMS: dict[str, dict[str, float]] = {
    "a": {"eta": 0.3, "b": 0.0, "waves": 8},
    "b": {"eta": 0.4, "b": 0.4, "waves": 8},
}
_GENERATORS = ("M", "D")


@dataclass(frozen=True)
class RotationSystem:
    """``X_{t+1} = (1 + b sin(Mθ_{t+1})) (cos θ_{t+1}, sin θ_{t+1}) + ζ_t``, ``Y_t = X_t + ξ_t``.

    Parameters
    ----------
    eta : increment of the angle.  b, waves : depth and number M of the circle's waves.
    state_noise, observation_noise : sd of ζ and ξ.
    generator : "M", ``θ_{t+1} = atan2(v_t, u_t) + η`` from the noisy state, a Markov chain in X; "D", the angle
        advances by itself and the noise of X does not feed back.

    Source: Fukumizu et al. 2013, §5.3.
    """

    eta: float = 0.3
    b: float = 0.0
    waves: float = 8
    state_noise: float = 0.2
    observation_noise: float = 0.2
    generator: str = "M"

    def __post_init__(self) -> None:
        if self.generator not in _GENERATORS:
            raise InputError(f"The generator '{self.generator}' is unknown: choose M or D.")
        for name in ("state_noise", "observation_noise"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"`{name}` is {getattr(self, name)}: give a finite number that is not negative.")

    @staticmethod
    def named(name: str, generator: str = "M") -> "RotationSystem":
        """System "a" (a plain circle) or "b" (a wavy one)."""
        if name not in _SYSTEMS:
            raise InputError(f"The system '{name}' is unknown: choose {' or '.join(_SYSTEMS)}.")
        return RotationSystem(**_SYSTEMS[name], generator=generator)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def on_circle(self, angle: np.ndarray) -> np.ndarray:
        """The noise-free state at an angle, (…, 2)."""
        radius = 1 + self.b * np.sin(self.waves * angle)
        return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)

    def transition(self, state: np.ndarray) -> np.ndarray:
        """``E[X_{t+1} | X_t]`` of generator M, (…, 2) → (…, 2)."""
        return self.on_circle(np.arctan2(state[..., 1], state[..., 0]) + self.eta)

    def jacobian(self, state: np.ndarray) -> np.ndarray:
        """The derivative (2, 2) of the transition at one state (2,)."""
        square = max(float(state @ state), 1e-12)
        angle = math.atan2(state[1], state[0]) + self.eta
        radius, slope = 1 + self.b * math.sin(self.waves * angle), self.b * self.waves * math.cos(self.waves * angle)
        along = np.array(
            [slope * math.cos(angle) - radius * math.sin(angle), slope * math.sin(angle) + radius * math.cos(angle)]
        )
        return np.outer(along, np.array([-state[1], state[0]]) / square)

    def simulate(self, steps: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """States X (steps, 2) and observations Y (steps, 2), from a random angle on the circle."""
        if steps < 1:
            raise InputError(f"{steps} steps were requested: give at least one.")
        rng = np.random.default_rng(seed)
        angle = rng.uniform(0, 2 * math.pi)
        noise = self.state_noise * rng.standard_normal((steps, 2))
        states = np.empty((steps, 2))
        states[0] = self.on_circle(np.array(angle)) + noise[0]
        for t in range(1, steps):
            if self.generator == "D":
                angle += self.eta
                states[t] = self.on_circle(np.array(angle)) + noise[t]
            else:
                states[t] = self.transition(states[t - 1]) + noise[t]
        return states, states + self.observation_noise * rng.standard_normal((steps, 2))
