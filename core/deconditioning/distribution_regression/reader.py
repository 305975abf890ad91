"""The process that opens an uploaded table in long format: see ``deconditioning.sandbox``."""

import json
import sys
from pathlib import Path
from typing import Any

from deconditioning.sandbox import serve


def read(source: Path, target: Path, name: str, memory: int, settings: str) -> None:
    """Read and store; ``settings`` are the columns' roles as JSON."""
    from deconditioning.distribution_regression.table import Roles, gather, write_gathered

    roles = json.loads(settings)
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in roles.items()}
    write_gathered(gather(source, Roles(**plain)), target)


if __name__ == "__main__":
    sys.exit(serve(read, sys.argv[1:]))
