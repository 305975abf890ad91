"""Sums of a kernel over the repeated measures of subjects, ``M_ij`` and ``l_i(s)``, each term by its cheapest
algorithm.

``M_ij = Σ_uv K(x_iu, x_jv)/(m_i m_j)`` and ``l_i(s) = Σ_u K(x_iu, s)/m_i`` (Tang et al., eq. 7). On one column smooth
kernels are interpolated (Chebyshev, with a checked error) and Matérn kernels are summed by sorting; all others are
summed tile by tile, after an estimate of the cost.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums import direct
from deconditioning.bag_sums.blocks import SortedBags, sort_bags
from deconditioning.bag_sums.chebyshev import Interpolation, interpolate_kernel
from deconditioning.bag_sums.line_sums import SortedLine, decay_of, sort_line, sorted_cross, sorted_gram
from deconditioning.bag_sums.routes import Route, routes_of
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.kernels.tiles import diagonal, evaluate
from deconditioning.observations import Bags
from deconditioning.wording import duration, number

#: Kernel evaluations a second of the tiled sums on one slow core; the most seconds they may take unless allowed more.
_RATE, MOST_SECONDS = 2.5e7, 600.0
#: Rows whose interpolation weights are alive at once.
_ROWS = 1 << 15
#: Routes of other hyperparameters that are remembered, and numbers of the matrices that are.
_KEPT, _KEPT_NUMBERS = 16, 10_000_000


class Sums(Protocol):
    """The interface of sums under a kernel that a posterior needs; densities and landmarks implement it too."""

    def gram(self, kernel: KernelSpec) -> Float[Tensor, "n n"]:
        """Covariance ``M`` of the subjects' expectations of f."""
        ...

    def cross(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "n P"]:
        """Covariance ``l(s)`` of those expectations and f(s)."""
        ...

    def prior(self, kernel: KernelSpec, left: Tensor, right: Tensor) -> Float[Tensor, "P Q"]:
        """Prior covariance (P, Q) of f between values ``left`` (P, d) and ``right`` (Q, d)."""
        ...

    def prior_variance(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """Prior variance of f."""
        ...


@dataclass(frozen=True)
class Way:
    """The ``route`` by which a term is summed and the expected seconds; for interpolation its
    ``nodes`` and ``error``.
    """

    route: Route
    seconds: float
    nodes: int = 0
    error: float = 0.0


class KernelSums:
    """The sums over the measures themselves.

    ``bags`` contains the weighted distinct values of each subject, ``columns`` their names; ``most_seconds`` limits the
    expected time of tiled sums. Interpolation weights and the sorted order are cached for other hyperparameters.
    """

    def __init__(
        self, bags: Bags, columns: tuple[str, ...], *, most_seconds: float = MOST_SECONDS, check: Check = never
    ) -> None:
        self.bags, self.columns = bags, columns
        self._most_seconds, self._check = most_seconds, check
        self._features: dict[int, Float[Tensor, "n p"]] = {}
        self._line: SortedLine | None = None
        self._blocks: SortedBags | None = None
        self._grams: dict[Term, Float[Tensor, "n n"]] = {}
        self._ways: dict[Term, tuple[Way, Interpolation | None]] = {}

    def routes(self, kernel: KernelSpec) -> tuple[Way, ...]:
        """How each term would be summed, and in about how many seconds."""
        with torch.no_grad():
            return tuple(self._way_of(term)[0] for term in kernel.terms)

    def gram(self, kernel: KernelSpec) -> Float[Tensor, "n n"]:
        """``M`` (n, n). Raises ``InputError`` if only tiled sums are possible and would take too long."""
        total = self.bags.inputs.new_zeros(self.bags.count, self.bags.count)
        with torch.no_grad():
            for term in kernel.terms:
                total += term.scale * self._unit_gram(term)
        return 0.5 * (total + total.T)

    def cross(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "n P"]:
        """``l(s)`` (n, P) at each row of ``inputs``, inside or outside the range of the measures."""
        total = inputs.new_zeros(self.bags.count, len(inputs))
        with torch.no_grad():
            for term in kernel.terms:
                total += term.scale * self._term_cross(term, inputs)
        return total

    def prior(self, kernel: KernelSpec, left: Tensor, right: Tensor) -> Float[Tensor, "P Q"]:
        """``K(s, t)`` (P, Q) between values ``left`` (P, d) and ``right`` (Q, d)."""
        with torch.no_grad():
            return evaluate(kernel.build(self.columns).to(left.device), left, right)

    def prior_variance(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """``K(s, s)``."""
        with torch.no_grad():
            return diagonal(kernel.build(self.columns).to(inputs.device), inputs)

    def _unit_gram(self, term: Term) -> Float[Tensor, "n n"]:
        """A term's M at scale 1, kept while scales and noise move."""
        key = replace(term, scale=1.0)
        if key not in self._grams:
            keep = max(1, _KEPT_NUMBERS // self.bags.count**2)
            self._grams = dict([*self._grams.items()][-min(keep, _KEPT) + 1 :] if keep > 1 else [])
            self._grams[key] = self._term_gram(term)
        return self._grams[key]

    def _term_gram(self, term: Term) -> Float[Tensor, "n n"]:
        way, result = self._way_of(term)
        if result is not None:
            weights = self._interpolated(result)
            return weights @ result.gram @ weights.T
        if way.route is Route.SORTED and (decay := decay_of(term)) is not None:
            return sorted_gram(self._sorted(), decay, self._check)
        if way.seconds > self._most_seconds:
            raise InputError(
                f"{len(self.bags.inputs):,} distinct measures under this kernel make "
                f"{number(len(self.bags.inputs) ** 2, 2)} pairs, about {duration(way.seconds)} of sums: use one column "
                "with a single Gaussian or Matérn kernel, a longer lengthscale, fewer subjects, or values rounded to "
                "fewer digits."
            )
        return direct.gram(self._unit(term), self._sorted_bags(), check=self._check)

    def _term_cross(self, term: Term, inputs: Tensor) -> Float[Tensor, "n P"]:
        way, result = self._way_of(term)
        if result is not None:
            nodes = result.nodes[:, None]
            return self._interpolated(result) @ evaluate(self._unit(term), nodes, inputs)
        if way.route is Route.SORTED and (decay := decay_of(term)) is not None:
            return sorted_cross(self._sorted(), decay, inputs[:, 0], self._check)
        return direct.cross(self._unit(term), self._sorted_bags(), inputs, check=self._check)

    def _unit(self, term: Term) -> gpytorch.kernels.Kernel:
        return KernelSpec((Term(term.factors),)).build(self.columns).to(self.bags.inputs.device)

    def _way_of(self, term: Term) -> tuple[Way, Interpolation | None]:
        key = replace(term, scale=1.0)
        if key not in self._ways:
            self._ways = dict([*self._ways.items()][-_KEPT:])
            self._ways[key] = self._find_way(term)
        return self._ways[key]

    def _find_way(self, term: Term) -> tuple[Way, Interpolation | None]:
        points, subjects = len(self.bags.inputs), self.bags.count
        for route in routes_of(term) if len(self.columns) == 1 else ():
            if route is Route.CHEBYSHEV and (interpolation := self._interpolation(term)) is not None:
                nodes = len(interpolation.nodes)
                return Way(route, 1e-8 * points * nodes, nodes, interpolation.error), interpolation
            if route is Route.SORTED:
                return Way(route, 1e-8 * points * subjects), None
        return Way(Route.DIRECT, points**2 / 2 / _RATE), None

    def _interpolation(self, term: Term) -> Interpolation | None:
        unit = self._unit(term)
        return interpolate_kernel(lambda u, v: evaluate(unit, u, v), self.bags.inputs[:, 0])

    def _interpolated(self, interpolation: Interpolation) -> Float[Tensor, "n p"]:
        """Bag means of the interpolation weights; the nodes follow from their number."""
        count = len(interpolation.nodes)
        if count not in self._features:
            bags, total = self.bags, self.bags.inputs.new_zeros(self.bags.count, count)
            for begin in range(0, len(bags.inputs), _ROWS):
                self._check()
                rows = slice(begin, begin + _ROWS)
                weights = interpolation.weights(bags.inputs[rows, 0]).mul_(bags.weights[rows, None])
                total.index_add_(0, bags.bag[rows], weights)
            self._features[count] = total
        return self._features[count]

    def _sorted(self) -> SortedLine:
        if self._line is None:
            self._line = sort_line(self.bags.inputs[:, 0], self.bags.bag, self.bags.weights, self.bags.count)
        return self._line

    def _sorted_bags(self) -> SortedBags:
        if self._blocks is None:
            self._blocks = sort_bags(self.bags)
        return self._blocks
