"""Problems with a simulator in place of a likelihood: a prior, draws of parameters and their simulations.

Source: Hsu and Ramos 2019, §8.3 (exponential-gamma, Lotka-Volterra).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from deconditioning.errors import InputError
from deconditioning.likelihood_free import lotka_volterra as lv
from deconditioning.likelihood_free.prior import Marginal, Prior
from deconditioning.wording import number

#: u (n, p) and randomness → summaries (n, q) and which runs are valid (n,).
Simulator = Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]
Design = Literal["spread", "random"]
#: After so many runs a problem is refused where less than this share is valid; the fewest valid runs of a pilot.
#: Share of the exact posterior that must lie where parameters are simulated.
_INSIDE = 0.999
_ENOUGH, _LEAST_VALID, _LEAST_PILOT = 200, 0.05, 5


@dataclass(frozen=True)
class Exact:
    """A known posterior: one distribution of θ per parameter, with ``mean``, ``ppf``, ``pdf`` as in scipy.stats.

    ``covariance`` (p, p) of θ if parameters are dependent.
    """

    marginals: tuple[Any, ...]
    covariance: np.ndarray | None = None

    @property
    def mean(self) -> np.ndarray:
        """Posterior means of θ (p,)."""
        return np.array([float(part.mean()) for part in self.marginals])

    @property
    def interval(self) -> np.ndarray:
        """Central 95 % intervals of θ (p, 2)."""
        return np.array([part.ppf([0.025, 0.975]) for part in self.marginals])


@dataclass(frozen=True)
class Problem:
    """The input of likelihood-free inference.

    Parameters
    ----------
    prior, proposal : p(u), and the density π(u) from which parameters are simulated, both over the same box.
    simulator : u (n, p) → summaries (n, q) and which runs are valid; None for a table.
    observed : summaries y (q,) of the data.
    summary_names : names of the summaries.
    exact : observed → the exact posterior, if known.
    truth : θ (p,) that generated the data, if known.
    sample : summaries (n, q) → independent data (n, N) with these summaries, drawn from their conditional distribution;
        None if data are not such a sample.
    """

    name: str
    prior: Prior
    proposal: Prior
    simulator: Simulator | None
    observed: np.ndarray
    summary_names: tuple[str, ...]
    exact: Callable[[np.ndarray], Exact] | None = None
    truth: np.ndarray | None = None
    sample: Callable[[np.ndarray, np.random.Generator], np.ndarray] | None = None


@dataclass(frozen=True)
class Simulations:
    """n runs: ``parameters`` u (n, p), ``summaries`` x (n, q), ``log_weights`` log p(u) − log π(u) (n,).

    ``discarded`` runs were drawn again; ``scales`` (q,) are the summaries' standard deviations, the units of distances.
    """

    parameters: np.ndarray
    summaries: np.ndarray
    log_weights: np.ndarray
    discarded: int = 0

    def __post_init__(self) -> None:
        count = len(self.parameters)
        if count < 10 or self.summaries.shape[:1] != (count,) or self.log_weights.shape != (count,):
            raise InputError(
                f"There are {count} rows of parameters and {len(self.summaries)} of summaries: give at least 10 "
                "of each."
            )
        flat = np.flatnonzero(self.summaries.std(0) <= 1e-12 * np.abs(self.summaries).max(0))
        if len(flat):
            raise InputError(f"Summary {flat[0] + 1} is the same in all {count} simulations: leave it out.")

    @property
    def scales(self) -> np.ndarray:
        """Standard deviations of the summaries (q,)."""
        return self.summaries.std(0)

    @property
    def weights(self) -> np.ndarray:
        """``p(u)/π(u)``, scaled to a mean of one."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return weights / weights.mean()

    def first(self, count: int) -> "Simulations":
        """The first ``count`` runs."""
        return replace(
            self,
            parameters=self.parameters[:count],
            summaries=self.summaries[:count],
            log_weights=self.log_weights[:count],
        )


