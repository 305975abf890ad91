"""Controls of page Sparse representation: the data, the points, what is learned."""

from deconditioning.datasets.sparse_toy import ToySpec
from deconditioning.studies.sparse_representation.study import SparseSettings
from pages.kit import bound
from pages.kit.essential import group
from pages.kit.state import log_slider

PLACES = ("random", "even", "learned")
LEARNABLE = {"learned": "points, kernel and noise", "learned_points": "points only"}


def choose_toy() -> tuple[ToySpec, int]:
    """Data and points."""
    data = bound.select_slider("Data", [20, 50, 100, 300, 1000, 10_000, 100_000], 100, key="s-data")
    made_of = bound.slider("Points that make the function", 1, 12, 5, key="s-made")
    count = bound.slider("Points that represent it", 1, 20, 5, key="s-points")
    noise = bound.slider("Noise of the data (sd)", 0.0, 1.0, 0.1, 0.05, key="s-noise")
    seed = bound.number_input("Seed", 0, 9999, 0, key="s-seed")
    return ToySpec(int(data), int(made_of), float(noise), int(seed)), int(count)


def choose_values() -> tuple[str, tuple[float, float, float]]:
    """Where the points stand, and the hyperparameters of the left picture."""
    places = bound.segmented_control("Points of the left picture", PLACES, default="random", key="s-places")
    scale = log_slider("Lengthscale of k", "s-scale", 0.05, 20.0, 1.0)
    variance = log_slider("Variance of k", "s-size", 1e-2, 1e3, 1.0)
    noise = log_slider("σ²", "s-n", 1e-5, 1.0, 0.01)
    return places or "random", (scale, variance, noise)


def choose_learning(count: int, seed: int) -> SparseSettings:
    """What is learned, and how long."""
    with group("How to learn"):
        version = bound.segmented_control(
            "Learn", list(LEARNABLE), default="learned", key="s-learn", format_func=LEARNABLE.__getitem__
        )
        starts = bound.number_input("Starts", 1, 20, 6, key="s-starts")
        steps = bound.number_input("Steps a start", 5, 300, 100, key="s-steps")
    return SparseSettings(version or "learned", count, int(starts), int(steps), seed)
