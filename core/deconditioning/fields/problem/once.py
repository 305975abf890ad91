"""What is computed of a problem once: kept as long as the problem is."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from deconditioning.fields.problem.problem import DownscalingProblem

_Result = TypeVar("_Result")


def once(function: Callable[[DownscalingProblem], _Result]) -> Callable[[DownscalingProblem], _Result]:
    """The function, which computes its result for each problem once: a page asks for it at every step of a slider."""
    known: WeakKeyDictionary[DownscalingProblem, _Result] = WeakKeyDictionary()

    @wraps(function)
    def cached(problem: DownscalingProblem) -> _Result:
        """The result for ``problem``, computed at its first use."""
        if problem not in known:
            known[problem] = function(problem)
        return known[problem]

    return cached
