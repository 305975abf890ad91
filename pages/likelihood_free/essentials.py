"""The essential controls of page Likelihood-free inference."""

from pages.kit.controls.essential import Essential

ESSENTIALS = {
    "lf-y": Essential("What was observed", "The mean of the data, whose cause θ is to be inferred."),
    "lf-n-*": Essential("How many simulations", "n, the number of simulator runs."),
    "lf-mode": Essential(
        "Who decides what counts as near",
        "q̄, the approximate evidence, sets ε and all kernels. Move the slider below to set them yourself.",
    ),
    "lf-eps": Essential(
        "How close a simulation must be",
        "ε, the width of the kernel that compares simulations with the observation, in their standard deviations.",
    ),
}
