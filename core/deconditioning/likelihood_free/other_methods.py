"""The paper's comparison methods, on the same simulations or, where a method chooses its own, on new ones.

Source: Hsu and Ramos 2019, figure 5 and App. G.
"""

import time
from collections.abc import Callable

import numpy as np
import torch

from deconditioning.embeddings.kernel_mean import KernelMean, empirical
from deconditioning.errors import InputError
from deconditioning.likelihood_free.conditional_evidence import learn_conditional
from deconditioning.likelihood_free.inference import (
    HERDED,
    Answer,
    Evidence,
    Settings,
    answered,
    cme,
    posterior,
    resampled,
)
from deconditioning.likelihood_free.k2_abc import k2_abc_weights, squared_discrepancies
from deconditioning.likelihood_free.mixture_density import train
from deconditioning.likelihood_free.simulators import Problem, Simulations
from deconditioning.likelihood_free.smc_abc import smc_abc

#: The conditional mean by its own evidence, the kernel embedding likelihood, K2-ABC, a mixture density network,
#: sequential ABC.
OTHERS = ("cme_evidence", "kelfi", "k2_abc", "mdn", "smc_abc")
#: Number of parameters → most runs of sequential ABC, and runs of a generation (the last for more).
RUNS = ((5_000, 200), (20_000, 1_000))


def other_posterior(
    method: str, problem: Problem, simulations: Simulations, data: Evidence, settings: Settings, *, seed: int = 0,
    herded: int = HERDED, check: Callable[[], None] = lambda: None,
) -> Answer:  # fmt: skip
    """The posterior of θ by one of ``OTHERS``; ``data`` and ``settings`` are what ``inference.posterior`` takes.

    ``check`` is called while a method takes long and may end it by raising.
    """
    if method == "kelfi":
        return posterior(method, data, settings, problem.prior, herded=herded)
    begun, used = time.process_time(), None
    ell = data.matrices(settings).ell
    if method == "cme_evidence":
        kernel_mean = cme(data, learn_conditional(data, settings))
        chosen = data.matrices(settings).herding.herd(kernel_mean, herded)
    elif method == "k2_abc":
        weights = k2_abc_weights(simulations, squared_discrepancies(problem, simulations, seed=seed))
        kernel_mean = KernelMean(data.u, torch.from_numpy(weights), ell)
        chosen = resampled(kernel_mean, herded)
    elif method == "mdn":
        box = np.stack([simulations.parameters.min(0), simulations.parameters.max(0)], axis=1)
        network = train(simulations, seed=seed, check=check)
        chosen = torch.from_numpy(network.draw(problem.observed, box, herded, seed=seed))
        kernel_mean = empirical(chosen, ell)
    elif method == "smc_abc":
        budget, fresh = RUNS[min(data.u.shape[1], len(RUNS)) - 1]
        population = smc_abc(problem, budget, fresh=fresh, seed=seed, check=check)
        kernel_mean = KernelMean(torch.from_numpy(population.u), torch.from_numpy(population.weights), ell)
        chosen, used = resampled(kernel_mean, herded), population.used
    else:
        raise InputError(f"The method '{method}' is unknown: choose among {', '.join(OTHERS)}.")
    return answered(method, kernel_mean, chosen, problem.prior, begun, used)
