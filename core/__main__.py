"""``python -m core``: what ``deconditioning`` was called before version 0.2; goes with the next one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from deconditioning.cli.program import main

if __name__ == "__main__":
    print("`python -m core` is now called `deconditioning`; the old name goes with the next version.", file=sys.stderr)
    sys.exit(main())
