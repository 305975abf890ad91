"""Runs as one zip file: settings, status, trace, result and files of each, as they lie on disk."""

import io
import zipfile
from collections.abc import Iterable

from core.engine.engine import Engine
from core.errors import InputError

_PARTS = ("spec.json", "status.json", "trace.jsonl", "result.json")


def zip_runs(engine: Engine, run_ids: Iterable[str]) -> bytes:
    """The bytes of a zip with one folder a run; runs deleted meanwhile are left out."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for run_id in run_ids:
            try:
                run = engine.get(run_id)
            except InputError:
                continue
            folder = engine.root / run.id
            paths = [folder / name for name in _PARTS] + [folder / "files" / name for name in run.files]
            for path in paths:
                if path.is_file():
                    archive.writestr(str(path.relative_to(engine.root)), path.read_bytes())
    return buffer.getvalue()
