"""The coarse values of page Period: a file of their own, their errors, and whether times are linked."""

from collections.abc import Sequence

from deconditioning.downscaling.settings import AUTO
from deconditioning.downscaling.source import stored_uploads
from deconditioning.fields.gridded import Fields
from deconditioning.fields.guess.variables import declared_error
from pages.downscaling.data import labels_of
from pages.kit.controls import widgets
from pages.kit.controls.variable_choice import ERRORS, NO_ERRORS, pick
from pages.kit.visitor import listed

#: The options for means of the fine field, for no errors, and for the same error everywhere.
_AVERAGE, _NONE, _NUMBER = "(averages)", "(none)", "(number)"
_LINKS = {AUTO: "automatic", "on": "on", "off": "off"}


def choose_file(key: str) -> str:
    """The key of an upload that holds the coarse values, "" for means of the fine field; no control where there is no
    other upload.
    """
    uploads = {other: name for other, name in listed(stored_uploads, "p-coarse").items() if other != key}
    if not uploads:
        return ""
    names = {_AVERAGE: "averages of the fine file over cells", **uploads}
    chosen = pick(
        "Coarse values from", "p-coarse", list(names), _AVERAGE, names,
        help="Averages: the fine field is averaged over cells and recovered, so that its truth is known. A coarse file "
        "of your own has values at many times, and perhaps their errors.",
    )  # fmt: skip
    return "" if chosen == _AVERAGE else chosen


def choose_error(fields: Fields, used: Sequence[str], units: str) -> str:
    """The field, or the number, with the sds of the errors of a coarse file's values; "" for none."""
    variables = fields.variables()
    names = [name for name in variables if name not in used]
    labels = labels_of(variables) | {_NONE: NO_ERRORS, _NUMBER: "the same for all"}
    declared = declared_error(fields, used[0])
    chosen = pick(
        ERRORS, "p-errors", [_NONE, *names, _NUMBER], declared if declared in names else _NONE, labels,
        help="The standard deviation of each coarse value's error: a field of the coarse file, constant or along its "
        "times, or one number. Values with large errors count less, and cells are no longer reproduced exactly.",
    )  # fmt: skip
    if chosen != _NUMBER:
        return "" if chosen == _NONE else chosen
    label = f"Error of each value (sd, {units})" if units else "Error of each value (sd)"
    return str(float(widgets.number_input(label, 1e-6, None, 1.0, key="p-error", format="%.4g")))


def choose_link() -> bool | None:
    """Whether times are linked; None if values left out decide."""
    chosen = widgets.segmented_control(
        "Link times", list(_LINKS), default=AUTO, key="p-link", format_func=_LINKS.__getitem__,
        help="Linked times help each other where cells are missing or have errors: what a cell was before and will be "
        "after counts as well. Automatic: if values left out are then predicted better. On: always; from cells alone "
        "the noise is then learned, too.",
    )  # fmt: skip
    return {"on": True, "off": False}.get(str(chosen))
