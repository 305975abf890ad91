"""Named settings of page One dimension, each of which tells something."""

from deconditioning.studies.one_dimension.settings import RecoverSettings
from pages.kit.controls.settings import at
from pages.kit.tools.toolbar import Preset, keeping

_R = RecoverSettings

PRESETS = keeping(
    ("o-view", _R.method.key, "o-across", "o-up"),
    Preset(
        "Too smooth", "The lengthscale of k is so long that f is flattened; the evidence falls.", at(_R, k_scale=4.0)
    ),
    Preset(
        "Too wiggly",
        "The lengthscale of k is so short that f follows the noise between data points.",
        at(_R, k_scale=0.15),
    ),
    Preset(
        "Under-regularised",
        "λ close to zero and a narrow ℓ: W assigns each ỹ to its nearest neighbour.",
        at(_R, regularisation=1e-8, l_scale=0.1),
    ),
    Preset("Too little noise", "σ² is far below the noise of z: the band is too narrow.", at(_R, noise=1e-3)),
    Preset("Thirty pairs each", "With so few pairs the band must be wide.", at(_R, n=30, m=30)),
)
