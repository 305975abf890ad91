"""Predicts the fine field and its uncertainty from a problem and a model with given hyperparameters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.bag_sums.by_term import PartedPicture
from deconditioning.bag_sums.pixel_sums import Picture, PictureSums, picture_sums
from deconditioning.downscaling.checks.approximations import approximate, uncarried
from deconditioning.downscaling.checks.few_cells import sentences
from deconditioning.downscaling.checks.local_scale_inputs import scale_at
from deconditioning.downscaling.further_sources.posterior import (
    SourcePosterior,
    averaged_posteriors,
    source_posterior,
)
from deconditioning.downscaling.pictures.layouts import grid_layout
from deconditioning.downscaling.pictures.regions import by_regions
from deconditioning.downscaling.starting import columns_of
from deconditioning.downscaling.warping.cell_values import cell_values, mixed
from deconditioning.downscaling.warping.physical_map import Parts, physical_map
from deconditioning.errors import Check, InputError, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.indirect_gp import Columns, check_matching, condition_on_gram, posterior
from deconditioning.models.learning.integrate import members
from deconditioning.models.learning.learning import LearningOptions
from deconditioning.models.leave_one_out import MOST_TARGETS, leave_one_out, left_out
from deconditioning.models.named_model import NamedModel
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.posterior_moments import Moments, averaged_moments, read_moments
from deconditioning.models.pseudo_targets import with_pseudo_targets
from deconditioning.models.sparse.sparse_gp import SparsePosterior, bound_and_error
from deconditioning.models.spec import ModelSpec
from deconditioning.models.term_bags import separate_bags
from deconditioning.observations import Bags, IndirectData

#: Bag sums of all pixels above this many bytes are not kept but taken tile by tile.
_KEEP_BYTES = 1_000_000_000


@dataclass(frozen=True)
class Prediction:
    """Standardised posterior mean and sd of the pixels' values (P,), and how they were computed.

    ``sd`` is ``√(var f + ς²)``, that of a single pixel (``ModelSpec.value_sd``), ``sd_latent`` that of f alone; var f
    is that of the posterior times κ² if the model has a local scale. ``evidence`` is ``log N(z̃; Wᵀm̄, S)``, or the
    collapsed bound on it for models with inducing points; ``jitter`` was added to a diagonal; ``routes`` names the
    algorithm of each term's sums; ``notes`` describes approximations; ``left_out`` is the RMSE of the targets, each
    predicted from all others, None if they are too many; ``scale`` is the local scale κ of the sds (P,), None if the
    model has none; ``missed`` are the errors behind ``left_out``, None if only that is known; ``sources`` is what
    the posterior says of stations and other further sources, None if there are none; ``parts`` are weights, means
    and sds (P,) of the models of an average, whose mixture has this mean and sd; by default the one model's. ``cells``
    are those of the cells' values less their errors, see `warping.cell_values`; empty where these are not needed.
    """

    mean: Float[Tensor, " P"]
    sd: Float[Tensor, " P"]
    sd_latent: Float[Tensor, " P"]
    evidence: float
    jitter: float
    routes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    left_out: float | None = None
    scale: Float[Tensor, " P"] | None = None
    missed: Float[Tensor, " M"] | None = None
    sources: SourcePosterior | None = None
    parts: tuple[tuple[float, Float[Tensor, " P"], Float[Tensor, " P"]], ...] = ()
    cells: Parts = ()

    def __post_init__(self) -> None:
        if not self.parts:
            object.__setattr__(self, "parts", ((1.0, self.mean, self.sd),))


def latent_sd(problem: DownscalingProblem, spec: ModelSpec, result: Prediction) -> Float[np.ndarray, "H W"] | None:
    """Sd of f alone in the target's units, None if it is that of a pixel's value (ς² = 0)."""
    if spec.point_noise == 0:
        return None
    return physical_map(problem, [(1.0, result.mean, result.sd_latent)], result.cells).sd


def matched_data(problem: DownscalingProblem, spec: ModelSpec, check: Check = never) -> IndirectData:
    """The data in the form that a model can use: unchanged, or with pseudo-targets if it needs one target per bag.

    Stations and other further sources are behind the cells; ``InputError`` for models that cannot use any.
    """
    if spec.model.reads(problem.data):
        check_matching(spec, problem.joint_data)
        return problem.joint_data
    if spec.mediator_kernel is None:
        raise InputError("Pseudo-targets need mediators, but none are given: choose a mediator or add the coordinates.")
    options = pseudo_target_learning(spec.model)
    pseudo = with_pseudo_targets(spec.mediator_kernel, problem.data, columns_of(problem), options, check=check)
    result = problem.with_sources(pseudo)
    check_matching(spec, result)
    return result


def pseudo_target_learning(model: NamedModel) -> LearningOptions:
    """How the regression that gives a model its pseudo-targets is learned: held by priors where its kernel is."""
    return LearningOptions(restarts=1, prior_sd=model.start(matched=False).prior_sd)


def picture_of(problem: DownscalingProblem) -> Picture:
    """The prediction pixels with the bags and stations among them; bags outside the picture are not allowed here."""
    bags, inputs, rows = problem.joint_data.bags, problem.inputs, torch.as_tensor(problem.joint_pixel)
    if not bags_inside(problem) or not torch.equal(inputs[rows], bags.inputs.cpu()):
        raise InputError("The bags do not consist of the prediction pixels: predict tile by tile instead.")
    return Picture(inputs, problem.columns, bags, rows, grid_layout(problem))


def pixels_of_footprints(problem: DownscalingProblem) -> Int[Tensor, " N"]:
    """The prediction pixel that each row of the footprints of cells, then of further sources, is."""
    of_cells = problem.shares.bags(problem.target_cell, problem.pixel, problem.grid.area.size)[0]
    return torch.as_tensor(np.concatenate([of_cells, *(each.pixels for each in problem.sources)]))


def picture_for(spec: ModelSpec, problem: DownscalingProblem) -> Picture | PartedPicture:
    """The picture as a model sees it: ``picture_of``, with the footprints beside where terms go through them."""
    whole, footprints = picture_of(problem), problem.joint_data.footprints
    if not spec.model.looks_at_footprints or footprints is None:
        return whole
    through_footprints = replace(whole, bags=footprints, points=pixels_of_footprints(problem))
    return PartedPicture(whole, through_footprints, columns_of(problem).place)


def total(parts: Iterable[Tensor]) -> Tensor:
    """The sum of tensors of one shape, in their order; there must be at least one."""
    return reduce(add, parts)


def predict_from_sums(
    spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, parts: Sequence[tuple[float, PictureSums]]
) -> Prediction:
    """Posterior at every pixel from bag sums and their scales, without computing kernel values.

    ``c = Σ_t s_t c_t``, ``K̄ = Σ_t s_t K̄_t``: the sums of each term at unit scale, or those of the whole kernel, once.
    """
    conditioning, mean, variance = posterior_of_sums(spec, data, columns_of(problem), parts)

    def at(rows: Int[Tensor, " n"]) -> tuple[Moments, Tensor]:
        """Mean and variance of f (n,), and bag sums (B, n), at some pixels."""
        return (mean[rows], variance[rows]), total(scale * sums.cross.at(rows) for scale, sums in parts)

    result = _prediction(spec, problem, (mean, variance), conditioning, tuple(r for _, s in parts for r in s.routes))
    return replace(result, sources=source_posterior(spec, conditioning, problem, at, result.scale))


def posterior_of_sums(
    spec: ModelSpec, data: IndirectData, columns: Columns, parts: Sequence[tuple[float, PictureSums]]
) -> tuple[Conditioning, Float[Tensor, " P"], Float[Tensor, " P"]]:
    """The conditioning, posterior mean and variance at every point of the sums; see `predict_from_sums`."""
    conditioning = condition_on_gram(spec, data, columns, total(scale * sums.gram for scale, sums in parts))
    mean = total(scale * sums.cross.across(conditioning.dual) for scale, sums in parts) + spec.mean
    prior = total(scale * sums.prior for scale, sums in parts)

    def tile(part: slice) -> Moments:
        """Moments at one part of the points."""
        cross = total(scale * sums.cross.at(part) for scale, sums in parts)
        return mean[part], conditioning.variance(cross, prior[part])

    return (conditioning, *read_moments(prior, tile))


def _prediction(
    spec: ModelSpec, problem: DownscalingProblem, moments: Moments, conditioning: Conditioning, routes: tuple[str, ...],
    inputs: Tensor | None = None,
) -> Prediction:  # fmt: skip
    """The prediction at some inputs, the problem's pixels where none are given, from the moments of f there."""
    mean, variance = moments
    scale = scale_at(spec, problem, conditioning, inputs)
    if scale is not None:
        variance = scale.square() * variance
    sds = spec.value_sd(variance), variance.clamp_min(0).sqrt()
    missed = (
        leave_one_out(conditioning).first(conditioning.cells) if len(conditioning.residual) <= MOST_TARGETS else None
    )
    left, errors = (None, None) if missed is None else (missed.rmse, missed.error)
    evidence, jitter = float(conditioning.evidence), conditioning.factor.jitter
    notes = uncarried(spec, problem, conditioning.carried) + sentences(problem, integrated=False)
    values = cell_values(problem, conditioning)
    return Prediction(mean, *sds, evidence, jitter, routes, notes, left, scale, errors, cells=values)


