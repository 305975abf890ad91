"""Named settings of page Kernel Bayes' rule, each of which tells something."""

from pages.kit.tools import Preset, fixed

PRESETS = (
    Preset("In one dimension", "Where every picture can be drawn.", fixed(k_dim=1)),
    Preset(
        "Hardly regularised",
        "ε and δ next to nothing: weights blow up, negative ones too.",
        fixed(k_eps=1e-8, k_delta=1e-10),
    ),
    Preset("Regularised away", "ε so large that the observation hardly matters.", fixed(k_eps=0.5, k_delta=0.5)),
    Preset("Twenty pairs", "Too few samples to stand for a joint distribution.", fixed(k_n=20)),
    Preset(
        "An odd observation", "Out in the tail, where hardly a sample lies; in one dimension.", fixed(k_dim=1, k_y0=8.0)
    ),
)
