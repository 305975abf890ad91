"""What a page needs while a slider moves: bag sums kept per term, and a picture before the exact one is there."""

import json
import math
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.experiments.prediction import (
    Prediction,
    fits_in_memory,
    picture_of,
    predict,
    predict_from_sums,
    reads_bags,
    total,
)
from core.experiments.settings import columns_of
from core.fields import DownscalingProblem
from core.kernels.bag_mean import Check, cross, gram, never
from core.kernels.blocks import sort_bags
from core.kernels.pixel_sums import Picture, PictureSums, is_cheap, term_sums
from core.kernels.spec import KernelSpec, Term
from core.kernels.tiles import diagonal
from core.models.indirect_gp import condition_on_gram
from core.models.named_posterior import named_posterior
from core.models.parameters import with_values
from core.models.spec import ModelSpec
from core.observations import Bags, IndirectData

#: Points of a bag that a preview looks at where exact sums would take too long.
PREVIEW_POINTS = 4
#: Pairs of sampled points and pixels up to which a preview computes every pixel.
_ALL_PIXELS = 20_000_000
_BYTES = 500_000_000


def term_key(term: Term) -> str:
    """Identity of a term's unit-scale sums: its factors."""
    return json.dumps(KernelSpec((replace(term, scale=1.0),)).to_dict(), sort_keys=True)


class SumsStore:
    """Bag sums of recently used terms, oldest dropped first, bounded in bytes; safe between threads."""

    def __init__(self, limit: int = _BYTES) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], PictureSums] = OrderedDict()

    def get(self, problem: str, term: Term) -> PictureSums | None:
        """The sums, when they are kept."""
        with self._lock:
            found = self._kept.get((problem, term_key(term)))
            if found is not None:
                self._kept.move_to_end((problem, term_key(term)))
            return found

    def put(self, problem: str, term: Term, sums: PictureSums) -> PictureSums:
        """Keep sums, dropping the least recently used beyond the limit."""
        with self._lock:
            self._kept[problem, term_key(term)] = sums
            while len(self._kept) > 1 and sum(8 * s.cross.numel() for s in self._kept.values()) > self._limit:
                self._kept.popitem(last=False)
        return sums


@dataclass(frozen=True)
class Preview:
    """A quick look: mean and sd (P,) at the slider's own settings; sentences say what in them is approximate.

    The sd (and the mean, where a term was sampled) is computed at every fourth pixel and repeated around it.
    """

    mean: Tensor
    sd: Tensor
    approximations: tuple[str, ...]


def _some_pixels(problem: DownscalingProblem) -> tuple[Tensor, Tensor, str]:
    """Indices of the pixels a preview computes, for every pixel which of them it repeats, and how to call them."""
    if problem.data.bags.count * PREVIEW_POINTS * len(problem.pixel) <= _ALL_PIXELS:
        everywhere = torch.arange(len(problem.pixel))
        return everywhere, everywhere, "every pixel"
    width = problem.grid.area.shape[1]
    row, column = np.divmod(problem.pixel, width)
    home = (row - row % 2) * width + (column - column % 2)
    chosen = np.flatnonzero(home == problem.pixel)
    place = np.searchsorted(problem.pixel[chosen], home).clip(0, max(len(chosen) - 1, 0))
    lost = problem.pixel[chosen][place] != home  # the home pixel is missing: stand for yourself
    extra = np.flatnonzero(lost)
    place[extra] = len(chosen) + np.arange(len(extra))
    return torch.as_tensor(np.concatenate([chosen, extra])), torch.as_tensor(place), "every fourth pixel"


def _sampled(bags: Bags, count: int) -> Bags:
    """Evenly spaced points of each bag, at most ``count``, their weights made to sum to one again."""
    rank = torch.zeros_like(bags.bag)
    order = torch.argsort(bags.bag, stable=True)
    sizes = torch.bincount(bags.bag, minlength=bags.count)
    starts = torch.cumsum(sizes, 0) - sizes
    rank[order] = torch.arange(len(order)) - starts[bags.bag[order]]
    step = sizes[bags.bag].double() / count
    keep = (sizes[bags.bag] <= count) | ((rank / step).floor() != ((rank - 1) / step).floor())
    return Bags(
        bags.inputs[keep],
        bags.bag[keep],
        bags.count,
        weights=bags.weights[keep],
        sizes=bags.sizes,
        contamination=bags.contamination,
    )


