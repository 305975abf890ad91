"""How much the covariates are trusted: a factor on their prior, and the scale on which a slider of it moves the map."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import torch

from deconditioning.downscaling.pictures.settings import SliderSettings
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.linalg import eigen, ridge_factor
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import Bags

#: Factors between the least one and 1 at which the covariates' effect is computed.
_FACTORS = 121
#: At most so many cells tell it, each by so many of its points; no noise variance counts as smaller.
_CELLS, _POINTS, _LEAST_NOISE = 200, 6, 1e-4


def is_of(term: Term, covariates: Collection[str]) -> bool:
    """Whether a term depends on covariates alone."""
    return bool(term.factors) and all(set(factor.columns) <= set(covariates) for factor in term.factors)


def trusted(kernel: KernelSpec, covariates: Collection[str], trust: float) -> KernelSpec:
    """The kernel with ``trust`` times the sd of every term of the covariates alone."""
    return KernelSpec(tuple(_trusted(term, trust) if is_of(term, covariates) else term for term in kernel.terms))


def _trusted(term: Term, trust: float) -> Term:
    first = term.factors[0]
    if not first.kind.slopes_for_scales:
        return Term(term.factors, term.scale * trust**2)
    slopes = replace(first, lengthscales=tuple(scale / trust for scale in first.lengthscales))
    return Term((slopes, *term.factors[1:]), term.scale)


@dataclass(frozen=True)
class TrustScale:
    """Increasing factors t on the prior sd of what the covariates explain, up to 1, and the share of their effect on
    the map that is kept at each, from 0 to 1."""

    factors: tuple[float, ...]
    shares: tuple[float, ...]

    def share(self, factor: float) -> float:
        """The share that is kept at a factor of at most 1."""
        return float(np.interp(np.log(factor), np.log(self.factors), self.shares))

    def stops(self, count: int = 40) -> list[float]:
        """Factors from one of which to the next the share grows by 1 / ``count``."""
        evenly = np.linspace(0.0, 1.0, count + 1)
        return [float(t) for t in np.exp(np.interp(evenly, self.shares, np.log(self.factors)))]


def trust_scale(problem: DownscalingProblem, spec: ModelSpec) -> TrustScale | None:
    """How the effect of the covariates of a model grows with the factor t on their prior sd; None without such terms.

    With K_c(t) = t² K_c the covariance of the cell means of the covariates' terms and A that of all else, noise
    included, the covariates' part of the posterior mean of the cells is ``c(t) = t² K_c (t² K_c + A)⁻¹ y``. The share
    is the root mean square length of the path of c, less its mean over the cells, from the least factor to t, divided
    by that to 1, for y as the model at t = 1 expects it. Kernels are averaged over 6 points of a cell and at most 200
    cells, which stand for all in that the eigenvalues of A⁻¹K_c are multiplied by how many cells there are for each of
    them: the share is approximate.
    """
    covariates = problem.spec.covariates
    theirs = [term for term in spec.kernel.terms if is_of(term, covariates)]
    if not theirs:
        return None
    others = [term for term in spec.kernel.terms if not is_of(term, covariates)]
    bags = _few(problem.data.bags)
    noise = max(spec.noise + spec.point_noise * float(bags.contamination.mean()), _LEAST_NOISE)
    with torch.no_grad():
        explained, rest = (_covariance(terms, problem.columns, bags) for terms in (theirs, others))
        factor = ridge_factor(rest, noise)
        values, vectors = eigen(factor.half_solve(factor.half_solve(explained).mT))
        ratios, parts = (
            values.clamp(min=0).numpy() * problem.data.bags.count / bags.count,
            (factor.lower @ vectors).numpy(),
        )
    weights = parts.var(axis=0) * (1 + ratios)
    low = SliderSettings.trust.low or 1e-3
    factors = np.geomspace(low, 1.0, _FACTORS)
    kept = 1 / (1 + 1 / (factors[:, None] ** 2 * np.maximum(ratios, 1e-300)))
    path = np.cumsum(np.sqrt((weights * np.diff(kept, axis=0) ** 2).sum(axis=1)))
    if not path[-1] > 0:
        return None
    return TrustScale(tuple(map(float, factors)), (0.0, *map(float, path / path[-1])))


def _few(bags: Bags) -> Bags:
    """Some points of some of the bags, evenly spread over them."""
    some = bags.subset(_evenly(bags.count, _CELLS))
    order = torch.argsort(some.bag, stable=True)
    rows = [each[_evenly(len(each), _POINTS)] for each in order.split(torch.bincount(some.bag).tolist())]
    return Bags(
        some.inputs[torch.cat(rows)],
        torch.repeat_interleave(torch.tensor([len(each) for each in rows])),
        some.count,
        contamination=some.contamination,
    )


def _evenly(count: int, wanted: int) -> torch.Tensor:
    return torch.linspace(0, count - 1, min(count, wanted)).round().long()


def _covariance(terms: list[Term], columns: tuple[str, ...], bags: Bags) -> torch.Tensor:
    """Of the means over the bags."""
    if not terms:
        return torch.zeros(bags.count, bags.count, dtype=bags.inputs.dtype)
    gram = KernelSpec(tuple(terms)).build(columns)(bags.inputs).to_dense()
    return bags.mean(bags.mean(gram).mT)
