"""Where a problem's model begins: settings with what was left open filled in, columns, kernels, hyperparameters."""

from dataclasses import asdict

import torch

from deconditioning.downscaling.settings import AUTO, DownscaleSettings
from deconditioning.errors import InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.area_to_point import cell_width
from deconditioning.models.catalogue import AREA_TO_POINT_GP, REGRESSION_KRIGING
from deconditioning.models.defaults import CANDIDATES, starting_kernel, starting_mediator_kernel, usual_model
from deconditioning.models.indirect_gp import Columns
from deconditioning.models.learning.initial import ONE_SOURCE
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spec import ModelSpec, others_from_dict, others_to_dict
from deconditioning.models.spread import Spread


def columns_of(problem: DownscalingProblem) -> Columns:
    """Names of the problem's input and mediator columns."""
    coordinates = coordinate_names(problem)
    return Columns(
        problem.columns, problem.mediator_columns, tuple(name for name in problem.columns if name in coordinates)
    )


def coordinate_names(problem: DownscalingProblem) -> tuple[str, ...]:
    """The columns that are coordinates: those that are neither covariates nor mediators."""
    chosen = {*problem.spec.covariates, *problem.spec.mediators}
    return tuple(name for name in (*problem.columns, *problem.mediator_columns) if name not in chosen)


def _kernel_of_f(problem: DownscalingProblem, settings: DownscaleSettings) -> KernelSpec:
    """k as given, or as the model has it."""
    if isinstance(settings.kernel, dict):
        return KernelSpec.from_dict(settings.kernel)
    return starting_kernel(
        settings.kind, problem.data.bags, problem.columns, coordinate_names(problem),
        spatial=settings.spatial or settings.kind.start(problem.matched).spatial, covariates=settings.kernel,
        structure=settings.structure, linear_mean=settings.linear_mean, local_slopes=bool(settings.local_slopes),
    )  # fmt: skip


def _kernel_of_mediators(
    problem: DownscalingProblem, settings: DownscaleSettings, mediators: torch.Tensor
) -> KernelSpec:
    """ℓ as given, or as the model has it."""
    if isinstance(settings.mediator_kernel, dict):
        return KernelSpec.from_dict(settings.mediator_kernel)
    located = not problem.matched and problem.spec.coordinates
    return starting_mediator_kernel(
        settings.kind, mediators, problem.mediator_columns, coordinate_names(problem), spatial=settings.spatial,
        covariates=settings.mediator_kernel, structure=settings.structure,
        across=_width_of_cells(problem) if located else None,
    )  # fmt: skip


def _width_of_cells(problem: DownscalingProblem) -> float:
    """The side of a cell, in the units of the scaled coordinates."""
    bags, coordinates = problem.data.bags, coordinate_names(problem)
    return cell_width(
        bags.inputs[:, [problem.columns.index(name) for name in coordinates if name in problem.columns]], bags
    )


def may_choose(problem: DownscalingProblem, model: NamedModel) -> bool:
    """Whether there are two models that suit these cells, and this is one of them."""
    return not problem.matched and problem.data.footprints is not None and model.name in CANDIDATES


def other_candidate(problem: DownscalingProblem, settings: DownscaleSettings) -> DownscaleSettings | None:
    """The other of the two models that suit cells matched through mediators, as it begins; None if there is none."""
    if not may_choose(problem, settings.kind):
        return None
    return completed(problem, common_settings(CANDIDATES[settings.model == CANDIDATES[0]], settings))


def may_average(problem: DownscalingProblem, model: NamedModel) -> bool:
    """Whether there are further models that suit these cells beside this one."""
    settings = DownscaleSettings(model=model.name).replace(average=True)
    return bool(averaged_with(problem, completed(problem, settings)))


def averaged_with(problem: DownscalingProblem, settings: DownscaleSettings) -> list[DownscaleSettings]:
    """The other models that an average holds, as they begin; none if completed ``settings`` take one model.

    For matched cells kriging of the residuals of a linear regression; for cells matched through mediators the other
    one of `CANDIDATES`.
    """
    if settings.average is not True:
        return []
    if problem.matched and settings.kind == AREA_TO_POINT_GP and problem.spec.covariates:
        return [completed(problem, common_settings(REGRESSION_KRIGING.name, settings))]
    other = other_candidate(problem, settings)
    return [] if other is None else [other]


