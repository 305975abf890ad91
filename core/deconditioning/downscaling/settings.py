"""Settings of a downscaling: the user's choices, validated once, with defaults from the data."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from deconditioning.errors import InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.families.registry import family_of
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.area_to_point import cell_width
from deconditioning.models.catalogue import named
from deconditioning.models.defaults import CANDIDATES, starting_kernel, starting_mediator_kernel, usual_model
from deconditioning.models.indirect_gp import Columns
from deconditioning.models.learning.initial import Start
from deconditioning.models.learning.learning import LearningOptions, check_hold
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spec import Inducing, ModelSpec
from deconditioning.plain_data import check_seed, from_known

#: Stands for the model that suits the problem: ``usual_model``.
AUTO = "auto"
#: Stands for the way of stage one that does well one scale up (`deconditioning.downscaling.stages`).
CHOOSE = "choose"


@dataclass(frozen=True)
class DownscaleSettings:
    """Everything ``downscale`` needs beside the problem; JSON-able.

    Parameters
    ----------
    model : name in the catalogue; "auto" is area_to_point_gp where coordinates join (`choose`), else bag_gp where cells
        are matched and shrinkage_cmp where they are matched through mediators.
    kernel, mediator_kernel : a family for the columns that are no coordinates ("rbf", "matern32" …), or a whole
        kernel as ``KernelSpec.to_dict`` gives it; ``None`` for the default.
    linear_mean : whether f has an unknown prior mean that is linear in the covariates (`with_linear_mean`); models of
        fields in space have it anyhow.
    spatial : family on the coordinates, ``None`` for the model's own (`Start`); structure : "sum" or "product".
    regularisation, noise, point_noise : λ, σ², ς² (targets standardised); ``None`` for the start values.
    hold : noises that learning leaves as they are, among "noise" and "point_noise"; ``None`` for the model's own.
    inducing : inducing points of a sparse model: how many, or a whole ``Inducing`` as a dict; ``placement`` of them.
    choose : whether learning may take the other of the two models that suit cells matched through mediators, where
        one scale up it comes nearer; ``None``: where the model is "auto".
    learn : whether hyperparameters are learned; the others as in ``LearningOptions``.
    stage_one : as in ``LearningOptions``, or "choose": joint learning unless it is clearly farther off one scale up
        than leaving bags out, where λ and ℓ can be found in either way (`deconditioning.downscaling.stages`).
    points : points per bag while learning (k-means coreset); the posterior uses all.
    every_pixel : learning sums isotropic terms of the place over every pixel instead (`bag_sums.radii`); ``None``
        for the model's own.
    local_scale : whether sds are taken times a factor that varies from place to place, learned from the cells left out
        (``ModelSpec``; matched cells, exact models on bags, coordinates); ``None`` for the model's own.
    prior_sd, restarts : width of the priors that hold kernels near their start (0: none) and starts of the optimiser,
        ``None`` for the model's own.
    gradient_boosting : whether the baselines hold gradient boosting too (`downscaling.boosting`, some seconds).
    seed : of restarts and k-means; device : "auto", "cpu" or "cuda".
    """

    model: str = AUTO
    kernel: Any = None
    mediator_kernel: Any = None
    spatial: str | None = None
    structure: str = "sum"
    linear_mean: bool = False
    regularisation: float | None = None
    noise: float | None = None
    point_noise: float | None = None
    hold: tuple[str, ...] | None = None
    inducing: Any = 200
    placement: str = "kmeans"
    choose: bool | None = None
    learn: bool = True
    stage_one: str = CHOOSE
    method: str = "lbfgs"
    restarts: int | None = None
    steps: int = 100
    bound: str = "collapsed"
    points: int = 10
    every_pixel: bool | None = None
    prior_sd: float | None = None
    local_scale: bool | None = None
    gradient_boosting: bool = False
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        kind = None if self.model == AUTO else self.kind
        if self.hold is not None:
            object.__setattr__(self, "hold", check_hold(tuple(self.hold)))
        if self.structure not in ("sum", "product"):
            raise InputError(f"Unknown kernel structure '{self.structure}': choose sum or product.")
        for family in (self.kernel, self.mediator_kernel, self.spatial):
            if isinstance(family, str) and family_of(family).without_scales:
                raise InputError(f"A {family} kernel has no lengthscale to learn: choose another family.")
        if self.prior_sd and self.bound == "stochastic":
            raise InputError(
                "Minibatch optimisation does not support priors: omit their width or use the collapsed bound."
            )
        one_term = kind is not None and not kind.has_covariate_kernel
        if one_term and (isinstance(self.kernel, str) or self.structure == "product"):
            raise InputError(
                f"The model '{self.model}' is linear in the covariates: omit their kernel family and the product, or "
                "choose area_to_point_gp."
            )
        if self.local_scale and kind is not None and not kind.on_bags:
            raise InputError(
                f"The model '{self.model}' has no local scale; only models on all pixels of a cell have one. Omit it."
            )
        if self.points < 1:
            raise InputError(f"`points` is {self.points}: give at least one point per bag.")

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "DownscaleSettings":
        """Settings from plain data; unknown names are refused with a sentence."""
        return from_known(DownscaleSettings, value)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, inverse of ``from_dict``."""
        return asdict(self)

    @property
    def kind(self) -> NamedModel:
        """The model itself; the one for "auto" is known once the settings are `completed`."""
        return named(self.model)

    def learning(self) -> LearningOptions:
        """The options of learning; give it `completed` settings."""
        restarts = Start.restarts if self.restarts is None else self.restarts
        way = LearningOptions.stage_one if self.stage_one == CHOOSE else self.stage_one
        return LearningOptions.of(
            self, stage_one=way, hold=self.hold or (), prior_sd=self.prior_sd or 0.0, restarts=restarts
        )

    def inducing_points(self, there: int) -> Inducing:
        """Where a sparse model keeps its inducing points; a plain number is cut to the points there are."""
        if isinstance(self.inducing, dict):
            return Inducing.from_dict(self.inducing)
        return Inducing(min(int(self.inducing), there), self.placement, seed=self.seed)


