"""The essential controls of page One dimension: at most four of a view."""

from pages.kit.essential import Essential

_SMOOTH = Essential(
    "How smooth the function is",
    "The lengthscale of the kernel k: how far apart two x may lie and still have nearly the same f(x). Short: wiggly.",
)
ESSENTIALS = {
    "o-view": Essential("What to look at", "Three ways to use the same two scatters."),
    "o-n": Essential("How many simulated pairs", "n: how many pairs (x, y) the first scatter has."),
    "o-k-scale": _SMOOTH,
    "o-noise": Essential(
        "How noisy the measured values are",
        "σ², the variance of the noise in z, as the model believes it. Small: it trusts every value; large: none.",
    ),
    "t-k-scale": _SMOOTH,
    "t-eps": Essential(
        "How cautiously averages are undone",
        "ε, the regularisation of the second stage. Small: everything that can come back does, noise too.",
    ),
    "b-x": Essential("What was observed", "x, the outcome of the simulation whose cause y is sought."),
    "b-prior": Essential("What was believed before", "The prior of y: what its values are before x is observed."),
}
