"""The error of the deconditional mean operator, measured along the sizes of theorem 4.2 and over all M and N."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from deconditioning.errors import Check, InputError, never
from deconditioning.studies.conditional_means.circle import Circle, Moments, OperatorError, estimate_error
from deconditioning.studies.conditional_means.rates import Difficulty, theorem_exponents
from deconditioning.studies.conditional_means.settings import TheoremSettings
from deconditioning.wording import number

#: The constant in front of the theorem's powers for λ and ε, which it leaves open, and the fewest M of a curve.
_CONSTANT = 0.1
_FEWEST = 20
#: The most samples of one draw that a curve may ask for.
_MOST_SAMPLES = 5_000_000


@dataclass(frozen=True)
class RateSettings:
    """What is measured: the theorem's parameters (``b`` None for finite features), and the effort.

    ``largest`` bounds N, which bounds M through ``N = M^{a(c′+1)/(ι(c′−1))}``; ``sizes`` values of M from 20 up,
    ``seeds`` data sets at each, the first one of number ``seed``. ``frequencies`` and ``astray`` are those of the
    circle (`Circle.most`, `Circle.astray`).
    """

    a: float = TheoremSettings.a.default
    b: float | None = TheoremSettings.b.default
    c: float = TheoremSettings.c.default
    c_prime: float = TheoremSettings.c_prime.default
    iota: float = TheoremSettings.iota.default
    largest: int = 200_000
    sizes: int = 6
    seeds: int = 4
    seed: int = 0
    frequencies: int | None = None
    astray: float = 0.0

    def __post_init__(self) -> None:
        if not (1 <= self.largest <= _MOST_SAMPLES and 2 <= self.sizes <= 40 and 1 <= self.seeds <= 100):
            raise InputError(
                f"{self.largest:,} samples, {self.sizes} sizes and {self.seeds} seeds were requested: give up "
                f"to {_MOST_SAMPLES:,} samples, 2 to 40 sizes and 1 to 100 seeds."
            )
        if not (math.isfinite(self.a) and self.a > 0):
            raise InputError(f"a is {self.a}: the theorem asks for a positive number.")
        if not (0 <= self.astray < 1 and 1 <= (self.frequencies or 1) <= 1000):
            raise InputError(
                f"{self.frequencies} frequencies and a misplaced share {self.astray} of x were requested: give "
                "1 to 1,000, and a share from 0 to below 1."
            )
        _ = self.difficulty

    @property
    def difficulty(self) -> Difficulty:
        """The parameters as the theorem has them; checked."""
        return Difficulty(math.inf if self.b is None else self.b, self.c, self.c_prime, self.iota)

    @property
    def circle(self) -> Circle:
        """The problem of this difficulty."""
        b = math.inf if self.b is None else self.b
        return Circle(b, self.c, astray=self.astray, most=self.frequencies)

    def regularisers(self, targets: float, samples: float) -> tuple[float, float]:
        """λ and ε at M = ``targets`` and N = ``samples``."""
        powers = theorem_exponents(self.a, self.difficulty)
        return _CONSTANT * samples**-powers.lam, _CONSTANT * targets**-powers.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Measured:
    """One estimate: M, N, the seed, and its errors."""

    targets: int
    samples: int
    seed: int
    risk: float
    hilbert_schmidt: float


def schedule(settings: RateSettings) -> list[tuple[int, int]]:
    """The sizes (M, N) of a curve; ``InputError`` if even the most samples leave fewer than three."""
    power = theorem_exponents(settings.a, settings.difficulty).samples
    most = settings.largest ** (1 / power)
    sizes = np.unique(np.geomspace(_FEWEST, max(most, _FEWEST), settings.sizes).round().astype(int))
    pairs = [(int(m), math.ceil(float(m) ** power)) for m in sizes if m <= most]
    if len(pairs) < 3:
        raise InputError(
            f"At a = {number(settings.a)} the first stage grows as M^{power:.1f}: {settings.largest:,} samples allow "
            f"fewer than three sizes from M = {_FEWEST}; choose a smaller a, a larger N, or larger c′ and ι."
        )
    return pairs


def measure(settings: RateSettings, check: Check = never) -> list[Measured]:
    """The errors along the theorem's sizes, every one from draws of its own; ``check`` may raise to stop."""
    return [
        measure_one(settings, targets, samples, settings.seed + index, check)
        for targets, samples in schedule(settings)
        for index in range(settings.seeds)
    ]


def measure_one(settings: RateSettings, targets: int, samples: int, seed: int, check: Check = never) -> Measured:
    """One estimate at (M, N); the same numbers for the same arguments."""
    generator = _generator(seed, targets, samples)
    lam, epsilon = settings.regularisers(targets, samples)
    operator_error = estimate_error(settings.circle, targets, samples, lam, epsilon, generator, check)
    return Measured(targets, samples, seed, operator_error.risk, operator_error.hilbert_schmidt)


def measure_grid(
    settings: RateSettings, targets: list[int], samples: list[int], check: Check = never
) -> list[Measured]:
    """The errors at every pair of M and N, both ascending; a larger sample holds the smaller one."""
    rows = []
    for seed in range(settings.seed, settings.seed + settings.seeds):
        first = _nested(settings.circle, samples, _generator(seed, 0, 1), check)
        second = _nested(settings.circle, targets, _generator(seed, 1, 0), check)
        for m, query in zip(targets, second, strict=True):
            for n, moments in zip(samples, first, strict=True):
                result = settings.circle.error(moments, query, *settings.regularisers(m, n))
                rows.append(Measured(m, n, seed, result.risk, result.hilbert_schmidt))
    return rows


def limits(settings: RateSettings, pairs: list[tuple[int, int]]) -> list[OperatorError]:
    """What λ and ε alone leave at each (M, N), without sampling error; a closed form."""
    return [settings.circle.limit(*settings.regularisers(m, n)) for m, n in pairs]


def slope(sizes: np.ndarray, errors: np.ndarray) -> float:
    """Least-squares slope of log error on log size."""
    return float(np.polyfit(np.log(np.asarray(sizes, dtype=float)), np.log(errors), 1)[0])


def _nested(circle: Circle, counts: list[int], generator: torch.Generator, check: Check) -> list[Moments]:
    """Moments of the first n draws for each n of ``counts``."""
    result: list[Moments] = []
    before = 0
    for count in counts:
        if count <= before:
            raise InputError(f"The sizes {counts} are not in increasing order: give each once, smallest first.")
        more = circle.draw(count - before, generator, check)
        if result:
            old, new, held = before / count, (count - before) / count, result[-1]
            more = Moments(old * held.cross + new * more.cross, old * held.second + new * more.second)
        result.append(more)
        before = count
    return result


def _generator(*numbers: int) -> torch.Generator:
    state = np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state >> np.uint64(1)))
