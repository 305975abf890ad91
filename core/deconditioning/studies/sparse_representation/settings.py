"""The settings of a sparse representation of a toy function."""

from deconditioning.settings.setting import Choice, Integer, Linear, Log
from deconditioning.settings.settings import Settings


class ToySettings(Settings):
    """The data of Hsu and Ramos 2019, §8.2, and how many points stand for them."""

    prefix = "s"

    data = Integer("Data", 100, low=20, high=100_000, least=1, log=True, draws=True, first=7,
                   offered=(20, 50, 100, 300, 1000, 10_000, 100_000), about="noisy data of the function")  # fmt: skip
    made_of = Integer("Points of the true function", 5, low=1, high=12, least=1, draws=True, first=5,
                      address="s-made", plain="How many points the truth has",
                      plain_help="The function behind the data is a sum of this many kernels k.")  # fmt: skip
    points = Integer("Points that represent it", 5, low=1, high=20, least=1, first=4,
                     plain="How many points represent it",
                     plain_help="m, the number of inducing points whose positions are learned.")  # fmt: skip
    data_noise = Linear("Noise of the data (sd)", 0.1, low=0.0, high=1.0, step=0.05, draws=True, first=6,
                        address="s-noise", plain="How noisy the data are",
                        plain_help="The standard deviation of the noise on every datum.")  # fmt: skip
    seed = Integer("Seed", 0, low=0, high=9999, typed=True, sweep=False)


class PlacedSettings(Settings):
    """Where the points of the large picture stand, and its hyperparameters."""

    prefix = "s"

    places = Choice("Positions of the points", "random", options={
        "random": "random", "even": "even", "learned": "learned",
    })  # fmt: skip
    k_scale = Log("Lengthscale of k", 1.0, low=0.05, high=20.0, first=2, address="s-scale",
                  plain="How far a point reaches",
                  plain_help=(
                      "The lengthscale of the kernel k in the large picture: how far the influence of a point reaches."
                  ))  # fmt: skip
    k_size = Log("Variance of k", 1.0, low=1e-2, high=1e3, first=3, address="s-size")
    noise = Log("σ²", 0.01, low=1e-5, high=1.0, first=1, symbol="σ²", address="s-n")


class RepresentationSettings(ToySettings, PlacedSettings):
    """Data and representation: what can be swept."""


class LearningSettings(Settings):
    """What is learned, and for how long."""

    prefix = "s"

    version = Choice("Learn", "learned", address="s-learn", options={
        "learned": "points, kernel and noise", "learned_points": "points only",
    })  # fmt: skip
    starts = Integer("Starts", 6, low=1, high=20, least=1, typed=True, sweep=False, about="starts of the optimiser")
    steps = Integer("Steps per start", 100, low=5, high=300, least=1, typed=True, sweep=False)
