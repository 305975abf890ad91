"""Points of both scatters changed by hand: where the address holds them."""

from pages.kit.controls.edits import EditedPoints

#: Scatter → key of the control that holds its edits, and name.
HELD = {"first": ("o-first-edits", "D₁"), "second": ("o-second-edits", "D₂")}
BY_HAND = EditedPoints(HELD, "o-as-generated")
edited, editable = BY_HAND.edited, BY_HAND.editable
