"""Named settings of page Filtering, each of which tells something."""

from deconditioning.studies.filtering.settings import FilteringSettings as Filter
from deconditioning.studies.filtering.settings import RotationSettings as Series
from pages.kit.controls.settings import at
from pages.kit.tools.toolbar import Preset, keeping

PRESETS = keeping(
    (Series.system.key,),
    Preset("Few examples", "Forty training steps cover the circle only sparsely.", at(Series, train=40)),
    Preset("Many examples", "Six hundred training steps.", at(Series, train=600)),
    Preset(
        "Too smooth",
        "The lengthscale is so long that the filter cannot distinguish observations.",
        at(Filter, scale=3.0),
    ),
    Preset(
        "Under-regularised",
        "ε close to zero: the filter trusts single examples.",
        at(Filter, regularisation=1e-7),
    ),
    Preset(
        "With prediction and smoother",
        "The estimate one step ahead, and the estimate given the whole series.",
        at(Filter, around=True),
    ),
)
