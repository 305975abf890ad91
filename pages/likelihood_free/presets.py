"""Named settings of page Likelihood-free inference, each of which tells something."""

from pages.kit.tools import Preset, fixed
from pages.likelihood_free.controls import BY_HAND, BY_Q

PRESETS = (
    Preset("Chosen by q̄", "ε and ℓ of the largest approximate evidence, inside its limits.", fixed(lf_mode=BY_Q)),
    Preset(
        "Too wide an ε",
        "The ε-kernel forgives everything: the posterior is nearly the prior.",
        fixed(lf_mode=BY_HAND, lf_eps=2.0),
    ),
    Preset("Too narrow an ε", "Hardly a simulation counts.", fixed(lf_mode=BY_HAND, lf_eps=0.01)),
    Preset(
        "Four hundred simulations", "More runs of the simulator, narrower intervals.", fixed(lf_n_exponential_gamma=400)
    ),
)
