"""Named settings of page Filtering, each of which tells something."""

from pages.kit.tools import Preset, fixed, keeping

PRESETS = keeping(
    ("f-system",),
    Preset("Few examples", "Forty steps of training: the filter has hardly seen the circle.", fixed(f_train=40)),
    Preset("Many examples", "Six hundred steps of training.", fixed(f_train=600)),
    Preset("Too smooth", "A lengthscale so long that all looks are alike.", fixed(f_beta=5.0)),
    Preset("Hardly regularised", "ε next to nothing: the filter trusts single examples.", fixed(f_eps=1e-9)),
    Preset(
        "With prediction and smoother",
        "What was known a step before, and what is known at the end.",
        fixed(f_around=True),
    ),
)
