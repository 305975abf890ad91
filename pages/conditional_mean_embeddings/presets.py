"""Named settings of page Conditional mean embeddings, each of which tells something."""

from pages.kit.tools import Preset, fixed, keeping

PRESETS = keeping(
    ("e-view",),
    Preset("Interpolates", "λ next to nothing: each bag keeps its own sampling noise.", fixed(e_lam=1e-6)),
    Preset("Shrunk to the middle", "λ so large that all bags look alike.", fixed(e_lam=10.0)),
    Preset(
        "Three points a bag", "Small bags: here shrinkage earns its keep.", fixed(e_layout="50 × 3", e_unequal=False)
    ),
    Preset("Bags that do not speak", "ℓ so narrow that no bag learns from its neighbours.", fixed(e_l=0.1)),
)
