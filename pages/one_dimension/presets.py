"""Named settings of page One dimension, each of which tells something."""

from pages.kit.tools import Preset, fixed, keeping

PRESETS = keeping(
    ("o-view", "o-method", "o-across", "o-up"),
    Preset(
        "Too smooth", "A lengthscale of k so long that f loses its bends; the evidence falls.", fixed(o_k_scale=4.0)
    ),
    Preset(
        "Too wiggly", "A lengthscale of k so short that f follows the noise between the data.", fixed(o_k_scale=0.15)
    ),
    Preset(
        "Hardly regularised",
        "λ next to nothing and a narrow ℓ: W hands each ỹ to its nearest neighbour.",
        fixed(o_lam=1e-8, o_l_scale=0.1),
    ),
    Preset("Believes in no noise", "σ² far below the noise of z: the band is narrow and wrong.", fixed(o_noise=1e-3)),
    Preset("Thirty pairs each", "So few pairs that the band must be wide.", fixed(o_n=30, o_m=30)),
)
