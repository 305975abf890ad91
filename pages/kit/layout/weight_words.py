"""The weights of a weighted sample, in words."""

from typing import TYPE_CHECKING

from deconditioning.wording import number

if TYPE_CHECKING:
    from deconditioning.embeddings.kernel_mean import KernelMean

#: So much may be negative, or missing to a sum of one, before weights are called no probabilities.
_ROUNDING = 1e-3


def weights_sentence(sample: "KernelMean") -> str:
    """What the weights sum to, and whether they may be read as probabilities."""
    if sample.negative > _ROUNDING:
        return (
            f"The weights of the embedding sum to {sample.total:.3f}, the negative ones to "
            f"−{number(sample.negative, 2)}, so they are not probabilities."
        )
    if abs(sample.total - 1) > _ROUNDING:
        return (
            f"The weights of the embedding sum to {sample.total:.3f}, and none is negative: divided by their sum they "
            "are probabilities."
        )
    return "The weights of the embedding sum to one, and none is negative: they are probabilities."
