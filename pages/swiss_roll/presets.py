"""Named settings of page Swiss roll, each of which tells something."""

from pages.kit.tools.toolbar import Preset, fixed, keeping

PRESETS = keeping(
    ("r-model", "r-left", "r-right"),
    Preset(
        "A bag GP in disguise",
        "λ close to zero: the conditional mean process becomes a GP on bags.",
        fixed(r_lam=1e-9),
    ),
    Preset("Too much smoothing", "λ is so large that mediation no longer separates the slices.", fixed(r_lam=0.1)),
    Preset(
        "Unmatched slices",
        "Targets and points come from different slices: only the height connects them.",
        fixed(r_match="indirect"),
    ),
    Preset("Ten slices", "A target for every fifth slice only.", fixed(r_bags=10)),
)
