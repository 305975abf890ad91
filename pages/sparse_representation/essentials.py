"""The essential controls of page Sparse representation."""

from pages.kit.essential import Essential

ESSENTIALS = {
    "s-made": Essential("How many points made the function", "The true function is a sum of this many kernels k."),
    "s-points": Essential(
        "How many points may represent the data", "n, the number of points whose positions are learned."
    ),
    "s-noise": Essential("How noisy the data are", "The standard deviation of the noise on every datum."),
    "s-scale": Essential(
        "How smooth the function is assumed to be",
        "The lengthscale of the kernel k in the left picture: how far the influence of a point reaches.",
    ),
}
