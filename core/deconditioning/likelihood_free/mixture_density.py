"""A mixture density network: a small network that maps summaries to a Gaussian mixture of the parameters.

Source: Bishop 1994; Papamakarios and Murray 2016, *Fast ε-free inference of simulation models with Bayesian conditional
density estimation*.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, distributions, nn

from deconditioning.errors import InputError
from deconditioning.likelihood_free.simulators import Simulations

#: Share of the simulations that training does not see, steps without a better score on them before it ends, and most.
_HELD_OUT, _PATIENCE, _MOST_STEPS = 0.2, 100, 2000


class MixtureDensityNetwork(nn.Module):
    """``q(u | x) = Σ_k α_k(x) N(u; m_k(x), T_k(x)T_k(x)ᵀ)``, α, m and the triangular T from one hidden layer of tanh.

    Parameters
    ----------
    summaries, parameters : q and p.
    components, hidden : normals in the mixture, units in the hidden layer.
    """

    def __init__(self, summaries: int, parameters: int, components: int = 4, hidden: int = 50) -> None:
        super().__init__()
        self.parts, self.size = components, parameters
        below = parameters * (parameters - 1) // 2
        self.sizes = [components, components * parameters, components * parameters, components * below]
        self.body = nn.Sequential(nn.Linear(summaries, hidden), nn.Tanh(), nn.Linear(hidden, sum(self.sizes)))

    def forward(self, x: Tensor) -> distributions.MixtureSameFamily:
        """The mixture at summaries x (n, q)."""
        logits, means, scales, below = self.body(x).split(self.sizes, dim=1)
        shape = (len(x), self.parts, self.size)
        lower = torch.diag_embed(nn.functional.softplus(scales.reshape(shape)) + 1e-3)
        rows, columns = torch.tril_indices(self.size, self.size, -1)
        lower[..., rows, columns] = below.reshape(len(x), self.parts, -1)
        normals = distributions.MultivariateNormal(means.reshape(shape), scale_tril=lower)
        return distributions.MixtureSameFamily(distributions.Categorical(logits=logits), normals)


@dataclass(frozen=True)
class Trained:
    """A network with the scaling of its training data; ``losses`` are those on held-out simulations, one per step."""

    network: MixtureDensityNetwork
    u_units: tuple[np.ndarray, np.ndarray]
    x_units: tuple[np.ndarray, np.ndarray]
    losses: tuple[float, ...]

    def draw(self, observed: np.ndarray, bounds: np.ndarray, count: int, *, seed: int = 0) -> np.ndarray:
        """Draws of u (count, p) at the observed summaries (q,), inside ``bounds`` (p, 2); ``InputError`` if hardly
        any of the mixture lies there."""
        x = torch.from_numpy((observed - self.x_units[0]) / self.x_units[1])[None]
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            u = self.network(x).sample((100 * count,))[:, 0].numpy() * self.u_units[1] + self.u_units[0]
        inside = u[((u >= bounds[:, 0]) & (u <= bounds[:, 1])).all(1)]
        if len(inside) < count:
            raise InputError("Hardly any of the mixture's mass lies in the prior's support: add simulations.")
        return inside[:count]


def train(
    simulations: Simulations, *, components: int = 4, hidden: int = 50, seed: int = 0,
    check: Callable[[], None] = lambda: None,
) -> Trained:  # fmt: skip
    """Maximise ``Σ_i v_i log q(u_i | x_i)``, ``v = p/π``, by Adam on 80 % of the simulations; the network with the best
    score on the rest is kept, and training ends when that has not improved for 100 steps.

    The weights make parameters simulated from π represent the prior. Parameters and summaries are standardised.
    ``check`` is called at every step and may stop training by raising.
    """
    u_units, x_units = ((part.mean(0), part.std(0)) for part in (simulations.parameters, simulations.summaries))
    u = torch.from_numpy((simulations.parameters - u_units[0]) / u_units[1])
    x = torch.from_numpy((simulations.summaries - x_units[0]) / x_units[1])
    v = torch.from_numpy(simulations.weights)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = MixtureDensityNetwork(x.shape[1], u.shape[1], components, hidden).double()
        order = torch.randperm(len(u))
    validation, training = order[: int(_HELD_OUT * len(u))], order[int(_HELD_OUT * len(u)) :]
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    losses, best, parameters = [], 0, copy.deepcopy(network.state_dict())
    for step in range(_MOST_STEPS):
        check()
        with torch.no_grad():
            losses.append(
                float(-(v[validation] @ network(x[validation]).log_prob(u[validation])) / v[validation].sum())
            )
        if losses[step] <= losses[best]:
            best, parameters = step, copy.deepcopy(network.state_dict())
        if step - best >= _PATIENCE:
            break
        optimiser.zero_grad()
        loss = -(v[training] @ network(x[training]).log_prob(u[training])) / v[training].sum()
        loss.backward()
        optimiser.step()
    network.load_state_dict(parameters)
    return Trained(network, u_units, x_units, tuple(losses))
