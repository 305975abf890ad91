"""Named settings of page One dimension, each of which tells something."""

from pages.kit.tools.toolbar import Preset, fixed, keeping

PRESETS = keeping(
    ("o-view", "o-method", "o-across", "o-up"),
    Preset(
        "Too smooth", "The lengthscale of k is so long that f is flattened; the evidence falls.", fixed(o_k_scale=4.0)
    ),
    Preset(
        "Too wiggly",
        "The lengthscale of k is so short that f follows the noise between data points.",
        fixed(o_k_scale=0.15),
    ),
    Preset(
        "Under-regularised",
        "λ close to zero and a narrow ℓ: W assigns each ỹ to its nearest neighbour.",
        fixed(o_lam=1e-8, o_l_scale=0.1),
    ),
    Preset("Too little noise", "σ² is far below the noise of z: the band is too narrow.", fixed(o_noise=1e-3)),
    Preset("Thirty pairs each", "With so few pairs the band must be wide.", fixed(o_n=30, o_m=30)),
)
