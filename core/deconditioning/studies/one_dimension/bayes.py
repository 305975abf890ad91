"""Bayes' rule from samples alone: what is y, given one x, a sampled prior of y and a sampled simulation?

The deconditional mean embedding of ``Y | X = x`` beside the exact posterior density, which the problem's own formula
gives. Source: Hsu and Ramos 2019, §6.
"""

from dataclasses import dataclass

import numpy as np
import torch

from deconditioning.datasets.one_dimension import Line
from deconditioning.embeddings.deconditional import deconditional_weights, posterior_embedding
from deconditioning.embeddings.kernel_mean import KernelMean
from deconditioning.errors import InputError
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.studies.one_dimension.problem import COLUMNS
from deconditioning.studies.one_dimension.settings import BayesSettings
from deconditioning.wording import number

#: Prior → components (weight, mean, sd) of a mixture of normals in units of the half-width; empty: uniform.
PRIORS: dict[str, tuple[tuple[float, float, float], ...]] = {
    "uniform": (),
    "left": ((1.0, -0.5, 0.17),),
    "centre": ((1.0, 0.0, 0.25),),
    "two hills": ((0.5, -0.55, 0.12), (0.5, 0.5, 0.15)),
}
_GRID = 400


def prior_density(name: str, y: np.ndarray, half_width: float) -> np.ndarray:
    """``p(y)`` inside ``[−h, h]``, normalised there."""
    inside = np.abs(y) <= half_width
    if not _components(name):
        return inside / (2 * half_width)
    from scipy.stats import norm

    total, mass = np.zeros_like(y), 0.0
    for weight, mean, sd in _components(name):
        part = norm(mean * half_width, sd * half_width)
        total += weight * part.pdf(y)
        mass += weight * (part.cdf(half_width) - part.cdf(-half_width))
    return total * inside / mass


def _components(name: str) -> tuple[tuple[float, float, float], ...]:
    if name not in PRIORS:
        raise InputError(f"The prior '{name}' is unknown: choose among {', '.join(PRIORS)}.")
    return PRIORS[name]


def sample_prior(name: str, count: int, half_width: float, seed: int) -> np.ndarray:
    """``count`` draws of y by the inverse of the prior's distribution function."""
    rng = np.random.default_rng([seed, 7])
    at = np.linspace(-half_width, half_width, 4001)
    density = prior_density(name, at, half_width)
    rising = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    return np.interp(rng.uniform(0, rising[-1], count), rising, at)


@dataclass(frozen=True)
class Posterior:
    """On the grid ``y`` (G,): exact ``density`` p(y | x) and ``prior``; the ``embedding`` and the ``exact`` one.

    ``mean`` is the estimate as a weighted sample of the prior's draws, ``herded`` its super-samples (none if the
    weights lost their mass, ``lost`` says so), ``moments`` mean and sd of y: exact and herded. ``distance`` is the RKHS
    distance between the embedding and the exact one, relative to the latter's norm.
    """

    y: np.ndarray
    density: np.ndarray
    prior: np.ndarray
    embedding: np.ndarray
    exact: np.ndarray
    mean: KernelMean
    herded: np.ndarray
    lost: str | None
    moments: dict[str, tuple[float, float]]
    distance: float


def posterior_of_y(
    line: Line,
    prior: str,
    x: float,
    kernel: KernelSpec,
    mediator_kernel: KernelSpec,
    regularisation: float,
    second_regularisation: float,
    herded: int = BayesSettings.herded.default,
) -> Posterior:
    """Posterior of y at ``X = x`` from ``line``'s pairs (its own y are only a design) and m draws of the named prior.

    Raises ``InputError`` if the simulation has no noise (then p(y | x) has no density) or a matrix is singular.
    """
    spec = line.spec
    if spec.input_noise <= 0:
        raise InputError("The simulation has no noise, so p(y | x) has no density: raise the noise of x.")
    draws = torch.from_numpy(sample_prior(prior, spec.m, spec.half_width, spec.seed))[:, None]
    k, ell = kernel.build(COLUMNS.inputs), mediator_kernel.build(COLUMNS.mediators)
    inputs, y = line.inputs[:, None], line.mediators[:, None]
    with torch.no_grad():
        grams = evaluate(k, inputs, inputs), evaluate(ell, y, y), evaluate(ell, y, draws)
        near = evaluate(k, inputs, torch.tensor([[x]], dtype=torch.float64))[:, 0]
    weights = deconditional_weights(*grams, regularisation, second_regularisation)
    kernel_mean = posterior_embedding(weights, near, draws, ell)
    grid = torch.linspace(-spec.half_width, spec.half_width, _GRID, dtype=torch.float64)[:, None]
    density = exact_density(line, prior, x, grid[:, 0].numpy())
    truth = KernelMean(grid, torch.from_numpy(density) * float(grid[1] - grid[0]), ell).normalised()
    chosen, lost = np.empty(0), None
    try:
        chosen = kernel_mean.herd(herded, grid)[:, 0].numpy()
    except InputError as error:
        lost = str(error)
    at = grid[:, 0].numpy()
    moments = {"exact": _moments(at, density)}
    if len(chosen):
        moments["herded"] = (float(chosen.mean()), float(chosen.std()))
    return Posterior(
        at,
        density,
        prior_density(prior, at, spec.half_width),
        kernel_mean.at(grid).numpy(),
        truth.at(grid).numpy(),
        kernel_mean,
        chosen,
        lost,
        moments,
        kernel_mean.distance(truth) / truth.inner(truth) ** 0.5,
    )


def exact_density(line: Line, prior: str, x: float, y: np.ndarray) -> np.ndarray:
    """``p(y | x) ∝ N(x; r(y), sd²) p(y)``, normalised on the grid; ``InputError`` if x is impossible."""
    spec = line.spec
    misfit = -0.5 * ((x - spec.r(y)) / spec.input_noise) ** 2
    density = np.exp(misfit - misfit.max()) * prior_density(prior, y, spec.half_width)
    total = np.trapezoid(density, y)
    if misfit.max() < -700 or not total > 0:
        raise InputError(f"x = {number(x)} is impossible in this simulation: choose an x near the data.")
    return density / total


def _moments(y: np.ndarray, density: np.ndarray) -> tuple[float, float]:
    mean = float(np.trapezoid(y * density, y))
    return mean, float(np.sqrt(np.trapezoid((y - mean) ** 2 * density, y)))