def preview(
    spec: ModelSpec,
    data: IndirectData,
    problem: DownscalingProblem,
    key: str,
    store: SumsStore,
    picture: Picture | None,
) -> Preview:
    """A picture well under a second: exact sums where they are kept or cheap, sampled bags where not."""
    some, repeat, which = _some_pixels(problem)
    if not reads_bags(spec):
        given = named_posterior(spec, data, columns_of(problem))
        inputs = problem.inputs[some]
        return Preview(given.mean(inputs)[repeat], given.variance(inputs).sqrt()[repeat], (f"preview: {which}",))
    whole: list[tuple[float, Tensor]] = []
    parts: list[tuple[float, Tensor, Tensor, Tensor]] = []
    sampled = 0
    for term in spec.kernel.terms:
        sums = store.get(key, term)
        if sums is None and picture is not None and is_cheap(term, picture):
            sums = store.put(key, term, term_sums(term, picture))
        if sums is None:
            sampled += 1
            parts.append((term.scale, *_sampled_sums(term, problem, some)))
        else:
            whole.append((term.scale, sums.cross))
            parts.append((term.scale, sums.cross[:, some], sums.gram, sums.prior[some]))
    conditioned = condition_on_gram(spec, data, columns_of(problem), total(s * g for s, _, g, _ in parts))
    small = total(s * c for s, c, _, _ in parts)
    variance = total(s * p for s, _, _, p in parts) - conditioned.reduction(small)
    sd = variance.clamp_min(0).sqrt()[repeat]
    if sampled:
        mean = (spec.mean + conditioned.mean(small))[repeat]
        said = f"preview: {which}, {PREVIEW_POINTS} points a cell"
    else:
        mean = spec.mean + total(s * (c.T @ conditioned.dual) for s, c in whole)
        said = f"preview: mean exact, sd at {which}"
    return Preview(mean, sd, (said,))


def _sampled_sums(term: Term, problem: DownscalingProblem, some: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    kernel = KernelSpec((Term(term.factors),)).build(problem.columns)
    bags = sort_bags(_sampled(problem.data.bags, PREVIEW_POINTS))
    inputs = problem.inputs[some]
    with torch.no_grad():
        return cross(kernel, bags, inputs), gram(kernel, bags), diagonal(kernel, inputs)


def exact(
    spec: ModelSpec,
    data: IndirectData,
    problem: DownscalingProblem,
    key: str,
    store: SumsStore,
    picture: Picture | None,
    check: Check = never,
) -> Prediction:
    """The exact posterior at every pixel; sums are taken from the store, or computed and kept there."""
    if picture is None or not reads_bags(spec):
        return predict(spec, data, problem, check=check)

    parts = []
    for term in spec.kernel.terms:
        kept = store.get(key, term)
        parts.append((term.scale, kept or store.put(key, term, term_sums(term, picture, check=check))))
    return predict_from_sums(spec, data, problem, parts)


def picture_or_none(problem: DownscalingProblem) -> Picture | None:
    """The picture whose sums are kept term by term, or None where two terms of it would fill the store."""
    small = 2 * 8 * problem.data.bags.count * len(problem.pixel) <= _BYTES
    return picture_of(problem) if small and fits_in_memory(problem) else None


def traced_spec(spec: ModelSpec, problem: DownscalingProblem, values: dict[str, Any]) -> ModelSpec:
    """The model at the hyperparameters a trace row reports (names as learning gives them)."""
    numbers = {str(k): float(v) for k, v in values.items() if isinstance(v, int | float) and v > 0 and math.isfinite(v)}
    changes: dict[str, Any] = {"kernel": with_values(spec.kernel, "k", problem.columns, numbers)}
    if spec.mediator_kernel is not None:
        changes["mediator_kernel"] = with_values(spec.mediator_kernel, "ℓ", problem.mediator_columns, numbers)
    for name, field in (
        ("noise σ²", "noise"),
        ("point noise ς²", "point_noise"),
        ("regularisation λ", "regularisation"),
    ):
        if name in numbers:
            changes[field] = numbers[name]
    return replace(spec, **changes)
