"""The tasks of studies as runs have them: what they find is kept as a small picture too."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from deconditioning.downscaling.saved_map import THUMBNAIL
from deconditioning.errors import InputError
from deconditioning.studies.one_dimension import problem
from deconditioning.studies.run_picture import run_sketch
from deconditioning.studies.sparse_representation import study as sparse
from deconditioning.studies.swiss_roll import study as roll

_Settings = dict[str, Any]


def sparse_task(settings: _Settings, context: Any) -> _Settings:
    """A sparse representation, `deconditioning.studies.sparse_representation.study.sparse_task`."""
    return _pictured("sparse-representation", sparse.sparse_task, settings, context)


def line_task(settings: _Settings, context: Any) -> _Settings:
    """The one-dimensional problem, `deconditioning.studies.one_dimension.problem.line_task`."""
    return _pictured("one-dimension", problem.line_task, settings, context)


def roll_task(settings: _Settings, context: Any) -> _Settings:
    """The swiss roll, `deconditioning.studies.swiss_roll.study.roll_task`."""
    return _pictured("swiss-roll", roll.roll_task, settings, context)


def _pictured(name: str, task: Callable[[_Settings, Any], _Settings], settings: _Settings, context: Any) -> _Settings:
    result = task(settings, context)
    with suppress(InputError):  # nothing was learned: no picture
        context.save(THUMBNAIL, run_sketch(name, settings, result))
    return result
