"""Imported once for all forks of `tests.readers` and `tests.corpus.batch`; the registry of units is read once, too."""

import sys

for package in ("dask", "matplotlib"):  # as the reader of fields
    sys.modules.setdefault(package, None)  # type: ignore[arg-type]

import h5netcdf  # noqa: E402, F401
import pandas  # noqa: E402, F401
import scipy.io  # noqa: E402, F401
import xarray  # noqa: E402

import deconditioning.fields.reading.decoding  # noqa: E402
import deconditioning.fields.reading.opening  # noqa: E402
import deconditioning.fields.store  # noqa: E402
import deconditioning.tables.table  # noqa: E402, F401
from deconditioning.fields.units import read_unit  # noqa: E402

xarray.DataArray([0.0]).to_numpy()  # which looks for other kinds of arrays
read_unit("K")
