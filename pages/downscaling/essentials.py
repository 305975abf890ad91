"""The essential controls of page Downscaling."""

from pages.kit.controls.essential import Essential

ESSENTIALS = {
    "data": Essential("Which field", "Measured or simulated fields. To use your own files, switch to All."),
    "withhold": Essential(
        "How many cells are hidden to test the map",
        "The model does not see their coarse values; they are used only to score it.",
    ),
    "l0": Essential(
        "How smooth the field is",
        "The lengthscale of the kernel's first term: how far apart two places can be and still have similar values.",
    ),
    "draws": Essential(
        "Flip through other fields that fit",
        "Joint draws from the posterior, all equally probable; none of them is the mean.",
    ),
}
