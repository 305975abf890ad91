"""The essential controls of page Sparse representation."""

from pages.kit.essential import Essential

ESSENTIALS = {
    "s-made": Essential("How many points made the function", "The data's function is a sum of so many kernels k."),
    "s-points": Essential("How many points may stand for the data", "n, the points whose places are sought."),
    "s-noise": Essential("How noisy the data are", "The standard deviation of the noise on every datum."),
    "s-scale": Essential(
        "How smooth the function is taken to be",
        "The lengthscale of the kernel k in the left picture: how far from a point it still says something.",
    ),
}
