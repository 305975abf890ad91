"""The only place that decides which algorithms may sum a term, from the declarations of its kernel families.

An algorithm is available for a term only if all its families declare what it needs; sums over pairs of points are
available for every kernel. Callers try the available ones in the given order, which is that of their cost.
"""

from collections.abc import Sequence
from enum import StrEnum

from deconditioning.bag_sums.line_sums import decay_of
from deconditioning.bag_sums.offsets import GridLayout
from deconditioning.bag_sums.sphere import SphereLayout
from deconditioning.kernels.families.family import Family
from deconditioning.kernels.spec import Factor, Term

Layout = GridLayout | SphereLayout


class Route(StrEnum):
    """An algorithm for the sums of a term, named for display."""

    FEATURES = "features"
    OFFSETS = "block offsets"
    LONGITUDES = "longitudes"
    CHEBYSHEV = "Chebyshev interpolation"
    SORTED = "sorted sums"
    FEW_POINTS = "few points, error below 1e-10"
    DIRECT = "direct summation"

    @property
    def by_grid(self) -> bool:
        """Whether it needs pixels on a regular grid."""
        return self in (Route.OFFSETS, Route.LONGITUDES)

    @property
    def cheap(self) -> bool:
        """Whether it needs no pass over pairs of pixels."""
        return self.by_grid or self in (Route.FEATURES, Route.CHEBYSHEV)


def routes_of(term: Term, layout: Layout | None = None, names: tuple[str, ...] = ()) -> tuple[Route, ...]:
    """The algorithms available for a term, the cheapest first; those on the grid if there is a ``layout``.

    ``names`` are the columns of the layout's axes. A degenerate term is a product of few features. In one column,
    smooth terms are interpolated and polynomials times an exponential are summed by sorting; smooth terms of several
    columns use few points, or products of the features of few points of each column.
    """
    kinds = [factor.kind for factor in term.factors]
    columns = len({name for factor in term.factors for name in factor.columns})
    result = [Route.FEATURES] if by_features(kinds) else []
    if isinstance(layout, GridLayout) and _stationary(term, layout, names):
        result.append(Route.OFFSETS)
    if isinstance(layout, SphereLayout) and all(_isotropic(factor, layout, names) for factor in term.factors):
        result.append(Route.LONGITUDES)
    if by_line(kinds, columns):
        result.append(Route.CHEBYSHEV)
    if columns == 1 and decay_of(term) is not None:
        result.append(Route.SORTED)
    if columns != 1 and all(kind.smooth for kind in kinds):
        result.append(Route.FEW_POINTS)
    return (*result, Route.DIRECT)


def by_features(kinds: Sequence[Family]) -> bool:
    """Whether a term with factors of these families is a product of few features."""
    return len(kinds) == 1 and kinds[0].degenerate


def by_line(kinds: Sequence[Family], columns: int) -> bool:
    """Whether a term of so many columns with factors of these families can be interpolated along one."""
    return columns == 1 and all(kind.smooth for kind in kinds)


def by_distance(kinds: Sequence[Family], scales: Sequence[int]) -> bool:
    """Whether factors of these families, with so many lengthscales each, depend only on a distance."""
    return all(kind.isotropic and count == 1 for kind, count in zip(kinds, scales, strict=True))


def by_radii(term: Term, layout: Layout | None, names: tuple[str, ...]) -> bool:
    """Whether a term depends only on the distance on the grid, for all values of its hyperparameters."""
    if layout is None:
        return False
    axes = {names[axis] for axis in layout.axes}
    alone = by_distance([f.kind for f in term.factors], [len(f.lengthscales) for f in term.factors])
    return alone and all(set(factor.columns) == axes for factor in term.factors)


def _stationary(term: Term, layout: GridLayout, names: tuple[str, ...]) -> bool:
    """Whether a term is stationary in the two coordinates of a plane and has no other columns."""
    axes = {names[axis] for axis in layout.axes}
    return all(factor.kind.stationary and set(factor.columns) <= axes for factor in term.factors)


def _isotropic(factor: Factor, layout: SphereLayout, names: tuple[str, ...]) -> bool:
    """Whether a factor is isotropic in the plane of the equator and has no other columns."""
    x, y, z = (names[axis] for axis in layout.axes)
    if not factor.kind.isotropic or not set(factor.columns) <= {x, y, z}:
        return False
    return factor.lengthscale_of.get(x) == factor.lengthscale_of.get(y)
