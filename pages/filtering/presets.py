"""Named settings of page Filtering, each of which tells something."""

from pages.kit.tools.toolbar import Preset, fixed, keeping

PRESETS = keeping(
    ("f-system",),
    Preset("Few examples", "Forty training steps cover the circle only sparsely.", fixed(f_train=40)),
    Preset("Many examples", "Six hundred training steps.", fixed(f_train=600)),
    Preset(
        "Too smooth", "The lengthscale is so long that the filter cannot distinguish observations.", fixed(f_beta=5.0)
    ),
    Preset("Under-regularised", "ε close to zero: the filter trusts single examples.", fixed(f_eps=1e-9)),
    Preset(
        "With prediction and smoother",
        "The estimate one step ahead, and the estimate given the whole series.",
        fixed(f_around=True),
    ),
)