def predict_tiled(
    spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, inputs: Float[Tensor, "P d"], check: Check = never
) -> Prediction:
    """Posterior at ``inputs`` tile by tile, with bounded memory; those of the pixels by the algorithms of
    `region_sums`."""
    whole = inputs.shape == problem.inputs.shape and bags_inside(problem) and not spec.model.looks_at_footprints
    if whole:
        fitted, at_tile = by_regions(spec, data, problem, picture_of(problem).to(inputs.device), inputs, check)
    else:
        fitted, at_tile = posterior(spec, data, columns_of(problem), check), None
    moments = fitted.mean_and_variance(inputs, check, at_tile)
    routes = tuple("tiles" for _ in spec.kernel.terms)
    result = _prediction(spec, problem, moments, fitted.conditioning, routes, inputs)

    def at(rows: Int[Tensor, " n"]) -> tuple[Moments, Tensor]:
        """Mean and variance of f (n,), and bag sums (B, n), at some pixels."""
        places = problem.inputs[rows.cpu()].to(inputs.device)
        return fitted.mean_and_variance(places), fitted.sums(places)

    if inputs.shape != problem.inputs.shape:
        return result
    return replace(result, sources=source_posterior(spec, fitted.conditioning, problem, at, result.scale))


def _predict_through(
    spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, inputs: Float[Tensor, "P d"], check: Check = never
) -> Prediction:
    """Posterior at ``inputs`` of a model on centroids or through inducing points, tile by tile."""
    columns, observed = columns_of(problem), spec.model.sees(data)
    fitted = named_posterior(spec, data, columns, check)
    mean, variance = fitted.mean_and_variance(inputs, check)
    if isinstance(fitted, SparsePosterior):
        value, error = bound_and_error(spec, observed, columns, check)
        notes = approximate(fitted.left_out, error) + uncarried(spec, problem, data.covariance)
        sds, missed = (spec.value_sd(variance), variance.sqrt()), left_out(spec, data, columns, check)
        rmse = None if missed is None else missed.rmse
        return Prediction(mean, *sds, value, fitted.factor.jitter, ("inducing points",), notes, rmse)
    return _prediction(spec, problem, (mean, variance), fitted.conditioning, ("tiles",), inputs)


