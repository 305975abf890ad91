"""The default model for given data, and its starting kernels with lengthscales by the median heuristic."""

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.kernels.families.registry import family_of
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.area_to_point import area_to_point_kernel, held_to, with_linear_mean
from deconditioning.models.catalogue import AREA_TO_POINT_GP, BAG_GP, SHRINKAGE_CMP
from deconditioning.models.centroids import singletons
from deconditioning.models.learning.initial import Start
from deconditioning.models.named_model import NamedModel
from deconditioning.observations import Bags

_SAMPLE = 1000


#: The models among which learning may choose where cells are matched through mediators: pseudo-targets with their
#: covariance, or W for what the footprints do not tell. Neither is the better one everywhere; the first does less harm
#: where it is the worse one.
CANDIDATES = ("area_to_point_gp", "partial_cmp")


def usual_model(matched: bool, place: bool) -> NamedModel:
    """The default model: a spatial model if the ``place`` is known; otherwise one that uses a cell's own mean, if it
    has one.
    """
    if place:
        return AREA_TO_POINT_GP
    return BAG_GP if matched else SHRINKAGE_CMP


def median_distance(values: Float[Tensor, "n d"], seed: int = 0) -> float:
    """Median distance between distinct points among 1,000 drawn rows; 1 where all rows agree."""
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randperm(len(values), generator=generator)[:_SAMPLE].to(values.device)
    distances = torch.pdist(values[rows])
    positive = distances[distances > 0]
    return float(positive.median()) if len(positive) else 1.0


def _default_kernel(
    values: Float[Tensor, "n d"],
    names: tuple[str, ...],
    coordinates: tuple[str, ...],
    *,
    structure: str = "sum",
    spatial: str = "matern32",
    other: str = "rbf",
) -> KernelSpec:
    """A kernel on coordinates (isotropic) plus, or times, one on the other columns (one lengthscale each).

    ``structure`` is "sum" (Chau et al. 2021, §5.2) or "product". Lengthscales are medians of pairwise distances;
    the total variance is one.
    """
    located = tuple(name for name in names if name in coordinates)
    rest = tuple(name for name in names if name not in coordinates)
    factors: list[Factor] = []
    if located:
        columns = [names.index(name) for name in located]
        factors.append(Factor(spatial, located, (median_distance(values[:, columns]),)))
    if rest:
        scales = tuple(median_distance(values[:, [names.index(name)]]) for name in rest)
        factors.append(Factor(other, rest, (1.0,) * len(rest) if family_of(other).slopes_for_scales else scales))
    if structure == "product":
        return KernelSpec((Term(tuple(factors), 1.0),))
    return KernelSpec(tuple(Term((factor,), 1.0 / len(factors)) for factor in factors))


def starting_kernel(
    model: NamedModel,
    bags: Bags,
    names: tuple[str, ...],
    coordinates: tuple[str, ...],
    *,
    spatial: str,
    covariates: str | None = None,
    structure: str = "sum",
    linear_mean: bool = False,
    local_slopes: bool = False,
) -> KernelSpec:
    """k as the model has it: `_default_kernel`, or a trend and a rough rest (`area_to_point_kernel`).

    ``spatial`` and ``covariates`` are families on the coordinates and on the other columns of the bags; ``linear_mean``
    adds an unknown mean that is linear in the covariates where the model has none anyhow, ``local_slopes`` slopes that
    vary from place to place to the sum of a trend and a rough rest.
    """
    if model.trend:
        smooth = (covariates or "rbf") if model.has_covariate_kernel else None
        return area_to_point_kernel(
            bags, names, coordinates, spatial=spatial, covariates=smooth, structure=structure, local_slopes=local_slopes
        )  # fmt: skip
    kernel = _default_kernel(
        bags.inputs, names, coordinates, structure=structure, spatial=spatial, other=covariates or "rbf"
    )
    return with_linear_mean(kernel, names, coordinates) if linear_mean else kernel


def starting_mediator_kernel(
    model: NamedModel,
    mediators: Float[Tensor, "n d"],
    names: tuple[str, ...],
    coordinates: tuple[str, ...],
    *,
    spatial: str | None,
    covariates: str | None = None,
    structure: str = "sum",
    across: float | None = None,
) -> KernelSpec:
    """ℓ as the model has it: `_default_kernel`; for a field in space whose cells are matched through mediators, a trend
    and a rough rest over cells, whose side is ``across``. ``spatial`` None is the model's own family."""
    if model.trend and across is not None:
        return area_to_point_kernel(
            singletons(mediators), names, coordinates, spatial=spatial or model.start(matched=False).spatial,
            covariates=covariates or "rbf", across=across,
        )  # fmt: skip
    spatial = spatial or Start.spatial
    return _default_kernel(
        mediators, names, coordinates, structure=structure, spatial=spatial, other=covariates or "rbf"
    )


def centre_of_priors(
    model: NamedModel, kernel: KernelSpec, bags: Bags, names: tuple[str, ...], coordinates: tuple[str, ...]
) -> KernelSpec | None:
    """Where the priors of the model's kernel have their centres; None if that is its start."""
    return held_to(kernel, bags, names, coordinates) if model.trend else None
