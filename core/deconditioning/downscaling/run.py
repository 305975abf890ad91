"""Downscaling from start to end: learn, condition, predict on the grid, score with baselines, export."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from deconditioning.device import choose
from deconditioning.downscaling.boosting import gradient_boosting
from deconditioning.downscaling.checks.assumptions import Assumption, assumptions, refused
from deconditioning.downscaling.checks.few_cells import refuted, sentences
from deconditioning.downscaling.checks.learning_check import LearningCheck, bilinear_error, compared_with_bilinear
from deconditioning.downscaling.checks.patches import some_cells
from deconditioning.downscaling.further_sources.report import source_report
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.prediction import Prediction, latent_sd, matched_data, predict
from deconditioning.downscaling.result_dataset import ResultDataset
from deconditioning.downscaling.saved_map import FILE, THUMBNAIL
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, completed, spec_to_settings, starting_spec
from deconditioning.downscaling.warping.choice import choose_warp
from deconditioning.downscaling.warping.physical_map import physical_map
from deconditioning.engine.reporting import NoReport, Stopwatch, peak_mb
from deconditioning.errors import Cancelled, Check, never
from deconditioning.fields.problem.explained_variation import explained_share
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.printed.thumbnail import field_thumbnail
from deconditioning.metrics.intervals import trust
from deconditioning.metrics.points import Predicted
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.learning.learning import Learned, learn
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.pseudo_targets import with_pseudo_targets
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import number


@dataclass(frozen=True)
class DownscalingResult:
    """A finished downscaling.

    ``predictive`` are the distributions (H, W) of the pixels' own values in the target's units, ``mean`` and ``sd``
    their moments; ``sd_latent`` is the sd of f, None if it is the same (ς² = 0); ``local_scale`` κ (H, W) is part of
    both, None if the model has none. ``scores`` and ``fields`` by model include the baselines; ``coarse_scores`` are
    those of withheld cells and of re-aggregation, if they exist; ``spec`` is the model used; ``settings`` reproduce it;
    ``seconds`` (cpu, wall), ``peak_mb``; ``warnings`` are messages; ``diagnostics`` contains ``leave_one_out`` (a
    `LearningCheck`), ``one_scale_up`` (`OneScaleUp`, None if it was not run), ``explained_share``, ``warp``,
    ``assumptions`` and, if there are any, ``stations``; ``problem`` is the one that the model saw, with the warp of its
    target.
    """

    predictive: Predictive
    scores: dict[str, dict[str, float]]
    fields: dict[str, np.ndarray]
    coarse_scores: dict[str, dict[str, float]]
    spec: ModelSpec
    settings: DownscaleSettings
    seconds: dict[str, float]
    peak_mb: float
    warnings: tuple[str, ...]
    diagnostics: dict[str, Any] = field(default_factory=dict)
    sd_latent: np.ndarray | None = None
    local_scale: np.ndarray | None = None
    problem: DownscalingProblem | None = None

    @property
    def mean(self) -> np.ndarray:
        """Posterior mean (H, W)."""
        return self.predictive.mean

    @property
    def sd(self) -> np.ndarray:
        """Posterior sd (H, W) of a single pixel."""
        return self.predictive.sd


def downscale(
    problem: DownscalingProblem,
    settings: DownscaleSettings | dict[str, Any],
    context: Any = None,
    *,
    learned: tuple[Learned, LearningCheck] | None = None,
) -> DownscalingResult:
    """Downscale a problem: learn (if requested and not ``learned`` already), predict every pixel, score all methods.

    ``context`` may report progress and cancel (``report(step=…, total=…, message=…, **values)``, ``check()``); if
    learning is cancelled, nothing else is computed: ``Cancelled``. Raises ``InputError``.
    """
    settings = settings if isinstance(settings, DownscaleSettings) else DownscaleSettings.from_dict(settings)
    context, settings = context or NoReport(), completed(problem, settings)
    watch, device = Stopwatch(), choose(settings.device)
    choice = choose_warp(problem, settings, context)
    problem, settings = choice.problem, choice.settings
    if settings.learn and learned is None:
        learned = learn_model(problem, settings, context, choice.checked)
        if learned[0].cancelled:
            raise Cancelled("The run was cancelled during learning.")
    best, guard = learned or (None, None)
    spec = starting_spec(problem, settings) if best is None else best.spec
    data = matched_data(problem, spec, context.check)
    context.report(message=f"Predicting {problem.grid.area.size:,} pixels from {data.bags.count:,} cells")
    result = predict(spec, data, problem, device=device, check=context.check)
    context.report(message="Scoring the model and the baselines")
    predictive = physical_map(problem, result.parts, result.cells)
    fields, scores = _score_all(problem, spec, predictive, settings, context.check)
    coverage = None if guard is None or guard.one_scale_up is None else guard.one_scale_up.held
    rests_on = assumptions(problem, spec, data, predictive.mean, predictive.sd, coverage)
    guard = compared_with_bilinear(problem, spec.model, result.left_out, bilinear_error(problem), guard)
    diagnostics: dict[str, Any] = {"device": str(device), "assumptions": [asdict(each) for each in rests_on]}
    if stations := source_report(problem, result.sources, fields, predictive):
        diagnostics["stations"] = stations
    return DownscalingResult(
        predictive=predictive,
        scores=scores,
        fields=fields,
        coarse_scores=coarse_scores(problem, predictive.mean),
        spec=spec,
        settings=spec_to_settings(settings, spec),
        seconds=watch.seconds(),
        peak_mb=peak_mb(device),
        warnings=guard.sentences
        + (() if best is None else best.warnings)
        + _warnings(problem, result, rests_on, predictive, stations),
        diagnostics=diagnostics | _diagnostics(problem, result, best, guard),
        sd_latent=latent_sd(problem, spec, result),
        local_scale=None if result.scale is None else problem.on_grid(result.scale),
        problem=problem,
    )


def _diagnostics(
    problem: DownscalingProblem, prediction: Prediction, best: Learned | None, guard: LearningCheck
) -> dict[str, Any]:
    """The numbers behind a result, as plain data."""
    return {
        "log_evidence": prediction.evidence,
        "log_evidence_learning": None if best is None or math.isnan(best.evidence) else best.evidence,
        "jitter": prediction.jitter,
        "routes": list(prediction.routes),
        "stages": {} if best is None else best.stages,
        "leave_one_out": guard.to_dict(),
        "one_scale_up": None if guard.one_scale_up is None else guard.one_scale_up.to_dict(),
        "explained_share": asdict(explained_share(problem)),
        "warp": None if problem.warp is None else problem.warp.to_dict(),
    }


def _warnings(
    problem: DownscalingProblem, prediction: Prediction, rests_on: tuple[Assumption, ...], predictive: Predictive,
    stations: Mapping[str, Any],
) -> tuple[str, ...]:  # fmt: skip
    """What the map must say; that few cells may make intervals too narrow only where no truth and no station that
    nothing saw shows that they are not."""
    notes, few = prediction.notes, [*sentences(problem, integrated=False), *sentences(problem, integrated=True)]
    if set(notes) & set(few):
        truth = problem.truth
        verdict = None if truth is None else trust(truth, predictive, weights=problem.grid.area).verdict
        if refuted(verdict, stations.get("scored", {}).get("inside_95")):
            notes = tuple(note for note in notes if note not in few)
    return jitter_sentence(prediction.jitter) + notes + refused(rests_on)


def jitter_sentence(jitter: float) -> tuple[str, ...]:
    """A message with the jitter added to a diagonal; empty if none was."""
    if not jitter:
        return ()
    return (
        f"{number(jitter, 2)} was added to the diagonal of the targets' covariance to factorise it. Raise σ² to avoid "
        "this.",
    )


def _score_all(
    problem: DownscalingProblem, spec: ModelSpec, predictive: Predictive, settings: DownscaleSettings, check: Check
) -> tuple[dict[str, np.ndarray], dict[str, dict[str, float]]]:
    """Fields and scores of the model and of every baseline, all seeing the same cells."""
    from deconditioning.fields.problem.baselines import interpolations
    from deconditioning.metrics.field_scores import score_field

    problem = problem.plain
    predicted: dict[str, Predicted] = {spec.model.name: predictive, **interpolations(problem)}
    if settings.centroid_gp and problem.mediator_columns and "centroid_gp" not in predicted:
        predicted["centroid_gp"] = centroid_baseline(problem, check)
    if settings.gradient_boosting:
        predicted["gradient_boosting"] = gradient_boosting(problem, check)
    fields = {name: each.mean if isinstance(each, Predictive) else each for name, each in predicted.items()}
    scores = {}
    if problem.truth is not None:
        # every method is scored on the pixels that all of them predict
        shared = np.logical_and.reduce([np.isfinite(values) for values in fields.values()])
        truth = np.where(shared, problem.truth, np.nan)
        scores = {name: score_field(truth, each, area=problem.grid.area) for name, each in predicted.items()}
    return fields, scores


def centroid_baseline(problem: DownscalingProblem, check: Check = never) -> Predictive:
    """Gaussian process regression on bag centroids with pseudo-targets, at the pixels.

    Learned by its evidence from the cells that a model of this problem learns from (`some_cells`), then given all.
    """
    problem = problem.plain
    settings = completed(problem, DownscaleSettings(model="centroid_gp", restarts=1, point_noise=0.0))
    spec, columns, options = starting_spec(problem, settings), columns_of(problem), settings.learning()
    assert spec.mediator_kernel is not None
    data = with_pseudo_targets(spec.mediator_kernel, problem.data, columns, options, check=check)
    part = some_cells(problem, settings.seed)
    learned = learn(spec, data if part is problem else part.data, columns, options, check=check)
    mean, variance = named_posterior(learned.spec, data, columns).mean_and_variance(problem.inputs)
    return Predictive(problem.physical_mean(mean), problem.physical_sd(learned.spec.value_sd(variance)))


def coarse_scores(problem: DownscalingProblem, mean: np.ndarray) -> dict[str, dict[str, float]]:
    """The fine field averaged back to the cells, against coarse values: ``withheld`` (never seen) and ``seen``."""
    from deconditioning.fields.grids.blocks import reaggregate
    from deconditioning.metrics.field_scores import score_field

    back = reaggregate(problem, mean)
    scores = {}
    for name, chosen in (("withheld", ~problem.observed), ("seen", problem.observed)):
        truth = np.where(chosen, problem.coarse_truth, np.nan)
        if (np.isfinite(truth) & np.isfinite(back)).sum() >= 2:
            result = score_field(truth, back, area=problem.coarse_grid.area)
            scores[name] = {key: value for key, value in result.items() if not key.startswith("ssim")}
    return scores


def withheld_scores(problem: DownscalingProblem, fields: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Every method's field averaged back to the cells withheld from all of them, if all have a value; {} below two
    cells.
    """
    from deconditioning.fields.grids.blocks import reaggregate
    from deconditioning.metrics.field_scores import score_field

    back = {name: reaggregate(problem, values) for name, values in fields.items()}
    shared = np.logical_and.reduce([~problem.observed, *(np.isfinite(values) for values in back.values())])
    truth = np.where(shared, problem.coarse_truth, np.nan)
    if np.isfinite(truth).sum() < 2:
        return {}
    result = {name: score_field(truth, values, area=problem.coarse_grid.area) for name, values in back.items()}
    return {n: {k: v for k, v in scores.items() if not k.startswith("ssim")} for n, scores in result.items()}


