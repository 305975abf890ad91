"""Cells of a series that are missing at random."""

from dataclasses import replace

import numpy as np

from deconditioning.period.series import Series


def with_gaps(series: Series, share: float) -> Series:
    """The series of which a share of the cells is missing at random, others at every time."""
    missing = np.random.default_rng(0).uniform(size=series.coarse.shape) < share
    coarse = np.where(missing, np.nan, series.coarse)
    known = np.isfinite(coarse[:, series.problem.target_cell]).any(axis=1)
    level = np.nanmean(coarse[known][:, series.problem.target_cell], axis=1)
    return replace(series.only(np.flatnonzero(known)), coarse=coarse[known], level=level)
