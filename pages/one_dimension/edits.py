"""Points of both scatters changed by hand: where the address holds them."""

from deconditioning.datasets.line_settings import LineProblem
from pages.kit.controls.edits import EditedPoints

#: Scatter → key of the control that holds its edits, and name.
HELD = {"first": (LineProblem.first_edits.key, "data set 1"), "second": (LineProblem.second_edits.key, "data set 2")}
BY_HAND = EditedPoints(HELD, "o-as-generated")
edited, editable = BY_HAND.edited, BY_HAND.editable
