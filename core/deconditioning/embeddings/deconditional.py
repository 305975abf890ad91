"""The deconditional mean operator as a two-stage ridge regression, in feature space and by kernels.

Stage one regresses ``φ(x)`` on ``ψ(y)`` (the conditional mean operator C), stage two ``ψ(ỹ)`` on ``C ψ(ỹ)`` (the
operator D with ``D C ψ(y) ≈ ψ(y)``). Source: Chau et al. 2021, §4, eq. 11-12 and Proposition 4.1.
"""

import gpytorch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.embeddings.kernel_mean import KernelMean


def conditional_mean_operator(
    inputs: Float[Tensor, "N p"], mediators: Float[Tensor, "N q"], regularisation: float
) -> Float[Tensor, "p q"]:
    """``Ĉ = Φᵀ Ψ (ΨᵀΨ + NλI)⁻¹``, the minimiser of ``(1/N) Σ ‖φ(x_i) − C ψ(y_i)‖² + λ ‖C‖²`` (eq. 11).

    The rows of ``inputs`` are ``φ(x_i)``, those of ``mediators`` ``ψ(y_i)``; λ > 0, or ``InputError`` if ΨᵀΨ is
    singular.
    """
    count = len(mediators)
    return conditional_operator_of_moments(
        inputs.T @ mediators / count, mediators.T @ mediators / count, regularisation
    )


def conditional_operator_of_moments(
    cross: Float[Tensor, "p q"], second: Float[Tensor, "q q"], regularisation: float
) -> Float[Tensor, "p q"]:
    """``Ĉ = S_xy (S_yy + λI)⁻¹`` from the moments ``E[φψᵀ]`` and ``E[ψψᵀ]`` of a sample or of the true distribution."""
    return linalg.ridge_factor(second, regularisation, "mediator features").solve(cross.T).T


def deconditional_mean_operator(
    operator: Float[Tensor, "p q"], query: Float[Tensor, "M q"], regularisation: float
) -> Float[Tensor, "q p"]:
    """``D̂ = Ψ̃ᵀ U (UᵀU + MεI)⁻¹`` with rows ``U_j = (C ψ(ỹ_j))ᵀ``, the minimiser of eq. 12, in weight space."""
    return deconditional_operator_of_moment(operator, query.T @ query / len(query), regularisation)


def deconditional_operator_of_moment(
    operator: Float[Tensor, "p q"], second: Float[Tensor, "q q"], regularisation: float
) -> Float[Tensor, "q p"]:
    """``D̂ = S Cᵀ (C S Cᵀ + εI)⁻¹`` from the second moment ``S = E[ψψᵀ]`` of a sample or of the true distribution."""
    images = operator @ second
    return linalg.ridge_factor(images @ operator.T, regularisation, "images of the mediators").solve(images).T


def deconditional_weights(
    inputs: Float[Tensor, "N N"],
    within: Float[Tensor, "N N"],
    across: Float[Tensor, "N M"],
    regularisation: float,
    second_regularisation: float,
) -> Float[Tensor, "M N"]:
    """Both stages by kernels alone: G in ``D̂ = Ψ̃ᵀ G Φ``, for feature spaces of any dimension.

    ``A = (L + NλI)⁻¹ L̃``, ``Q̂ = AᵀKA``, ``G = (Q̂ + MεI)⁻¹ Aᵀ`` with ``inputs`` K = k(x, x), ``within`` L = ℓ(y, y),
    ``across`` L̃ = ℓ(y, ỹ), and the two regularisations λ and ε. Then ``ℓ(y, ỹ) G k(x_i, x)`` is ``⟨ℓ_y, D̂ k_x⟩``, and
    ``Σ_j z̃_j (G k(x_i, x))_j`` is the function whose conditional mean fits ``z̃``.

    Raises ``InputError`` if a matrix is singular. Source: Chau et al. 2021, Proposition 4.1 and App. A.2.
    """
    spread, process = _spread_and_process(inputs, within, across, regularisation, second_regularisation)
    return process.solve(spread.T)


def posterior_weights(
    inputs: Float[Tensor, "N N"],
    within: Float[Tensor, "N N"],
    across: Float[Tensor, "N M"],
    at: Float[Tensor, " N"],
    regularisation: float,
    second_regularisation: float,
) -> Float[Tensor, " M"]:
    """``G k_x = (AᵀKA + MεI)⁻¹ Aᵀ k_x`` for one x with ``at`` = k(x_i, x), without forming the operator.

    Raises ``InputError`` if a matrix is singular.
    """
    spread, process = _spread_and_process(inputs, within, across, regularisation, second_regularisation)
    return process.solve(spread.T @ at)


