"""Kernel Bayes' update from a full Gram matrix by Lanczos steps, with one matrix-vector product each."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg

#: Steps between two looks at whether the last coefficients still matter.
_LOOK = 5
#: Share of all coefficients below which the last end the steps; the smaller δ, the smaller it must be.
ACCURACY = 1e-5


def lanczos_update(
    gram: Float[Tensor, "n n"],
    weights: Float[Tensor, " n"],
    near: Float[Tensor, " n"],
    regularisation: float,
    accuracy: float = ACCURACY,
    most: int = 300,
) -> Float[Tensor, " n"] | None:
    """``ΛG((ΛG)² + δI)⁻¹Λk`` with ``Λ = diag(weights)``, in the precision of ``gram``; None after ``most`` steps.

    ΛG is symmetric in the inner product uᵀGv, so m Lanczos steps from Λk give an m×m tridiagonal matrix. Eigenvalues
    far below √δ need not be resolved, so few steps suffice; they end when the last coefficients fall below ``accuracy``
    relative to all. Source: Saad 2003, *Iterative Methods for Sparse Linear Systems*, §6.6; for the matrix, Fukumizu et
    al. 2013, §3.
    """
    weights, multiply = weights.to(gram.dtype), _multiplier(gram)
    rest = weights * near.to(gram.dtype)
    basis: list[Tensor] = []
    diagonal: list[Tensor] = []
    sizes: list[Tensor] = []
    while len(basis) < min(most, len(gram)):
        image = multiply(rest)
        size = (rest @ image).clamp_min(0).sqrt()
        if not bool(size > 0):
            break  # nothing is left that the matrix does not map into what was seen
        before = size * basis[-1] if basis else 0
        sizes.append(size)
        basis.append(rest / size)
        image = image / size
        turned = weights * image
        diagonal.append(image @ turned)
        rest = turned - diagonal[-1] * basis[-1] - before
        if len(basis) % _LOOK == 0:
            coefficients = _coefficients(diagonal, sizes, regularisation)
            if bool(coefficients[-2:].norm() <= accuracy * coefficients.norm()):
                return torch.stack(basis, dim=1) @ coefficients
    if not basis:
        return torch.zeros_like(rest)
    if len(basis) == most:
        return None
    return torch.stack(basis, dim=1) @ _coefficients(diagonal, sizes, regularisation)


def _multiplier(gram: Tensor) -> Callable[[Tensor], Tensor]:
    """``v ↦ Gv``; on a CPU, where reading G takes the time, by a routine that reads one triangle of it."""
    if gram.device.type != "cpu":
        return lambda vector: gram @ vector
    from scipy.linalg.blas import get_blas_funcs

    values = gram.numpy().T  # columns one after the other, as BLAS has it; G is its own transpose
    symv = get_blas_funcs("symv", (values,))
    return lambda vector: torch.from_numpy(symv(1.0, values, vector.numpy()))


def _coefficients(diagonal: list[Tensor], sizes: list[Tensor], regularisation: float) -> Tensor:
    """``T(T² + δI)⁻¹e₁`` times the size of Λk, T tridiagonal."""
    inner = torch.diag(torch.stack(diagonal).double())
    if len(diagonal) > 1:
        off_diagonal = torch.stack(sizes[1:]).double()
        inner = inner + torch.diag(off_diagonal, 1) + torch.diag(off_diagonal, -1)
    identity = linalg.identity(len(inner), inner)
    factor = linalg.cholesky_exact(inner @ inner + regularisation * identity, "squared evidence")
    return (sizes[0] * factor.solve(inner[0])).to(sizes[0].dtype)
