"""Which controls of page One dimension can be swept."""

from collections.abc import Mapping
from typing import Any

from deconditioning.datasets.line_settings import LineProblem
from pages.kit.controls.edits import read
from pages.kit.tools.study_sweep import OnPage
from pages.one_dimension.controls import OWN, ROUND_TRIP, WHICH, typed_key
from pages.one_dimension.edits import HELD


def _problem(held: Mapping[str, Any]) -> dict[str, Any]:
    """r and f, chosen or typed, and the points that were edited."""
    expressions = {
        each.name: held[typed_key(each)] if held[each.key] == OWN else held[each.key]
        for each in (LineProblem.simulation, LineProblem.target)
    }
    return expressions | {f"{scatter}_edits": read(held[key])[0].text for scatter, (key, _) in HELD.items()}


def _trip(held: Mapping[str, Any]) -> dict[str, Any]:
    return _problem(held) | {"drawn": held[WHICH] == ROUND_TRIP[1]}


RECOVER = OnPage("one-dimension", others=_problem)
BAYES = OnPage("bayes-rule", others=_problem)
THERE_AND_BACK = OnPage("there-and-back", others=_trip)
