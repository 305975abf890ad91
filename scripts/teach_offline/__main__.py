"""``python -m scripts.teach_offline FOLDER``: the story and page One dimension as pages that need no server."""

import logging
import sys
from pathlib import Path

from scripts.teach_offline.write import write

if __name__ == "__main__":
    logging.disable(logging.WARNING)  # the functions of the story run outside of a page here
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/teach")
    write(folder)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{folder / 'index.html'}: {len(list(folder.iterdir()))} files, {size / 1e6:.2f} MB")
