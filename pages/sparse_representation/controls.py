"""Controls of page Sparse representation: the data, the points, what is learned."""

from dataclasses import replace

from deconditioning.datasets.sparse_toy import ToySpec
from deconditioning.studies.sparse_representation.settings import LearningSettings, PlacedSettings, ToySettings
from deconditioning.studies.sparse_representation.study import SparseSettings
from pages.kit.controls.essential import group
from pages.kit.controls.settings import controls

#: What the button says.
LEARN = "Learn points and kernel"
LEARNABLE = LearningSettings.version.options


def choose_toy() -> tuple[ToySpec, int]:
    """Data and points."""
    chosen = controls(ToySettings)
    return ToySpec(chosen.data, chosen.made_of, chosen.data_noise, chosen.seed), chosen.points


def choose_values(usual: str) -> tuple[str, tuple[float, float, float]]:
    """Where the points stand, ``usual`` at first, and the hyperparameters of the large picture."""
    chosen = controls(PlacedSettings, {"places": replace(PlacedSettings.places, default=usual)})
    return chosen.places, (chosen.k_scale, chosen.k_size, chosen.noise)


def choose_learning(count: int, seed: int) -> SparseSettings:
    """What is learned, and how long."""
    with group("How to learn"):
        chosen = controls(LearningSettings)
    return SparseSettings(chosen.version, count, chosen.starts, chosen.steps, seed)
