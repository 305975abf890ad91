"""The essential controls of page Downscaling."""

from deconditioning.downscaling.pictures.settings import SliderSettings
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.cell_settings import CellSettings
from pages.kit.controls.essential import Essential
from pages.kit.controls.settings import essentials

_NOISE = DownscaleSettings.noise.inner
ESSENTIALS = {
    "data": Essential("Which field", "Measured or simulated fields, or your own file."),
    **essentials(CellSettings, SliderSettings),
    _NOISE.key: Essential(_NOISE.plain, _NOISE.plain_help),
    "draws": Essential(
        "Show equally plausible fields",
        "Joint draws from the posterior, all equally probable; none of them is the mean.",
    ),
}
