"""Gridded data: opening, checks, coarsening, bags, scaling, export."""

from typing import Any


def open_fields(path: Any) -> Any:
    """The `gridded.Fields` of a file; see `fields.reading.opening.open_fields`."""
    from deconditioning.fields.reading import opening

    return opening.open_fields(path)
