"""Decodes a file variable by variable; unreadable variables are skipped and reported."""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError, short
from deconditioning.fields.reading.geotiff import STARTS, open_geotiff
from deconditioning.fields.reading.hdf5 import open_hdf5
from deconditioning.fields.reading.missing_values import Repaired
from deconditioning.fields.times import dates_from_numbers, first_date_of, is_odd
from deconditioning.fields.writing.attributes import classic_store, readable

if TYPE_CHECKING:
    import xarray as xr
    from xarray.backends import AbstractDataStore

#: How files of NetCDF begin, of version 3 or 4.
NETCDF = (b"CDF", b"\x89HDF")
_NETCDF3, _CDF5, _HDF5 = (b"CDF\x01", b"CDF\x02"), b"CDF\x05", b"\x89HDF\r\n\x1a\n"
_KINDS = {
    b"PK\x03\x04": "a zip archive (unpack it with `unzip`)", b"\x1f\x8b": "a gzip archive (unpack it with `gunzip`)",
    b"BZh": "a bzip2 archive (unpack it with `bunzip2`)",
    b"\x28\xb5\x2f\xfd": "a zstd archive (unpack it with `unzstd`)",
    b"\x0e\x03\x13\x01": "an HDF4 file (`h4tonccf IN.hdf OUT.nc` converts it to NetCDF)", b"%PDF": "a PDF",
    b"{": "JSON text, which may refer to other files", b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture",
    b"<!DO": "a web page, perhaps an error or login page, not a NetCDF file",
    b"<htm": "a web page, perhaps an error or login page, not a NetCDF file",
}  # fmt: skip
#: Values of a time coordinate that are decoded on trial.
_MOST_TIMES = 1_000_000


def _engine_of(path: Path) -> str:
    """The xarray engine for a file by its first bytes: scipy for NetCDF 3, h5netcdf for NetCDF 4, netcdf4 for CDF-5.

    GRIB and GeoTIFF have no engine of xarray's here: "eccodes", "rasterio".
    """
    with open(path, "rb") as file:
        head = file.read(8)
    if head[:4] in _NETCDF3:
        return "scipy"
    if head[:4] == _CDF5:
        return "netcdf4"
    if head == _HDF5:
        return "h5netcdf"
    if head[:4] == b"GRIB":
        return "eccodes"
    if head[:4] in STARTS:
        return "rasterio"
    if not head:
        raise InputError("The file is empty: give a NetCDF file.")
    what = next((words for start, words in _KINDS.items() if head.startswith(start)), "not a NetCDF file")
    raise InputError(f"The file is {what} (it begins with {_readable(head[:4])}): give NetCDF, GeoTIFF or GRIB.")


def _readable(head: bytes) -> str:
    """The first bytes for people: text where they are letters, else their numbers."""
    text = head.decode("ascii", "replace")
    return f"'{text}'" if text.isprintable() and text.isascii() else f"the bytes {head.hex(' ')}"


@dataclass
class Decoded:
    """A ``dataset`` whose values are read when needed; ``left``: names of unreadable variables with the reason.

    ``notes`` describe deviations from the file's declarations.
    """

    dataset: "xr.Dataset"
    left: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def load(self) -> "xr.Dataset":
        """The dataset in memory, without variables whose values cannot be read; these are added to ``left``.

        Raises ``InputError`` if no variable is readable.
        """
        faults = {str(name): _fault(partial(_load, variable)) for name, variable in self.dataset.variables.items()}
        self.left |= {name: why for name, why in faults.items() if why}
        whole = [name for name, why in faults.items() if not why]
        if not faults:
            raise InputError(
                "The file contains no variables; it looks damaged or truncated. Copy or download it again."
            )
        if not whole:
            raise InputError(f"None of its variables can be read ({self.reasons()}): copy or download it again.")
        result = self.dataset.drop_vars([name for name in self.dataset.variables if name not in whole])
        return result.load()

    def reasons(self) -> str:
        """Skipped variables and reasons, as part of a message."""
        some = [f"`{name}`: {why.rstrip(' .')}" for name, why in list(self.left.items())[:3]]
        return "; ".join(some) + (f" and {len(self.left) - 3} more" if len(self.left) > 3 else "")

    def sentences(self) -> list[str]:
        """The notes, with one on the skipped variables."""
        lost = f"Skipped because it could not be read: {self.reasons()}."
        return [*self.notes, *([lost] if self.left else [])]


