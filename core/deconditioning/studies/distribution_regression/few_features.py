"""Cross-validated R² by few features of a subject: low ranks of GPDR, landmarks, curves in time, and two together.

An outcome's expectation is ``β'W + Φu`` with ``u ~ N(0, s I)``: Φ are leading eigenvectors of the subjects' kernel
times the roots of their values (Tang et al., §4.1), or splines of the measures in time. With a functional and a
distributional component (§4.3) ``Φ = [√w Φ₁, √(1−w) Φ₂]``. Scale s, noise and w are those of highest (restricted)
evidence on each training fold. Eigenvectors are made once: they have seen the measures of all subjects, and no outcome.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.optimize import minimize_scalar
from torch import Tensor

from deconditioning import linalg
from deconditioning.device import one_thread
from deconditioning.distribution_regression.gpdr import design_matrix
from deconditioning.distribution_regression.kernel_sums import MOST_SECONDS
from deconditioning.distribution_regression.spectrum import Spectrum, learn_scale_and_noise
from deconditioning.distribution_regression.subjects import Subjects
from deconditioning.errors import Check, InputError, never
from deconditioning.studies.distribution_regression.compare import Prepared
from deconditioning.studies.distribution_regression.settings import ValidationSettings
from deconditioning.studies.distribution_regression.study import LANDMARKS, MethodSettings
from deconditioning.studies.distribution_regression.validation import Validated, folds_of, over_folds

#: Both the distribution of the measures and their order.
BOTH = "gpdr_flr"
#: What has few features.
PREDICTORS = ("gpdr", "kde", "landmark10", "landmark50", "flr", BOTH)
#: Shares w of the distribution in the prior that are looked at.
_SHARES = (1e-3, 1 - 1e-3)


@dataclass(frozen=True)
class Weighed:
    """``u`` (k,) and slopes (p,) at their means, scale, noise, the share w of each part (one: 1) and the evidence."""

    weights: Float[Tensor, " k"]
    slopes: Float[Tensor, " p"]
    scale: float
    noise: float
    shares: tuple[float, ...]
    evidence: float

    def predict(self, parts: Sequence[Float[Tensor, "q _"]], design: Float[Tensor, "q p"]) -> Float[Tensor, " q"]:
        """Expected outcomes of other subjects."""
        return design @ self.slopes + _weighted_features(parts, self.shares) @ self.weights


def fit_parts(
    parts: Sequence[Float[Tensor, "n _"]], outcomes: Float[Tensor, " n"], design: Float[Tensor, "n p"]
) -> Weighed:
    """One part or two, with scale, noise and the share of each by the evidence."""
    if len(parts) == 1:
        return _fit(parts, (1.0,), outcomes, design)
    if len(parts) != 2:
        raise InputError(f"{len(parts)} parts were given: give one or two.")

    def loss(share: float) -> float:
        """Minus the log evidence at the first part's share."""
        return -_fit(parts, (share, 1 - share), outcomes, design).evidence

    share = float(minimize_scalar(loss, bounds=_SHARES, method="bounded", options={"xatol": 1e-3}).x)
    return _fit(parts, (share, 1 - share), outcomes, design)


def _weighted_features(parts: Sequence[Tensor], shares: Sequence[float]) -> Float[Tensor, "n k"]:
    return torch.cat([share**0.5 * part for part, share in zip(parts, shares, strict=True)], dim=1)


def _fit(parts: Sequence[Tensor], shares: tuple[float, ...], outcomes: Tensor, design: Tensor) -> Weighed:
    features = _weighted_features(parts, shares)
    known = linalg.cholesky(design.T @ design, "covariates")
    inside, rest = (v - design @ known.solve(design.T @ v) for v in (features, outcomes))
    values, vectors = linalg.eigen(inside.T @ inside, "features")
    positive = values > 1e-12 * values[0]
    values, vectors = values[positive], vectors[:, positive]
    projected = (vectors.T @ (inside.T @ rest)) / values.sqrt()
    directions = inside @ vectors / values.sqrt()
    spectrum = Spectrum(directions, values, projected, float(rest.square().sum()), len(outcomes) - design.shape[1])
    scale, noise, evidence = learn_scale_and_noise(spectrum)
    weights = vectors @ (scale * values.sqrt() * projected / (scale * values + noise))
    slopes = known.solve(design.T @ (outcomes - features @ weights))
    return Weighed(weights, slopes, scale, noise, shares, evidence)


def leading_features(gram: Float[Tensor, "n n"], rank: int) -> Float[Tensor, "n k"]:
    """Eigenvectors of the largest eigenvalues, times their roots; of unit mean square together."""
    values, vectors = linalg.leading_eigen(gram, min(rank, len(gram)), "kernel matrix of the subjects")
    return _of_unit_size(vectors * values.clamp_min(0).sqrt())


def _of_unit_size(features: Tensor) -> Tensor:
    centred = features - features.mean(0)
    return features / centred.square().sum(1).mean().sqrt().clamp_min(1e-300)


def features_of(method: str, prepared: Prepared, settings: MethodSettings, rank: int) -> tuple[Tensor, ...]:
    """Features of all subjects by a method, as matrices (n, j) that add up: one, or two where both are combined.

    ``rank`` is the number of leading features of a Gram matrix. Raises ``InputError`` for an unknown method.
    """
    if method not in PREDICTORS:
        raise InputError(f"The method '{method}' has no few features: choose among {', '.join(PREDICTORS)}.")
    subjects = prepared.subjects
    if method == "flr":
        curves = torch.from_numpy(prepared.features()).to(subjects.outcomes)
        return (_of_unit_size((curves - curves.mean(0)) / curves.std(0).clamp_min(1e-300)),)
    if method == BOTH:
        return *features_of("gpdr", prepared, settings, rank), *features_of("flr", prepared, settings, rank)
    gram = prepared.sums(method, settings).gram(settings.regression(subjects.columns).kernel)
    return (leading_features(gram, LANDMARKS[method][0] if method in LANDMARKS else rank),)


@one_thread()
def validate_few(
    subjects: Subjects, settings: MethodSettings, methods: Sequence[str], *, rank: int,
    folds: int = ValidationSettings.folds.default,
    repeats: int = 20, seed: int = 0, prepared: Prepared | None = None, check: Check = never,
) -> Mapping[str, Validated]:  # fmt: skip
    """R² of held-out subjects as `cross_validate` has it, through the ``rank`` leading features of each method."""
    sums = prepared or Prepared(subjects, most_seconds=MOST_SECONDS)
    splits = [folds_of(subjects.count, folds, seed + index) for index in range(repeats)]
    y, design = subjects.outcomes, design_matrix(subjects.covariates, intercept=True)
    result = {}
    for method in methods:
        parts = features_of(method, sums, settings, rank)

        def predict(train: np.ndarray, held: np.ndarray, parts: tuple[Tensor, ...] = parts) -> np.ndarray:
            """Predicted outcomes of the ``held`` subjects, learned from those of ``train``."""
            rows, others = torch.from_numpy(train), torch.from_numpy(held)
            fitted = fit_parts([part[rows] for part in parts], y[rows], design[rows])
            return fitted.predict([part[others] for part in parts], design[others]).numpy(force=True)

        result[method] = over_folds(predict, y.numpy(force=True), splits, check)
    return result
