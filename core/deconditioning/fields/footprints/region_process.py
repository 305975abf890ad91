"""The process that opens an uploaded file of regions: see ``deconditioning.sandbox``."""

import sys
from pathlib import Path

from deconditioning.sandbox import serve


def read(source: Path, target: Path, name: str, memory: int) -> None:
    """Read and store; raises ``InputError``."""
    from deconditioning.fields.footprints.region_files import read_outlines, write_outlines

    write_outlines(read_outlines(source, name), target)


if __name__ == "__main__":
    sys.exit(serve(read, sys.argv[1:]))
