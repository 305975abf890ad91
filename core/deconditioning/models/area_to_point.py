"""The kernel of a spatial field with observed cell means: a trend in the covariates and a rough residual.

``k = v₀ + Σ_j c_j c_j′/s_j² + b² k_c(c, c′) + a² exp(−(d/ℓ)^α) + exp(−d/ℓ_s) Σ_j c_j c_j′/u_j²`` with the covariates c
and the distance d. The last term adds slopes that vary from place to place, with sd 1/u_j: what a covariate does inside
a cell then follows from the cells around rather than from all of them, and its uncertainty is part of the variance.
Without the third and the last term the posterior is area-to-point regression kriging with an unknown mean and unknown
slopes. Source: Kyriakidis 2004, *Geographical Analysis* 36; Goovaerts 2008, *Mathematical Geosciences* 40; Wang et al.
2015, *Remote Sensing of Environment* 166; Gelfand et al. 2003, *JASA* 98 (spatially varying coefficients).
"""

import math

from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.observations import Bags

#: Variance of the unknown mean (targets are standardised), which learning leaves alone: wide enough to say nothing.
MEAN_VARIANCE = 9.0
#: Where learning starts, and what its priors hold on to: inverse slopes; lengthscale and variance of the smooth term;
#: lengthscale (in cells), variance and exponent of the rough one; inverse sds of local slopes, which vary over as many
#: cells.
INVERSE_SLOPE, INVERSE_LOCAL_SLOPE = 2.0, 7.0
_SMOOTH, _SMOOTH_VARIANCE = 1.5, 0.0225
_CELLS, _ROUGH_VARIANCE, _EXPONENT = 4.0, 0.09, 0.9
#: Family of the correlation of local slopes: as rough as the exponential, so that they may differ inside a cell.
_LOCAL = "matern12"


def area_to_point_kernel(
    bags: Bags,
    names: tuple[str, ...],
    coordinates: tuple[str, ...],
    *,
    spatial: str,
    covariates: str | None,
    structure: str = "sum",
    across: float | None = None,
    local_slopes: bool = False,
) -> KernelSpec:
    """The starting kernel for ``bags`` whose inputs have these ``names``, some of them ``coordinates``.

    ``spatial`` is the family of the rough term, ``covariates`` that of the smooth one (None to omit it); ``structure``
    "product" multiplies the two; ``across`` is the side of a cell if the bags are points; ``local_slopes`` adds slopes
    that vary from place to place to a sum. Raises ``InputError`` without coordinates.
    """
    located = tuple(name for name in names if name in coordinates)
    rest = tuple(name for name in names if name not in coordinates)
    if not located:
        raise InputError("This model needs the locations of the cells: add the coordinates to the covariates.")
    rough, mean = Factor(spatial, located, (1.0,)), Factor("constant", located, ())
    smooth, terms = Factor(covariates, rest, (1.0,) * len(rest)) if rest and covariates else None, [Term((rough,))]
    if smooth is not None and structure == "product":
        terms = [Term((rough, smooth))]
    elif smooth is not None and not smooth.kind.slopes_for_scales:  # straight lines are there anyhow
        terms.append(Term((smooth,)))
    if rest:
        lines = Factor("linear", rest, (1.0,) * len(rest))
        terms.append(Term((lines,)))
        if local_slopes and structure == "sum":  # a product varies from place to place anyhow
            terms.append(Term((Factor(_LOCAL, located, (1.0,)), lines)))
    return held_to(KernelSpec((*terms, Term((mean,), MEAN_VARIANCE))), bags, names, coordinates, across)


def with_linear_mean(kernel: KernelSpec, names: tuple[str, ...], coordinates: tuple[str, ...]) -> KernelSpec:
    """The kernel of ``m + f`` with a prior mean linear in the covariates, ``m(x) = b₀ + Σ_j b_j c_j``.

    Its unknown coefficients ``b₀ ~ N(0, v₀)``, ``b_j ~ N(0, 1/s_j²)`` are integrated out: ``k + v₀ + Σ_j c_j
    c_j′/s_j²``. Aggregation and mediation act on m as on f, ``E[m(X) | ỹ] ≈ Wᵀm̄``; the posterior mean is that of
    generalised least squares if v₀ and 1/s² are large. Source: Rasmussen and Williams 2006, §2.7.
    """
    rest = tuple(name for name in names if name not in coordinates)
    linear = (Term((Factor("linear", rest, (INVERSE_SLOPE,) * len(rest)),)),) if rest else ()
    constant = Term((Factor("constant", rest or names, ()),), MEAN_VARIANCE)
    return KernelSpec((*kernel.terms, *linear, constant))


def held_to(
    kernel: KernelSpec, bags: Bags, names: tuple[str, ...], coordinates: tuple[str, ...], across: float | None = None
) -> KernelSpec:
    """The kernel of the same families where learning starts and priors have their centres, wherever this one is."""
    located = tuple(name for name in names if name in coordinates)
    across = across or cell_width(bags.inputs[:, [names.index(name) for name in located]], bags)
    return KernelSpec(tuple(_begun_term(term, located, across) for term in kernel.terms))


def _begun_term(term: Term, located: tuple[str, ...], across: float) -> Term:
    if all(factor.kind.without_scales for factor in term.factors):
        return term
    rough = any(set(factor.columns) & set(located) for factor in term.factors)
    local = is_local_slopes(term)
    factors = tuple(_begun(factor, located, across, INVERSE_LOCAL_SLOPE if local else INVERSE_SLOPE)
                    for factor in term.factors)  # fmt: skip
    plain = local or (len(factors) == 1 and factors[0].kind.slopes_for_scales)
    return Term(factors, 1.0 if plain else _ROUGH_VARIANCE if rough else _SMOOTH_VARIANCE)


def _begun(factor: Factor, located: tuple[str, ...], across: float, inverse_slope: float) -> Factor:
    """A factor where learning starts; of its parameters only an exponent has another start than its family's."""
    if factor.kind.slopes_for_scales:
        scale = inverse_slope
    else:
        scale = _CELLS * across if set(factor.columns) & set(located) else _SMOOTH
    parameters = {"alpha": _EXPONENT} if factor.family == "powered_exponential" else {}
    return Factor(factor.family, factor.columns, (scale,) * len(factor.lengthscales), parameters)


def is_local_slopes(term: Term) -> bool:
    """Whether a term stands for slopes that vary from place to place."""
    return [factor.family for factor in term.factors] == [_LOCAL, "linear"]


def cell_width(places: Float[Tensor, "N p"], bags: Bags) -> float:
    """The side of a square with the same mean spread as the points of a bag, ``h² = 6 E‖x − x̄‖²``."""
    spread = bags.mean(places.square()) - bags.mean(places).square()
    return math.sqrt(6 * float(spread.sum(1).clamp_min(0).mean())) or 1.0
