"""Sums of products of features at pixels sorted by one column: where its values are near each other, few combinations
of its features matter, and a single one where they are equal.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.low_rank.certified import BOUND
from deconditioning.errors import Check
from deconditioning.linalg import singular

#: Pixels that are sorted together, and pixels of a block of neighbours.
_SORTED, _BLOCK = 1 << 15, 2048
#: Singular values that rounding leaves of nothing; the share of the bound that a block may leave out.
_ROUNDING, _SHARE = 1e-15, 0.1

_Sides = Callable[[Tensor], tuple[Tensor, Tensor]]


def add_sorted(
    total: Float[Tensor, "B P"], means: Float[Tensor, "B m n"], inputs: Float[Tensor, "P d"], column: int,
    sides: _Sides, scale: float, check: Check,
) -> None:  # fmt: skip
    """Add ``scale · Σ_ij means_ij a_i(x) r_j(x)`` to ``total``, with ``sides(x)`` = a (m, P) of one column and r (n,
    P)."""
    for begin in range(0, len(inputs), _SORTED):
        part = slice(begin, begin + _SORTED)
        tile = inputs[part]
        order = tile[:, column].argsort(stable=True)
        sums = total.new_empty(len(total), len(tile))
        for block in range(0, len(tile), _BLOCK):
            check()
            columns = slice(block, block + _BLOCK)
            torch.mm(*_block_factors(means, *sides(tile[order[columns]])), out=sums[:, columns])
        total[:, part].add_(sums.index_select(1, order.argsort()), alpha=scale)


def _block_factors(
    means: Float[Tensor, "B m n"], first: Float[Tensor, "m P"], rest: Float[Tensor, "n P"]
) -> tuple[Float[Tensor, "B r"], Float[Tensor, "r P"]]:
    """Two factors of the sums at neighbours, from ``a = U s Vᵀ`` with few large s: products of ``s Vᵀ`` with r that
    matter, and their coefficients.

    The others add up to less than a tenth of ``BOUND``: the sum of ``max_b |means U| · max |s V| · max |r|``.
    """
    left, size, right = singular(first, "features")
    rank = max(1, int((size > _ROUNDING * size[0]).sum()))
    combined = right[:rank].mul_(size[:rank, None])
    coefficients = torch.einsum("bmn,mk->bkn", means, left[:, :rank])
    matter = coefficients.abs().amax(0) * combined.abs().amax(1)[:, None] * rest.abs().amax(1)
    ascending, order = matter.flatten().sort()
    largest = order[int((ascending.cumsum(0) <= _SHARE * BOUND).sum()) :].sort().values
    products = combined[largest // len(rest)].mul_(rest[largest % len(rest)])
    return coefficients.flatten(1).index_select(1, largest), products
