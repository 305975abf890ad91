"""Runs as one zip file: settings, status, trace, result and files of each, as they lie on disk."""

import io
import zipfile
from collections.abc import Iterable
from typing import Protocol

from core.errors import InputError


class HasRuns(Protocol):
    """An engine, or what a visitor may see of one."""

    def parts(self, run_id: str) -> dict[str, bytes]:
        """Everything of a run by its path in the run's folder."""
        ...


def zip_runs(engine: HasRuns, run_ids: Iterable[str]) -> bytes:
    """The bytes of a zip with one folder a run; runs deleted meanwhile are left out."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for run_id in run_ids:
            try:
                parts = engine.parts(run_id)
            except InputError:
                continue
            for path, data in parts.items():
                archive.writestr(f"{run_id}/{path}", data)
    return buffer.getvalue()
