"""Runs as they lie on disk, written without an engine."""

import json
from pathlib import Path
from typing import Any

SPEC = {"task": "downscale", "settings": {"model": "bag_gp"}, "seed": 3, "title": "A run"}
STATUS = {"status": "done", "created": 1.7e9, "started": 1.7e9, "ended": 1.7e9 + 5, "progress": 1.0, "message": ""}


def write_run(
    root: Path,
    run_id: str = "20260101-000000-00000001",
    *,
    spec: Any = SPEC,
    status: Any = STATUS,
    result: Any = None,
    trace: str = "",
    files: dict[str, bytes] | None = None,
) -> Path:
    """The folder of one run; what is None is left out, a dict is laid over what a run usually holds."""
    folder = root / run_id
    (folder / "files").mkdir(parents=True)
    whole = {
        "spec.json": {**SPEC, **spec} if isinstance(spec, dict) else spec,
        "status.json": {**STATUS, **status} if isinstance(status, dict) else status,
        "result.json": result,
    }
    for name, data in whole.items():
        if data is not None:
            (folder / name).write_text(json.dumps(data), encoding="utf-8")
    if trace:
        (folder / "trace.jsonl").write_text(trace, encoding="utf-8")
    for name, content in (files or {}).items():
        (folder / "files" / name).write_bytes(content)
    return folder
