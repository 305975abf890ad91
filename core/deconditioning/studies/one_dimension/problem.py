"""The one-dimensional problem: recover f from two scatters that never meet, beside the two naive ways."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.datasets.one_dimension import INPUT, MEDIATOR, Line, LineSpec, make_line
from deconditioning.device import choose
from deconditioning.engine.reporting import NoReport, Stopwatch, peak_mb
from deconditioning.errors import InputError
from deconditioning.kernels.spec import gaussian
from deconditioning.models.catalogue import BAG_GP, SHRINKAGE_CMP, TASK_TRANSFORMED_GP
from deconditioning.models.centroids import singletons
from deconditioning.models.indirect_gp import Columns, IndirectPosterior, posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.learning.progress import learning_reporter
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData
from deconditioning.studies.one_dimension.settings import LineSettings

COLUMNS = Columns((INPUT,), (MEDIATOR,))
#: Method → the model it is on bags of one point, or None for the naive ways.
METHODS: dict[str, NamedModel | None] = {
    "task_transformed_gp": TASK_TRANSFORMED_GP,
    "dme": SHRINKAGE_CMP,
    "impute": None,
    "cascade": None,
}
#: What a page and a learning start from, in units of the targets' variance for scales and noise.
START = {"lengthscale": 1.0, "mediator_lengthscale": 1.0, "noise": 0.1}
#: How impute and cascade are learned where a picture waits for them.
NAIVE = LineSettings(restarts=1, steps=40)


@dataclass(frozen=True)
class LineFit:
    """A method's mean and sd on the problem's grid (P,), the model behind it and its log evidence, if it has one."""

    mean: Float[Tensor, " P"]
    sd: Float[Tensor, " P"]
    spec: ModelSpec | None = None
    evidence: float | None = None
    warnings: tuple[str, ...] = ()
    cancelled: bool = False

    def scores(self, line: Line) -> dict[str, float]:
        """RMSE, MAE, bias, coverage and CRPS of the noise-free f on the grid."""
        from deconditioning.metrics.field_scores import score_points
        from deconditioning.metrics.predictive import Predictive

        return score_points(line.truth.numpy(), Predictive(self.mean.numpy(), self.sd.numpy()))


def starting_model(line: Line, method: str) -> ModelSpec:
    """Where learning starts: Gaussian kernels of lengthscale one, scales and noise in units of the targets'."""
    model = METHODS[method]
    assert model is not None
    spread = float(line.targets.var(correction=0)) or 1.0
    ell = spread if model.uses("mediator_variance") else 1.0  # otherwise only its ratio to λ matters
    noise = START["noise"] * spread
    return ModelSpec(
        model,
        gaussian(COLUMNS.inputs, (START["lengthscale"],), spread),
        gaussian(COLUMNS.mediators, (START["mediator_lengthscale"],), ell),
        START["noise"] * ell / len(line.inputs),
        noise,
    )


def condition_line(line: Line, spec: ModelSpec, device: torch.device | str = "cpu") -> IndirectPosterior:
    """The posterior of f at given hyperparameters."""
    return posterior(spec, line.data.to(device), COLUMNS)


def on_grid(line: Line, indirect_posterior: IndirectPosterior, spec: ModelSpec, **more: Any) -> LineFit:
    """A posterior read on the problem's grid."""
    at = line.grid[:, None].to(indirect_posterior.bags.bags.inputs.device)
    mean, variance = indirect_posterior.mean_and_variance(at)
    return LineFit(mean.cpu(), variance.sqrt().cpu(), spec, indirect_posterior.evidence, **more)


def fit_line(line: Line, settings: LineSettings, context: Any = None) -> LineFit:
    """Fit a method: learn (if asked), condition, read on the grid."""
    context = context or NoReport()
    if METHODS[settings.method] is None:
        return (impute if settings.method == "impute" else cascade)(line, settings, context)
    device = choose(settings.device)
    spec = ModelSpec.from_dict(settings.model) if settings.model else starting_model(line, settings.method)
    if spec.model != METHODS[settings.method]:
        raise InputError(f"The method '{settings.method}' was given the model '{spec.model.name}': omit `model`.")
    more: dict[str, Any] = {}
    if settings.learn:
        reporter = learning_reporter(context, spec.model, settings.options)
        data = line.data.to(device)
        learned = learn(spec, data, COLUMNS, settings.options, report=reporter, check=context.check)
        spec, more = learned.spec, {"warnings": learned.warnings, "cancelled": learned.cancelled}
    return on_grid(line, condition_line(line, spec, device), spec, **more)


def impute(line: Line, settings: LineSettings, context: Any = None) -> LineFit:
    """GP of z̃ on ỹ, its mean at y taken for z, GP of that on x. Source: Hsu and Ramos 2019, §8.1."""
    context = context or NoReport()
    first, _ = regression(line.query, line.targets, MEDIATOR, settings, context)
    made_up = first.mean(line.mediators[:, None])
    second, spec = regression(line.inputs, made_up, INPUT, settings, context)
    return on_grid(line, second, spec)


def cascade(line: Line, settings: LineSettings, context: Any = None) -> LineFit:
    """GP of y on x, then the GP of z̃ on ỹ at the predicted y; the sd is the second one's alone (same source)."""
    context = context or NoReport()
    centre = line.mediators.mean()
    back, _ = regression(line.inputs, line.mediators - centre, INPUT, settings, context)
    forth, spec = regression(line.query, line.targets, MEDIATOR, settings, context)
    y = (back.mean(line.grid[:, None]) + centre)[:, None]
    mean, variance = forth.mean_and_variance(y)
    return LineFit(mean, variance.sqrt(), spec)


def regression(
    inputs: Float[Tensor, " n"], targets: Float[Tensor, " n"], column: str, settings: LineSettings, context: Any = None
) -> tuple[IndirectPosterior, ModelSpec]:
    """Gaussian process regression with a Gaussian kernel; lengthscale, variance and noise maximise the evidence."""
    context = context or NoReport()
    at = inputs[:, None]
    data, columns = IndirectData(singletons(at), at, at, targets), Columns((column,), (column,))
    spread = float(targets.var(correction=0)) or 1.0
    spec = ModelSpec(BAG_GP, gaussian((column,), (1.0,), spread), noise=START["noise"] * spread)
    if settings.learn:
        options = LearningOptions(restarts=min(settings.restarts, 2), steps=settings.steps, seed=settings.seed)
        spec = learn(spec, data, columns, options, check=context.check).spec
    return posterior(spec, data, columns), spec


def line_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: ``settings`` holds ``line`` (a ``LineSpec``) and ``settings`` (``LineSettings``)."""
    line, chosen = make_line(LineSpec.from_dict(settings["line"])), LineSettings.from_dict(settings["settings"])
    context.report(message=f"{len(line.inputs)} pairs (x, y), {len(line.targets)} pairs (y, z)")
    return summary_of(line, chosen, context)


def summary_of(line: Line, settings: LineSettings, context: Any = None) -> dict[str, Any]:
    """Fit and keep what the closed form does not give again: scores, learned model, times."""
    watch = Stopwatch()
    line_fit = fit_line(line, settings, context)
    return {
        "cancelled": line_fit.cancelled,
        "model": settings.method,
        "scores": line_fit.scores(line),
        "learned": line_fit.spec.to_dict() if line_fit.spec else None,
        "evidence": line_fit.evidence,
        "warnings": list(line_fit.warnings),
        "seconds": watch.seconds(),
        "peak_mb": peak_mb(choose(settings.device)),
    }
