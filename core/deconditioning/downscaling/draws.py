"""Joint posterior draws over a whole picture: fields that all fit the same coarse cells."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.by_term import PartedPicture
from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.bag_sums.pixel_sums import Picture
from deconditioning.device import one_thread
from deconditioning.downscaling.checks.local_scale_inputs import scale_at
from deconditioning.downscaling.grid_draws import grid_draws
from deconditioning.downscaling.interactive import Sketch, components, quick_sums, sketch, sums_key
from deconditioning.downscaling.prediction import bags_inside, data_of, reads_bags, total
from deconditioning.downscaling.starting import columns_of
from deconditioning.downscaling.warping.cell_values import cell_values_of_draws
from deconditioning.downscaling.warping.physical_map import physical_draw
from deconditioning.errors import Check, InputError, never
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.families.draws import normal
from deconditioning.kernels.fourier import draw_features
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.indirect_gp import IndirectPosterior, condition_on_gram, pathwise_dual
from deconditioning.models.learning.integrate import members
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData

#: Draws that are flipped through, and the seed that they share.
COUNT, _SEED = 20, 20
#: Values of all draws together that may leave.
_MOST_VALUES = 60_000_000
#: Rows whose random features are held at once.
_TILE = 4096


@dataclass(frozen=True)
class Draws:
    """``fields`` (D, H, W) and their ``mean`` (H, W), in the target's units, NaN where the problem has no pixel.

    Behind a warp ``mean`` is the field of the mean of the warped values until the posterior mean is given (`around`).

    ``off`` is the largest distance of any draw's cell average from the mean's at a measured cell, in the same units;
    None if cells are matched only through mediators. ``stride``: the fields contain every stride-th pixel in each
    direction. ``seed`` is that of the random numbers.
    """

    fields: np.ndarray
    mean: np.ndarray
    off: float | None
    stride: int
    seed: int = _SEED

    def around(self, problem: DownscalingProblem, mean: np.ndarray) -> "Draws":
        """The draws with the posterior mean (H, W) of a warped target, which is not the middle one of its values."""
        return self if problem.warp is None else replace(self, mean=mean[:: self.stride, :: self.stride])


@one_thread()
def posterior_draws(
    spec: ModelSpec,
    data: IndirectData,
    problem: DownscalingProblem,
    key: str,
    store: SumsStore,
    picture: Picture | PartedPicture | None,
    look: Sketch,
    *,
    count: int = COUNT,
    seed: int = _SEED,
    check: Check = never,
) -> Draws:
    """``count`` joint draws of f given the data at the pixels of a preview, from the cached sums of a page.

    Matheron's rule: ``f + c(x)ᵀ W S⁻¹ (z̃ − Wᵀf̄ − e)``. Terms of the coordinates alone on a regular grid are drawn by
    FFT, accurate to about a thousandth of their variance (`grid_draws`), the others by 1,024 random features whose
    frequencies are the same in all draws: over amplitudes their prior covariance is k to about 3 %. The same ``seed``
    gives the same random numbers, so draws change with the hyperparameters as smoothly as the posterior does. If the
    model has a local scale κ, a draw is ``mean + κ (draw − mean)``; at full resolution with matched cells the second
    term is ``P(κ (draw − mean))``, where P restores the cell averages of ``draw − mean`` (`_onto_cells`). Raises
    ``InputError`` for kernels whose functions cannot be drawn. An average of models has as many draws of each as its
    weight says (`_of_components`). Source: Wilson et al. 2020, *Efficiently sampling
    functions from GP posteriors*.
    """
    if spec.others:
        return _of_components(spec, data, problem, key, store, picture, look, count, seed, check)
    generator = torch.Generator().manual_seed(seed)
    if spec.spread is not None:
        fields, mean = _of_members(spec, data, problem, picture, look, count, generator, check)
    else:
        deviations, mean = _deviations(spec, data, problem, key, store, picture, look, count, generator, check)
        fields = mean[:, None] + deviations
    columns, at = (mean, *fields.T), look.mean_at.repeat
    cells = cell_values_of_draws(spec, problem, columns, at, seed)
    shown = [physical_draw(problem, values[at], each) for values, each in zip(columns, cells, strict=True)]
    stride = look.mean_at.stride
    thin = np.stack(shown)[:, ::stride, ::stride]
    return Draws(thin[1:], thin[0], _off(problem, shown[0], shown[1:]), stride, seed)


def exact_draws(
    spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, key: str, store: SumsStore,
    picture: Picture | PartedPicture | None, *, count: int, seed: int, check: Check = never,
) -> Draws:  # fmt: skip
    """`posterior_draws` at every pixel, from exact sums only, for export.

    Raises ``InputError`` above ``_MOST_VALUES`` values.
    """
    if count * len(problem.pixel) > _MOST_VALUES:
        raise InputError(
            f"{count} draws of {len(problem.pixel):,} pixels do not fit into memory at once: request at most "
            f"{_MOST_VALUES // len(problem.pixel)}."
        )
    for _, each, member_picture in components(spec, problem, picture):
        if member_picture is not None and reads_bags(each):
            store.parts(sums_key(key, each), each.kernel, member_picture, check)
    look = sketch(problem, every_pixel=True)
    return posterior_draws(spec, data, problem, key, store, picture, look, count=count, seed=seed, check=check)


def _deviations(
    spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, key: str, store: SumsStore,
    picture: Picture | PartedPicture | None, look: Sketch, count: int, generator: torch.Generator, check: Check,
) -> tuple[Float[Tensor, "Q D"], Float[Tensor, " Q"]]:  # fmt: skip
    """Draws less their mean, and the mean, at one set of hyperparameters."""
    if picture is None or not reads_bags(spec):
        return _sampled(spec, data, problem, look, count, generator)
    return _pathwise(spec, data, problem, key, store, picture, look, count, generator, check)


def _of_members(
    spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, picture: Picture | PartedPicture | None,
    look: Sketch, count: int, generator: torch.Generator, check: Check,
) -> tuple[Float[Tensor, "Q D"], Float[Tensor, " Q"]]:  # fmt: skip
    """Draws of a mixture, the same number of each of its members, one after another, and the mixture's mean."""
    every, means = members(spec, problem.columns), []
    each, fields = -(-count // len(every)), []
    for member in every:
        store = SumsStore()
        if picture is not None and reads_bags(member):
            store.parts(sums_key("", member), member.kernel, picture, check)
        deviations, mean = _deviations(member, data, problem, "", store, picture, look, each, generator, check)
        means.append(mean)
        fields.append(mean[:, None] + deviations)
    return torch.stack(fields, dim=2).flatten(1)[:, :count], torch.stack(means).mean(0)


def _of_components(
    spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, key: str, store: SumsStore,
    picture: Picture | PartedPicture | None, look: Sketch, count: int, seed: int, check: Check,
) -> Draws:  # fmt: skip
    """Draws of an average of models, each of one of them; those of model k are ``w_k`` of all, in a random order."""
    parts = components(spec, problem, picture)
    ends = np.rint(np.cumsum([weight for weight, _, _ in parts]) * count).astype(int)
    every, means = [], []
    for (weight, each, member_picture), number in zip(parts, np.diff(ends, prepend=0), strict=True):
        member_data = data_of(each, spec, data, problem, check)
        result = posterior_draws(
            each,
            member_data,
            problem,
            key,
            store,
            member_picture,
            look,
            count=max(int(number), 1),
            seed=seed,
            check=check,
        )
        every.append(replace(result, fields=result.fields[:number]))
        means.append(weight * result.mean)
    order = np.random.default_rng(seed).permutation(count)
    off = [each.off for each in every if each.off is not None]
    fields = np.concatenate([each.fields for each in every])[order]
    return Draws(fields, np.sum(means, axis=0), max(off) if off else None, every[0].stride, seed)


def _off(problem: DownscalingProblem, mean: np.ndarray, draws: list[np.ndarray]) -> float | None:
    """How far draws leave the mean's cell averages where a cell was measured."""
    if not problem.matched:
        return None
    cells = reaggregate(problem, mean)
    errors = [np.abs(reaggregate(problem, draw) - cells)[problem.observed] for draw in draws]
    return float(np.nanmax(errors))


def _sampled(
    spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, look: Sketch, count: int,
    generator: torch.Generator,
) -> tuple[Float[Tensor, "Q D"], Float[Tensor, " Q"]]:  # fmt: skip
    """Draws less their mean, and the mean, of models through inducing points or on centroids: their own joint draws."""
    fitted, at = named_posterior(spec, data, columns_of(problem)), problem.inputs[look.mean_at.chosen]
    mean = fitted.mean(at)
    deviations = fitted.sample(at, count, generator).T - mean[:, None]
    kappa = scale_at(spec, problem, fitted.conditioning, at) if isinstance(fitted, IndirectPosterior) else None
    return (deviations if kappa is None else kappa[:, None].to(deviations.dtype) * deviations), mean


def _pathwise(
    spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, key: str, store: SumsStore,
    picture: Picture | PartedPicture, look: Sketch, count: int, generator: torch.Generator, check: Check,
) -> tuple[Float[Tensor, "Q D"], Float[Tensor, " Q"]]:  # fmt: skip
    """Draws less their mean, and the mean, from the bags' sums."""
    columns = columns_of(problem)
    located = columns.place if spec.model.looks_at_footprints else None
    name, at = sums_key(key, spec), look.mean_at.chosen
    parts = [
        (term.scale, *quick_sums(term, problem, name, store, picture, look, located)) for term in spec.kernel.terms
    ]
    conditioning = condition_on_gram(spec, data, columns, total(scale * sums.gram for scale, sums, _ in parts))
    prior, means = prior_draws(spec, problem, picture, at, len(conditioning.weights), count, generator, check)
    dual = pathwise_dual(spec, conditioning, means, data.bags.contamination, generator)

    def across(weights: Float[Tensor, " n"]) -> Float[Tensor, " Q"]:
        """``c(x)ᵀ`` times a weight a bag."""
        check()
        result = ((scale * sums.cross.across(weights).to(prior.dtype), whole) for scale, sums, whole in parts)
        return total(part[at] if whole else part for part, whole in result)

    mean = across(conditioning.dual)
    deviations = prior + torch.stack([across(column) for column in dual.T], dim=1) - mean[:, None]
    kappa = scale_at(spec, problem, conditioning)
    if kappa is not None:
        wide = kappa[at, None].to(deviations.dtype) * deviations
        exact = problem.matched and len(at) == len(problem.pixel) and bags_inside(problem)
        deviations = _onto_cells(problem, conditioning, wide, deviations, across) if exact else wide
    return deviations, spec.mean + mean


def _onto_cells(
    problem: DownscalingProblem, conditioning: Conditioning, wide: Float[Tensor, "P D"],
    deviations: Float[Tensor, "P D"], across: Callable[[Tensor], Tensor],
) -> Float[Tensor, "P D"]:  # fmt: skip
    """``d − c(x)ᵀ W S⁻¹ Wᵀ(d̄ − d̄₀)``: ``wide`` d moved, as the data would move it, to the averages of d₀,
    the ``deviations``.

    κ varies inside the cells, so that ``wide`` alone would leave the averages that were measured.
    """
    rows = torch.as_tensor(problem.joint_pixel)
    off = conditioning.weights.T @ problem.joint_data.bags.mean((wide - deviations)[rows])
    back = conditioning.weights @ conditioning.factor.solve(off)
    return wide - torch.stack([across(column) for column in back.T], dim=1)


def prior_draws(
    spec: ModelSpec, problem: DownscalingProblem, picture: Picture | PartedPicture, at: Tensor, rows: int, count: int,
    generator: torch.Generator, check: Check,
) -> tuple[Float[Tensor, "P D"], Float[Tensor, "n D"]]:  # fmt: skip
    """Prior draws at the pixels ``at``, and their bag means in the rows of the sums; term by term."""
    prior: Tensor = torch.zeros(len(at), count, dtype=problem.inputs.dtype)
    means: Tensor = torch.zeros(rows, count, dtype=problem.inputs.dtype)
    for term in spec.kernel.terms:
        term_picture = picture.of(term)
        values = grid_draws(term_picture.layout, term, problem.columns, problem.inputs, count, generator, check)
        if values is None:
            values = _prior_of(term, problem.columns, problem.inputs, count, generator, check)
        prior += values[at]
        bag_means = torch.stack([term_picture.bags.mean(column[term_picture.points]) for column in values.T], dim=1)
        first = picture.rest.bags.count if isinstance(picture, PartedPicture) and picture.sees_place(term) else 0
        means[first : first + len(bag_means)] += bag_means
    return prior, means


def _prior_of(
    term: Term, names: tuple[str, ...], inputs: Float[Tensor, "P d"], count: int, generator: torch.Generator,
    check: Check,
) -> Float[Tensor, "P D"]:  # fmt: skip
    """``count`` functions of one term at every input, with frequencies of their own only term by term."""
    features = draw_features(KernelSpec((term,)), names, generator)
    amplitudes = normal((count, features.frequencies[0].shape[0]), generator).T
    result = []
    for tile in inputs.split(_TILE):
        check()
        result.append(features(tile) @ amplitudes)
    return torch.cat(result)
