"""A downscaling problem one scale up: merged bags and targets of visible cells, whose members are to be predicted."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.device import choose
from deconditioning.downscaling.checks.few_cells import widening
from deconditioning.downscaling.checks.local_scale_inputs import local_scale_inputs
from deconditioning.downscaling.prediction import bags_inside
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.grids.pixel_shares import mostly
from deconditioning.fields.problem.joined_cells import Joined, join_bags, join_targets
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.mediator_shift import reweighted
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.local_scale import Places, ScalePrior, local_scale
from deconditioning.models.sparse.coreset import coreset
from deconditioning.observations import Bags, IndirectData

#: Larger cells below which nothing can be learned from them.
_LEAST = 8


@dataclass(frozen=True)
class ProblemOneScaleUp:
    """A problem one scale up.

    Parameters
    ----------
    targets : how visible cells make larger ones.
    data : few-point bags and the targets of the larger cells (G).
    cells : (n) few-point bags of the problem's own cells; those of targets that are no bags come behind.
    shares : (n, G) what each has of every larger bag, ``target_shares`` (n, G′) of every larger target; None if
        these are the same, or the places of some are not known.
    scored : (C,) which of ``cells`` are scored, and ``joined`` (C,) their places among ``targets.item``.
    bags, points : the same cells with every pixel, and which prediction pixel each row is.
    among : (n,) places of the cells among the problem's bags and, behind them, footprints; None if not all are there.
    """

    targets: Joined
    data: IndirectData
    cells: Bags
    shares: Float[Tensor, "n G"]
    target_shares: Float[Tensor, "n T"] | None
    scored: Int[Tensor, " C"]
    joined: Int[np.ndarray, " C"]
    bags: Bags
    points: Int[Tensor, " N"]
    among: Int[Tensor, " n"] | None

    def errors(self, problem: DownscalingProblem, mean: Float[np.ndarray, " C"]) -> Float[np.ndarray, " C"]:
        """Known variances of the errors of the scored cells' values, of whose predictions ``mean`` is that of the
        standardised ones; 0 if there are none.

        Through a warp they go by its slope at what is predicted, which does not depend on the value that is scored.
        """
        plain = problem.plain
        if plain.data.errors is None:
            return np.zeros(len(mean))
        errors = plain.data.errors.cpu().numpy()[self.targets.item[self.joined]]
        if problem.warp is None:
            return errors
        values = problem.warp.backward(problem.target_scale.backward(mean))
        return problem.standardised_errors(values, plain.target_scale.sd * np.sqrt(errors)) ** 2

    def scale(self, problem: DownscalingProblem, conditioning: Conditioning) -> Float[Tensor, " C"]:
        """The local scale κ of a posterior of the larger cells, at the scored cells."""
        where, device = local_scale_inputs(problem), self.shares.device
        known = problem.target_cell if self.target_shares is None else problem.target_cell[self.targets.item]
        cells = where.of(known).to(device)
        shares = self.shares if self.target_shares is None else self.target_shares[problem.data.bags.count :]
        merged = Places(shares.T @ cells.position, shares.T @ cells.roughness)
        scored = where.of(problem.target_cell[self.targets.item]).to(device)
        return widening(local_scale(conditioning, ScalePrior(merged, scored)), len(problem.data.targets)).factor


def problem_one_scale_up(problem: DownscalingProblem, settings: DownscaleSettings) -> ProblemOneScaleUp | None:
    """The problem one scale up; None if too few cells have visible neighbours, or bags lie outside the pixels."""
    if not bags_inside(problem):
        return None
    targets = join_targets(problem)
    joined = targets if problem.matched else join_bags(problem)
    if min(targets.count, joined.count) < _LEAST:
        return None
    bags, points = problem.data.bags, torch.as_tensor(problem.bag_pixel)
    scored, known = torch.as_tensor(targets.item), np.arange(len(targets.item))
    every = torch.arange(bags.count)
    among: Tensor | None = every
    footprint_shares, parts = None, [coreset(bags, settings.points, settings.seed)]  # the points that are learned from
    if not problem.matched:
        footprints, rows, known = _footprints(problem, targets)
        if len(known) < _LEAST:
            return None
        scored = bags.count + torch.arange(len(known))
        parts += [coreset(footprints, settings.points, settings.seed + bags.count)]
        bags = Bags.joined([bags, footprints])
        points = torch.cat([points, rows])
        items = torch.as_tensor(targets.item[known])
        among = None if problem.data.footprints is None else torch.cat([every, problem.joint_data.bags.count + items])
    device, cells = choose(settings.device), Bags.joined(parts)
    shares = _shares(joined, cells.count)
    if not problem.matched and len(known) == len(targets.item):
        footprint_shares = torch.zeros(cells.count, targets.count, dtype=torch.float64)
        footprint_shares[scored, targets.group] = torch.as_tensor(targets.share)
    data = _larger(problem, joined, targets, cells, shares, footprint_shares)
    footprint_shares = None if footprint_shares is None else footprint_shares.to(device)
    return ProblemOneScaleUp(
        targets, data.to(device), cells.to(device), shares.to(device), footprint_shares, scored.to(device), known,
        bags, points, among,
    )  # fmt: skip


def _footprints(problem: DownscalingProblem, targets: Joined) -> tuple[Bags, Tensor, np.ndarray]:
    """Bags of the prediction pixels of the joined targets' own cells, which pixel each row is, and whose bags they are.

    Only cells of which at least half of the area is there.
    """
    cell, area = problem.target_cell[targets.item], problem.grid.area
    there = np.zeros(problem.grid.shape, dtype=bool)
    there.flat[problem.pixel] = True
    covered, whole = problem.shares.valid_area(there, area)
    known = np.flatnonzero(mostly(covered[cell], whole[cell]))
    rows, shares = problem.shares.bags(cell[known], problem.pixel, area.size)
    points, weights = torch.as_tensor(rows), torch.as_tensor(shares.areas(area))
    return Bags(problem.inputs[points], torch.as_tensor(shares.cell), len(known), weights), points, known


def _shares(joined: Joined, cells: int) -> Float[Tensor, "n G"]:
    shares = torch.zeros(cells, joined.count, dtype=torch.float64)
    shares[joined.item, joined.group] = torch.as_tensor(joined.share)
    return shares


def _larger(
    problem: DownscalingProblem, joined: Joined, targets: Joined, cells: Bags, shares: Float[Tensor, "n G"],
    footprint_shares: Float[Tensor, "n T"] | None,
) -> IndirectData:  # fmt: skip
    """Bags, mediators and targets of the larger cells, and their footprints; matched where the problem is."""
    data, average = problem.data, _shares(targets, len(problem.data.targets))
    mediators = shares[: data.bags.count].T @ data.mediators
    queries = mediators if problem.matched else average.T @ data.query_mediators
    footprints = None if footprint_shares is None else _larger_bags(cells, footprint_shares)
    bags = _larger_bags(cells, shares)
    means = _targets(problem, targets, average)
    larger = IndirectData(
        bags, mediators, queries, means, footprints=footprints, errors=_errors(problem, targets, average)
    )
    return larger if data.importance is None else reweighted(larger)


def _targets(problem: DownscalingProblem, targets: Joined, average: Float[Tensor, "M G"]) -> Float[Tensor, " G"]:
    """Standardised means of the larger cells; those of a warped target are warped means."""
    if problem.warp is None:
        return average.T @ problem.data.targets
    means = targets.mean(problem.coarse.flat[problem.target_cell])
    return torch.as_tensor(problem.standardised(means))


def _errors(problem: DownscalingProblem, targets: Joined, average: Float[Tensor, "M G"]) -> Float[Tensor, " G"] | None:
    """Variances of the errors of these means, None if no cell has any; through a warp as those of cells are."""
    plain = problem.plain
    if plain.data.errors is None:
        return None
    errors = average.square().T @ plain.data.errors
    if problem.warp is None:
        return errors
    means = targets.mean(problem.coarse.flat[problem.target_cell])
    sds = plain.target_scale.sd * errors.sqrt().cpu().numpy()
    return torch.as_tensor(problem.standardised_errors(means, sds)).square()


def _larger_bags(cells: Bags, shares: Float[Tensor, "n G"]) -> Bags:
    """Bags joined from those of the cells by what each has of them; a cell is in one of them or in none."""
    share, group = shares.max(1)
    group = torch.where(share > 0, group, -1)
    rows = torch.nonzero(group[cells.bag] >= 0)[:, 0]
    rows = rows[group[cells.bag[rows]].argsort(stable=True)]
    return Bags(
        cells.inputs[rows],
        group[cells.bag[rows]],
        shares.shape[1],
        weights=cells.weights[rows] * share[cells.bag[rows]],
        sizes=(shares > 0).to(shares).T @ cells.sizes,
        contamination=shares.square().T @ cells.contamination,
    )
