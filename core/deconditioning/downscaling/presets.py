"""Stored hyperparameters of the worked examples, so that these open with a finished picture.

Each was produced by ``deconditioning downscale KEY --model MODEL`` with the data set's own settings; a test learns one
again and compares the evidence.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.spec import BY_HAND, DownscalingSpec
from deconditioning.models.spec import ModelSpec

_FILE = Path(__file__).with_name("presets.json")


def preset(source: dict[str, Any], problem: dict[str, Any], settings: DownscaleSettings) -> ModelSpec | None:
    """The stored model of a worked example, or None if the problem or the kernel's families differ.

    A problem with other withheld cells has no preset, because their values must not have been used in learning; nor has
    a region, which has another scaling.
    """
    start = settings.kind.start(not DownscalingSpec.from_dict(problem).indirect)
    families = settings.kernel or "rbf", settings.spatial or start.spatial, settings.structure
    if any(problem.get(name) for name in BY_HAND) or source.get("coarse") or families != ("rbf", start.spatial, "sum"):
        return None
    for stored in json.loads(_FILE.read_text(encoding="utf-8")):
        same = all(stored["problem"][name] == problem[name] for name in stored["problem"])
        same = same and all(stored.get(name) == source.get(name) for name in ("regions", "stations", "also"))
        if stored["source"] == source["fields"] and stored["spec"]["model"] == settings.model and same:
            scaled = start.local_scale if settings.local_scale is None else settings.local_scale
            return replace(ModelSpec.from_dict(stored["spec"]), local_scale=scaled)
    return None
