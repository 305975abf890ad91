"""Two scatters that never meet: (x, y) of a simulation and (ỹ, z̃) of an observation, and a hidden f from x to z.

``x_i = r(y_i) + η_i`` and ``z̃_j = f(r(ỹ_j) + η̃_j) + ξ̃_j`` with ``y, ỹ ~ U(−h, h)``. Source: Hsu and Ramos 2019, §8.1.
"""

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.datasets.edited import Edits
from deconditioning.datasets.line_settings import LineProblem
from deconditioning.errors import InputError
from deconditioning.expressions import Expression
from deconditioning.observations import Bags, IndirectData
from deconditioning.plain_data import check_seed, from_known

INPUT, MEDIATOR = "x", "y"
#: What the problem is where nothing else is given.
_USUAL = LineProblem()
#: The central share of the x over which f is shown and scored, and at how many points.
_SHARE, _POINTS = 0.95, 400
_MOST = 2000
#: So many pairs of both data sets are drawn by one random stream.
_TOGETHER = 200


@dataclass(frozen=True)
class LineSpec:
    """The problem as data.

    Parameters
    ----------
    n, m : pairs (x, y), and pairs (ỹ, z̃).
    simulation, target : r as an expression in y, f in x.
    input_noise, target_noise : sd of η and of ξ̃.
    half_width : h of ``U(−h, h)``.  seed : of all draws.
    first_edits, second_edits : pairs (y, x) and (ỹ, z̃) changed by hand after the draw, as ``Edits.text``.
    """

    n: int = _USUAL.n
    m: int = _USUAL.m
    simulation: str = _USUAL.simulation
    target: str = _USUAL.target
    input_noise: float = _USUAL.input_noise
    target_noise: float = _USUAL.target_noise
    half_width: float = 6.0
    seed: int = _USUAL.seed
    first_edits: str = _USUAL.first_edits
    second_edits: str = _USUAL.second_edits

    def __post_init__(self) -> None:
        check_seed(self.seed)
        for name in ("n", "m"):
            if not 1 <= getattr(self, name) <= _MOST:
                raise InputError(f"`{name}` is {getattr(self, name)}: give between 1 and {_MOST} pairs.")
        for name, least in (("input_noise", 0.0), ("target_noise", 0.0), ("half_width", 1e-9)):
            if not least <= getattr(self, name) < math.inf:
                raise InputError(f"`{name}` is {getattr(self, name)}: give a finite number that is not negative.")
        _ = self.r, self.f  # refuse what cannot be read
        for edits, count, name in zip(self.edits, (self.n, self.m), ("first_edits", "second_edits"), strict=True):
            edits.check(count, name)

    @property
    def r(self) -> Expression:
        """The simulation ``r(y)``."""
        return Expression(self.simulation, MEDIATOR)

    @property
    def f(self) -> Expression:
        """The hidden function ``f(x)``."""
        return Expression(self.target, INPUT)

    @property
    def edits(self) -> tuple[Edits, Edits]:
        """What was changed by hand in both scatters."""
        return Edits.from_text(self.first_edits), Edits.from_text(self.second_edits)

    @property
    def counts(self) -> tuple[int, int]:
        """How many pairs both scatters hold once they are edited."""
        first, second = self.edits
        return first.count(self.n), second.count(self.m)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, inverse of ``from_dict``."""
        return asdict(self)

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "LineSpec":
        """From plain data; unknown names are refused with a sentence."""
        return from_known(LineSpec, value)


@dataclass(frozen=True)
class Line:
    """A drawn problem: ``inputs`` x (n,), ``mediators`` y (n,), ``query`` ỹ (m,), ``targets`` z̃ (m,), edits done."""

    spec: LineSpec
    inputs: Float[Tensor, " n"]
    mediators: Float[Tensor, " n"]
    query: Float[Tensor, " m"]
    targets: Float[Tensor, " m"]

    @cached_property
    def data(self) -> IndirectData:
        """As bags of one point each."""
        n = len(self.inputs)
        bags = Bags(self.inputs[:, None], torch.arange(n), n)
        return IndirectData(bags, self.mediators[:, None], self.query[:, None], self.targets)

    @cached_property
    def grid(self) -> Float[Tensor, " P"]:
        """Equally spaced x over the central 95 % of the inputs (one unit either way of a single one)."""
        ends = torch.tensor([(1 - _SHARE) / 2, (1 + _SHARE) / 2], dtype=torch.float64)
        low, high = torch.quantile(self.inputs, ends).tolist()
        if high - low < 1e-9:
            low, high = low - 1, high + 1
        return torch.linspace(low, high, _POINTS, dtype=torch.float64)

    @cached_property
    def truth(self) -> Float[Tensor, " P"]:
        """f without noise on the grid."""
        return torch.from_numpy(self.spec.f(self.grid.numpy()))

    def conditional_mean(self, y: Float[Tensor, " G"], nodes: int = 60) -> Float[Tensor, " G"]:
        """``g(y) = E[f(X) | Y = y]`` by Gauss-Hermite quadrature over η."""
        values, weights = self._quadrature(y, nodes)
        return torch.from_numpy(values @ weights)

    def conditional_sd(self, y: Float[Tensor, " G"], nodes: int = 60) -> Float[Tensor, " G"]:
        """Sd of z given y, ``√(Var[f(X) | Y = y] + ξ²)``, by the same quadrature."""
        values, weights = self._quadrature(y, nodes)
        spread = values**2 @ weights - (values @ weights) ** 2
        return torch.from_numpy(np.sqrt(np.maximum(spread, 0) + self.spec.target_noise**2))

    def _quadrature(self, y: Tensor, nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """f at the nodes of x given each y (G, nodes), and their weights."""
        places, weights = np.polynomial.hermite_e.hermegauss(nodes)
        at = self.spec.r(y.numpy())[:, None] + self.spec.input_noise * places
        return self.spec.f(at), weights / weights.sum()


def _draws(spec: LineSpec) -> tuple[np.ndarray, ...]:
    """Of standard draws: places of y and of ỹ in [−1, 1), noise of x, of x̃ and of z̃.

    A longer data set begins with the shorter one, and neither depends on the length of the other: what comes after the
    first `_TOGETHER` pairs has a random stream of its own for each of the five.
    """
    rng = np.random.default_rng(spec.seed)
    kinds = [_places, _places, _noise, _noise, _noise]
    first = [draw(rng, _TOGETHER) for draw in kinds]
    counts = (spec.n, spec.m, spec.n, spec.m, spec.m)
    more = [draw(stream, max(0, count - _TOGETHER))
            for draw, stream, count in zip(kinds, rng.spawn(len(kinds)), counts, strict=True)]  # fmt: skip
    return tuple(np.concatenate(both)[:count] for *both, count in zip(first, more, counts, strict=True))


def _places(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.uniform(-1, 1, count)


def _noise(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.standard_normal(count)


def make_line(spec: LineSpec) -> Line:
    """Draw the problem, then edit it; one seed gives one draw. ``InputError`` if r or f is not a finite number."""
    y, query, of_x, of_hidden, of_z = _draws(spec)
    y, query = spec.half_width * y, spec.half_width * query
    x = spec.r(y) + spec.input_noise * of_x
    hidden = spec.r(query) + spec.input_noise * of_hidden
    z = spec.f(hidden) + spec.target_noise * of_z
    first, second = spec.edits
    y, x = first.apply(y, x)
    query, z = second.apply(query, z)
    return Line(spec, *(torch.from_numpy(values) for values in (x, y, query, z)))
