"""The only module that factorises matrices. Jitter is never silent: the factor records what was added."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from deconditioning.errors import InputError

#: Relative jitters tried in turn, as fractions of the mean diagonal; 0 first.
_JITTERS = (0.0, 1e-12, 1e-10, 1e-8, 1e-6)
LOG_TWO_PI = math.log(2 * math.pi)


def identity(size: int, like: Tensor) -> Float[Tensor, "n n"]:
    """The identity matrix of that size, of the type and on the device of another tensor."""
    return torch.eye(size, dtype=like.dtype, device=like.device)


def is_identity(matrix: Float[Tensor, "n m"]) -> bool:
    """Whether a matrix without gradient is the identity."""
    if matrix.requires_grad or matrix.shape[0] != matrix.shape[1]:
        return False
    return int(matrix.count_nonzero()) == len(matrix) and bool((matrix.diagonal() == 1).all())


@dataclass(frozen=True)
class Factor:
    """A Cholesky factor ``A + jitter·I = L Lᵀ`` of a symmetric positive definite matrix.

    ``lower`` is (n, n); ``jitter`` is the number added to the diagonal (0 if none was needed).
    """

    lower: Float[Tensor, "n n"]
    jitter: float

    def solve(self, right: Float[Tensor, "n *k"]) -> Float[Tensor, "n *k"]:
        """``A⁻¹ B`` by two triangular solves."""
        if right.ndim == 1:
            return torch.cholesky_solve(right[:, None], self.lower)[:, 0]
        return torch.cholesky_solve(right, self.lower)

    def half_solve(self, right: Float[Tensor, "n *k"]) -> Float[Tensor, "n *k"]:
        """``L⁻¹ B``, so that ``‖L⁻¹b‖² = bᵀA⁻¹b``."""
        columns = right[:, None] if right.ndim == 1 else right
        solved = torch.linalg.solve_triangular(self.lower, columns, upper=False)
        return solved[:, 0] if right.ndim == 1 else solved

    def inverse_diagonal(self) -> Float[Tensor, " n"]:
        """``[A⁻¹]_ii`` for every row."""
        return torch.cholesky_inverse(self.lower).diagonal()

    def log_determinant(self) -> Float[Tensor, ""]:
        """``log det A = 2 Σ log L_ii``."""
        return 2 * self.lower.diagonal().log().sum()


def cholesky(matrix: Float[Tensor, "n n"], name: str = "matrix") -> Factor:
    """Factorise a symmetric positive definite matrix with the least jitter that works.

    The values of ``_JITTERS`` times the mean diagonal are tried in turn; the one used is returned in the factor and
    shown to the user. Raises ``InputError`` if none suffices.
    """
    _refuse_infinite(matrix, name)
    scale = float(matrix.detach().diagonal().mean())
    for relative in _JITTERS:
        jitter = relative * scale
        raised = matrix + jitter * identity(len(matrix), matrix) if jitter else matrix
        lower, failed = _factored(raised)
        if not bool(failed):
            return Factor(lower, jitter)
    raise InputError(
        f"The {name} ({len(matrix)}×{len(matrix)}) is singular even with {_JITTERS[-1]:.0e} of its mean diagonal "
        "added: raise the noise or the regularisation, or remove duplicated rows."
    )


def cholesky_exact(matrix: Float[Tensor, "n n"], name: str = "matrix") -> Factor:
    """`cholesky` without jitter, for matrices that are already regularised; raises ``InputError`` if jitter would be
    needed.
    """
    factor = cholesky(matrix, name)
    if factor.jitter:
        raise InputError(f"The {name} is singular at this regularisation: raise it.")
    return factor


def ridge_factor(matrix: Float[Tensor, "n n"], ridge: float | Tensor, name: str = "matrix") -> Factor:
    """The factor of ``A + ridge·I``, without jitter; raises ``InputError`` as `cholesky_exact` does."""
    return cholesky_exact(matrix + ridge * identity(len(matrix), matrix), name)


def solve_general(
    matrix: Float[Tensor, "n n"], right: Float[Tensor, "n k"], name: str = "matrix"
) -> tuple[Float[Tensor, "n k"], Float[Tensor, ""]]:
    """``A⁻¹B`` and ``log |det A|`` of a square, non-symmetric matrix by one LU factorisation, without jitter.

    Raises ``InputError`` if A is singular or not finite.
    """
    factor, pivots, failed = torch.linalg.lu_factor_ex(matrix)
    pivot = factor.diagonal(dim1=-2, dim2=-1).abs()
    if int(failed) or not bool(torch.isfinite(pivot).all()):
        raise InputError(
            f"The {name} ({len(matrix)}×{len(matrix)}) is singular: raise the noise or the regularisation, or remove "
            "duplicated rows."
        )
    return torch.linalg.lu_solve(factor, pivots, right), pivot.log().sum()


def solve_positive_batch(
    matrices: Float[Tensor, "s n n"], right: Float[Tensor, "s n k"], name: str = "matrix"
) -> Float[Tensor, "s n k"]:
    """``A_s⁻¹ B_s`` of many symmetric positive definite matrices, without jitter; ``InputError`` if one is not."""
    lower, failed = _factored(matrices)
    if bool(failed.any()) or not bool(torch.isfinite(lower).all()):
        raise InputError(
            f"The {name} ({matrices.shape[-1]}×{matrices.shape[-1]}) is singular: raise the regularisation δ."
        )
    return torch.cholesky_solve(right, lower)


def eigen(matrix: Float[Tensor, "n n"], name: str = "matrix") -> tuple[Float[Tensor, " n"], Float[Tensor, "n n"]]:
    """Eigenvalues of a symmetric matrix, largest first, and eigenvectors as columns; ``InputError`` if not finite.

    The sign of an eigenvector is the same on every processor, so that random draws in these coordinates are, too.
    """
    _refuse_infinite(matrix, name)
    values, vectors = torch.linalg.eigh(matrix)
    return values.flip(0), (vectors * _signs(vectors)).flip(1)


def singular(
    matrix: Float[Tensor, "m n"], name: str = "matrix"
) -> tuple[Float[Tensor, "m k"], Float[Tensor, " k"], Float[Tensor, "k n"]]:
    """``A = U diag(s) Vᵀ`` with ``k = min(m, n)``, the largest singular value first; ``InputError`` if not finite."""
    _refuse_infinite(matrix, name)
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    signs = _signs(left)
    return left * signs, values, right * signs[:, None]


def root(matrix: Float[Tensor, "n n"], name: str = "matrix") -> Float[Tensor, "n n"]:
    """The symmetric root C of a positive semidefinite A, ``C C = A``, singular or not; negative rounding errors are set
    to zero.

    Unlike other roots it is unique, so that ``C ε`` is the same draw on every processor. Raises ``InputError`` if A is
    not finite.
    """
    _refuse_infinite(matrix, name)
    values, vectors = torch.linalg.eigh(matrix)
    return (vectors * values.clamp_min(0).sqrt()) @ vectors.T


def log_determinant(matrix: Float[Tensor, "n n"]) -> Float[Tensor, ""]:
    """``log |det A|`` of any square matrix; differentiable, −∞ if A is singular."""
    return torch.linalg.slogdet(matrix)[1]


def leading_eigen(
    matrix: Float[Tensor, "n n"], count: int, name: str = "matrix"
) -> tuple[Float[Tensor, " k"], Float[Tensor, "n k"]]:
    """The ``count`` largest eigenvalues with eigenvectors, by Lanczos if they are few (always from the same start)."""
    size = len(matrix)
    if not 1 <= count <= size:
        raise InputError(f"{count} eigenvectors of a {name} of {size} rows were requested: give 1 to {size}.")
    if count > size // 8 or matrix.device.type != "cpu":
        values, vectors = eigen(matrix, name)
        return values[:count], vectors[:, :count]
    from scipy.sparse.linalg import eigsh

    _refuse_infinite(matrix, name)
    start = torch.full((size,), size**-0.5, dtype=matrix.dtype) + matrix.mean(1)
    values, vectors = eigsh(matrix.numpy(), k=count, which="LA", v0=start.numpy())
    leading = torch.from_numpy(vectors[:, ::-1].copy())
    return torch.from_numpy(values[::-1].copy()), leading * _signs(leading)


def contrasts(design: Float[Tensor, "n q"], name: str = "covariates") -> Float[Tensor, "n c"]:
    """An orthonormal basis of the orthogonal complement of a design's columns, ``Qᵀ V = 0``, ``c = n − q``.

    Raises ``InputError`` if the columns are linearly dependent or too few rows are left.
    """
    rows, columns = design.shape
    if columns == 0:
        return identity(rows, design)
    scaled = design / design.norm(dim=0).clamp_min(1e-300)
    basis, triangle = torch.linalg.qr(scaled, mode="complete")
    if columns >= rows or float(triangle.diagonal().abs().min()) < 1e-10:
        raise InputError(
            f"The {columns} {name} (an intercept counts as one) of {rows} rows are linear combinations of each other: "
            "leave one out."
        )
    return basis[:, columns:].contiguous()


def _signs(vectors: Float[Tensor, "n k"]) -> Float[Tensor, " k"]:
    """±1 for every column: the sign of its product with a vector that has no symmetry."""
    generic = torch.arange(1, len(vectors) + 1, dtype=vectors.dtype, device=vectors.device).sqrt().cos()
    return torch.where(generic @ vectors < 0, -1.0, 1.0).to(vectors)


def _factored(matrix: Float[Tensor, "*s n n"]) -> tuple[Float[Tensor, "*s n n"], Bool[Tensor, "*s"]]:
    """Cholesky factors, and whether each failed.

    A pivot that is nothing but rounding, ``L_ii² ≤ n ε A_ii``, does not count as one: whether it comes out above 0
    differs between processors. Source: Higham 2002, *Accuracy and Stability of Numerical Algorithms*, Theorem 10.7.
    """
    lower, failed = torch.linalg.cholesky_ex(matrix)
    pivots, diagonal = (each.detach().diagonal(dim1=-2, dim2=-1) for each in (lower, matrix))
    rounding = matrix.shape[-1] * torch.finfo(matrix.dtype).eps * diagonal
    return lower, failed.bool() | (pivots.square() <= rounding).any(-1)


def _refuse_infinite(matrix: Tensor, name: str) -> None:
    if not bool(torch.isfinite(matrix).all()):
        raise InputError(
            f"The {name} contains infinite or missing numbers because a hyperparameter is too extreme: move "
            "lengthscales, amplitudes and noise towards their defaults."
        )


def log_normal_density(residual: Float[Tensor, " n"], factor: Factor) -> Float[Tensor, ""]:
    """``log N(r; 0, A) = −½ (rᵀA⁻¹r + log det A + n log 2π)``."""
    fit = factor.half_solve(residual).square().sum()
    return -0.5 * (fit + factor.log_determinant() + len(residual) * LOG_TWO_PI)
