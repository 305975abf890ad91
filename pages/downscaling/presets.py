"""Named settings of page Downscaling, each of which tells something about the model that is chosen."""

import re
from collections.abc import Mapping
from typing import Any

from deconditioning.fields.cell_settings import CellSettings
from pages.downscaling.footprints.files import KEYS
from pages.kit.controls.settings import at
from pages.kit.record import Control
from pages.kit.tools.toolbar import Controls, Preset, keeping

#: What is looked at, and by which model.
_KEPT = ("data", "coarse", "third", "more", "target", "cov", "med", "weights", "errors", "*dim-*", "model",
         "also*", *KEYS.values())  # fmt: skip
_PLACE = re.compile(r"location|latitude|longitude|projection|unit vector|\b[xyz]\b", re.IGNORECASE)


def _of(controls: Controls, letter: str, place: bool) -> list[Control]:
    """Sliders of k that begin with this letter, of its terms in the place or of those in the covariates."""
    return [
        control
        for key, control in controls.items()
        if re.fullmatch(rf"{letter}\d(-\d+-\d+)?", key)
        and ":" in control.label
        and bool(_PLACE.search(control.label)) == place
    ]


def _times(factor: float, controls: list[Control]) -> dict[str, float]:
    return {control.key: control.default * factor for control in controls}


def _learned(controls: Controls) -> Mapping[str, Any]:
    """Nothing differs from where the sliders begin, σ² as little as the others."""
    return {"noise": controls["noise"].default} if "noise" in controls else {}


def _too_smooth(controls: Controls) -> Mapping[str, Any]:
    return _times(8.0, _of(controls, "l", True)) | {"noise": 1.0}


def _trusting(controls: Controls) -> Mapping[str, Any]:
    more, less = _of(controls, "s", False), _of(controls, "s", True)
    short = [one for one in _of(controls, "l", False) if one.label.startswith("Lengthscale")]
    return _times(30.0, more) | _times(0.1, short) | _times(0.01, less)


def _without(controls: Controls) -> Mapping[str, Any]:
    slopes = [one for one in _of(controls, "l", False) if not one.label.startswith("Lengthscale")]
    return _times(1e-4, _of(controls, "s", False)) | _times(1e-3, slopes)


PRESETS = keeping(
    _KEPT,
    Preset("Learned by maximising the evidence", "The learned hyperparameters, or the starting values.", _learned),
    Preset("Too smooth", "Long lengthscales and large noise: the map ignores the cell values.", _too_smooth),
    Preset(
        "Too much trust in the covariate", "A wiggly function of the covariates explains almost everything.", _trusting
    ),
    Preset("Without the covariate", "Location only: smooth blobs and a wide uncertainty.", _without),
    Preset("Half the cells hidden", "How accurate is the model where it has no data?", at(CellSettings, withhold=0.5)),
)
