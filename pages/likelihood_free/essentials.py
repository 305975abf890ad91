"""The essential controls of page Likelihood-free inference."""

from pages.kit.essential import Essential

ESSENTIALS = {
    "lf-y": Essential("What was observed", "The mean of the data, whose cause θ is sought."),
    "lf-n-*": Essential("How many simulations", "n: how often the simulator may be run."),
    "lf-mode": Essential(
        "Who sets what counts as near",
        "q̄, the approximate evidence, sets ε and all kernels; move the slider below to take them into your own hands.",
    ),
    "lf-eps": Essential(
        "How near a simulation must come",
        "ε, the width of the kernel that compares simulations with the observation, in their standard deviations.",
    ),
}
