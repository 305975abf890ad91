"""Named settings of page Likelihood-free inference, each of which tells something."""

from deconditioning.studies.likelihood_free.settings import BY_HAND, BY_Q
from deconditioning.studies.likelihood_free.settings import PageSettings as S
from pages.kit.controls.settings import at
from pages.kit.tools.toolbar import Preset, keeping

PRESETS = keeping(
    (S.problem.key, S.method.key, "lf-also"),
    Preset(
        "Set by the evidence",
        "The ε and ℓ with the largest approximate evidence q̄, inside the limits.",
        at(S, mode=BY_Q),
    ),
    Preset(
        "Everything counts as near",
        "ε is so wide that every simulation counts: the posterior is nearly the prior.",
        at(S, mode=BY_HAND, epsilon=2.0),
    ),
    Preset(
        "Hardly anything counts as near",
        "ε is so narrow that hardly any simulation counts.",
        at(S, mode=BY_HAND, epsilon=0.01),
    ),
    Preset(
        "A narrower kernel",
        "k is half of what ε allows: closer to the exact width here, unsafe elsewhere.",
        at(S, mode=BY_HAND, kernel_scale=0.078),
    ),
    Preset("Four hundred simulations", "More runs of the simulator, narrower intervals.", at(S, simulations=400)),
)
