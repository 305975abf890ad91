"""Distribution regression as an estimator: an outcome explained by the distribution of repeated measures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pandas as pd
import torch

from deconditioning.device import one_thread
from deconditioning.distribution_regression.gpdr import design_matrix, fit
from deconditioning.distribution_regression.kernel_sums import MOST_SECONDS, KernelSums
from deconditioning.distribution_regression.subjects import Subjects, merged_bags, range_of
from deconditioning.distribution_regression.table import Roles, gather_frame, read_table, subjects_of_frame
from deconditioning.errors import InputError
from deconditioning.estimators.base import Estimator, matrix
from deconditioning.studies.distribution_regression.compare import Prepared, learn_settings
from deconditioning.studies.distribution_regression.study import MethodSettings


@dataclass(kw_only=True, repr=False, eq=False)
class DistributionRegression(Estimator):
    """Gaussian process distribution regression: ``y_i ~ N(β'W_i + Σ_j f(x_ij)/m_i, σ²)``, ``f ~ GP(0, k)``.

    Parameters
    ----------
    kernel : family of k: "rbf", "matern12", "matern32" or "matern52".
    lengthscale : lengthscale of k in units of the measures; None for half their range.
    variance, noise : variance of k, and noise variance σ² of the outcome.
    intercept : whether the outcome has an unknown mean.
    learn : whether lengthscale, variance and noise are learned by maximising the evidence.

    Attributes
    ----------
    subjects_ : the data that were read; ``subjects_.notes`` describes how.
    settings_ : kernel and noise that are used.
    posterior_ : posterior of f and β (`deconditioning.distribution_regression.gpdr.Fitted`).

    Source: Tang et al., eq. 6-7; Law et al. 2018.
    """

    _fitted_by = "posterior_"

    kernel: str = MethodSettings.family
    lengthscale: float | None = None
    variance: float = MethodSettings.variance
    noise: float = MethodSettings.noise
    intercept: bool = True
    learn: bool = True

    def fit(
        self, table: pd.DataFrame | str | Path, *, subject: str, values: str | Sequence[str], outcome: str,
        covariates: Sequence[str] = (), drop_missing: bool = False, missing: Sequence[str] | None = None,
    ) -> Self:  # fmt: skip
        """Read a table in long format, one row per measurement, and learn.

        Parameters
        ----------
        table : a data frame, or the name of a text file.
        subject, values, outcome, covariates : names of its columns; outcome and covariates have one value per subject.
        drop_missing : omit rows with a missing cell instead of raising an error.
        missing : numbers that count as missing; None for common codes such as -9999.

        Raises ``InputError`` with the row and column.
        """
        self._roles = Roles(
            subject, (values,) if isinstance(values, str) else tuple(values), outcome, tuple(covariates), drop_missing,
            None if missing is None else tuple(missing),
        )  # fmt: skip
        subjects = self._read(table, self._roles)
        low, high = range_of(subjects)
        scale = 0.5 * float((high - low).max()) if self.lengthscale is None else self.lengthscale
        settings = MethodSettings(self.kernel, scale, self.variance, self.noise, intercept=self.intercept)
        prepared = Prepared(subjects, most_seconds=MOST_SECONDS)
        if self.learn:
            settings, _ = learn_settings(prepared, settings)
        spec = settings.regression(subjects.columns)
        with one_thread():
            self.posterior_ = fit(spec, prepared.base, subjects.outcomes, subjects.covariates)
        self.subjects_, self.settings_ = subjects, settings
        return self

    @staticmethod
    def _read(table: Any, roles: Roles) -> Subjects:
        if isinstance(table, str | Path):
            return read_table(table, roles)
        if not isinstance(table, pd.DataFrame):
            raise InputError(f"`table` is a {type(table).__name__}: give a pandas DataFrame or the name of a file.")
        return subjects_of_frame(table, roles)

    def predict(self, table: pd.DataFrame) -> pd.DataFrame:
        """Predict the outcome of new subjects: ``mean`` and ``sd``, by subject in order of appearance.

        ``table`` has the columns of ``fit``; the outcome is optional and ignored. ``sd`` includes the noise.
        """
        self._check_fitted()
        if not isinstance(table, pd.DataFrame):
            raise InputError(f"`table` is a {type(table).__name__}: give a pandas DataFrame.")
        others = gather_frame(table.assign(**{self._roles.outcome: 0.0}), self._roles)
        known, n = self.subjects_, self.subjects_.count
        measures = torch.cat([known.measures, torch.from_numpy(others.values)])
        owner = torch.cat([known.owner, n + torch.from_numpy(others.owner)])
        with one_thread():
            bags = merged_bags(measures, owner, n + len(others.names))
            gram = KernelSums(bags, known.columns, most_seconds=MOST_SECONDS).gram(self.posterior_.spec.kernel)
            design = design_matrix(torch.from_numpy(others.known[:, 1:]), self.settings_.intercept)
            mean, variance = self.posterior_.predict(gram[:n, n:], gram.diagonal()[n:], design)
        sd = (variance + self.posterior_.spec.noise).sqrt()
        return pd.DataFrame({"mean": mean.numpy(), "sd": sd.numpy()}, pd.Index(others.names, name=self._roles.subject))

    def function(self, at: Any) -> pd.DataFrame:
        """``mean`` and ``sd`` of f at values ``at`` (P, d); with an intercept, of f minus its subject mean."""
        self._check_fitted()
        points = matrix(at, "at")
        if points.shape[1] != len(self.subjects_.columns):
            raise InputError(
                f"`at` has {points.shape[1]} columns, but the measures have {len(self.subjects_.columns)}: give "
                "equally many."
            )
        with one_thread():
            mean, variance = self.posterior_.moments(torch.from_numpy(points), centred=self.settings_.intercept)
        return pd.DataFrame({"mean": mean.numpy(), "sd": variance.clamp_min(0).sqrt().numpy()})
