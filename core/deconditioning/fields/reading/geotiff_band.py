"""A band of a GeoTIFF file as an array that xarray reads when needed."""

from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from deconditioning.errors import short

if TYPE_CHECKING:
    from rasterio import DatasetReader


class Band(BackendArray):
    """The values (H, W) of a band, NaN where they are masked."""

    def __init__(self, file: "DatasetReader", number: int) -> None:
        self.file, self.number = file, number
        exact = np.dtype(file.dtypes[number - 1])
        self.packing = file.scales[number - 1], file.offsets[number - 1]
        small = exact.itemsize <= 2 or exact == np.float32
        self.shape, self.dtype = file.shape, np.dtype("f4" if small and self.packing == (1.0, 0.0) else "f8")

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        from rasterio.errors import RasterioError

        try:
            values = self.file.read(self.number, masked=True)
        except RasterioError as error:
            raise ValueError(f"its pixels look damaged ({short(error.__cause__ or error)})") from error
        scale, offset = self.packing
        unpacked = values.astype(self.dtype) if (scale, offset) == (1.0, 0.0) else values * scale + offset
        return np.asarray(unpacked.filled(np.nan), dtype=self.dtype)[key]
