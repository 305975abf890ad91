"""The sliders of a kernel, declared once."""

from deconditioning.settings.setting import Log
from deconditioning.settings.settings import Settings


class SliderSettings(Settings):
    """The sliders of a kernel: one of each for every term and column; k's first ones are named here."""

    lengthscale = Log(
        "Lengthscale", 1.0, low=2e-2, high=5e1, address="l0", plain="How smooth the field is",
        plain_help="The lengthscale of the kernel's first term: how far apart two places can be and still have "
        "similar values.",
    )  # fmt: skip
    trust = Log(
        "Trust in the covariates", 1.0, low=1e-3, high=1e1, address="trust", plain="How much the covariate is trusted",
        plain_help="A factor on the prior standard deviation of what the covariates explain: below 1 the map follows "
        "them less than the learned model does.",
        help="A factor on the sd of every kernel term of the covariates alone.",
    )  # fmt: skip
    slope = Log("Sd of the slope", 1.0, low=2e-2, high=5e1, address="l1")
    variance = Log("Variance", 1.0, low=1e-3, high=1e3, address="s0")
