"""The process that opens an uploaded file of fields: see ``deconditioning.sandbox``.

Its imports stay light: no torch, no Streamlit.
"""

import sys
from pathlib import Path

from deconditioning.sandbox import serve

_DATA_SHARE = 0.3  # of the memory: values are held, decoded and written


def read(source: Path, target: Path, name: str, memory: int) -> None:
    """Open, check the declared size, load, put in order, store; raises ``InputError``."""
    for package in ("dask", "matplotlib"):  # xarray and the registry of units load them, for nothing
        sys.modules.setdefault(package, None)  # type: ignore[arg-type]
    from deconditioning.errors import InputError
    from deconditioning.fields.reading.decoding import decode
    from deconditioning.fields.reading.opening import fields_from_decoded
    from deconditioning.fields.store import write_fields

    with decode(source, name) as decoded:
        size, most = decoded.dataset.nbytes, int(_DATA_SHARE * memory)
        if size > most:
            raise InputError(
                f"{name} declares {_words(size)} of data; the limit here is {_words(most)}. Extract the region, times "
                "and variables you need first."
            )
        fields = fields_from_decoded(decoded, name)
    with open(target, "wb") as file:
        write_fields(fields, file)


def _words(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


if __name__ == "__main__":
    sys.exit(serve(read, sys.argv[1:]))
