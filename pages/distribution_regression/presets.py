"""Named settings of page Distribution regression, each of which tells something."""

from pages.kit.tools.toolbar import Preset, fixed, keeping

PRESETS = keeping(
    ("d-data", "d-beside"),
    Preset("Few measurements", "Twenty measurements per subject: the distributions are poorly known.", fixed(d_m=20)),
    Preset(
        "Subjects that differ",
        "With a small concentration the distributions differ strongly and are easy to distinguish.",
        fixed(d_alpha=2.0),
    ),
    Preset("Too smooth", "The lengthscale is too long to distinguish distributions.", fixed(d_s_scale=5.0)),
    Preset("Follows the noise", "A short lengthscale and almost no noise.", fixed(d_s_scale=0.1, d_s_noise=1e-4)),
)
