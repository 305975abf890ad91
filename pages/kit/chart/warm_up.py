"""Heavy libraries are imported in the background once the first picture is on its way."""

import gc
import importlib
import logging
import sys
import threading
import time

import streamlit as st

logger = logging.getLogger("streamlit.deconditioning")
#: Imports hold the interpreter: the first page is on its way before they begin.
_HEAD_START_S = 0.8
HEAVY = ("deconditioning.device", "xarray", "h5netcdf", "gpytorch", "scipy.special", "dask.array", "distributed")


def _import_all() -> None:
    time.sleep(_HEAD_START_S)
    for name in HEAVY:
        try:
            importlib.import_module(name)
        except Exception:  # also libraries of a GPU that do not load; a page that needs it will say so
            logger.exception("%s could not be imported.", name)
            return
    gc.collect()
    gc.freeze()  # what was imported stays: later collections, which hold the interpreter, need not look at it again


@st.cache_resource(show_spinner=False)
def warm_up() -> threading.Thread:
    """Start the background imports, once per server."""
    thread = threading.Thread(target=_import_all, name="warm-up", daemon=True)
    thread.start()
    return thread


def wait_for_arrays() -> None:
    """Return when no other thread is in the middle of importing ``dask.array``.

    SciPy asks the array libraries that it finds in ``sys.modules`` for their classes, which one that is still being
    imported does not have: nothing may compute before. Not for the front page, which computes nothing.
    """
    importlib.import_module("dask.array")


def is_warm() -> bool:
    """Whether torch, which tells the device, is imported completely."""
    module = sys.modules.get("torch")
    return (
        module is not None
        and hasattr(module, "cuda")
        and "deconditioning.device" in sys.modules
        and _complete("deconditioning.device")
    )


def _complete(name: str) -> bool:
    spec = getattr(sys.modules[name], "__spec__", None)
    return not getattr(spec, "_initializing", False)
