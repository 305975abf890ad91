"""Hyperparameters learned once for the worked examples, so that they open on a finished picture.

Each was made by ``python -m core downscale KEY --model MODEL`` with the data set's own settings; a test learns one
again and compares the evidence.
"""

import json
from pathlib import Path
from typing import Any

from core.downscaling.settings import DownscaleSettings
from core.fields import DownscalingSpec
from core.models.defaults import start_of
from core.models.spec import ModelSpec

_FILE = Path(__file__).with_name("presets.json")


def preset(source: dict[str, Any], problem: dict[str, Any], settings: DownscaleSettings) -> ModelSpec | None:
    """The stored model of a worked example, or None where the problem or the kernel's families are not its own.

    Cells withheld otherwise are another problem: their values must not have been learned from.
    """
    usual = start_of(settings.model, not DownscalingSpec.from_dict(problem).indirect).spatial
    families = settings.kernel or "rbf", settings.spatial or usual, settings.structure
    if source.get("coarse") or families != ("rbf", usual, "sum"):
        return None
    for stored in json.loads(_FILE.read_text(encoding="utf-8")):
        same = all(stored["problem"][name] == problem[name] for name in stored["problem"])
        if stored["source"] == source["fields"] and stored["spec"]["model"] == settings.model and same:
            return ModelSpec.from_dict(stored["spec"])
    return None