def common_settings(model: str, settings: DownscaleSettings) -> DownscaleSettings:
    """Another model as it begins, with what of the settings is no model's own."""
    names = ("points", "seed", "device", "steps", "method", "learn", "centroid_gp", "gradient_boosting", "warp")
    return DownscaleSettings(model, **{name: getattr(settings, name) for name in names})


def completed(problem: DownscalingProblem, settings: DownscaleSettings) -> DownscaleSettings:
    """The settings with the model, its noises and its own way of learning filled in, where they were left open."""
    auto = settings.model == AUTO
    model = usual_model(problem.matched, problem.spec.coordinates) if auto else settings.kind
    start = model.start(problem.matched)
    by_auto = {"choose": auto, "average": auto, "local_slopes": False}
    settings = settings.replace(**{name: value for name, value in by_auto.items() if getattr(settings, name) is None})
    names = ("noise", "point_noise", "hold", "every_pixel", "prior_sd", "restarts", "local_scale", "integrate")
    left_open = {name: getattr(start, name) for name in names if getattr(settings, name) is None}
    return settings.replace(model=model.name, **left_open)


def starting_spec(problem: DownscalingProblem, settings: DownscaleSettings) -> ModelSpec:
    """The model at its given or default hyperparameters: median heuristics or the model's own, λ and noises by its
    `Start`."""
    data, settings = problem.data, completed(problem, settings)
    assert settings.noise is not None and settings.point_noise is not None
    if settings.local_scale and not (problem.spec.coordinates and settings.kind.has_local_scale(problem.matched)):
        raise InputError(
            "A local scale is learned from cells measured at their own locations: match the cells directly and add "
            "the coordinates, or omit it."
        )
    mediators = data.mediators if data.matched else torch.cat([data.mediators, data.query_mediators])
    mediator_kernel = _kernel_of_mediators(problem, settings, mediators) if problem.mediator_columns else None
    each = settings.kind.start(problem.matched).ridge / data.bags.count
    spec = ModelSpec(
        settings.kind,
        _kernel_of_f(problem, settings),
        mediator_kernel,
        each if settings.regularisation is None else settings.regularisation,
        settings.noise,
        settings.point_noise,
        local_scale=bool(settings.local_scale),
        spread=_spread(settings),
        inducing=settings.inducing_points(settings.kind.count_places(data.bags)),
        representativeness=_representativeness(problem, settings),
        others=others_from_dict(settings.average) if isinstance(settings.average, dict) and not settings.learn else (),
    )
    if spec.model.uses("mediator_kernel") and mediator_kernel is None:
        raise InputError("This model needs mediators, but none are given: choose a mediator or add the coordinates.")
    return spec


def _representativeness(problem: DownscalingProblem, settings: DownscaleSettings) -> float | tuple[float, ...]:
    """τ² of the only source beside the cells, or one for each of several; 0 where there are none."""
    if not (count := len(problem.sources)):
        return 0.0
    value = settings.representativeness
    if value is None:
        value = settings.kind.start(problem.matched).representativeness
    each = value if isinstance(value, tuple) else (value,) * count
    beyond = [name for name in settings.hold or () if ONE_SOURCE.get(name, 0) >= count]
    if beyond:
        raise InputError(
            f"`{beyond[0]}` cannot be fixed: sources in addition to the cells count from 1 to {count}, stations last."
        )
    if len(each) != count:
        raise InputError(
            f"`representativeness` has {len(each)} values, but there are {count} sources in addition to the cells: "
            "give one for each, or one number for all."
        )
    return each if count > 1 else each[0]


def _spread(settings: DownscaleSettings) -> Spread | None:
    """The spread of hyperparameters that the settings hold; one that is to be learned again is not kept."""
    value = settings.integrate
    return Spread.from_dict(value) if isinstance(value, dict) and not settings.learn else None


def spec_to_settings(settings: DownscaleSettings, spec: ModelSpec) -> DownscaleSettings:
    """Settings that start, without learning, exactly at ``spec``."""
    return settings.replace(
        model=spec.model.name,
        kernel=spec.kernel.to_dict(),
        mediator_kernel=spec.mediator_kernel.to_dict() if spec.mediator_kernel else None,
        regularisation=spec.regularisation,
        noise=spec.noise,
        point_noise=spec.point_noise,
        representativeness=spec.representativeness or None,
        local_scale=spec.local_scale,
        inducing=asdict(spec.inducing),
        integrate=spec.spread.to_dict() if spec.spread else False,
        choose=False,
        average=others_to_dict(spec.others) if spec.others else False,
        learn=False,
    )
