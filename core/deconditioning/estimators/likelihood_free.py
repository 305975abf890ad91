"""Likelihood-free inference as an estimator: the posterior of a simulator's parameters from simulations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from deconditioning.errors import InputError
from deconditioning.estimators.base import Estimator, matrix
from deconditioning.likelihood_free.inference import HERDED, Answer
from deconditioning.likelihood_free.prior import Prior
from deconditioning.likelihood_free.table import MOST_ROWS, Table, problem_of_table
from deconditioning.studies.likelihood_free.settings import MethodSettings
from deconditioning.studies.likelihood_free.study import infer


@dataclass(kw_only=True, repr=False, eq=False)
class LikelihoodFree(Estimator):
    """Posterior of a simulator's parameters given data, from simulations at parameters of known density.

    ``μ = Σ_j w_j ℓ(ũ_j, ·)``, ``w = (AᵀKA + mδI)⁻¹Aᵀk(y)``, ``A = (L + nλI)⁻¹L̃`` (the deconditional mean embedding);
    kernels and regularisation are learned from the simulations for each observation.

    Parameters
    ----------
    method : "dme" (deconditional mean embedding), "kbr" (kernel Bayes' rule), "cme" (conditional mean), "abc"
        (rejection) or "kelfi" (kernel embedding likelihood).
    log : names of the parameters that are used on a logarithmic scale.
    drawn_from_prior : whether the simulated parameters are draws of ``prior``; otherwise uniform over their range.
    samples : number of samples of the posterior.
    seed : seed of the prior's draws.

    Attributes
    ----------
    parameter_names_, summary_names_ : names of the columns.
    inference_ : after ``posterior``, the last result with its weights and hyperparameters.

    Source: Hsu and Ramos 2019, §8.3 and Algorithm 8.1.
    """

    _fitted_by = "parameter_names_"

    method: str = MethodSettings.method.default
    log: tuple[str, ...] = ()
    drawn_from_prior: bool = False
    samples: int = HERDED
    seed: int = 0

    def fit(self, parameters: Any, summaries: Any, prior: Prior | None = None) -> Self:
        """Store the simulations: paired rows of ``parameters`` θ (n, p) and ``summaries`` x (n, q).

        Data frames keep the names of their columns; columns of arrays are named "theta1" … and "x1" …. ``prior``:
        independent marginals (`deconditioning.likelihood_free.prior.Prior`); None: uniform over the range of the
        parameters. Raises ``InputError`` for fewer than 10 or more than 3,000 simulations, and for missing numbers.
        """
        theta, x = matrix(parameters, "parameters"), matrix(summaries, "summaries")
        if len(theta) != len(x):
            raise InputError(
                f"There are {len(theta)} rows of parameters and {len(x)} of summaries: give one row of each per run."
            )
        if not 10 <= len(theta) <= MOST_ROWS:
            raise InputError(
                f"There are {len(theta):,} runs: give 10 to {MOST_ROWS:,}, because a kernel matrix has one row per run."
            )
        names, of_summaries = _names(parameters, "theta", theta), _names(summaries, "x", x)
        if both := sorted(set(names) & set(of_summaries)):
            raise InputError(f"The column '{both[0]}' is both a parameter and a summary: rename one.")
        self._values, self._prior = np.hstack([theta, x]), prior
        self.parameter_names_, self.summary_names_ = names, of_summaries
        return self

    def posterior(self, observed: Any) -> Answer:
        """Posterior given ``observed`` summaries (q,): ``mean`` (p,), central 95 % ``interval`` (p, 2), ``samples``.

        All are in the parameters' original units. Raises ``InputError`` with the reason if the method fails.
        """
        self._check_fitted()
        y = matrix(np.atleast_1d(np.asarray(observed, dtype=float)), "observed")[:, 0]
        if len(y) != len(self.summary_names_):
            raise InputError(
                f"`observed` has {len(y)} numbers, but there are {len(self.summary_names_)} summaries: give one "
                "number per summary."
            )
        columns = (*self.parameter_names_, *self.summary_names_)
        observation = dict(zip(self.summary_names_, y.tolist(), strict=True))
        table = Table(columns, self._values, observation, self.parameter_names_)
        problem, simulations = problem_of_table(
            table, self.parameter_names_, self._prior, logs=self.log, drawn_from_prior=self.drawn_from_prior
        )
        result = infer(problem, simulations, seed=self.seed, methods=(self.method,), herded=self.samples)
        if self.method in result.refused:
            raise InputError(result.refused[self.method])
        self.inference_ = result
        return result.answers[self.method]


def _names(table: Any, start: str, values: np.ndarray) -> tuple[str, ...]:
    columns: Sequence[Any] = getattr(table, "columns", [f"{start}{index + 1}" for index in range(values.shape[1])])
    return tuple(str(column) for column in columns)
