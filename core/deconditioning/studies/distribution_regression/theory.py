"""Two properties that Tang et al. state, on the simulation: what averages tell apart, what a transformation changes.

Source: Tang et al., Lemma 1 (§3.1) and the end of §2, where order and invertible transformations of the measures are
nothing to the model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.distribution_regression.gpdr import fit
from deconditioning.distribution_regression.separation import Separation, moments, separation
from deconditioning.distribution_regression.simulate import Function, SimulationSpec, regression_function, simulate
from deconditioning.distribution_regression.subjects import Subjects, make_subjects
from deconditioning.errors import InputError
from deconditioning.studies.distribution_regression.settings import FUNCTION_NAMES, TRANSFORM_NAMES
from deconditioning.studies.distribution_regression.study import MethodSettings, sums_of

#: Points at which f is drawn.
_POINTS = 121
#: Invertible transformations of [0, 1] onto itself.
_FORMULAS: tuple[Function, ...] = (
    lambda x: x, lambda x: x**2, lambda x: x**0.5, lambda x: 1 - x,
    lambda x: 0.5 + np.arctanh(0.98 * (2 * x - 1)) / (2 * np.arctanh(0.98)), lambda x: 0.5 - 0.5 * np.cos(np.pi * x),
)  # fmt: skip
TRANSFORMS: dict[str, Function] = dict(zip(TRANSFORM_NAMES, _FORMULAS, strict=True))
#: Ways to take the measures, on the measures and on their transforms.
_WAYS = ("gpdr", "kde")
#: Functions whose averages are looked at; ``waves`` says how many waves the last has.
_BY_WAVES: tuple[Callable[[int], Function], ...] = (
    lambda waves: regression_function, lambda waves: _centred, lambda waves: lambda x: np.sin(2 * np.pi * waves * x),
    lambda waves: np.ones_like,
)  # fmt: skip
FUNCTIONS: dict[str, Callable[[int], Function]] = dict(zip(FUNCTION_NAMES, _BY_WAVES, strict=True))


def _centred(x: np.ndarray) -> np.ndarray:
    return regression_function(x) - _mean()


@cache
def _mean() -> float:
    return moments(regression_function)[0]


def separation_of(function: str, waves: int, concentrations: tuple[float, ...], draws: int, seed: int) -> Separation:
    """Lemma 1 for a function by its name; ``InputError`` for one that is not among `FUNCTIONS`."""
    if function not in FUNCTIONS:
        raise InputError(f"The function '{function}' is unknown: choose among {', '.join(FUNCTIONS)}.")
    return separation(FUNCTIONS[function](waves), concentrations, draws, seed)


@dataclass(frozen=True)
class Transformed:
    """f on the measures x and on ``w = h(x)``, drawn against x.

    ``at`` (P,), ``truth`` f₀ there; ``means`` and ``sds`` (P,) by way and by whether the measures were transformed;
    ``errors`` RMSEs of the means; ``apart`` by way, how far both fits of the outcomes lie apart (RMS), ``spread`` the
    sd of the outcomes; ``shuffled`` the largest difference that another order of the measures makes to the mean of f.
    """

    at: np.ndarray
    truth: np.ndarray
    means: Mapping[tuple[str, bool], np.ndarray]
    sds: Mapping[tuple[str, bool], np.ndarray]
    errors: Mapping[tuple[str, bool], float]
    apart: Mapping[str, float]
    spread: float
    shuffled: float


@one_thread()
def transformed(spec: SimulationSpec, transform: str, settings: MethodSettings) -> Transformed:
    """Every way on the measures and on their transforms, with the same kernel on either."""
    if transform not in TRANSFORMS:
        raise InputError(f"The transformation '{transform}' is unknown: choose among {', '.join(TRANSFORMS)}.")
    h, subjects = TRANSFORMS[transform], simulate(spec).subjects
    at = np.linspace(0.0, 1.0, _POINTS)
    truth, sides = regression_function(at), {False: subjects, True: with_measures(subjects, h(_values(subjects)))}
    means, sds, fitted = {}, {}, {}
    for way in _WAYS:
        for changed, each in sides.items():
            result = _fit(way, each, settings, h(at) if changed else at)
            means[way, changed], sds[way, changed], fitted[way, changed] = result
    return Transformed(
        at,
        truth,
        means,
        sds,
        {key: _rms(mean - truth) for key, mean in means.items()},
        {way: _rms(fitted[way, True] - fitted[way, False]) for way in _WAYS},
        float(subjects.outcomes.std()),
        float(np.abs(_fit("gpdr", shuffled(subjects, spec.seed), settings, at)[0] - means["gpdr", False]).max()),
    )


def _fit(way: str, subjects: Subjects, settings: MethodSettings, at: np.ndarray) -> tuple[np.ndarray, ...]:
    """Mean and sd of f at points, and the outcomes that it gives its own subjects."""
    posterior = fit(settings.regression(subjects.columns), sums_of(way, subjects, settings), subjects.outcomes,
                    subjects.covariates)  # fmt: skip
    mean, variance = posterior.moments(torch.from_numpy(at)[:, None].to(posterior.outcomes))
    result = mean, variance.sqrt(), posterior.fitted()[0]
    return tuple(each.numpy(force=True) for each in result)


def _values(subjects: Subjects) -> np.ndarray:
    values: np.ndarray = subjects.measures[:, 0].numpy()
    return values


def with_measures(subjects: Subjects, values: np.ndarray) -> Subjects:
    """The same subjects with other values of their measures, in the same order."""
    return make_subjects(values, subjects.owner.numpy(), subjects.outcomes.numpy())


def shuffled(subjects: Subjects, seed: int) -> Subjects:
    """The same subjects, every one's measures in another order, and all subjects' measures mixed in the table."""
    order = np.random.default_rng(seed).permutation(len(subjects.measures))
    return make_subjects(_values(subjects)[order], subjects.owner.numpy()[order], subjects.outcomes.numpy())


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
