"""Pseudo-targets: estimated targets of bags for models that need matched data."""

from dataclasses import replace

import torch
from torch.utils.weak import WeakIdKeyDictionary

from deconditioning import linalg
from deconditioning.errors import Check, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.centroids import singletons
from deconditioning.models.indirect_gp import DENSE_LIMIT, Columns, posterior
from deconditioning.models.learning.learning import LearningOptions, fit_target_gp
from deconditioning.models.learning.optimise import Report
from deconditioning.observations import IndirectData

#: The last pseudo-targets of data that are still in use, with what they were made by: learning, the map and its draws
#: take the same ones.
_LAST = WeakIdKeyDictionary()


def with_pseudo_targets(
    kernel: KernelSpec,
    data: IndirectData,
    columns: Columns,
    options: LearningOptions | None = None,
    *,
    report: Report = lambda event: None,
    check: Check = never,
) -> IndirectData:
    """Matched data with target ``E[g(y_j) | D2]`` for bag ``j``, ``g ~ GP(0, ℓ)`` fitted to ``z̃ = g(ỹ) + e``.

    Row ``j`` of the new targets belongs to bag ``j``; matched data are returned unchanged. Their ``covariance`` is that
    of ``g(y_j) + e_j`` given D2, which every posterior propagates; None beyond 5,000 bags. The paper treats the means
    as measurements. Source: Chau et al. 2021, §5.1.2.
    """
    if data.matched:
        return data
    request = kernel, columns, options or LearningOptions()
    known: tuple[object, IndirectData] | None = _LAST.get(data)
    if known is None or known[0] != request:
        result, whole = _estimated(kernel, data, columns, request[2], report, check)
        known = request, result
        if whole:
            _LAST[data] = known
    return known[1]


def _estimated(
    kernel: KernelSpec, data: IndirectData, columns: Columns, options: LearningOptions, report: Report, check: Check
) -> tuple[IndirectData, bool]:
    """The same, made anew, and whether learning was not cut short."""
    fitted, optimum, _ = fit_target_gp(kernel, data, columns, options, report, check)
    query = data.query_mediators
    regression = IndirectData(singletons(query), query, query, data.targets, errors=data.errors)
    g = posterior(fitted, regression, Columns(columns.mediators))
    with torch.no_grad():
        targets = g.mean(data.mediators)
        covariance = None
        if len(targets) <= DENSE_LIMIT:
            noise = fitted.noise * linalg.identity(len(targets), targets)
            covariance = g.covariance(data.mediators) + noise
    result = replace(
        data, query_mediators=data.mediators, targets=targets, covariance=covariance, footprints=None, errors=None
    )
    return result, not optimum.cancelled
