"""Where a picture stands on each slider of the model, and what else it depends on."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.spec import ModelSpec
from pages.downscaling.data import Choice
from pages.downscaling.frames.movable import moved
from pages.downscaling.model import slider_values
from pages.kit.record import Control, page_record


@dataclass(frozen=True)
class SliderPosition:
    """The value of each slider of a picture, by its key, a name of all else that the picture depends on, and log10 of
    the slider's ends."""

    values: Mapping[str, float]
    contexts: Mapping[str, str]
    ends: Mapping[str, tuple[float, float]]

    def by_slider(self) -> dict[str, tuple[str, float]]:
        """The same as `plotly_live` takes it (``along``)."""
        return {key: (self.contexts[key], value) for key, value in self.values.items()}


def slider_position(choice: Choice, problem: DownscalingProblem, start: ModelSpec, spec: ModelSpec) -> SliderPosition:
    """Of the picture at the sliders' values; ``start`` is the model where they begin, ``spec`` where they are."""
    controls = page_record().controls
    keys = [key for key in slider_values(start, problem.data.bags.count) if key in controls]
    values = {key: float(controls[key].value) for key in keys}
    fixed = [choice.key, start.to_dict(), spec.model.name]
    contexts = {key: _name([*fixed, {other: value for other, value in values.items() if other != key}]) for key in keys}
    moves = [key for key in keys if values[key] > 0 and moved(spec, key, 2.0, problem.spec.covariates) != spec]
    ends = {key: (_log_end(controls[key], "1e-99"), _log_end(controls[key], "1e99")) for key in moves}
    return SliderPosition({key: values[key] for key in moves}, contexts, ends)


def _log_end(control: Control, beyond: str) -> float:
    """Log10 of a slider's end: its reader moves a value beyond the ends to the nearer one."""
    return math.log10(float(control.read([beyond])))


def _name(parts: Iterable[object]) -> str:
    return hashlib.blake2b(json.dumps(list(parts), sort_keys=True).encode(), digest_size=10).hexdigest()