def simulate(problem: Problem, count: int, seed: int, design: Design = "spread") -> Simulations:
    """``count`` runs at parameters from π: a Latin hypercube, or independent draws (``design`` random).

    Runs that the simulator discards are drawn again at independent parameters and counted; ``InputError`` if hardly any
    succeeds or the problem has no simulator.
    """
    if problem.simulator is None:
        raise InputError(f"{problem.name} is a table and cannot be simulated: use the simulations that it contains.")
    if count < 10:
        raise InputError(f"{count} simulations were requested: give at least 10.")
    rng = np.random.default_rng([seed, 11])
    u = (problem.proposal.spread if design == "spread" else problem.proposal.draw)(count, rng)
    x, good = problem.simulator(u, rng)
    bad, discarded, drawn = np.flatnonzero(~good), int((~good).sum()), count
    while len(bad):
        if drawn >= _ENOUGH and discarded > (1 - _LEAST_VALID) * drawn:
            raise InputError(f"{discarded} of {drawn} runs of {problem.name} were discarded: narrow the prior.")
        anew = problem.proposal.draw(max(2 * len(bad), _ENOUGH // 4), rng)
        x_new, fine = problem.simulator(anew, rng)
        result = np.flatnonzero(fine)[: len(bad)]
        u[bad[: len(result)]], x[bad[: len(result)]] = anew[result], x_new[result]
        last = (
            result[-1] + 1 if len(result) == len(bad) else len(anew)
        )  # runs beyond the last one needed are not counted
        drawn, discarded = drawn + int(last), discarded + int((~fine[:last]).sum())
        bad = bad[len(result) :]
    return Simulations(u, x, problem.prior.log_density(u) - problem.proposal.log_density(u), discarded)


def exponential_gamma(
    observed: float = 9.42, *, shape: float = 0.1, rate: float = 0.1, draws: int = 500,
    box: tuple[float, float] = (0.01, 1.0),
) -> Problem:  # fmt: skip
    """``draws`` numbers from Exp(θ), summarised by the log of their mean; θ ~ Gamma(shape, rate) inside ``box``.

    Simulated log-uniformly over the box. The exact posterior is ``Gamma(shape + n, rate + n·mean)``; ``observed``, the
    mean itself, must leave it inside the box. Source: Hsu and Ramos 2019, §8.3.
    """
    if not (np.isfinite(observed) and 1.2 / box[1] <= observed <= 0.8 / box[0]):
        raise InputError(
            f"The observed mean is {number(observed, 6)}: give one from {number(1.2 / box[1], 6)} to "
            f"{number(0.8 / box[0], 6)}."
        )
    low, high = np.log(box)
    prior = Prior((Marginal("θ", "gamma", shape, rate, log=True, low=low, high=high),))

    from scipy import stats

    whole = stats.gamma(shape + draws, scale=1 / (rate + draws * observed))
    inside = float(whole.cdf(box[1]) - whole.cdf(box[0]))
    if inside < _INSIDE:
        raise InputError(
            f"At a mean of {number(observed, 6)} with this prior {number(100 * (1 - inside), 2)} % of the exact "
            f"posterior lies outside the simulations' θ from {number(box[0], 6)} to {number(box[1], 6)}: move the mean "
            "or the prior."
        )

    def run(u: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Log means (n, 1) at log θ (n, 1); every run ends."""
        mean = rng.gamma(draws, 1 / draws, len(u)) / np.exp(u[:, 0])  # a mean of exponentials is a gamma
        return np.log(mean)[:, None], np.ones(len(u), dtype=bool)

    def exact(y: np.ndarray) -> Exact:
        """The exact posterior given the log mean y (1,)."""
        return Exact((stats.gamma(shape + draws, scale=1 / (rate + draws * float(np.exp(y[0])))),))

    def sample(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The ``draws`` numbers (n, draws) behind log means (n, 1)."""
        shares = rng.dirichlet(np.ones(draws), len(x))  # of exponentials in their sum: independent of it, and of θ
        return draws * np.exp(x[:, :1]) * shares

    proposal = Prior((Marginal("θ", "uniform", low, high, log=True),))
    return Problem(
        "exponential-gamma", prior, proposal, run, np.log([observed]), ("log mean waiting time",), exact, sample=sample
    )  # fmt: skip


def gaussian(
    dimension: int = 2, *, noise: float = 0.5, correlation: float = 0.5, prior_sd: float = 1.0, seed: int = 0
) -> Problem:
    """``x ~ N(θ, Σ)``, ``Σ = σ²((1 − ρ)I + ρ11ᵀ)``, θ ~ N(0, s²I) in d dimensions; the data are drawn with ``seed``.

    Exact posterior ``N(CΣ⁻¹x, C)``, ``C = (I/s² + Σ⁻¹)⁻¹``.
    """
    if not 1 <= dimension <= 10 or not noise > 0 or not 0 <= correlation < 1:
        raise InputError(
            f"d = {dimension}, σ = {number(noise, 6)}, ρ = {number(correlation, 6)}: give d from 1 to "
            "10, σ > 0, 0 ≤ ρ < 1."
        )
    covariance = noise**2 * ((1 - correlation) * np.eye(dimension) + correlation)
    names = tuple(f"θ{'₁₂₃₄₅₆₇₈₉'[j]}" if j < 9 else "θ₁₀" for j in range(dimension))
    prior = Prior(tuple(Marginal(name, "normal", 0.0, prior_sd) for name in names))

    def run(u: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Data (n, d) at θ (n, d); every run ends."""
        return u + rng.multivariate_normal(np.zeros(dimension), covariance, len(u)), np.ones(len(u), dtype=bool)

    def exact(y: np.ndarray) -> Exact:
        """The exact posterior given data y (d,)."""
        from scipy import stats

        precision = np.linalg.inv(covariance)
        spread = np.linalg.inv(np.eye(dimension) / prior_sd**2 + precision)
        mean = spread @ precision @ y
        parts = zip(mean, np.sqrt(np.diag(spread)), strict=True)
        return Exact(tuple(stats.norm(m, s) for m, s in parts), spread)

    rng = np.random.default_rng([seed, 12])
    truth = prior_sd * rng.standard_normal(dimension)
    observed = run(truth[None], rng)[0][0]
    return Problem("gaussian", prior, prior, run, observed, tuple(f"x{n[1:]}" for n in names), exact, truth)


def lotka_volterra(*, pilot: int = 200, box: tuple[float, float] = (-5.0, 2.0), seed: int = 0) -> Problem:
    """Predators and prey with nine summaries in units of a pilot run's spread, log θ uniform over ``box`` in each rate.

    The data are one run at θ = (0.01, 0.5, 1, 0.01), drawn with ``seed``. Source: Hsu and Ramos 2019, §8.3.
    """
    names = ("θ₁", "θ₂", "θ₃", "θ₄")
    prior = Prior(tuple(Marginal(name, "uniform", *box, log=True) for name in names))
    rng = np.random.default_rng([seed, 13])
    paths, good = lv.simulate_counts(np.exp(prior.draw(pilot, rng)), rng)
    known = lv.summaries(paths[good])
    if len(known) < _LEAST_PILOT or not (known.std(0) > 0).all():
        raise InputError(
            f"Of {pilot} pilot runs with log θ in [{number(box[0], 6)}, {number(box[1], 6)}] {len(known)} ended before "
            f"{lv.MOST_EVENTS:,} events, or their summaries did not vary: choose a prior with higher or lower "
            "rates."
        )
    centre, scale = known.mean(0), known.std(0)

    def run(u: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Standardised summaries (n, 9) at log θ (n, 4), and which runs ended."""
        paths, ended = lv.simulate_counts(np.exp(u), rng)
        return (lv.summaries(paths) - centre) / scale, ended

    truth = np.array(lv.TRUE_RATES)
    observed, ended = run(np.log(truth)[None], rng)
    if not ended[0]:
        raise InputError(
            f"The run that generates the data has more than {lv.MOST_EVENTS:,} events: choose another seed."
        )
    return Problem("lotka-volterra", prior, prior, run, observed[0], lv.SUMMARY_NAMES, None, truth)
