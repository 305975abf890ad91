"""The made-up series as one Gaussian over all pixels and times, written out."""

import numpy as np

from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.period.correlation import days_of
from deconditioning.period.linking.cells import Lasting
from deconditioning.period.series import Series


def average_of(series: Series) -> np.ndarray:
    """What averages 320 pixels over 20 cells."""
    area = series.problem.grid.area.ravel()
    average = (np.arange(20)[:, None] == series.problem.cell.ravel()) * area
    return average / average.sum(1, keepdims=True)


def lasting(
    kernel: np.ndarray, average: np.ndarray, days: np.ndarray, lasts: Lasting, member: np.ndarray | None = None
) -> np.ndarray:
    """The covariance (T, P, T, P) of fields with a ``kernel`` (P, P) of which each pattern of the means over some
    pixels lasts by its size, and what is independent of these means as the largest one; 0 between members.
    """
    values, vectors = np.linalg.eigh(average @ kernel @ average.T)
    scales = lasts.days * (values / values.max()) ** lasts.exponent
    of_patterns = vectors.T @ average @ kernel / np.sqrt(values)[:, None]
    rest, lag = kernel - of_patterns.T @ of_patterns, np.abs(np.subtract.outer(days, days))
    same = np.ones_like(lag) if member is None else np.equal.outer(member, member)
    result = np.einsum("ts,pq->tpsq", same * np.exp(-lag / lasts.days), rest)
    return result + np.einsum(
        "tsj,jp,jq->tpsq", same[..., None] * np.exp(-lag[..., None] / scales), of_patterns, of_patterns, optimize=True
    )


def prior_in_time(series: Series, kernel: KernelSpec, lasts: Lasting | None) -> np.ndarray:
    """The covariance (T, P, T, P) of f: terms that are linear, or have no wind, last, the latter pattern by pattern,
    and the others are new at every time; without ``lasts``, all are one function of the covariates.
    """
    problems, count, days = [series.at(time) for time in range(len(series))], len(series), days_of(series.dates)
    whole, still = np.zeros((count, 320, count, 320)), np.zeros((320, 320))
    for term in kernel.terms:
        families = {factor.family for factor in term.factors}
        slopes, stays = families == {"linear"}, families == {"powered_exponential"}
        assert slopes or stays or families in ({"rbf"}, {"constant"})
        built = KernelSpec((term,)).build(series.problem.columns)
        if stays and lasts is not None:
            still += evaluate(built, problems[0].inputs, problems[0].inputs).detach().numpy()
            continue
        for t, s in np.ndindex(count, count):
            if slopes or t == s or lasts is None:
                between = 1.0 if lasts is None else np.exp(-abs(days[t] - days[s]) / lasts.days)
                whole[t, :, s] += between * evaluate(built, problems[t].inputs, problems[s].inputs).detach().numpy()
    return whole if lasts is None else whole + lasting(still, average_of(series), days, lasts)
