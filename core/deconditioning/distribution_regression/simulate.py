"""The simulation of Tang et al., eq. 20: Dirichlet-process distributions on [0, 1] and a smooth regression function."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deconditioning.distribution_regression.subjects import Subjects, make_subjects
from deconditioning.errors import InputError
from deconditioning.plain_data import check_seed

Function = Callable[[np.ndarray], np.ndarray]
#: Concentration of the Dirichlet process, variance of the outcome's noise, and sticks of a draw in units of the
#: concentration: what is left after them is about e^{−40}, below rounding.
_CONCENTRATION, _NOISE, _STICKS = 25.0, 0.01, 40
#: The most measures of all subjects together.
_MOST_MEASURES = 5_000_000


@dataclass(frozen=True)
class SimulationSpec:
    """``subjects`` n with ``measures`` m each, of a ``seed``.

    ``unequal``: the numbers of measures are drawn between m/4 and m. ``distinct``: every measure is shifted by less
    than 1e-6, so that none repeats (to measure the cost of continuous values). ``spread``: concentration of the
    Dirichlet process.
    """

    subjects: int = 100
    measures: int = 500
    seed: int = 0
    unequal: bool = False
    distinct: bool = False
    spread: float = _CONCENTRATION

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.subjects < 2 or self.measures < 1:
            raise InputError(
                f"{self.subjects} subjects with {self.measures} measures were requested: give at least 2 "
                "subjects with at least 1 measure."
            )
        if self.subjects * self.measures > _MOST_MEASURES:
            raise InputError(
                f"{self.subjects} × {self.measures} measures were requested: at most {_MOST_MEASURES:,} are simulated."
            )
        if not 0 < self.spread <= 1000:
            raise InputError(f"The concentration is {self.spread}: give a number in ]0, 1000].")


def regression_function(x: np.ndarray) -> np.ndarray:
    """``f₀(x) = 10x e^{−5x}``."""
    return 10 * x * np.exp(-5 * x)


def draw_distribution(rng: np.random.Generator, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """A draw of DP(U[0, 1], α = ``spread``) by stick breaking: the shares of its atoms, which sum to one, and these."""
    count = max(10, int(_STICKS * spread))
    sticks = rng.beta(1.0, spread, count)
    shares = sticks * np.exp(np.r_[0.0, np.log1p(-sticks[:-1].clip(max=1 - 1e-16)).cumsum()])
    return shares / shares.sum(), rng.random(count)


@dataclass(frozen=True)
class Simulated:
    """Simulated subjects and each subject's ``expected`` outcome ``E_z f₀`` (n,), which only the simulation knows."""

    subjects: Subjects
    expected: np.ndarray


def simulate(spec: SimulationSpec, function_of: Callable[[int], Function] | None = None) -> Simulated:
    """``z_i ~ DP(U[0,1], 25)``, ``x_ij ~ z_i``, ``y_i = E_{z_i}(f₀) + ε_i``, ``ε_i ~ N(0, 0.01)``.

    Distributions are drawn by stick breaking; a subject's outcome depends on its distribution, not on its measures. The
    subjects of a seed are the same for every m, and are the first n of a longer draw. ``function_of`` gives a subject
    another function than f₀. Source: Tang et al., eq. 20; Sethuraman 1994 (stick breaking).
    """
    values, owner, outcomes, expected = [], [], np.empty(spec.subjects), np.empty(spec.subjects)
    for i in range(spec.subjects):
        rng = np.random.default_rng([spec.seed, i])
        shares, atoms = draw_distribution(rng, spec.spread)
        function = regression_function if function_of is None else function_of(i)
        expected[i] = shares @ function(atoms)
        outcomes[i] = expected[i] + _NOISE**0.5 * rng.standard_normal()
        count = spec.measures if not spec.unequal else int(rng.integers(max(1, spec.measures // 4), spec.measures + 1))
        edges = shares.cumsum()
        drawn = atoms[np.searchsorted(edges, rng.random(count) * edges[-1], side="right").clip(max=len(atoms) - 1)]
        if spec.distinct:
            drawn = np.clip(drawn + 1e-6 * (rng.random(count) - 0.5), 0.0, 1.0)
        values.append(drawn)
        owner.append(np.full(count, i))
    return Simulated(make_subjects(np.concatenate(values), np.concatenate(owner), outcomes), expected)
