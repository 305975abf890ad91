"""Computations while a slider moves: cached bag sums by term, and a preview before the exact picture."""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from deconditioning.bag_sums.by_term import PartedPicture, Rows, rows_in, rows_of, sees_only
from deconditioning.bag_sums.cached_terms import MOST_BYTES, SumsStore
from deconditioning.bag_sums.pixel_sums import Picture, PictureSums, is_cheap, term_sums
from deconditioning.bag_sums.preview import FewPoints, each, few_point_sums, few_points
from deconditioning.device import one_thread
from deconditioning.downscaling.checks.local_scale_inputs import scaled
from deconditioning.downscaling.prediction import (
    Prediction,
    averaged,
    data_of,
    fits_in_memory,
    picture_for,
    predict,
    predict_from_sums,
    reads_bags,
    total,
)
from deconditioning.downscaling.starting import columns_of
from deconditioning.downscaling.warping.cell_values import cell_values, mixed
from deconditioning.downscaling.warping.physical_map import Parts
from deconditioning.errors import Check, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import Term
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.indirect_gp import condition_on_gram
from deconditioning.models.learning.parameters import with_values
from deconditioning.models.learning.trainable import noises_at
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.posterior_moments import averaged_moments
from deconditioning.models.sparse.coreset import coreset
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import Bags, IndirectData

#: Points of a bag that a preview looks at where exact sums would take too long.
_PREVIEW_POINTS = 4
#: What a preview affords: pairs of points and pixels, pixels drawn, multiplications for the sd; points of all bags.
_PAIRS = 120_000_000
_DRAWN = 100_000
_PRODUCTS = 4_000_000_000
_MOST_POINTS = 50_000
_TOGETHER = 2048
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Thinned:
    """Every ``stride``-th pixel each way: indices of those ``chosen``, and for every pixel which of them stands for it
    (``repeat``)."""

    stride: int
    chosen: Tensor
    repeat: Tensor

    @property
    def sentence(self) -> str:
        """How to call it."""
        return "every pixel" if self.stride == 1 else f"every {self.stride**2}th pixel"


def thinned(pixel: np.ndarray, width: int, stride: int) -> Thinned:
    """Thin pixels, given as ascending flat indices of a grid with ``width`` columns.

    A pixel is stood for by the first of its square of ``stride``²; where that one is missing, it stands for itself.
    """
    row, column = np.divmod(pixel, width)
    home = (row - row % stride) * width + (column - column % stride)
    chosen = np.flatnonzero(home == pixel)
    nearest = np.searchsorted(pixel[chosen], home).clip(0, max(len(chosen) - 1, 0))
    lost = np.ones(len(pixel), bool) if len(chosen) == 0 else pixel[chosen][nearest] != home
    extra = np.flatnonzero(lost)
    nearest[extra] = len(chosen) + np.arange(len(extra))
    return Thinned(stride, torch.as_tensor(np.concatenate([chosen, extra])), torch.as_tensor(nearest))


class Sketch:
    """The parts of a problem that its previews use: pixels for the mean, pixels for the sd, and points of the bags.

    The points are k-means centres (`coreset`), chosen when they are first needed; ``kept`` caches their sums by term,
    so that a slider recomputes only its own term.
    """

    def __init__(self, mean_at: Thinned, sd_at: Thinned, *bags: Bags) -> None:
        self.mean_at, self.sd_at = mean_at, sd_at
        self.kept = SumsStore()
        self._bags = bags
        self._few: dict[int, FewPoints] = {}
        self._for_sd: WeakKeyDictionary[PictureSums, Tensor] = WeakKeyDictionary()
        self._lock = threading.Lock()

    @property
    def few(self) -> FewPoints:
        """The points of the bags, the same ever after."""
        return self.few_of(0)

    def few_of(self, which: int) -> FewPoints:
        """The points of the first, or another, kind of bags, the same ever after."""
        with self._lock:
            if which not in self._few:
                self._few[which] = few_points(coreset(self._bags[which], _PREVIEW_POINTS))
            return self._few[which]

    def for_sd(self, sums: PictureSums, whole: bool) -> Tensor:
        """A term's sums at the sd's pixels (B, Q), float32, without rows that are zero (`rows_in`); ``whole`` sums hold
        every pixel, others the mean's."""
        with self._lock:
            if sums not in self._for_sd:
                at = self.sd_at.chosen if whole else self.mean_at.repeat[self.sd_at.chosen]
                cross = sums.cross.sums if isinstance(sums.cross, Rows) else sums.cross
                self._for_sd[sums] = torch.cat([cross.at(part).float() for part in at.split(_TOGETHER)], dim=1)
            return self._for_sd[sums]


