"""A series linked through time: whether it can be, and whether that pays."""

from dataclasses import replace

import numpy as np
import torch
from torch.nn.functional import pad

from deconditioning import linalg
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of
from deconditioning.errors import Check, InputError, never
from deconditioning.models.indirect_gp import weights_and_noise
from deconditioning.models.spec import ModelSpec
from deconditioning.period.correlation import days_of
from deconditioning.period.linking.cells import (
    LEAST_TIMES,
    Cells,
    Linked,
    Root,
    learned,
    most_missing,
    pays,
    worth_trying,
)
from deconditioning.period.linking.moving import LinkedMoving, MovingCells, moving_cells
from deconditioning.period.posterior import PixelSums
from deconditioning.period.series import Series
from deconditioning.period.space_time import smoothed_chain


def linked_series(
    series: Series, spec: ModelSpec, sums: PixelSums, settings: DownscaleSettings, wanted: bool | None,
    check: Check = never,
) -> Linked | None:  # fmt: skip
    """The series linked through time; None if it is not: not ``wanted``, or, where that is left open, without missing
    cells or without a gain at values left out.

    τ and β are learned from the evidence with the space kernel held; where linking is requested, σ² in place of β, as
    noise looks like small patterns that do not last, unless ``settings`` hold it. It is otherwise held, so that the
    cells are reproduced as by each time alone. Raises ``InputError`` if linking is requested and impossible.
    """
    if wanted is False:
        return None
    targets = series.targets(range(len(series))).to(sums.gram) - spec.mean
    if wanted is None and not worth_trying(targets, series.members, noisy=series.errors is not None):
        return None
    cells, why = _cells_of(series, spec, sums, check)
    if cells is None:
        if wanted:
            raise InputError(f"The times cannot be linked: {why}.")
        return None
    days = days_of(series.dates)
    some = most_missing(targets, series.member)
    learn = bool(wanted) and settings.learn and "noise" not in (settings.hold or ())
    part = cells.only(some)
    known = part, targets[:, some], days[some], spec.noise
    lasting, noise = learned(*known, separable=learn or len(some) < LEAST_TIMES, learn=learn, check=check)
    if wanted is None and not pays(*known, (lasting, noise)):
        return None
    check()
    chain = cells.chain(days, series.member, lasting, noise)
    given = smoothed_chain(chain, targets)
    if isinstance(cells, MovingCells):
        return LinkedMoving(cells, targets, given, lasting, noise, chain, series)
    return Linked(cells, targets, given, lasting, noise, chain)


def _cells_of(
    series: Series, spec: ModelSpec, sums: PixelSums, check: Check
) -> tuple[Cells | None, str]:  # fmt: skip
    """What links the cells; None and the reason if nothing does."""
    if spec.model.has_unknown_part:
        return None, f"the model '{spec.model.name}' has errors of its own in space"
    if (np.diff(days_of(series.dates))[np.diff(series.member) == 0] <= 0).any():
        return None, "they are not in order"
    if series.varying is not None:
        return moving_cells(series, spec, sums.gram.device, check)
    data, columns = series.problem.joint_data, columns_of(series.problem)
    common = sums.gram.new_zeros(len(data.targets), 0)
    if data.points is not None:
        points = data.points
        data = replace(data, points=replace(points, prior=torch.zeros_like(points.prior)))
        before = len(data.targets) - len(points.variance)
        common = pad(points.effects * points.prior.sqrt(), (0, 0, before, 0)).to(sums.gram)
    weights, noise = weights_and_noise(replace(spec, noise=0.0), data, columns)
    if not linalg.is_identity(weights):
        return None, "cells are matched through mediators"
    constant = float(sum(t.scale for t in spec.kernel.terms if all(f.family == "constant" for f in t.factors)))
    gram, count = sums.gram.detach() - constant, len(series.problem.data.targets)
    root = Root.of(gram)
    noise, errors = noise.to(gram), series.variances(range(len(series)))
    if errors is not None:  # where a target is missing, its error does not matter
        noise = noise + torch.diag_embed(errors.T.nan_to_num(nan=0.0).to(gram))
    return Cells(root, constant, noise, common, count), ""
