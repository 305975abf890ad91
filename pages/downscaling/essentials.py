"""The essential controls of page Downscaling."""

from pages.kit.essential import Essential

ESSENTIALS = {
    "data": Essential("Which field", "Measured or simulated fields; files of your own are given at All."),
    "withhold": Essential(
        "How many cells are hidden to test the map", "Their coarse value is not shown to the model, only compared."
    ),
    "l0": Essential(
        "How smooth the field is",
        "The lengthscale of the kernel's first term: how far apart two places may lie and still be alike.",
    ),
    "draws": Essential(
        "Flip through fields that fit as well",
        "Joint draws of the posterior, each as probable as the next; the mean is none of them.",
    ),
}
