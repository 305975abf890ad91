"""Data used in learning: few points of each bag, and kernels of coordinates on every pixel where possible."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import torch
from jaxtyping import Int
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from deconditioning.bag_sums.moving import BagGram, MovingGram, moving_gram, over_pairs
from deconditioning.bag_sums.radii import RadialTable, tabulate
from deconditioning.bag_sums.routes import by_features, by_radii
from deconditioning.downscaling.pictures.layouts import grid_layout
from deconditioning.downscaling.prediction import bags_inside, pixels_of_footprints, reads_bags
from deconditioning.downscaling.starting import columns_of, coordinate_names
from deconditioning.errors import Check
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models import defaults
from deconditioning.models.sparse.coreset import coreset
from deconditioning.models.spec import ModelSpec
from deconditioning.models.term_bags import bags_of_terms, block_diagonal, separate_bags
from deconditioning.observations import Bags, IndirectData

#: Makes the table of distances between bags, where the grid and memory allow one.
Tabulates = Callable[[], RadialTable | None]
#: The table of every bag of a problem, by its bags: models, warps of the target and the check one scale up look at the
#: same distances. Only the last one is kept, since it may be large.
_LAST = WeakIdKeyDictionary()
#: Bags and footprints beyond which each part has a table of its own: all pairs of them take 500 MB while it is made.
_TOGETHER = 5000


def distances_of(
    problem: DownscalingProblem, bags: Bags, points: Tensor, device: torch.device, check: Check,
    among: Int[Tensor, " n"] | None = None,
) -> Tabulates:  # fmt: skip
    """Makes the table of all pixels of ``bags``, whose rows are these pixels; once, however often it is asked for.

    ``among`` (n,) are their places among the bags of the problem's `joint_data` and, behind them, its footprints, whose
    table is made once for all; None if they are not among these.
    """

    @cache
    def table() -> RadialTable | None:
        """The table of distances; None if the pixels are on no regular grid, or if it would be too large."""
        whole, count = (None, 0) if among is None else _every_distance(problem, device, check)
        if among is None or whole is None:
            return _tabulated(problem, bags, points, device, check)
        return whole if len(among) == count else whole.only(among.to(device))

    return table


def _every_distance(problem: DownscalingProblem, device: torch.device, check: Check) -> tuple[RadialTable | None, int]:
    """The table of every bag and footprint of a problem, None where there can be none, and how many these are."""
    data, points = problem.joint_data, torch.as_tensor(problem.joint_pixel)
    bags = data.bags
    if data.footprints is not None:
        bags = Bags.joined([bags, data.footprints])
        points = torch.cat([points, pixels_of_footprints(problem)])
    if bags.count > _TOGETHER:
        return None, bags.count
    known: _Table | None = _LAST.get(problem.data.bags)
    if known is None or known.device != device or not known.is_of(bags, points):
        known = _Table(device, bags, points, _tabulated(problem, bags, points, device, check))
        _LAST.clear()
        _LAST[problem.data.bags] = known
    return known.distances, bags.count


@dataclass(frozen=True)
class _Table:
    """The ``distances`` of ``bags`` whose rows are these ``points`` of the grid, if there is a table of them."""

    device: torch.device
    bags: Bags
    points: Int[Tensor, " N"]
    distances: RadialTable | None

    def is_of(self, bags: Bags, points: Int[Tensor, " N"]) -> bool:
        """Whether these are the same bags; problems of the same cells may have other sources beside them."""
        return all(
            torch.equal(mine, other)
            for mine, other in (
                (self.points, points), (self.bags.bag, bags.bag), (self.bags.weights, bags.weights),
            )
        )  # fmt: skip


def _tabulated(
    problem: DownscalingProblem, bags: Bags, points: Int[Tensor, " N"], device: torch.device, check: Check
) -> RadialTable | None:
    layout = grid_layout(problem)
    return None if layout is None else tabulate(bags.to(device), layout.to(device), points.to(device), check)


def on_every_pixel(
    problem: DownscalingProblem, spec: ModelSpec, few: Bags, table: Tabulates, check: Check
) -> MovingGram | None:
    """K̄ whose terms of the place go by the ``table`` of the same bags, the others over the ``few`` points.

    None if the grid, the kernel or the model do not allow it.
    """
    if not (reads_bags(spec) and bags_inside(problem)):
        return None
    layout = grid_layout(problem)
    if layout is None:
        return None
    return moving_gram(spec.kernel, few, table, layout.to(few.inputs.device), problem.columns, check)


def learning_gram(
    problem: DownscalingProblem, spec: ModelSpec, small: IndirectData, data: IndirectData, check: Check
) -> tuple[BagGram | None, bool]:
    """K̄ that learning looks at where that is more than the few points of ``small``, and whether nothing but few points
    of terms that vary little in a cell is left."""
    if not spec.model.looks_at_footprints:
        rows, among = torch.as_tensor(problem.joint_pixel), torch.arange(data.bags.count)
        table = distances_of(problem, data.bags, rows, small.targets.device, check, among)
        moving_gram = on_every_pixel(problem, spec, small.bags, table, check)
        return moving_gram, moving_gram is not None and all(moving_gram.tabulated)
    rest, local = bags_of_terms(spec, small, columns_of(problem).place)
    assert data.footprints is not None
    alone = replace(spec, kernel=local.of(spec.kernel))
    among = problem.joint_data.bags.count + torch.arange(data.footprints.count)
    rows = pixels_of_footprints(problem)
    table = distances_of(problem, data.footprints, rows, small.targets.device, check, among)
    moving_gram = on_every_pixel(problem, alone, local.bags, table, check)
    if moving_gram is None:
        return None, False
    return block_diagonal([(rest, over_pairs(rest.bags, check)), (local, moving_gram)]), False


def distances_suffice(problem: DownscalingProblem, spec: ModelSpec, device: torch.device, check: Check) -> bool:
    """Whether a model looks at nothing of the targets' footprints but the distances between them."""
    footprints, layout = problem.data.footprints, grid_layout(problem)
    if footprints is None or not (spec.model.looks_at_footprints and bags_inside(problem)):
        return False
    local = separate_bags(spec, columns_of(problem).place, problem.data.bags, footprints)[1].of(spec.kernel)
    known = (
        by_radii(term, layout, problem.columns) or by_features([factor.kind for factor in term.factors])
        for term in local.terms
    )
    return all(known) and _every_distance(problem, device, check)[0] is not None


def thinned(data: IndirectData, points: int, seed: int, *, footprints: bool = True) -> IndirectData:
    """The data with few points per bag (k-means), and per footprint unless these are to stay whole."""
    few = data.footprints
    few = coreset(few, points, seed) if footprints and few is not None else few
    return replace(data, bags=coreset(data.bags, points, seed), footprints=few)


def centre_of_priors(problem: DownscalingProblem, spec: ModelSpec, bags: Bags) -> KernelSpec | None:
    """The centres of the priors of a model; None if they are the starting values."""
    return defaults.centre_of_priors(spec.model, spec.kernel, bags, problem.columns, coordinate_names(problem))