def predict(
    spec: ModelSpec,
    data: IndirectData,
    problem: DownscalingProblem,
    *,
    device: torch.device | None = None,
    check: Check = never,
) -> Prediction:
    """Posterior mean and sd of every prediction pixel, by the cheapest exact algorithm."""
    if spec.others:
        parts = [
            (weight, predict(each, data_of(each, spec, data, problem, check), problem, device=device, check=check))
            for weight, each in spec.components
        ]
        return averaged(parts)
    device = device or torch.device("cpu")
    if spec.spread is not None:
        every = members(spec, problem.columns)
        return mixture(problem, [predict(each, data, problem, device=device, check=check) for each in every])
    data = data.to(device)
    if not reads_bags(spec):
        return _predict_through(spec, data, problem, problem.inputs.to(device), check)
    if fits_in_memory(problem):
        return predict_from_sums(spec, data, problem, whole_sums(spec, problem, device, check))
    return predict_tiled(spec, data, problem, problem.inputs.to(device), check)


def mixture(problem: DownscalingProblem, parts: Sequence[Prediction]) -> Prediction:
    """The average of equally probable predictions of one problem; its evidence is the mean of theirs."""
    result = averaged([(1 / len(parts), each) for each in parts])
    alone, together = sentences(problem, integrated=False), sentences(problem, integrated=True)
    return replace(
        result,
        evidence=sum(each.evidence for each in parts) / len(parts),
        routes=parts[0].routes,
        notes=tuple(sentence for sentence in result.notes if sentence not in alone) + together,
        parts=(),
    )


