"""Where a model starts: lengthscales by the median heuristic, amplitudes shared between terms."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.kernels.families.registry import family_of
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.catalogue import named

_SAMPLE = 1000


@dataclass(frozen=True)
class Start:
    """Where a model starts when nothing is said.

    ``spatial`` is the kernel's family on coordinates, ``noise`` σ² and ``point_noise`` ς² (targets standardised),
    ``hold`` those of the two that learning leaves alone: cell means do not identify ς², which runs to several sd of the
    targets on real fields, and a pixel's interval with it. ``every_pixel``, ``prior_sd`` and ``restarts`` are options
    of learning, ``local_scale`` one of the posterior's sd.
    """

    spatial: str = "matern32"
    noise: float = 0.05
    point_noise: float = 0.01
    hold: tuple[str, ...] = ("point_noise",)
    every_pixel: bool = False
    prior_sd: float = 0.0
    restarts: int = 2
    local_scale: bool = False


#: For cells that are measured: in space as rough as real fields are, and no noise beside, so that what varies inside a
#: cell is the kernel's to explain. σ is a thousandth of the targets' sd.
_ROUGH = Start("matern12", 1e-6, 0.0, ("noise", "point_noise"))
#: For a trend and a rough rest: how rough is learned, held near the start by priors. What pseudo-targets
#: err by is carried on, and is no noise of k.
_TREND = Start("powered_exponential", 1e-6, 0.0, ("noise", "point_noise"), True, 1.0, 1, local_scale=True)
_TREND_OF_PSEUDO = replace(_TREND, local_scale=False)


#: The models among which learning may choose where cells are matched through mediators: pseudo-targets with their
#: covariance, or W for what the footprints do not tell. Neither is the better one everywhere; the first does less harm
#: where it is the worse one.
CANDIDATES = ("area_to_point_gp", "partial_cmp")


def start_of(model: str, matched: bool) -> Start:
    """The start of a named model; ``matched``: every cell's target is known to be its own, no pseudo-target."""
    if named(model).trend:
        return _TREND if matched or named(model).partial else _TREND_OF_PSEUDO
    return _ROUGH if model == "bag_gp" and matched else Start()


def usual_model(matched: bool, place: bool) -> str:
    """The model to begin with: of a field in space where the ``place`` is known; else one that reads a cell's own mean,
    where there is one."""
    if place:
        return "area_to_point_gp"
    return "bag_gp" if matched else "shrinkage_cmp"


def median_distance(values: Float[Tensor, "n d"], seed: int = 0) -> float:
    """Median distance between distinct points among 1,000 drawn rows; 1 where all rows agree."""
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randperm(len(values), generator=generator)[:_SAMPLE].to(values.device)
    distances = torch.pdist(values[rows])
    positive = distances[distances > 0]
    return float(positive.median()) if len(positive) else 1.0


def default_kernel(
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
    place = tuple(name for name in names if name in coordinates)
    rest = tuple(name for name in names if name not in coordinates)
    factors: list[Factor] = []
    if place:
        columns = [names.index(name) for name in place]
        factors.append(Factor(spatial, place, (median_distance(values[:, columns]),)))
    if rest:
        scales = tuple(median_distance(values[:, [names.index(name)]]) for name in rest)
        factors.append(Factor(other, rest, (1.0,) * len(rest) if family_of(other).slopes_for_scales else scales))
    if structure == "product":
        return KernelSpec((Term(tuple(factors), 1.0),))
    return KernelSpec(tuple(Term((factor,), 1.0 / len(factors)) for factor in factors))
