"""Named settings of page Sparse representation, each of which tells something."""

from pages.kit.tools import Preset, fixed

PRESETS = (
    Preset("As many as made it", "Five points made the function: five can stand for it.", fixed(s_points=5, s_made=5)),
    Preset("One point too few", "Four points for a function made of five.", fixed(s_points=4, s_made=5)),
    Preset("Too short", "A lengthscale at which each point speaks for itself alone.", fixed(s_scale=0.1)),
    Preset("Noisy data", "Noise as large as the function: what is learned wanders.", fixed(s_noise=1.0)),
)
