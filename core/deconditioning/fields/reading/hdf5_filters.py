"""Compressed HDF5 values: the filters provided by netCDF4, and the name of a missing one."""

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import Any

import h5py
from h5py import h5pl, h5z

#: Numbers of filters as the HDF Group registers them.
_NAMES = {
    307: "bzip2", 32000: "LZF", 32001: "Blosc", 32004: "LZ4", 32008: "Bitshuffle", 32010: "MAFISC", 32013: "ZFP",
    32015: "Zstandard", 32017: "SZ", 32018: "JPEG-LS of the FCI", 32023: "Granular BitRound", 32024: "SZ3",
    32026: "Blosc2", 32028: "SPERR",
}  # fmt: skip


@lru_cache
def find_filters() -> None:
    """Let h5py load the filters of the installed netCDF4 (Blosc, bzip2, Zstandard, szip), and no others."""
    spec = importlib.util.find_spec("netCDF4")
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = str(Path(location) / "plugins").encode()
        if folder not in {h5pl.get(at) for at in range(h5pl.size())}:
            h5pl.append(folder)


def missing_filter(dataset: h5py.Dataset) -> str:
    """In words, the filter that values are compressed by and that is not installed; empty if all are."""
    plan: Any = dataset.id.get_create_plist()
    for number in range(plan.get_nfilters()):
        code = plan.get_filter(number)[0]
        if not h5z.filter_avail(code):
            name = f"{_NAMES[code]} (HDF5 filter {code})" if code in _NAMES else f"HDF5 filter {code}"
            return f"it is compressed by {name}, which is not installed here; write it with `h5repack -f GZIP=4`"
    return ""
