"""The made-up series as one Gaussian over all pixels and times, written out."""

import numpy as np

from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.period.correlation import days_of
from deconditioning.period.series import Series


def average_of(series: Series) -> np.ndarray:
    """What averages 320 pixels over 20 cells."""
    area = series.problem.grid.area.ravel()
    average = (np.arange(20)[:, None] == series.problem.cell.ravel()) * area
    return average / average.sum(1, keepdims=True)


def prior_in_time(series: Series, kernel: KernelSpec, scale: float | None) -> np.ndarray:
    """The covariance (T, P, T, P) of f: terms that are linear, or have no wind, last by ``scale`` in days, and the
    others are new at every time; without a scale, all are one function of the covariates.
    """
    problems, count, days = [series.at(time) for time in range(len(series))], len(series), days_of(series.dates)
    whole = np.zeros((count, 320, count, 320))
    for term in kernel.terms:
        families = {factor.family for factor in term.factors}
        lasts = families == {"linear"} or families == {"powered_exponential"}
        assert lasts or families in ({"rbf"}, {"constant"})
        built = KernelSpec((term,)).build(series.problem.columns)
        for t, s in np.ndindex(count, count):
            if lasts or t == s or scale is None:
                between = 1.0 if scale is None else np.exp(-abs(days[t] - days[s]) / scale)
                whole[t, :, s] += between * evaluate(built, problems[t].inputs, problems[s].inputs).detach().numpy()
    return whole
