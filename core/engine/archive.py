"""Runs as one zip file: settings, status, trace, result and files of each, and a script that makes it again."""

import io
import zipfile
from collections.abc import Iterable
from typing import Protocol

from core.errors import InputError

_AGAIN = '''"""Makes this run again: in the folder of the Deconditioning Lab, `.venv/bin/python path/to/this/run.py`."""
import json, sys
from pathlib import Path
sys.path.insert(0, str(Path.cwd()))
from core.engine.context import Context
from core.engine.records import RunSpec
from core.engine.tasks import find_task
here, context = Path(__file__).parent, Context()
spec = RunSpec.from_dict(json.loads((here / "spec.json").read_text(encoding="utf-8")))
result = find_task(spec.task)(spec.arguments(), context)
(here / "again.json").write_text(json.dumps(result, default=str, indent=1), encoding="utf-8")
for name, data in context.files.items():
    (here / f"again-{name}").write_bytes(data)
'''


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
            archive.writestr(f"{run_id}/run.py", _AGAIN)
    return buffer.getvalue()
