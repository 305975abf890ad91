"""What can be swept of the filters that follow a turning camera, and their angles to the truth at a setting."""

from functools import lru_cache
from typing import Any

import numpy as np

from deconditioning.figures.small_multiples import small_lines
from deconditioning.filtering.rotations import RotationPath, angles_between
from deconditioning.studies.filtering.camera import KERNELS, CameraData, CameraSpec, follow_camera, make_camera
from deconditioning.studies.filtering.study import FilterSettings
from deconditioning.studies.sweeping import Setting, Settings, Study
from deconditioning.sweeps import Score

_USUAL = RotationPath()


@lru_cache(maxsize=2)
def _camera_at(spec: CameraSpec) -> CameraData:
    """The room and both series, kept while only the filters move."""
    return make_camera(spec)


def row(given: Settings) -> dict[str, Any]:
    """Mean angles of both kernel Bayes filters, the paper's squared distance, and the angles step by step."""
    path = RotationPath(given["speed"], _USUAL.piece, _USUAL.jitter, given["tilt"])
    spec = CameraSpec(given["train"], given["test"], given["noise"], given["seed"], path, room_seed=given["room"])
    data = _camera_at(spec)
    settings = FilterSettings(given["scale"], given["regularisation"], given["tolerance"])
    found = follow_camera(data, settings, KERNELS)
    scores = {name: estimates.scores(data.truth) for name, estimates in found.items()}
    names = {"kbr_gauss": "Gauss", "kbr_tr": "Tr"}
    lines = {names[name]: angles_between(found[name].rotations, data.truth) for name in KERNELS}
    return {
        **{f"angle_{name}": scores[name]["angle"] for name in KERNELS},
        **{f"mse_{name}": scores[name]["mse"] for name in KERNELS},
        "picture": small_lines(np.arange(1, len(data.truth) + 1), lines),
    }


SWEEP = Study(
    "Filtering: camera",
    {
        "train": Setting("Training frames T", 300, 100, 1200, whole=True, draws=True),
        "test": Setting("Frames to track", 60, 20, 300, whole=True, draws=True),
        "noise": Setting("Noise of a pixel (sd)", 1e-3**0.5, 0.003, 1.0, draws=True),
        "tilt": Setting("Maximum tilt, °", _USUAL.tilt, 10, 180, log=False, draws=True),
        "speed": Setting("Speed, radians per step", _USUAL.speed, 0.02, 0.4, log=False, draws=True),
        "seed": Setting("Seed", 0),
        "room": Setting("Room", 0),
        "tolerance": Setting("Trace dropped by the low-rank factors", 1e-2, 1e-6, 1e-2),
        "scale": Setting("β, lengthscale in median distances", 1.0, 0.1, 5.0),
        "regularisation": Setting("ε, δ = 2ε", 1e-5, 1e-9, 1e-2),
    },
    {
        "angle_kbr_tr": Score("Mean angle to the truth, Tr (°)"),
        "angle_kbr_gauss": Score("Mean angle to the truth, Gauss (°)"),
        "mse_kbr_tr": Score("Squared distance, Tr"),
        "mse_kbr_gauss": Score("Squared distance, Gauss"),
    },
    row,
    setting_s=0.8,
)
