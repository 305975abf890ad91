"""The kernel of a field in space of which cell means are known: a trend in the covariates and a rough rest.

``k = v₀ + Σ_j c_j c_j′/s_j² + b² k_c(c, c′) + a² exp(−(d/ℓ)^α)`` with the covariates c and the distance d. Without the
third term the posterior is area-to-point regression kriging with an unknown mean and unknown slopes. Source: Kyriakidis
2004, *Geographical Analysis* 36; Goovaerts 2008, *Mathematical Geosciences* 40; Wang et al. 2015, *Remote Sensing of
Environment* 166.
"""

import math

from jaxtyping import Float
from torch import Tensor

from core.errors import InputError
from core.kernels.families.registry import family_of
from core.kernels.spec import Factor, KernelSpec, Term
from core.observations import Bags

#: Variance of the unknown mean (targets are standardised), which learning leaves alone: wide enough to say nothing.
MEAN_VARIANCE = 9.0
#: Where learning starts, and what its priors hold on to: inverse slopes; lengthscale and variance of the smooth term;
#: lengthscale (in cells), variance and exponent of the rough one.
INVERSE_SLOPE = 2.0
SMOOTH, SMOOTH_VARIANCE = 1.5, 0.0225
CELLS, ROUGH_VARIANCE, EXPONENT = 4.0, 0.09, 0.9


def area_to_point_kernel(
    bags: Bags,
    names: tuple[str, ...],
    coordinates: tuple[str, ...],
    *,
    spatial: str,
    covariates: str | None,
    structure: str = "sum",
) -> KernelSpec:
    """The kernel where learning starts, for ``bags`` whose inputs have these ``names``, some of them ``coordinates``.

    ``spatial`` is the family of the rough term, ``covariates`` that of the smooth one (None without it); ``structure``
    "product" multiplies the two. Raises ``InputError`` without coordinates.
    """
    place = tuple(name for name in names if name in coordinates)
    rest = tuple(name for name in names if name not in coordinates)
    if not place:
        raise InputError("This model needs to know where the cells lie: let the coordinates join the covariates.")
    across = cell_width(bags.inputs[:, [names.index(name) for name in place]], bags)
    own = {"alpha": EXPONENT} if spatial == "powered_exponential" else {}
    rough = Factor(spatial, place, () if family_of(spatial).without_scales else (CELLS * across,), own)
    terms = []
    if rest and covariates:
        inverse = family_of(covariates).slopes_for_scales
        smooth = Factor(covariates, rest, ((INVERSE_SLOPE if inverse else SMOOTH),) * len(rest))
        together = structure == "product"
        terms = [Term((rough, smooth), ROUGH_VARIANCE)] if together else [Term((smooth,), SMOOTH_VARIANCE)]
    if not terms or structure == "sum":
        terms.insert(0, Term((rough,), ROUGH_VARIANCE))
    if rest:
        terms.append(Term((Factor("linear", rest, (INVERSE_SLOPE,) * len(rest)),)))
    return KernelSpec((*terms, Term((Factor("constant", place, ()),), MEAN_VARIANCE)))


def cell_width(places: Float[Tensor, "N p"], bags: Bags) -> float:
    """The side of a square as widely spread as a bag's points are on average, ``h² = 6 E‖x − x̄‖²``."""
    spread = bags.mean(places.square()) - bags.mean(places).square()
    return math.sqrt(6 * float(spread.sum(1).clamp_min(0).mean())) or 1.0