def data_of(
    component: ModelSpec, spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, check: Check = never
) -> IndirectData:
    """The data of a component of an average, given those of its first one."""
    return data if component.model == spec.model else matched_data(problem, component, check)


def averaged(parts: Sequence[tuple[float, Prediction]]) -> Prediction:
    """The average of predictions with weights that sum to one; its evidence is that of the first.

    Moments are those of the mixture; the local scale is the weighted mean of the models'.
    """
    weights, each = [weight for weight, _ in parts], [part for _, part in parts]
    mean, variance = averaged_moments(weights, [(part.mean, part.sd.square()) for part in each])
    latent = averaged_moments(weights, [(part.mean, part.sd_latent.square()) for part in each])[1]
    scales = [part.scale for part in each if part.scale is not None]
    errors = [part.missed for part in each if part.missed is not None]
    whole = len(errors) == len(each) and len({len(error) for error in errors}) == 1
    missed = total(weight * error for weight, error in zip(weights, errors, strict=True)) if whole else None
    return Prediction(
        mean, variance.sqrt(), latent.sqrt(), each[0].evidence, max(part.jitter for part in each),
        tuple(route for part in each for route in part.routes),
        tuple(dict.fromkeys(sentence for part in each for sentence in part.notes)),
        each[0].left_out if missed is None else float(missed.square().mean().sqrt()),
        total(w * scale for w, scale in zip(weights, scales, strict=True)) if len(scales) == len(each) else None,
        missed,
        averaged_posteriors(weights, [part.sources for part in each]),
        tuple((weight, part.mean, part.sd) for weight, part in parts),
        mixed([(weight, part.cells) for weight, part in parts]),
    )  # fmt: skip


def whole_sums(
    spec: ModelSpec, problem: DownscalingProblem, device: torch.device, check: Check
) -> list[tuple[float, PictureSums]]:
    """The sums of the kernel, or of each of its parts that go through other bags."""
    picture = picture_for(spec, problem).to(device)
    if isinstance(picture, Picture):
        return [(1.0, picture_sums(spec.kernel, picture, check=check))]
    located, data = columns_of(problem).place, problem.joint_data
    assert data.footprints is not None
    parts = [part.of(spec.kernel) for part in separate_bags(spec, located, data.bags, data.footprints)]
    return [
        (1.0, picture.placed(part.terms[0], picture_sums(part, picture.of(part.terms[0]), check=check)))
        for part in parts
    ]


def reads_bags(spec: ModelSpec) -> bool:
    """Whether the posterior uses the bags' sums by term, without centroids or inducing points."""
    return spec.model.on_bags


def bags_inside(problem: DownscalingProblem) -> bool:
    """Whether the bags consist of the prediction pixels."""
    return len(problem.bag_pixel) == len(problem.data.bags.inputs)


def fits_in_memory(problem: DownscalingProblem) -> bool:
    """Whether the bag sums of all pixels fit into memory, and the bags lie in the picture."""
    return bags_inside(problem) and sums_fit_in_memory(problem.data.bags, len(problem.pixel))


def sums_fit_in_memory(bags: Bags, points: int) -> bool:
    """Whether the bag sums of so many points may be written out whole."""
    return 8 * bags.count * points <= _KEEP_BYTES
