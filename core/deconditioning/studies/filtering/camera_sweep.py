"""What can be swept of the filters that follow a turning camera, and their angles to the truth at a setting."""

from functools import lru_cache
from typing import Any

import numpy as np

from deconditioning.figures.small_multiples import small_lines
from deconditioning.filtering.rotations import angles_between
from deconditioning.studies.filtering.camera import (
    KERNELS,
    CameraData,
    CameraSpec,
    camera_spec,
    follow_camera,
    make_camera,
)
from deconditioning.studies.filtering.settings import CameraSweptSettings
from deconditioning.studies.filtering.study import FilterSettings
from deconditioning.studies.sweeping import Study
from deconditioning.sweeps import Score


@lru_cache(maxsize=2)
def _camera_at(spec: CameraSpec) -> CameraData:
    """The room and both series, kept while only the filters move."""
    return make_camera(spec)


def row(values: dict[str, Any]) -> dict[str, Any]:
    """Mean angles of both kernel Bayes filters, the paper's squared distance, and the angles step by step."""
    settings = CameraSweptSettings(**values)
    data = _camera_at(camera_spec(settings))
    filters = FilterSettings(settings.scale, settings.regularisation, settings.tolerance)
    result = follow_camera(data, filters, KERNELS)
    scores = {name: estimates.scores(data.truth) for name, estimates in result.items()}
    names = {"kbr_gauss": "Gauss", "kbr_tr": "Tr"}
    lines = {names[name]: angles_between(result[name].rotations, data.truth) for name in KERNELS}
    return {
        **{f"angle_{name}": scores[name]["angle"] for name in KERNELS},
        **{f"mse_{name}": scores[name]["mse"] for name in KERNELS},
        "picture": small_lines(np.arange(1, len(data.truth) + 1), lines),
    }


SWEEP = Study(
    "Filtering: camera",
    CameraSweptSettings.declared(),
    {
        "angle_kbr_tr": Score("Mean angle to the truth, Tr (°)"),
        "angle_kbr_gauss": Score("Mean angle to the truth, Gauss (°)"),
        "mse_kbr_tr": Score("Squared distance, Tr"),
        "mse_kbr_gauss": Score("Squared distance, Gauss"),
    },
    row,
    setting_s=0.8,
)
