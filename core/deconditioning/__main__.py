"""``deconditioning COMMAND …``: every experiment without a browser."""

import sys

from deconditioning.cli.program import main

if __name__ == "__main__":
    sys.exit(main())
