"""Named settings of page Distribution regression, each of which tells something."""

from deconditioning.studies.distribution_regression.settings import SourceSettings
from deconditioning.studies.distribution_regression.settings import SweptSettings as S
from pages.kit.controls.settings import at
from pages.kit.tools.toolbar import Preset, keeping

PRESETS = keeping(
    (SourceSettings.source.key, "d-beside"),
    Preset("Few measurements", "Twenty measurements per subject: the distributions are poorly known.", at(S, m=20)),
    Preset(
        "Subjects that differ",
        "With a small concentration the distributions differ strongly and are easy to distinguish.",
        at(S, spread=2.0),
    ),
    Preset("Too smooth", "The lengthscale is too long to distinguish distributions.", at(S, scale=5.0)),
    Preset("Follows the noise", "A short lengthscale and almost no noise.", at(S, scale=0.1, noise=1e-4)),
)
