"""Cross-validated R² of distribution regression and its alternatives on subjects of any kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.distribution_regression.bdr import UncertainSums, fit_bdr
from deconditioning.distribution_regression.functional import fit_functional
from deconditioning.distribution_regression.gpdr import design_matrix, fit
from deconditioning.distribution_regression.kernel_sums import MOST_SECONDS, Sums
from deconditioning.distribution_regression.spectrum import learn, learn_noise, spectrum
from deconditioning.distribution_regression.subjects import Subjects, range_of
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.studies.distribution_regression.compare import Prepared
from deconditioning.studies.distribution_regression.settings import ValidationSettings
from deconditioning.studies.distribution_regression.study import METHODS, MethodSettings

#: What predicts an outcome; "flr" takes the measures' order for time, "average" knows a subject's mean measures alone.
PREDICTORS = (*METHODS, "flr", "average")
#: Of those, the ones without a kernel.
WITHOUT_KERNEL = ("flr", "average")
#: Gibbs draws and burn-in of a fold: a prediction needs the weights' mean alone.
_FOLD_DRAWS = (40, 10)


class _Some:
    """The sums of some subjects, for learning on a fold."""

    def __init__(self, sums: Sums, rows: torch.Tensor) -> None:
        self._sums, self._rows = sums, rows

    def gram(self, kernel: KernelSpec) -> torch.Tensor:
        return self._sums.gram(kernel)[self._rows][:, self._rows]

    def cross(self, kernel: KernelSpec, inputs: torch.Tensor) -> torch.Tensor:
        return self._sums.cross(kernel, inputs)[self._rows]

    def prior(self, kernel: KernelSpec, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return self._sums.prior(kernel, left, right)

    def prior_variance(self, kernel: KernelSpec, inputs: torch.Tensor) -> torch.Tensor:
        return self._sums.prior_variance(kernel, inputs)


def folds_of(count: int, folds: int, seed: int) -> list[np.ndarray]:
    """Indices of the held-out subjects of each fold, a random partition."""
    if count < 4:
        raise InputError(f"There are {count} subjects: a test on held-out subjects needs at least 4.")
    if not 2 <= folds <= count // 2:
        raise InputError(f"{folds} folds of {count} subjects were requested: give 2 to {max(2, count // 2)}.")
    return np.array_split(np.random.default_rng([seed, folds]).permutation(count), folds)


@dataclass(frozen=True)
class Validated:
    """``r2`` (repeats,) of one method, each the mean over folds, and ``predicted`` (n,) out of fold, first repeat."""

    r2: np.ndarray
    predicted: np.ndarray

    @property
    def interval(self) -> tuple[float, float]:
        """The central 95 % of the repeats: what the choice of folds alone does to R²."""
        low, high = np.quantile(self.r2, [0.025, 0.975])
        return float(low), float(high)


@one_thread()
def cross_validate(
    subjects: Subjects, settings: MethodSettings, methods: Sequence[str] = PREDICTORS, *,
    folds: int = ValidationSettings.folds.default,
    repeats: int = 20, seed: int = 0, learned: bool = False, prepared: Prepared | None = None, check: Check = never,
) -> dict[str, Validated]:  # fmt: skip
    """R² of held-out subjects: ``1 − Σ(y − ŷ)²/Σ(y − ȳ)²`` over a fold, averaged over folds.

    Sums over measures are made once for all folds; with ``learned`` kernel and noise are learned on each training fold.
    Fits are of full rank; noise that is not given is learned on the training fold, by evidence also for "gibbs".
    Posteriors of embeddings are made once too: they have seen the measures of all subjects, and no outcome.
    """
    unknown = [name for name in methods if name not in PREDICTORS]
    if unknown:
        raise InputError(f"The method '{unknown[0]}' is unknown: choose among {', '.join(PREDICTORS)}.")
    splits = [folds_of(subjects.count, folds, seed + index) for index in range(repeats)]
    sums = prepared or Prepared(subjects, most_seconds=MOST_SECONDS)
    y = subjects.outcomes.numpy(force=True)
    out = {}
    for method in methods:
        same = (method, folds, repeats, seed)  # without a kernel nothing depends on the settings
        if method in WITHOUT_KERNEL and same in sums.kept_scores:
            out[method] = sums.kept_scores[same]
            continue
        predict = _linear(method, subjects, sums) or _kernel_method(
            sums.sums(method, settings), subjects, settings, learned, check
        )
        out[method] = sums.kept_scores[same] = over_folds(predict, y, splits, check)
    return out


def over_folds(
    predict: Callable[[np.ndarray, np.ndarray], np.ndarray], outcomes: np.ndarray, splits: Sequence[list[np.ndarray]],
    check: Check,
) -> Validated:  # fmt: skip
    """R² of every partition, ``predict(train, held)`` called on each of its folds."""
    scores, first = [], np.empty(len(outcomes))
    for index, split in enumerate(splits):
        each = []
        for held in split:
            check()
            result = predict(np.setdiff1d(np.arange(len(outcomes)), held), held)
            each.append(_r2(outcomes[held], result))
            if index == 0:
                first[held] = result
        scores.append(float(np.mean(each)))
    return Validated(np.array(scores), first)


def _r2(truth: np.ndarray, result: np.ndarray) -> float:
    """R², not a number where the truth does not vary."""
    spread = float(((truth - truth.mean()) ** 2).sum())
    return 1 - float(((truth - result) ** 2).sum()) / spread if spread > 0 else float("nan")


def _kernel_method(sums: Sums, subjects: Subjects, settings: MethodSettings, learned: bool, check: Check) -> Any:
    """``predict(train, held)`` of a method with a kernel."""
    spec = settings.regression(subjects.columns)
    whole = None if learned else sums.gram(spec.kernel)
    low, high = range_of(subjects)

    def predict(train: np.ndarray, held: np.ndarray) -> np.ndarray:
        """Predicted outcomes of the ``held`` subjects, learned from those of ``train``."""
        rows, others = torch.from_numpy(train), torch.from_numpy(held)
        y, w, now, gram = subjects.outcomes[rows], subjects.covariates[rows], spec, whole
        some = _Some(sums, rows)
        if learned:
            now = learn(spec, some, y, w, spans=tuple(high - low), check=check).spec
            gram = sums.gram(now.kernel)
        assert gram is not None
        inside = gram[rows][:, rows]
        if not learned and settings.noise_by != "given":
            noise = learn_noise(spectrum(inside, y, design_matrix(w, spec.intercept)))
            now = replace(now, noise=noise)
        design = design_matrix(subjects.covariates[others], spec.intercept)
        if isinstance(sums, UncertainSums):
            draws, burn_in = _FOLD_DRAWS
            uncertain = fit_bdr(now, sums, y, w, rows=rows, draws=draws, burn_in=burn_in, check=check)
            return uncertain.predict(sums.features(now.kernel)[others], design).numpy(force=True)
        fitted = fit(now, some, y, w, inside)
        mean, _ = fitted.predict(gram[rows][:, others], gram.diagonal()[others], design)
        return mean.numpy(force=True)

    return predict


def _linear(method: str, subjects: Subjects, sums: Prepared) -> Any:
    """``predict(train, held)`` of a method without a kernel, None of all others."""
    if method == "flr":
        return _functional(subjects, sums.features())
    return _on_averages(subjects) if method == "average" else None


def _on_averages(subjects: Subjects) -> Any:
    """``predict(train, held)`` of least squares on an intercept, the covariates and each subject's mean measures."""
    averages = subjects.bags.mean(subjects.bags.inputs)
    design = design_matrix(torch.cat([subjects.covariates, averages], 1), intercept=True).numpy(force=True)
    y = subjects.outcomes.numpy(force=True)

    def predict(train: np.ndarray, held: np.ndarray) -> np.ndarray:
        """Predicted outcomes of the ``held`` subjects, learned from those of ``train``."""
        return design[held] @ np.linalg.lstsq(design[train], y[train], rcond=None)[0]

    return predict


def _functional(subjects: Subjects, features: np.ndarray) -> Any:
    """``predict(train, held)`` of functional linear regression."""
    extra = subjects.covariates.numpy(force=True)
    y = subjects.outcomes.numpy(force=True)

    def predict(train: np.ndarray, held: np.ndarray) -> np.ndarray:
        """Predicted outcomes of the ``held`` subjects, learned from those of ``train``."""
        return fit_functional(features[train], extra[train], y[train]).predict(features[held], extra[held])

    return predict
