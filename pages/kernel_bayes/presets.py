"""Named settings of page Kernel Bayes' rule, each of which tells something."""

from pages.kernel_bayes.controls import RULE
from pages.kit.controls.settings import at
from pages.kit.tools.toolbar import Preset

PRESETS = (
    Preset(
        "Six dimensions",
        "Six unknown numbers, where the rule is more accurate than density estimation.",
        at(RULE, dimension=6),
    ),
    Preset(
        "Under-regularised",
        "ε and δ close to zero: the weights blow up, positive and negative.",
        at(RULE, epsilon=1e-8, delta=1e-10),
    ),
    Preset(("Over-regularised"), "ε so large that the observation hardly matters.", at(RULE, epsilon=0.5, delta=0.5)),
    Preset("Twenty pairs", "Too few samples to represent a joint distribution.", at(RULE, pairs=20)),
    Preset(
        "An unusual observation",
        "An observation in the tail, where there are hardly any samples; in one dimension.",
        at(RULE, dimension=1, y1=8.0),
    ),
)
