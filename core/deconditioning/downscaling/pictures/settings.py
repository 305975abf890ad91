"""The sliders of a kernel, declared once."""

from deconditioning.settings.setting import Log
from deconditioning.settings.settings import Settings


class SliderSettings(Settings):
    """The sliders of a kernel: one of each for every term and column; k's first ones are named here."""

    lengthscale = Log(
        "Lengthscale", 1.0, low=2e-2, high=5e1, address="l0", plain="How smooth the field is",
        plain_help="The lengthscale of the kernel's first term: how far apart two places can be and still have "
        "similar values.",
        help="How far apart two values can be and still be similar: along the ground in km, along a covariate in its "
        "units, or in its standard deviations where it has none.",
    )  # fmt: skip
    trust = Log(
        "Covariates' effect kept", 1.0, low=1e-3, high=1e1, address="trust", plain="How much the covariate is trusted",
        plain_help="How much of the covariate's effect on the map is kept, approximately. 100 %: all of it, as in the "
        "model that is shown first; 0 %: none, so that the map follows the coarse values alone. The address has the "
        "factor on the prior standard deviation of what the covariates explain.",
    )  # fmt: skip
    slope = Log(
        "Sd of the slope", 1.0, low=2e-2, high=5e1, address="l1",
        help="Prior standard deviation of the slope of the field along this covariate: of the field's change over one "
        "standard deviation (sd) of the covariate.",
    )  # fmt: skip
    variance = Log(
        "Variance", 1.0, low=1e-3, high=1e3, address="s0",
        help="Prior variance of this term of the kernel. The address has it as a multiple of the variance of all "
        "coarse values.",
    )  # fmt: skip