def columns_of(problem: DownscalingProblem) -> Columns:
    """Names of the problem's input and mediator columns."""
    place = coordinate_names(problem)
    return Columns(problem.columns, problem.mediator_columns, tuple(name for name in problem.columns if name in place))


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
        structure=settings.structure, linear_mean=settings.linear_mean,
    )  # fmt: skip


def _kernel_of_mediators(
    problem: DownscalingProblem, settings: DownscaleSettings, mediators: torch.Tensor
) -> KernelSpec:
    """ℓ as given, or as the model has it."""
    if isinstance(settings.mediator_kernel, dict):
        return KernelSpec.from_dict(settings.mediator_kernel)
    apart = not problem.matched and problem.spec.coordinates
    return starting_mediator_kernel(
        settings.kind, mediators, problem.mediator_columns, coordinate_names(problem), spatial=settings.spatial,
        covariates=settings.mediator_kernel, structure=settings.structure,
        across=_width_of_cells(problem) if apart else None,
    )  # fmt: skip


def _width_of_cells(problem: DownscalingProblem) -> float:
    """The side of a cell, in the units of the scaled coordinates."""
    bags, place = problem.data.bags, coordinate_names(problem)
    return cell_width(bags.inputs[:, [problem.columns.index(name) for name in place if name in problem.columns]], bags)


def may_choose(problem: DownscalingProblem, model: NamedModel) -> bool:
    """Whether there are two models that suit these cells, and this is one of them."""
    return not problem.matched and problem.data.footprints is not None and model.name in CANDIDATES


def other_candidate(problem: DownscalingProblem, settings: DownscaleSettings) -> DownscaleSettings | None:
    """The other of the two models that suit cells matched through mediators, as it begins; None where there is none."""
    if not may_choose(problem, settings.kind):
        return None
    return completed(problem, kept_settings(CANDIDATES[settings.model == CANDIDATES[0]], settings))


def kept_settings(model: str, settings: DownscaleSettings) -> DownscaleSettings:
    """Another model as it begins, with what of the settings is no model's own."""
    names = ("points", "seed", "device", "steps", "method", "learn", "gradient_boosting")
    return DownscaleSettings(model, **{name: getattr(settings, name) for name in names})


def completed(problem: DownscalingProblem, settings: DownscaleSettings) -> DownscaleSettings:
    """The settings with the model, its noises and its own way of learning filled in, where they were left open."""
    auto = settings.model == AUTO
    model = usual_model(problem.matched, problem.spec.coordinates) if auto else settings.kind
    start = model.start(problem.matched)
    if settings.choose is None:
        settings = replace(settings, choose=auto)
    own = ("noise", "point_noise", "hold", "every_pixel", "prior_sd", "restarts", "local_scale")
    left_open = {name: getattr(start, name) for name in own if getattr(settings, name) is None}
    return replace(settings, model=model.name, **left_open)


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
        inducing=settings.inducing_points(settings.kind.count_places(data.bags)),
    )
    if spec.model.uses("mediator_kernel") and mediator_kernel is None:
        raise InputError("This model needs mediators, but none are given: choose a mediator or add the coordinates.")
    return spec


def spec_to_settings(settings: DownscaleSettings, spec: ModelSpec) -> DownscaleSettings:
    """Settings that start, without learning, exactly at ``spec``."""
    return replace(
        settings,
        model=spec.model.name,
        kernel=spec.kernel.to_dict(),
        mediator_kernel=spec.mediator_kernel.to_dict() if spec.mediator_kernel else None,
        regularisation=spec.regularisation,
        noise=spec.noise,
        point_noise=spec.point_noise,
        local_scale=spec.local_scale,
        inducing=asdict(spec.inducing),
        choose=False,
        learn=False,
    )
