"""Reads GeoTIFF with rasterio, if installed: every band as a field, at the centres of the pixels.

rasterio brings its own GDAL and PROJ, which are imported only in the separate process that reads a file.
"""

import contextlib
import importlib.util
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError, short

if TYPE_CHECKING:
    import xarray as xr
    from rasterio import DatasetReader

#: How TIFF files begin: of either byte order, and with 64-bit offsets.
STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
#: No files beside the one that is read.
_ALONE = {"GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR", "GDAL_PAM_ENABLED": "NO", "GDAL_NUM_THREADS": "1"}


def is_geotiff(path: Path) -> bool:
    """Whether a file begins as TIFF does."""
    with open(path, "rb") as file:
        return file.read(4) in STARTS


@contextlib.contextmanager
def open_geotiff(path: Path, name: str) -> "Iterator[tuple[xr.Dataset, list[str]]]":
    """The bands of a GeoTIFF file, whose values are read when needed, and notes.

    Values are unpacked by scale and offset; masked ones, and those of ``nodata``, are NaN. A band has the name of its
    description, else ``band_1``, or that of the file, ``name``, if it is the only one. Raises ``InputError`` without
    rasterio, for a damaged file, and for a picture without position.
    """
    if importlib.util.find_spec("rasterio") is None:
        raise InputError(
            "This is a GeoTIFF file, which needs the package rasterio: install it (`python -m pip install -r "
            "requirements-geotiff.txt`), or convert it to NetCDF with `gdal_translate -of netCDF IN.tif OUT.nc`."
        )
    import rasterio
    from rasterio.errors import RasterioError

    with rasterio.Env(**_ALONE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a file without position, which is refused
        try:
            file = rasterio.open(path, driver="GTiff", sharing=False)
        except (RasterioError, ValueError) as error:
            raise InputError(
                f"The TIFF file could not be read: it looks damaged ({_why(error, path, name)}). Copy it again."
            ) from error
        with file:
            names = _names(file, Path(name).stem)
            yield _dataset(file, names), _notes(file, names)


def _dataset(file: "DatasetReader", names: list[str]) -> "xr.Dataset":
    import xarray as xr
    from xarray.core.indexing import LazilyIndexedArray

    from deconditioning.fields.reading.geotiff_band import Band

    dims, coordinates = _coordinates(file)
    mapping = xr.Variable((), 0, {"crs_wkt": file.crs.to_wkt()})
    result = xr.Dataset({"spatial_ref": mapping}, coords=coordinates)
    for number, name in enumerate(names, 1):
        attributes: dict[str, Any] = {"grid_mapping": "spatial_ref"}
        if units := (file.units[number - 1] or "").strip():
            attributes["units"] = units
        result[name] = (dims, LazilyIndexedArray(Band(file, number)), attributes)
    return result


def _coordinates(file: "DatasetReader") -> tuple[tuple[str, str], dict[str, Any]]:
    """Dimensions, and coordinates of the pixels' centres: one-dimensional unless the rows are turned."""
    if file.crs is None or file.transform.is_identity:
        raise InputError(
            "The TIFF file has no position on the Earth (no coordinate system or no corner): add it with "
            "`gdal_translate -a_srs EPSG:… -a_ullr WEST NORTH EAST SOUTH IN.tif OUT.tif`."
        )
    degrees, (height, width) = file.crs.is_geographic, file.shape
    names = ("latitude", "longitude") if degrees else ("y", "x")
    about = [
        {"standard_name": "latitude", "units": "degrees_north"} if degrees else _length("y", file),
        {"standard_name": "longitude", "units": "degrees_east"} if degrees else _length("x", file),
    ]
    columns, rows = np.arange(width) + 0.5, np.arange(height) + 0.5
    a = file.transform
    if a.b or a.d:
        return ("row", "column"), _turned(file, columns, rows)
    values = (a.f + a.e * rows, a.c + a.a * columns)
    return names, {name: (name, at, words) for name, at, words in zip(names, values, about, strict=True)}


def _length(axis: str, file: "DatasetReader") -> dict[str, str]:
    unit, _ = file.crs.linear_units_factor
    unit = {"metre": "m", "meter": "m", "kilometre": "km"}.get(unit.lower(), unit)
    return {"standard_name": f"projection_{axis}_coordinate", "units": unit}


def _turned(file: "DatasetReader", columns: np.ndarray, rows: np.ndarray) -> dict[str, Any]:
    """Latitudes and longitudes (H, W) of a grid whose rows are no parallels of its coordinate system."""
    from pyproj import CRS, Transformer

    a = file.transform
    x = a.a * columns[None] + a.b * rows[:, None] + a.c
    y = a.d * columns[None] + a.e * rows[:, None] + a.f
    to_degrees = Transformer.from_crs(CRS.from_wkt(file.crs.to_wkt()), 4326, always_xy=True)
    longitude, latitude = to_degrees.transform(x, y)
    dims = ("row", "column")
    return {
        "latitude": (dims, latitude, {"standard_name": "latitude", "units": "degrees_north"}),
        "longitude": (dims, longitude, {"standard_name": "longitude", "units": "degrees_east"}),
    }


def _names(file: "DatasetReader", stem: str) -> list[str]:
    """A name of each band: its description where that is its own, and the file's for a single one without."""
    titles = [_word(text or "") for text in file.descriptions]
    titles = [_word(stem)] if titles == [""] else titles
    taken = {"spatial_ref", "latitude", "longitude", "x", "y", "row", "column"}
    return [
        text if text and titles.count(text) == 1 and text not in taken else f"band_{number}"
        for number, text in enumerate(titles, 1)
    ]


def _word(text: str) -> str:
    """Text as the name of a variable; empty if it begins with a digit."""
    word = re.sub(r"\W+", "_", text).strip("_")
    return "" if word[:1].isdigit() else word


def _notes(file: "DatasetReader", names: list[str]) -> list[str]:
    from rasterio.enums import ColorInterp

    notes = []
    packed = [name for name, *packing in zip(names, file.scales, file.offsets, strict=True) if packing != [1, 0]]
    if packed:
        notes.append(f"{_listed(packed)} is unpacked by the scale and offset in the file.")
    classes = [name for name, kind in zip(names, file.colorinterp, strict=True) if kind == ColorInterp.palette]
    if classes:
        notes.append(f"{_listed(classes)} has a table of colours: its values may be numbers of classes.")
    if pages := len(file.subdatasets):
        notes.append(f"The file has {pages} pages, of which only the first is read.")
    return notes


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:6])


def _why(error: Exception, path: Path, name: str) -> str:
    return short(error).replace(str(path), name).replace(path.name, name).rstrip(" .")
