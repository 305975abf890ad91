"""Start the app: ``python -m scripts.serve [streamlit options]``.

The same as ``streamlit run app.py``, except that the folder ``pages/`` is not taken for Streamlit's old style of
several pages. Otherwise the first visitor of a fresh server who opens a page's own address is told that it does
not exist, because Streamlit learns of ``st.navigation`` only when ``/`` has run once.
"""

import os
import sys
from pathlib import Path

from streamlit.runtime.pages_manager import PagesManager
from streamlit.web import cli

APP = Path(__file__).resolve().parents[1] / "app.py"


def main() -> None:
    """Run Streamlit's own command line on this app; one core is left to the browser, which waits for it."""
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) - 1)))
    PagesManager.uses_pages_directory = False
    sys.argv = ["streamlit", "run", str(APP), *sys.argv[1:]]
    cli.main()


if __name__ == "__main__":
    main()
