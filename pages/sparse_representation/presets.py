"""Named settings of page Sparse representation, each of which tells something."""

from deconditioning.studies.sparse_representation.settings import RepresentationSettings as S
from pages.kit.controls.settings import at
from pages.kit.tools.toolbar import Preset

PRESETS = (
    Preset(
        ("The right number of points"),
        "The function is made from five points: five points can represent it.",
        at(S, points=5, made_of=5),
    ),
    Preset("One point too few", "Four points for a function made from five.", at(S, points=4, made_of=5)),
    Preset("Too short", "The lengthscale is so short that each point acts alone.", at(S, k_scale=0.1)),
    Preset(
        "Noisy data", "The noise is as large as the function: the learned points are unstable.", at(S, data_noise=1.0)
    ),
)
