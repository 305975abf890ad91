"""One tile of a kernel matrix, as sums of products of family values.

gpytorch's kernel is the reference where it exists; the families' formulas agree with it up to rounding (tested) and
avoid its intermediate copies.
"""

from collections.abc import Callable
from weakref import WeakKeyDictionary

import gpytorch
from jaxtyping import Float
from torch import Tensor

TileFunction = Callable[[Tensor, Tensor], Tensor]
#: Some terms of kernels that are still in use, by their places: a sum is a module, which takes long to make.
_PARTS: WeakKeyDictionary[gpytorch.kernels.Kernel, dict[tuple[int, ...], gpytorch.kernels.Kernel]] = WeakKeyDictionary()


def part_of(kernel: gpytorch.kernels.Kernel, terms: tuple[int, ...]) -> gpytorch.kernels.Kernel:
    """The sum of some terms of a kernel, by their places; it shares their parameters."""
    if terms == tuple(range(len(kernel.kernels))):
        return kernel
    known = _PARTS.setdefault(kernel, {})
    if terms not in known:
        known[terms] = gpytorch.kernels.AdditiveKernel(*(kernel.kernels[index] for index in terms))
    return known[terms]


def evaluate(kernel: gpytorch.kernels.Kernel, left: Float[Tensor, "n d"], right: Float[Tensor, "m d"]) -> Tensor:
    """Kernel matrix ``k(left, right)`` (n, m) of a kernel made by ``KernelSpec.build``; differentiable."""
    total: Tensor | None = None
    for term in kernel.kernels:
        part = term.outputscale * product_of(term.base_kernel, left, right)
        total = part if total is None else total + part
    assert total is not None
    return total


def diagonal(kernel: gpytorch.kernels.Kernel, inputs: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """``k(x_i, x_i)`` for every row."""
    return kernel(inputs, diag=True)


def features_of(term: gpytorch.kernels.Kernel, inputs: Float[Tensor, "n d"]) -> Float[Tensor, "n r"]:
    """Features of one degenerate term at unit scale; differentiable."""
    (factor,) = term.base_kernel.kernels
    return factor.family.features(factor, inputs)


def product_of(product: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
    """Product of the factors of one term; differentiable."""
    value: Tensor | None = None
    for factor in product.kernels:
        part = factor.family.tile(factor, left, right)
        value = part if value is None else value * part
    assert value is not None
    return value


def in_column(values: Float[Tensor, " n"], column: int, columns: int = 0) -> Float[Tensor, "n d"]:
    """Inputs with these values in one column, zero in all others; as many as that asks for, or more."""
    inputs = values.new_zeros(len(values), max(columns, column + 1))
    inputs[:, column] = values
    return inputs
