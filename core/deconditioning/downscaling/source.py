"""The origin of a problem's fields as JSON: a data set of the catalogue or an upload stored beside the runs."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deconditioning.engine.visitors.uploads import UPLOAD, claim, kept, upload_folder, used_now, write_upload
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.several import keys_of, together
from deconditioning.fields.spec import DownscalingSpec


def keep_upload(data: bytes | Path, name: str, mark: str = "") -> tuple[str, Fields]:
    """Read an uploaded file in a separate process and keep it: its key ``upload:<digest>``, and its fields.

    ``data`` are the file's bytes, or a path from which it is moved. ``mark`` is the visitor's
    (``engine.visitor``), in whose list it is to be. Raises ``InputError`` with one sentence on anything wrong with
    the file; nothing is kept then.
    """
    from deconditioning.fields.reading.upload import open_upload

    fields = open_upload(data, name)
    key = write_upload(data, json.dumps({"name": name[:120]}).encode())
    claim(key.removeprefix(UPLOAD), mark, name[:120])
    return key, fields


def kept_uploads(mark: str = "") -> dict[str, str]:
    """Key → file name of every upload that is kept, or of those of one visitor."""
    return {f"{UPLOAD}{digest}": name for digest, name in kept(upload_folder(), ".nc", mark).items()}


def open_source(key: str) -> Fields:
    """The fields of a key, or of several with `` + `` between; an upload is read in a separate process."""
    if len(keys := keys_of(key)) > 1:
        return together([open_source(one) for one in keys])
    if not key.startswith(UPLOAD):
        from deconditioning.datasets.entries import find

        return find(key).open()
    from deconditioning.fields.reading.upload import open_upload

    digest = key.removeprefix(UPLOAD)
    path = upload_folder() / f"{digest}.nc"
    if not digest.isalnum() or not path.is_file():
        raise InputError("This uploaded file is no longer on the server: upload it again.")
    used_now(path)
    return open_upload(path, kept_uploads().get(key, "the upload"))


@dataclass(frozen=True)
class Source:
    """Files of a problem by key: ``fields`` alone (way a), or with ``coarse`` and perhaps ``mediator`` (way b).

    Each may name several files, see `deconditioning.fields.several`.
    """

    fields: str
    coarse: str | None = None
    mediator: str | None = None

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "Source":
        """A source from plain data."""
        return Source(str(value["fields"]), value.get("coarse"), value.get("mediator"))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, inverse of ``from_dict``."""
        return {"fields": self.fields, "coarse": self.coarse, "mediator": self.mediator}


def build_problem(source: Source, spec: DownscalingSpec, opener: Any = open_source) -> DownscalingProblem:
    """The downscaling problem of a source; ``opener`` gives the fields of a key, a file's name where it opens files."""
    if not source.coarse:
        return make_problem(opener(source.fields), spec)
    mediator = opener(source.mediator) if source.mediator else None
    return make_problem_from_files(opener(source.fields), opener(source.coarse), mediator, spec)


def cells_shape(source: Source, spec: DownscalingSpec, opener: Any = open_source) -> tuple[int, int]:
    """(rows, columns) of the coarse cells of the whole field that a source has, whatever region is kept of them."""
    from deconditioning.fields.problem.coarsened import cells_of_fields
    from deconditioning.fields.problem.two_files import cells_of_files

    if not source.coarse:
        return cells_of_fields(opener(source.fields), spec)
    return cells_of_files(opener(source.fields), opener(source.coarse), spec)
