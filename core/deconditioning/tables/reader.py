"""The process that opens an uploaded table: see ``deconditioning.sandbox``."""

import json
import sys
from pathlib import Path

from deconditioning.sandbox import serve


def read(source: Path, target: Path, name: str, memory: int, settings: str = "null") -> None:
    """Read and store; ``settings`` are marks of missing values as JSON. Raises ``InputError``."""
    from deconditioning.tables.table import read_table, write_table

    write_table(read_table(source, name, json.loads(settings)), target)


if __name__ == "__main__":
    sys.exit(serve(read, sys.argv[1:]))
