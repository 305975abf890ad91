"""The essential controls of page One dimension: at most four of a view."""

from pages.kit.controls.essential import Essential

_SMOOTH = Essential(
    "How smooth the function is",
    "The lengthscale of the kernel k: how far apart two values of x can be and still have nearly the same f(x). A "
    "short lengthscale gives a wiggly function.",
)
ESSENTIALS = {
    "o-view": Essential("What to look at", "Three ways to use the same two data sets."),
    "o-n": Essential("How many simulated pairs", "n, the number of pairs (x, y) in the first data set."),
    "o-k-scale": _SMOOTH,
    "o-noise": Essential(
        "How noisy the measured values are",
        "σ², the noise variance of z that the model assumes. If it is small, the model trusts every value; if it is "
        "large, it trusts none.",
    ),
    "t-k-scale": _SMOOTH,
    "t-eps": Essential(
        "How cautiously the averaging is undone",
        "ε, the regularisation of the second stage. If it is small, everything that can be recovered is recovered, "
        "including noise.",
    ),
    "b-x": Essential("Observation", "x, the simulated outcome whose cause y is to be inferred."),
    "b-prior": Essential(
        "Distribution before the observation", ("The prior: the distribution of y before x is observed.")
    ),
}