def sketch(problem: DownscalingProblem, *, every_pixel: bool = False) -> Sketch:
    """Choose by the problem's size what a preview can afford, or take the mean at ``every_pixel``."""
    bags, pixels = problem.joint_data.bags, len(problem.pixel)
    width = problem.grid.area.shape[1]
    pairs = bags.count * _PREVIEW_POINTS * pixels
    stride = 1 if every_pixel else _stride(max(pairs / _PAIRS, pixels / _DRAWN))
    mean_at = thinned(problem.pixel, width, stride)
    sd_at = thinned(problem.pixel, width, max(mean_at.stride, _stride(bags.count**2 * pixels / _PRODUCTS)))
    footprints = problem.joint_data.footprints
    return Sketch(mean_at, sd_at, bags, *(() if footprints is None else (footprints,)))


def _stride(excess: float) -> int:
    """The smallest power of two whose square is at least ``excess``."""
    return 1 << max(0, math.ceil(math.log2(max(excess, 1.0)) / 2))


class Later(Generic[_Value]):
    """A value computed on first use; its inputs are then released."""

    def __init__(self, compute: Callable[[], _Value]) -> None:
        self._compute: Callable[[], _Value] | None = compute
        self._lock = threading.Lock()

    def __call__(self) -> _Value:
        """The value."""
        with self._lock:
            if self._compute is not None:
                self._value, self._compute = self._compute(), None
            return self._value


@dataclass(frozen=True)
class Preview:
    """An approximate mean and sd of the pixels' values (P,) at the current settings, with sentences on the
    approximation.

    Both are computed at some pixels (`Sketch`) and repeated around them; the sd only on request. ``cells`` as of
    `Prediction`.
    """

    mean: Tensor
    sd: Later[Tensor]
    approximations: tuple[str, ...]
    cells: Parts = ()


@one_thread()
def preview(
    spec: ModelSpec,
    data: IndirectData,
    problem: DownscalingProblem,
    key: str,
    store: SumsStore,
    picture: Picture | PartedPicture | None,
    look: Sketch,
) -> Preview:
    """A picture in well under a second: exact sums if they are cached or cheap, otherwise a few points of each bag."""
    if spec.others:
        return _averaged(
            [
                (weight, preview(each, data_of(each, spec, data, problem), problem, key, store, member_picture, look))
                for weight, each, member_picture in components(spec, problem, picture)
            ]
        )
    if not reads_bags(spec):
        return _preview_through(spec, data, problem, look)
    located = columns_of(problem).place if spec.model.looks_at_footprints else None
    key = sums_key(key, spec)
    parts = [(term.scale, *quick_sums(term, problem, key, store, picture, look, located)) for term in spec.kernel.terms]
    conditioned = condition_on_gram(spec, data, columns_of(problem), total(s * sums.gram for s, sums, _ in parts))
    mean: Tensor = torch.zeros((), dtype=data.targets.dtype)
    for scale, sums, whole in parts:
        part = scale * sums.cross.across(conditioned.dual).to(mean.dtype)
        mean = mean + (part[look.mean_at.chosen] if whole else part)
    sampled = any(not whole for _, _, whole in parts)
    where = f"at {look.mean_at.sentence}"
    method = f"{where}, {_PREVIEW_POINTS} points a cell" if sampled else f"exact {where}"
    one = ", at one set of hyperparameters" if spec.spread is not None else ""
    sentence = f"preview: mean {method}, sd at {look.sd_at.sentence}{one}"
    sd = Later(lambda: spec.value_sd(scaled(spec, problem, conditioned, _variance(conditioned, parts, look))))
    return Preview((spec.mean + mean)[look.mean_at.repeat], sd, (sentence,), cell_values(problem, conditioned))


def components(
    spec: ModelSpec, problem: DownscalingProblem, picture: Picture | PartedPicture | None
) -> list[tuple[float, ModelSpec, Picture | PartedPicture | None]]:
    """The models of an average with their weights and the pictures that they see; ``picture`` is the first one's."""
    same = spec.model.looks_at_footprints
    return [
        (weight, each, picture if each.model.looks_at_footprints == same else picture_or_none(problem, each))
        for weight, each in spec.components
    ]


def _averaged(parts: list[tuple[float, Preview]]) -> Preview:
    """The average of previews, whose weights sum to one."""
    weights, each = [weight for weight, _ in parts], [part for _, part in parts]
    mean = total(weight * part.mean for weight, part in parts)

    def sd() -> Tensor:
        """Standard deviation (P,) of the mixture."""
        return averaged_moments(weights, [(part.mean, part.sd().square()) for part in each])[1].sqrt()

    return Preview(mean, Later(sd), each[0].approximations, mixed([(weight, part.cells) for weight, part in parts]))


