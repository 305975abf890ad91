"""Why a map of the error has stripes."""

import numpy as np

from deconditioning.metrics.stored_step import stored_step
from deconditioning.wording import number


def step_sentence(truth: np.ndarray | None, units: str) -> str:
    """That the truth is stored in steps, what they look like and what they alone contribute to the error; empty where
    it is not."""
    step = None if truth is None else stored_step(truth)
    if step is None:
        return ""
    return (
        f"The file stores the truth in steps of {number(step)} {units}. This causes stripes on the map of the error, "
        f"and by itself an RMSE of {number(step / 12**0.5, 2)} {units}."
    )
