"""Which controls of page Filtering can be swept: of the rotating point and of the camera, with β and ε by hand."""

from collections.abc import Mapping
from typing import Any

from deconditioning.studies.sweeping import Settings
from pages.kit.tools.study_sweep import OnPage


def of_system(name: str) -> OnPage:
    """Of a system."""

    def choices(held: Mapping[str, Any]) -> Settings:
        return {"system": name, "generator": held["f-gen"] or "M"}

    return OnPage(
        "filtering",
        {
            "f-eps": "regularisation", "f-beta": "scale", "f-train": "train", "f-tol": "tolerance", "f-test": "test",
            "f-eta": "eta", "f-b": "b", "f-waves": "waves", "f-sh": "state_noise", "f-so": "look_noise",
            "f-seed": "seed",
        },
        choices,
    )  # fmt: skip


#: The camera's filters, with β and ε by hand.
CAMERA = OnPage(
    "camera",
    {
        "fc-eps": "regularisation", "fc-beta": "scale", "fc-train": "train", "fc-noise": "noise", "fc-tol": "tolerance",
        "fc-test": "test", "fc-tilt": "tilt", "fc-speed": "speed", "fc-seed": "seed", "fc-room": "room",
    },
)  # fmt: skip
