"""Which few features a smooth term is summed through, and whether that is worth it."""

from dataclasses import replace

from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.low_rank.certified import Certified, certify
from deconditioning.bag_sums.low_rank.separable import SORTED, Separable, certify_separable
from deconditioning.errors import Check, never
from deconditioning.kernels.spec import KernelSpec, Term

#: Half of what a kernel value costs, in multiplications of a product of matrices: a route through few features has to
#: promise half the direct one's cost.
_WORTH = 16


def few_features(
    term: Term, names: tuple[str, ...], inputs: Float[Tensor, "P d"], bags: int, evaluations: float, *,
    check: Check = never,
) -> Certified | Separable | None:  # fmt: skip
    """The cheapest features that give a term's kernel values among ``inputs`` at unit scale to ``BOUND``.

    None if direct sums, which take ``evaluations`` kernel evaluations per pixel, cost less than twice as much.
    """
    worth = _WORTH * evaluations
    products = certify_separable(term, names, inputs, int(worth / (SORTED * bags)), check=check)
    most = most_points(bags, worth if products is None else products.cost(bags))
    kernel = KernelSpec((replace(term, scale=1.0),)).build(names).to(inputs.device)
    return (certify(kernel, inputs, most, check=check) if most else None) or products


def most_points(bags: int, cost: float) -> int:
    """The most points that are worth it where another route takes so many multiplications a pixel.

    Rank r costs about ``3 r² + B r``: features are made three times until the bound holds.
    """
    half = bags / 6
    return int((half**2 + cost / 3) ** 0.5 - half)
