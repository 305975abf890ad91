"""Where errors are large: a factor h(x, t) on the sd, by how low or high the predicted value is for its pixel.

    log h²(x, t) = b₀ + b₁ s + b₂ s²,      s = (m(x, t) − ȳ(x)) / sd y(x),

with the mean and the sd of the training period at the pixel; s is clipped to what left-out times show. Cold, clear
nights are one example: their errors are larger than those of a usual time, and the minimum of a period lies in one.
The weights are those of the largest Gaussian likelihood of left-out errors over sd(x) g(t), with a ridge on b₁ and b₂;
with b₀ free, their squares over h² have mean one. Source: Harvey 1976, *Econometrica* 44 (multiplicative
heteroscedasticity).
"""

from dataclasses import dataclass

import numpy as np

#: Penalty of b₁ and b₂ where a time counts as one; percentiles of s beyond which none goes; bins of s; Newton steps.
_RIDGE, _LOW, _HIGH, _BINS, _STEPS = 5.0, 1.0, 99.0, 200, 25


@dataclass(frozen=True, eq=False)
class ByValue:
    """``weights`` (b₀, b₁, b₂), the ``ends`` that s is clipped to, and of the training period the ``mean`` and the
    ``sd`` of each pixel, in an array of any shape.
    """

    weights: np.ndarray
    ends: tuple[float, float]
    mean: np.ndarray
    sd: np.ndarray

    @staticmethod
    def fit(standard: np.ndarray, s: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> "ByValue":
        """From standardised left-out errors (N, p) of some pixels, where s was ``s`` (N, p); ``mean`` and ``sd`` are
        those of the pixels where the factor is used.
        """
        ends = (float(np.percentile(s, _LOW)), float(np.percentile(s, _HIGH)))
        edges = np.linspace(*ends, _BINS + 1) if ends[1] > ends[0] else np.array([ends[0] - 1, ends[0] + 1])
        bin_ = np.clip(np.searchsorted(edges, s.ravel(), "right") - 1, 0, len(edges) - 2)
        count = np.bincount(bin_, minlength=len(edges) - 1) / s.shape[1]
        squares = np.bincount(bin_, np.square(standard).ravel(), len(edges) - 1) / s.shape[1]
        weights = _largest_likelihood(_powers((edges[1:] + edges[:-1]) / 2), count, squares)
        return ByValue(weights, ends, mean, sd)

    def __call__(self, means: np.ndarray) -> np.ndarray:
        """h of predicted values at the pixels (…)."""
        s = np.clip(standardised(means, self.mean, self.sd), *self.ends)
        return np.exp(0.5 * (_powers(s) @ self.weights))


def standardised(values: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """s of values at pixels with this mean and sd."""
    return (values - mean) / np.maximum(sd, 1e-12)


def _powers(s: np.ndarray) -> np.ndarray:
    return np.stack([np.ones_like(s), s, s * s], axis=-1)


def _largest_likelihood(x: np.ndarray, count: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """argmax of ``−½ Σ (n xᵀb + q exp(−xᵀb)) − ½ ridge (b₁² + b₂²)`` by Newton's method on this concave function."""
    weights = np.array([np.log(max(squares.sum(), 1e-300) / count.sum()), 0.0, 0.0])
    penalty = _RIDGE * np.diag([0.0, 1.0, 1.0])
    for _ in range(_STEPS):
        relative = squares * np.exp(-(x @ weights))
        slope = 0.5 * x.T @ (relative - count) - penalty @ weights
        step = np.linalg.solve(0.5 * (x.T * np.maximum(relative, 0.1 * count)) @ x + penalty, slope)
        weights = weights + step / max(1.0, float(np.abs(step).max()))
    return weights
