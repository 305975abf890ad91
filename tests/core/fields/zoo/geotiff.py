"""GeoTIFF files as satellites' products and terrain come in."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.core.fields.zoo.animal import Animal

#: North-west corner and pixels of 30 m in zone 49 north of UTM, and of a quarter degree.
UTM = {"crs": "EPSG:32649", "transform": (30.0, 0.0, 400_000.0, 0.0, -30.0, 5_200_000.0)}
DEGREES = {"crs": "EPSG:4326", "transform": (0.25, 0.0, -10.0, 0.0, -0.25, 60.0)}
VALUES = np.arange(80.0).reshape(8, 10)


def written(
    path: Path, values: np.ndarray, *, descriptions: tuple = (), units: tuple = (), packing: tuple = (), **profile: Any
) -> None:
    """Write bands (n, H, W) or one (H, W)."""
    import rasterio

    bands = values if values.ndim == 3 else values[None]
    profile["transform"] = rasterio.Affine(*profile["transform"])
    shape = {"count": len(bands), "height": bands.shape[1], "width": bands.shape[2], "dtype": bands.dtype}
    with rasterio.open(path, "w", driver="GTiff", **shape, **profile) as file:
        file.write(bands)
        if descriptions:
            file.descriptions = descriptions
        if units:
            file.units = units
        if packing:
            file.scales, file.offsets = packing


def animals() -> Iterator[Animal]:
    heights = VALUES.astype("i2")
    heights[0, 0] = -32768
    both = np.stack([heights, heights])
    yield _of("terrain", both, "elevation ndvi", descriptions=("elevation", "ndvi"), units=("m", ""), nodata=-32768,
              compress="deflate", grid="projected", **UTM)  # fmt: skip
    yield _of("tiles-of-64-bits", VALUES.astype("f4"), "t", descriptions=("t",), BIGTIFF="YES", tiled=True,
              blockxsize=16, blockysize=16, compress="zstd", grid="latlon", **DEGREES)  # fmt: skip
    yield _of("packed-integers", heights, "packed_integers", nodata=-32768, packing=((0.1,), (5.0,)),
              noted="scale and offset", grid="latlon", **DEGREES)  # fmt: skip
    turned = {**UTM, "transform": (28.2, 10.3, 400_000.0, 10.3, -28.2, 5_200_000.0)}
    yield _of("turned", VALUES.astype("f4"), "turned", grid="curvilinear", **turned)
    yield Animal("picture.tif", _without_position, refused="no position on the Earth.*gdal_translate", needs="rasterio")
    yield Animal("broken.tif", lambda path: path.write_bytes(b"II*\0" + bytes(40)), refused="damaged", needs="rasterio")


def _of(name: str, values: np.ndarray, reads: str, *, noted: str = "", grid: str = "", **more: Any) -> Animal:
    return Animal(f"{name}.tif", lambda path: written(path, values, **more), reads, noted=noted, grid=grid,
                  needs="rasterio")  # fmt: skip


def _without_position(path: Path) -> None:
    import rasterio
    from rasterio.errors import NotGeoreferencedWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        with rasterio.open(path, "w", driver="GTiff", count=1, height=8, width=10, dtype="uint8") as file:
            file.write(VALUES.astype("u1")[None])