def leaving(problem: DownscalingProblem, result: DownscalingResult) -> ResultDataset:
    """The result for export: mean, sds, coarse, error, baselines, with settings and seed."""
    return ResultDataset(
        result.problem or problem,
        result.spec,
        result.predictive,
        settings={"problem": problem.spec.to_dict(), "model": result.settings.to_dict()},
        sd_latent=result.sd_latent,
        local_scale=result.local_scale,
        baselines={name: values for name, values in result.fields.items() if name != result.spec.model.name},
        checked=result.diagnostics["one_scale_up"],
        warnings=result.warnings,
    )


def export(problem: DownscalingProblem, result: DownscalingResult) -> bytes:
    """The result as CF NetCDF bytes."""
    from deconditioning.fields.writing.delivery import Delivery, to_netcdf_bytes

    return to_netcdf_bytes(leaving(problem, result).dataset(Delivery()))


def learn_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: build the problem, downscale it, store fields as NetCDF with the settings that reproduce them.

    ``settings`` contains ``source`` (keys of files), ``problem`` (a ``DownscalingSpec``) and ``settings`` (a
    ``DownscaleSettings``); the result contains the scores, the learned settings, warnings and diagnostics. A cancelled
    learning ends at once with the best settings so far, without fields and scores.
    """
    from deconditioning.downscaling.source import Source, build_problem
    from deconditioning.fields.spec import DownscalingSpec

    problem = build_problem(Source.from_dict(settings["source"]), DownscalingSpec.from_dict(settings["problem"]))
    chosen = DownscaleSettings.from_dict(settings["settings"])
    context.check()
    context.report(message=f"{problem.data.bags.count} bags, {len(problem.data.targets)} targets")
    choice = choose_warp(problem, chosen, context)
    problem, chosen = choice.problem, choice.settings
    if problem.warp is not None:
        context.report(message=problem.warp.sentence, warp=problem.warp.to_dict())
    learned = learn_model(problem, chosen, context, choice.checked) if chosen.learn else None
    if learned is not None:
        best, guard = learned
        saved = _cancelled_result(problem, spec_to_settings(chosen, best.spec), guard.sentences + best.warnings)
        if best.cancelled:
            return saved
        context.best(saved)
    result = downscale(problem, chosen, context, learned=learned)
    context.save(FILE, export(problem, result))
    context.save(THUMBNAIL, field_thumbnail(result.mean))
    return _cancelled_result(problem, result.settings, result.warnings) | {
        "cancelled": False,
        "scores": result.scores,
        "coarse_scores": result.coarse_scores,
        "seconds": result.seconds,
        "peak_mb": result.peak_mb,
        "diagnostics": result.diagnostics,
    }


def _cancelled_result(
    problem: DownscalingProblem, learned: DownscaleSettings, warnings: tuple[str, ...]
) -> dict[str, Any]:
    """What a run keeps of a learning, whatever happens after it: the picture follows from it in closed form."""
    return {
        "cancelled": True,
        "model": learned.model,
        "units": problem.units,
        "learned": learned.to_dict(),
        "warnings": list(warnings),
        "notes": list(problem.notes),
    }
