"""Functional linear regression, where the order of a subject's measures is time: ``y_i = α + β'W_i + ∫ b(t) x_i(t)
dt``.

``b`` is a cubic B-spline of few functions with a ridge penalty chosen by generalised cross-validation (the
leave-one-out closed form), both by scikit-learn. Source: Tang et al., §6 (10 cubic splines, equally spaced knots).
"""

from dataclasses import dataclass

import numpy as np

from deconditioning.distribution_regression.subjects import Subjects
from deconditioning.errors import InputError

_FUNCTIONS = 10
_PENALTIES = np.logspace(-8, 4, 49)


def curve_features(subjects: Subjects, functions: int = _FUNCTIONS) -> np.ndarray:
    """``∫ B_k(t) x_i(t) dt`` (n, K·d): means of measure times spline, time running from 0 to 1 over a subject's own."""
    from sklearn.preprocessing import SplineTransformer

    if functions < 4:
        raise InputError(f"{functions} cubic splines were requested: give at least 4.")
    x, owner = subjects.measures.cpu().numpy(), subjects.owner.cpu().numpy()
    order = np.argsort(owner, kind="stable")
    sizes = np.bincount(owner, minlength=subjects.count)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    time = np.empty(len(x))
    time[order] = (np.arange(len(x)) - starts + 0.5) / np.repeat(sizes, sizes)
    splines = SplineTransformer(functions - 2, degree=3, include_bias=True)  # K = knots + degree − 1
    splines.fit(np.array([[0.0], [1.0]]))
    columns = []
    for begin in range(0, len(x), 1 << 18):
        rows = slice(begin, begin + (1 << 18))
        basis = splines.transform(time[rows, None])
        columns.append(
            np.stack([_sums(basis * x[rows, k, None], owner[rows], subjects.count) for k in range(x.shape[1])])
        )
    total = np.sum(columns, axis=0) / sizes[:, None]  # (d, n, K)
    return np.concatenate(list(total), axis=1)


def _sums(values: np.ndarray, owner: np.ndarray, count: int) -> np.ndarray:
    return np.stack([np.bincount(owner, column, minlength=count) for column in values.T], axis=1)


@dataclass(frozen=True)
class FunctionalFit:
    """A fitted regression: ``penalty`` that cross-validation chose, and predictions of other rows of features."""

    pipeline: object
    penalty: float

    def predict(self, features: np.ndarray, covariates: np.ndarray) -> np.ndarray:
        """Outcomes (q,) of features (q, K·d) and covariates (q, p)."""
        return self.pipeline.predict(np.hstack([features, covariates]))  # type: ignore[attr-defined]


def fit_functional(features: np.ndarray, covariates: np.ndarray, outcomes: np.ndarray) -> FunctionalFit:
    """Ridge regression of standardised features, its penalty by generalised cross-validation."""
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    ridge = RidgeCV(alphas=_PENALTIES * len(outcomes))
    pipeline = make_pipeline(StandardScaler(), ridge).fit(np.hstack([features, covariates]), outcomes)
    return FunctionalFit(pipeline, float(ridge.alpha_) / len(outcomes))
