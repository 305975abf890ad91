"""Named settings of page Conditional mean embeddings, each of which tells something."""

from pages.kit.tools.toolbar import Preset, fixed, keeping

PRESETS = keeping(
    ("e-view",),
    Preset("Interpolates", "λ close to zero: each bag keeps its own sampling noise.", fixed(e_lam=1e-6)),
    Preset("Too much smoothing", "λ is so large that all bags have nearly the same estimate.", fixed(e_lam=10.0)),
    Preset("Three points per bag", "Small bags, where shrinkage pays off.", fixed(e_layout="50 × 3", e_unequal=False)),
    Preset("Isolated bags", "ℓ is so narrow that no bag learns from its neighbours.", fixed(e_l=0.1)),
)