def quick_sums(
    term: Term, problem: DownscalingProblem, key: str, store: SumsStore, picture: Picture | PartedPicture | None,
    look: Sketch, place: tuple[str, ...] | None,
) -> tuple[PictureSums, bool]:  # fmt: skip
    """Exact sums at every pixel (True) where they are kept or cheap, else those of a few points at some pixels.

    Where terms of the ``place`` alone go through footprints, each has rows for both kinds of bags.
    """
    sums = store.get(key, term)
    if sums is None and picture is not None and is_cheap(term, picture.of(term)):
        sums = store.put(key, term, picture.placed(term, term_sums(term, picture.of(term))))
    if sums is not None:
        return sums, True
    sums = look.kept.get(key, term)
    if sums is None:
        inputs = problem.inputs[look.mean_at.chosen]
        which = int(place is not None and sees_only(term, place))
        sums = few_point_sums(term, problem.columns, look.few_of(which), inputs)
        if place is not None:
            above, below = (look.few_of(kind).bags.count for kind in (0, 1))
            sums = rows_of(sums, *((above, below) if which else (0, above)), above + below)
        sums = look.kept.put(key, term, sums)
    return sums, False


@one_thread()
def _variance(conditioned: Conditioning, parts: list[tuple[float, PictureSums, bool]], look: Sketch) -> Tensor:
    """Variance at the sketch's pixels, repeated (P,); the large product is taken in float32."""
    at = look.sd_at.chosen
    among = look.mean_at.repeat[at]  # where among the mean's pixels these are
    prior = total(s * sums.prior[at if whole else among].double() for s, sums, whole in parts)
    root, reduction = conditioned.root.float().T.contiguous(), torch.empty(len(at))
    cached: dict[tuple[int, int], list[tuple[float, Tensor]]] = {}
    for scale, sums, whole in parts:
        cached.setdefault(rows_in(sums.cross, root.shape[1]), []).append((scale, look.for_sd(sums, whole)))

    def fill(begin: int) -> None:
        """Write the reduction of variance at the pixels from ``begin`` on."""
        columns = slice(begin, begin + _TOGETHER)
        products = total(
            root[:, first:last] @ total(scale * cross[:, columns] for scale, cross in terms)
            for (first, last), terms in cached.items()
        )
        reduction[columns] = conditioned.summed(products.square())

    each(fill, range(0, len(at), _TOGETHER))
    return (prior - reduction.double())[look.sd_at.repeat]


def _preview_through(spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, look: Sketch) -> Preview:
    """Models on centroids or through inducing points: cheap at some pixels; large bags by their few points."""
    few = len(data.bags.inputs) > _MOST_POINTS
    fitted = named_posterior(spec, replace(data, bags=look.few.bags) if few else data, columns_of(problem))
    mean = fitted.mean(problem.inputs[look.mean_at.chosen])[look.mean_at.repeat]
    at = problem.inputs[look.sd_at.chosen]
    sd = Later(lambda: spec.value_sd(fitted.variance(at))[look.sd_at.repeat])
    points = f", {_PREVIEW_POINTS} points a cell" if few else ""
    sentence = f"preview: mean at {look.mean_at.sentence}{points}, sd at {look.sd_at.sentence}"
    return Preview(mean, sd, (sentence,), cell_values(problem, getattr(fitted, "conditioning", None)))


def exact(
    spec: ModelSpec,
    data: IndirectData,
    problem: DownscalingProblem,
    key: str,
    store: SumsStore,
    picture: Picture | PartedPicture | None,
    check: Check = never,
) -> Prediction:
    """The exact posterior at every pixel; sums come from the cache, or are computed and cached."""
    if spec.others:
        parts = [
            (weight, exact(each, data_of(each, spec, data, problem, check), problem, key, store, member_picture, check))
            for weight, each, member_picture in components(spec, problem, picture)
        ]
        return averaged(parts)
    if picture is None or spec.spread is not None or not reads_bags(spec):
        return predict(spec, data, problem, check=check)
    return predict_from_sums(spec, data, problem, store.parts(sums_key(key, spec), spec.kernel, picture, check))


def sums_key(key: str, spec: ModelSpec) -> str:
    """The name of a problem in a store of sums: apart for models whose terms go through other bags."""
    return f"{key} parted" if spec.model.looks_at_footprints else key


def picture_or_none(problem: DownscalingProblem, spec: ModelSpec) -> Picture | PartedPicture | None:
    """The picture whose sums are kept term by term, or None if two terms of it would fill the store."""
    small = 2 * 8 * problem.data.bags.count * len(problem.pixel) <= MOST_BYTES
    return picture_for(spec, problem) if small and fits_in_memory(problem) else None


def traced_spec(spec: ModelSpec, problem: DownscalingProblem, values: dict[str, Any]) -> ModelSpec:
    """The model at the hyperparameters a trace row reports (names as learning gives them)."""
    numbers = {str(k): float(v) for k, v in values.items() if isinstance(v, int | float) and v > 0 and math.isfinite(v)}
    changes: dict[str, Any] = {"kernel": with_values(spec.kernel, "k", problem.columns, numbers), "spread": None}
    if spec.mediator_kernel is not None:
        changes["mediator_kernel"] = with_values(spec.mediator_kernel, "ℓ", problem.mediator_columns, numbers)
    changes |= noises_at(spec, numbers)
    changes["regularisation"] = numbers.get("regularisation λ", spec.regularisation)
    return replace(spec, **changes)