@contextlib.contextmanager
def decode(path: Path, name: str = "") -> Iterator[Decoded]:
    """A CF-decoded file without its values; times that cannot be decoded remain numbers.

    ``name`` is that of the file where ``path`` has another one. Raises ``InputError`` if it is of another format or
    refers to other files.
    """
    import xarray as xr

    engine = _engine_of(path)
    with warnings.catch_warnings(), contextlib.ExitStack() as stack:
        warnings.simplefilter("ignore")
        if engine == "eccodes":
            from deconditioning.fields.reading.grib.dataset import open_grib

            dataset, notes = open_grib(path)
            yield Decoded(dataset, notes=notes)
            return
        if engine == "rasterio":
            dataset, notes = stack.enter_context(open_geotiff(path, name or path.name))
            yield Decoded(dataset, notes=notes)
            return
        result, left, store_notes = _store(path, engine)
        stack.callback(result.close)
        store = Repaired(result)
        variables = dict(store.get_variables())
        numbers, notes = _times(variables)
        left |= store.left | _undecodable(variables, numbers)
        times = {str(name): name not in numbers for name in variables}
        dataset = xr.open_dataset(
            store, decode_times=times, decode_timedelta=False, create_default_indexes=False, cache=False,
            drop_variables=list(left),
        )  # fmt: skip
        yield Decoded(readable(dataset), left, store_notes + store.notes + notes)


def _store(path: Path, engine: str) -> "tuple[AbstractDataStore, dict[str, str], list[str]]":
    """The open file, what of it cannot be opened with the reason, and sentences."""
    from xarray.backends import NetCDF4DataStore

    if engine == "h5netcdf":
        return open_hdf5(path)
    if engine == "netcdf4":
        return NetCDF4DataStore.open(str(path)), {}, []
    return classic_store(path), {}, []


def _times(variables: Mapping[Any, "xr.Variable"]) -> tuple[set[str], list[str]]:
    """Names of times that cannot be read as dates, and sentences that say so."""
    numbers, notes = set(), []
    for name, variable in variables.items():
        since = " since " in str(variable.attrs.get("units", "")) and variable.size <= _MOST_TIMES
        clear, note = first_date_of(str(name), str(variable.attrs.get("units", "")))
        notes += [note] * bool(note)
        if is_odd(variable.attrs) or not clear:
            numbers.add(str(name))  # read by ``deconditioning.fields.times``
            if since and clear and dates_from_numbers(np.asarray(variable.values, dtype=float), variable.attrs) is None:
                why = f"no calendar makes them of {variable.attrs['units']}"
                notes.append(f"`{name}` could not be read as dates ({why}); its raw numbers are used.")
        elif since and (why := _fault(partial(_decoded, name, variable, load=True))):
            numbers.add(str(name))
            notes.append(f"`{name}` could not be read as dates ({why.rstrip(' .')}); its raw numbers are used.")
    return numbers, notes


def _undecodable(variables: Mapping[Any, "xr.Variable"], numbers: set[str]) -> dict[str, str]:
    """Variables whose attributes contradict themselves, with the reason."""
    result = {
        str(name): _fault(partial(_decoded, name, variable, times=name not in numbers))
        for name, variable in variables.items()
    }
    return {name: why for name, why in result.items() if why}


def _load(variable: "xr.Variable") -> None:
    """Values in memory; ``ValueError`` where they are more or fewer than the dimensions say."""
    shape = variable.shape
    loaded = variable.load().shape
    if loaded != shape:
        raise ValueError(f"it holds {_times_sign(loaded)} values, its dimensions say {_times_sign(shape)}")


def _times_sign(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def _decoded(name: Any, variable: "xr.Variable", times: bool = True, load: bool = False) -> "xr.Variable":
    from xarray.conventions import decode_cf_variable

    for packing in ("scale_factor", "add_offset"):
        value = np.asarray(variable.attrs.get(packing, 1.0))
        if value.dtype.kind not in "iuf" or value.size != 1:
            raise ValueError(f"its `{packing}` is {short(ValueError(str(value.tolist())), 40)}, which is not a number")
    result = decode_cf_variable(name, variable, decode_times=times, decode_timedelta=False, stack_char_dim=False)
    return result.load() if load else result


def _fault(attempt: Callable[[], Any]) -> str:
    """Why an attempt fails, in short; empty if it succeeds. Memory that ends is no fault of a variable."""
    try:
        attempt()
    except MemoryError:
        raise
    except Exception as error:
        return short(error)
    return ""
