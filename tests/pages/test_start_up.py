"""Start-up stays light: what the first page needs imports no numerics, and warming up leaves nothing to collect."""

import subprocess
import sys
from pathlib import Path

from tests.waiting import HANG_S

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "gpytorch", "sklearn", "scipy", "xarray", "distributed", "matplotlib", "skimage", "cartopy", "plotly")
FIRST_PAGE = f"""
import sys
from streamlit.testing.v1 import AppTest
before = set(sys.modules)
from pages.kit.chart import warm_up
warm_up.HEAVY = ()  # the background thread imports nothing: what is there, the page itself has asked for
app = AppTest.from_file("app.py", default_timeout={HANG_S}).run()
assert not app.exception and app.title[0].value == "Deconditioning Lab"
print(sorted(set({HEAVY!r}) & (set(sys.modules) - before)))
"""

#: Another visitor's page is in the middle of importing dask.array, and goes on two seconds after this one has begun.
ANOTHER_IMPORTS = f"""
import importlib, sys, threading, time
import scipy.special, torch
from streamlit.testing.v1 import AppTest
from pages.kit.chart import warm_up
warm_up.HEAVY = ()
amid, begun = threading.Event(), threading.Event()
def slowly(event, arguments):
    if event == "import" and arguments[0] == "dask.array.core" and not amid.is_set():
        amid.set()
        begun.wait()
        time.sleep(2)
sys.addaudithook(slowly)
threading.Thread(target=importlib.import_module, args=("dask.array",), daemon=True).start()
amid.wait()
assert not hasattr(sys.modules["dask.array"], "Array")
app = AppTest.from_file("app.py", default_timeout={HANG_S}).run()
begun.set()
app.switch_page("pages/kernel_bayes/page.py").run()
print([box.message for box in app.exception], app.title[0].value)
"""


def test_the_first_page_imports_no_numerics() -> None:
    run = subprocess.run([sys.executable, "-c", FIRST_PAGE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_warming_up_freezes_what_was_imported() -> None:
    code = "import gc; from pages.kit.chart import warm_up; warm_up.HEAVY = ('json',); warm_up._import_all(); "
    code += "print(gc.get_freeze_count() > 10_000)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True"


def test_a_page_computes_when_what_another_imports_is_whole() -> None:
    run = subprocess.run([sys.executable, "-c", ANOTHER_IMPORTS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] Kernel Bayes' rule"
