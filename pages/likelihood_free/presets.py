"""Named settings of page Likelihood-free inference, each of which tells something."""

from deconditioning.studies.likelihood_free.settings import BY_HAND, BY_Q
from deconditioning.studies.likelihood_free.settings import PageSettings as S
from pages.kit.controls.settings import at
from pages.kit.tools.toolbar import Preset, keeping

PRESETS = keeping(
    (S.problem.key, S.method.key, "lf-also"),
    Preset(
        "Set by maximising the evidence",
        "The ε and ℓ with the largest approximate evidence q̄, inside the limits.",
        at(S, mode=BY_Q),
    ),
    Preset(
        "Everything counts as near",
        "k is so wide that every simulation counts, and the observation carries almost no information.",
        at(S, mode=BY_HAND, kernel_scale=5.0),
    ),
    Preset(
        "Hardly anything counts as near",
        "k is so narrow that hardly any simulation counts: the weights sum to less than half.",
        at(S, mode=BY_HAND, kernel_scale=0.01),
    ),
    Preset(
        "A narrower kernel",
        "k is half of what ε allows, with 100 simulations: closer to the exact width here, unsafe elsewhere.",
        at(S, mode=BY_HAND, kernel_scale=0.078, simulations=100),
    ),
    Preset(
        "A hundred simulations",
        "Fewer runs of the simulator: the interval is more than twice as wide as the exact one.",
        at(S, simulations=100),
    ),
)
