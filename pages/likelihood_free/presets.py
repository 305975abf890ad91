"""Named settings of page Likelihood-free inference, each of which tells something."""

from pages.kit.tools.toolbar import Preset, fixed, keeping
from pages.likelihood_free.controls import BY_HAND, BY_Q

PRESETS = keeping(
    ("lf-problem", "lf-shown", "lf-also"),
    Preset(
        "Set by the evidence",
        ("The ε and ℓ with the largest approximate evidence q̄, inside the limits."),
        fixed(lf_mode=BY_Q),
    ),
    Preset(
        "Everything counts as near",
        "ε is so wide that every simulation counts: the posterior is nearly the prior.",
        fixed(lf_mode=BY_HAND, lf_eps=2.0),
    ),
    Preset(
        "Hardly anything counts as near",
        "ε is so narrow that hardly any simulation counts.",
        fixed(lf_mode=BY_HAND, lf_eps=0.01),
    ),
    Preset(
        "A narrower kernel",
        "k is half of what ε allows: closer to the exact width here, unsafe elsewhere.",
        fixed(lf_mode=BY_HAND, lf_k=0.078),
    ),
    Preset(
        "Four hundred simulations", "More runs of the simulator, narrower intervals.", fixed(lf_n_exponential_gamma=400)
    ),
)
