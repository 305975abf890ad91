"""Fields from a URL: OPeNDAP, or NetCDF, GRIB and GeoTIFF files by https, s3 or gs; for command line and Python only.

A URL from the browser is never opened: pages identify data sets and uploads by keys only.
"""

import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from deconditioning.errors import InputError, short
from deconditioning.fields.gridded import Fields
from deconditioning.fields.several import FILE_ENDINGS

if TYPE_CHECKING:
    import xarray as xr

#: Parts of addresses of OPeNDAP servers.
_SERVERS = ("/dodsc/", "/opendap/", "/dap/", "/erddap/griddap/")
_SCHEMES = ("dap", "dap2", "dap4")
#: The packages that fsspec needs for a scheme.
PACKAGES = {"http": "aiohttp", "https": "aiohttp", "s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs"}
#: Bytes of a file that are fetched as a whole, and seconds without an answer.
_MOST_BYTES, _PATIENCE_S = 8_000_000_000, 60


def is_address(path: str | Path) -> bool:
    """Whether a path is the URL of a file or of an OPeNDAP data set; for stores see `is_store`."""
    scheme, there, rest = str(path).partition("://")
    return bool(there) and "::" not in str(path) and (_is_dap(scheme, rest) or _is_file(rest))


def _is_dap(scheme: str, rest: str) -> bool:
    return scheme in _SCHEMES or (scheme in ("http", "https") and any(part in f"/{rest}".lower() for part in _SERVERS))


def _is_file(rest: str) -> bool:
    return rest.partition("?")[0].lower().endswith(FILE_ENDINGS)


def open_address(
    address: str, open_file: Callable[[Path], Fields], as_fields: "Callable[[xr.Dataset, str], Fields]"
) -> Fields:
    """The fields of a downloaded file, or of an OPeNDAP data set, from which only the requested parts are read.

    ``open_file`` opens a local file, ``as_fields`` converts a dataset with remote values to fields. Raises
    ``InputError`` if the server does not answer, a package is missing or there is no field.
    """
    scheme, _, rest = address.partition("://")
    if _is_dap(scheme, rest):
        return _open_dap(address, f"http://{rest}" if scheme in ("dap", "dap2") else address, as_fields)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (rest.partition("?")[0].rpartition("/")[2] or "file.nc")
        _fetch(address, path)
        return open_file(path)  # a file that is still open outlives its folder


def _fetch(address: str, path: Path) -> None:
    """A copy of the file behind an address."""
    scheme = address.partition("://")[0]
    try:
        if scheme == "file":
            shutil.copyfile(urllib.request.url2pathname(address.removeprefix("file://")), path)
        elif scheme in ("http", "https"):
            with urllib.request.urlopen(address, timeout=_PATIENCE_S) as answer, open(path, "wb") as file:
                _copy(answer, file, int(answer.headers.get("Content-Length") or 0), address)
        else:
            import fsspec

            with fsspec.open(address, "rb") as source, open(path, "wb") as file:
                _copy(source, file, int(getattr(source, "size", 0) or 0), address)
    except ImportError:
        raise InputError(missing_package(address)) from None
    except urllib.error.HTTPError as error:
        raise InputError(f"{address} answers {error.code} ({error.reason}): check the address.") from None
    except (OSError, ValueError) as error:
        raise InputError(unreached(address, error)) from error


def _copy(source: "IO[bytes]", file: "IO[bytes]", size: int, address: str) -> None:
    if size > _MOST_BYTES:
        raise InputError(
            f"{address} has {size / 1e9:.0f} GB; the limit for downloads is {_MOST_BYTES / 1e9:.0f} GB: use its "
            "OPeNDAP address or a Zarr store, from which only the parts needed are read."
        )
    shutil.copyfileobj(source, file, 1 << 20)


def _open_dap(address: str, url: str, as_fields: "Callable[[xr.Dataset, str], Fields]") -> Fields:
    """An OPeNDAP data set through netCDF's own client."""
    import xarray as xr
    from xarray.backends import NetCDF4DataStore

    try:
        store = NetCDF4DataStore.open(url)
        dataset: xr.Dataset = xr.open_dataset(store, decode_timedelta=False, create_default_indexes=False, cache=False)
        result = as_fields(dataset, address)
    except InputError:
        raise
    except (OSError, ValueError, RuntimeError, KeyError, IndexError) as error:
        raise InputError(unreached(address, error)) from error
    return replace(result, open_file=store)


def unreached(address: str, error: BaseException) -> str:
    """Message for a server that does not answer, with advice if there is no network."""
    why = short(
        error.reason if isinstance(error, urllib.error.URLError) and isinstance(error.reason, Exception) else error
    )
    return (
        f"{address} could not be reached ({why}): check the address and the network, or download the file elsewhere "
        "and give its path here."
    )


def missing_package(address: str) -> str:
    """The package that a URL needs."""
    name = PACKAGES.get(address.partition("://")[0].rpartition("::")[2], "")
    needs = f"the package {name}: `python -m pip install {name}`" if name else "a package that is not installed"
    return f"{address} needs {needs}, or download the file and give its path here."
