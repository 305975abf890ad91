"""The switch that keeps numbers such as -9999 of a person's own table as data."""

from deconditioning.tables.gaps import SWITCH, Missing
from pages.kit.controls import widgets

_HELP = (
    "Off: treat these values as data. They are farther from all other values of their column than those are from "
    "each other."
)


def table_missing(key: str) -> Missing:
    """What counts as missing in a table: the usual marks, or nothing but empty cells."""
    return None if widgets.toggle(SWITCH, True, key=key, help=_HELP) else ()
