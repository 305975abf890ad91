"""The kernel Bayes filter, its prediction one step ahead and its smoother with one δ or another, on the same series."""

from collections.abc import Sequence
from typing import Any

import torch

from deconditioning.device import one_thread
from deconditioning.filtering.kernel_bayes_filter import SMOOTHING
from deconditioning.studies.filtering.study import FilterProblem, FilterSettings, Trained, estimates, mse, train
from deconditioning.wording import number

#: δ of the smoother that are compared; the first is the filter's own, 2ε.
_OWN = "the filter's"
_DELTAS: tuple[str | float, ...] = (_OWN, 1e-3, SMOOTHING, 1e-1)


@one_thread()
def compare_smoothers(
    problem: FilterProblem, seed: int, settings: FilterSettings, deltas: Sequence[str | float] = _DELTAS
) -> list[dict[str, Any]]:
    """Rows of ``kbr``, ``kbr_ahead`` and, for each of ``deltas``, ``kbr_smoothed``: mean square error over the steps.

    The prediction of the first step is its estimate. Source: `KernelBayesFilter.smooth`.
    """
    trained = train(problem.states, problem.observations, settings)
    kbr = trained.filter
    steps = kbr.run(torch.as_tensor(problem.observed[None], dtype=torch.float64, device=kbr.states.device))
    ahead = torch.cat([kbr.transition_weights(state.weights) for state in steps[:-1]])
    result: dict[tuple[str, str | float | None], torch.Tensor] = {
        ("kbr", None): estimates(kbr, steps)[0],
        ("kbr_ahead", None): torch.cat([kbr.estimate(steps[0].weights), kbr.estimate(ahead, ahead=True)]),
    }
    for delta in deltas:
        value = 2 * trained.regularisation if delta == _OWN else float(delta)
        result["kbr_smoothed", delta] = kbr.estimate(torch.cat(kbr.smooth(steps, value)))
    return [_row(name, delta, means, problem, seed, trained) for (name, delta), means in result.items()]


def _row(
    name: str, delta: str | float | None, means: torch.Tensor, problem: FilterProblem, seed: int, trained: Trained
) -> dict[str, Any]:
    words = f"β = {number(trained.scale)}, ε = {number(trained.regularisation)}, δ = 2ε"
    scores = {"mse": mse(means.cpu().numpy(), problem.truth)}
    return {"model": name, "seed": seed, "scores": scores, "message": words, "smoothing": delta}
