"""Named settings of page Swiss roll, each of which tells something."""

from pages.kit.controls.settings import at
from pages.kit.tools.toolbar import Preset, keeping
from pages.swiss_roll.controls import ROLL

PRESETS = keeping(
    (ROLL.model.key, "r-right"),
    Preset(
        "A bag GP in disguise",
        "λ close to zero: the conditional mean process becomes a GP on bags.",
        at(ROLL, regularisation=1e-9),
    ),
    Preset(
        "Too much smoothing",
        "λ is so large that mediation no longer separates the slices.",
        at(ROLL, regularisation=0.1),
    ),
    Preset(
        "Unmatched slices",
        "Targets and points come from different slices: only the height connects them.",
        at(ROLL, matching="indirect"),
    ),
    Preset("Ten slices", "A target for every fifth slice only.", at(ROLL, slices=10)),
)
