"""Runs as one zip file: settings, status, trace, result and files of each, and a script that reproduces it."""

import io
import json
import zipfile
from collections.abc import Iterable
from typing import Protocol

from deconditioning.errors import InputError

_AGAIN = '''"""Makes this run again, where the package `deconditioning` is installed: `python run.py`."""
import json
from pathlib import Path
from deconditioning.engine.context import Context
from deconditioning.engine.records import RunSpec
from deconditioning.engine.tasks import find_task
here, context = Path(__file__).parent, Context()
spec = RunSpec.from_dict(json.loads((here / "spec.json").read_text(encoding="utf-8")))
result = find_task(spec.task)(spec.arguments(), context)
(here / "again.json").write_text(json.dumps(result, default=str, indent=1), encoding="utf-8")
for name, data in context.files.items():
    (here / f"again-{name}").write_bytes(data)
'''


#: What a status says of the process that wrote it: its machine, its process id, and the token that makes it the owner.
_PRIVATE = ("owner", "beat")


class HasRuns(Protocol):
    """An engine, or a visitor's view of one."""

    def parts(self, run_id: str) -> dict[str, bytes]:
        """All files of a run by their path in the run's folder."""
        ...


def zip_runs(engine: HasRuns, run_ids: Iterable[str]) -> bytes:
    """The bytes of a zip with one folder per run, without information about the machine.

    Runs deleted in the meantime are skipped.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for run_id in run_ids:
            try:
                parts = engine.parts(run_id)
            except InputError:
                continue
            for path, data in parts.items():
                archive.writestr(f"{run_id}/{path}", _public(data) if path == "status.json" else data)
            archive.writestr(f"{run_id}/run.py", _AGAIN)
    return buffer.getvalue()


def _public(status: bytes) -> bytes:
    """A status without the private fields; ``{}`` where it is damaged."""
    try:
        fields = json.loads(status)
        return json.dumps({name: value for name, value in fields.items() if name not in _PRIVATE}).encode()
    except (ValueError, AttributeError, RecursionError):
        return b"{}"
