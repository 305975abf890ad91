"""The process that opens an uploaded table of simulations: see ``deconditioning.sandbox``."""

import json
import sys
from pathlib import Path

from deconditioning.sandbox import serve


def read(source: Path, target: Path, name: str, memory: int, settings: str) -> None:
    """Read and store; eight bytes tell the table's length, after it the observed row where ``settings`` say so."""
    from deconditioning.likelihood_free.table import read_table, write_table

    data, options = source.read_bytes(), json.loads(settings)
    end = 8 + int.from_bytes(data[:8], "little")
    write_table(read_table(data[8:end], data[end:] if options["row"] else None, name, options["missing"]), target)


if __name__ == "__main__":
    sys.exit(serve(read, sys.argv[1:]))
