"""The reader as it would be without its look at the file: only the lock keeps it from other files."""

import sys

from deconditioning.fields.reading import decoding
from deconditioning.fields.reading.upload_process import read
from deconditioning.sandbox import serve


def trusting(path):
    from xarray.backends import H5NetCDFStore

    return H5NetCDFStore.open(str(path)), {}


if __name__ == "__main__":
    decoding.open_hdf5 = trusting
    sys.exit(serve(read, sys.argv[1:]))