def _spread_and_process(
    inputs: Tensor, within: Tensor, across: Tensor, regularisation: float, second_regularisation: float
) -> tuple[Float[Tensor, "N M"], linalg.Factor]:
    """``A = (L + NλI)⁻¹ L̃`` and the factor of ``AᵀKA + MεI``."""
    count, targets = across.shape
    spread = linalg.ridge_factor(within, count * regularisation, "mediator kernel matrix").solve(across)
    process = spread.T @ (inputs @ spread)
    return spread, linalg.ridge_factor(process, targets * second_regularisation, "conditional mean process")


def estimator_weights(
    gram: Float[Tensor, "n n"], mediation: Float[Tensor, "n m"], targets: Float[Tensor, " m"], ridge: float
) -> Float[Tensor, " n"]:
    """``ᾱ = A [AᵀKA + mεI]⁻¹ z̃``: the DME estimator ``f̄(x) = Σ_i ᾱ_i k(x_i, x)``, from an m×m matrix.

    ``gram`` K = k(x, x), ``mediation`` A = (L + nλI)⁻¹L̃, ``ridge`` mε. Source: Hsu and Ramos 2019, definition 4.4.
    """
    return mediation @ linalg.ridge_factor(mediation.T @ gram @ mediation, ridge, "conditional mean process").solve(
        targets
    )


def feature_weights(
    inputs: Float[Tensor, "n p"],
    mediators: Float[Tensor, "n q"],
    query: Float[Tensor, "m q"],
    targets: Float[Tensor, " m"],
    regularisation: float,
    second_regularisation: float,
) -> Float[Tensor, " p"]:
    """``w̄ = [ΦAAᵀΦᵀ + mεI]⁻¹ ΦA z̃`` with ``A = Ψᵀ(ΨΨᵀ + nλI)⁻¹Ψ̃``: the DME ``f̄ = w̄ᵀφ`` for finite features.

    The rows of ``inputs``, ``mediators`` and ``query`` are φ(x_i), ψ(y_i), ψ(ỹ_j); λ and ε are the two regularisations.
    Source: Hsu and Ramos 2019, definition 4.5.
    """
    count = len(inputs)
    mediated = inputs.T @ mediators  # ΦΨᵀ
    moment = linalg.ridge_factor(mediators.T @ mediators, count * regularisation, "mediator features")
    projected = mediated @ moment.solve(query.T)  # ΦA
    inverse = linalg.ridge_factor(
        projected @ projected.T, len(targets) * second_regularisation, "images of the mediators"
    )
    return inverse.solve(projected @ targets)


def posterior_embedding(
    weights: Float[Tensor, "M N"],
    at: Float[Tensor, " N"],
    query: Float[Tensor, "M r"],
    kernel: gpytorch.kernels.Kernel,
) -> KernelMean:
    """``D̂ k_x = Σ_j [G k(x_i, x)]_j ℓ(ỹ_j, ·)``: the DME of ``Y | X = x``, which is Bayes' rule without densities.

    ``weights`` is G from ``deconditional_weights``, ``at`` is k(x_i, x) for one x, ``kernel`` is ℓ on ``query`` ỹ, a
    sample of the prior. Source: Hsu and Ramos 2019, definition 4.3 and §6.
    """
    return KernelMean(query, weights @ at, kernel)


def reconstruction_risk(
    deconditional: Float[Tensor, "q p"], operator: Float[Tensor, "p q"], second_moment: Float[Tensor, "q q"]
) -> Float[Tensor, ""]:
    """``E ‖ψ(Y) − D C ψ(Y)‖² = tr[(I − DC) E[ψψᵀ] (I − DC)ᵀ]`` (Chau et al. 2021, §4)."""
    identity = linalg.identity(len(second_moment), second_moment)
    missed = identity - deconditional @ operator
    return (missed @ second_moment * missed).sum()


def bayes_gap(
    inputs: Float[Tensor, "n n"], within: Float[Tensor, "n n"], regularisation: float, second_regularisation: float
) -> float:
    """``‖Ĉ_X|Y Ĉ_Y|X Ĉ_XX − Ĉ_XX‖ / ‖Ĉ_XX‖`` (Hilbert-Schmidt): the violation of the condition of theorem 6.1.

    At 0, as when X is a function of Y, the deconditional operator is the posterior operator C_Y|X; remaining variation
    of X given Y makes the gap larger. From pairs, K = k(x, x) and L = ℓ(y, y): ``Φ E Φᵀ/n`` with ``E = (L + nλI)⁻¹L (K
    + nεI)⁻¹K − I``. Source: Hsu and Ramos 2019, theorem 6.1.
    """
    count = len(inputs)
    there = linalg.ridge_factor(inputs, count * second_regularisation, "kernel matrix of the inputs").solve(inputs)
    back = linalg.ridge_factor(within, count * regularisation, "mediator kernel matrix").solve(within @ there)
    missed = back - linalg.identity(count, inputs)
    return float(((inputs @ missed) * (missed @ inputs)).sum().clamp_min(0).sqrt() / inputs.norm())
