"""Gridded data: open, check, coarsen, bag, scale, export."""

from typing import Any


def open_fields(path: Any) -> Any:
    """The `gridded.Fields` of a file, as `fields.opening.open_fields` opens them."""
    from deconditioning.fields.reading import opening

    return opening.open_fields(path)
