"""Named settings of page Conditional mean embeddings, each of which tells something."""

from deconditioning.studies.conditional_means.settings import EstimateSettings as S
from pages.kit.controls.settings import at
from pages.kit.tools.toolbar import Preset, keeping

PRESETS = keeping(
    ("e-view",),
    Preset("Interpolates", "λ close to zero: each bag keeps its own sampling noise.", at(S, regularisation=1e-6)),
    Preset(
        "Too much smoothing", "λ is so large that all bags have nearly the same estimate.", at(S, regularisation=10.0)
    ),
    Preset(
        "Three points per bag",
        "Small bags of equal size: both estimates are identical.",
        at(S, layout="50 × 3", unequal=False),
    ),
    Preset("Isolated bags", "ℓ is so narrow that no bag learns from its neighbours.", at(S, mediator_scale=0.1)),
)
