"""Attributes as text that can be written anywhere: letters of Latin-1, references and odd types."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr
    from xarray.backends import ScipyDataStore


def plain_text(value: Any) -> Any:
    """A text of UTF-8 or, where it is none, of Latin-1; anything else as it is."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:  # what was no UTF-8 stands as lone surrogates
            return value.encode("utf-8", "surrogateescape").decode("latin-1")
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.decode("latin-1")
    if isinstance(value, list):
        return [plain_text(one) for one in value]
    return value


def _plain_attributes(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    """Attributes with texts that can be printed, by names that can be."""
    return {plain_text(str(name)): plain_text(value) for name, value in attributes.items()}


def readable(dataset: "xr.Dataset") -> "xr.Dataset":
    """The dataset with texts, in names and attributes too, that can be printed and written."""
    odd = {name: plain_text(str(name)) for name in [*dataset.variables, *dataset.dims] if plain_text(name) != name}
    result = dataset.rename(odd) if odd else dataset.copy(deep=False)
    result.attrs = _plain_attributes(dataset.attrs)
    for variable in result.variables.values():
        variable.attrs = _plain_attributes(variable.attrs)
    return result


class Readable:
    """An h5netcdf variable or group, without attributes that h5netcdf cannot read, such as references."""

    def __init__(self, attributes: Any) -> None:
        self._held = attributes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._held, name)

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes by name."""
        return dict(self._attributes(self._held.attrs))

    def _attributes(self, attributes: Iterable[Any]) -> Iterator[tuple[str, Any]]:
        for name in attributes:
            try:
                value = self._held.attrs[name]
            except MemoryError:
                raise
            except Exception:  # a reference or a type of one's own: it says nothing of the values
                continue
            if not isinstance(value, np.ndarray) or value.dtype.kind in "biufSU":
                yield name, value


def classic_store(path: Path) -> "ScipyDataStore":
    """A NetCDF 3 file as a store for xarray, with texts of Latin-1 as they are."""
    from xarray.backends import ScipyDataStore

    class Store(ScipyDataStore):
        """Texts by ``plain_text``; xarray itself puts question marks for what is no UTF-8."""

        def open_store_variable(self, name: str, var: Any) -> "xr.Variable":
            """A variable with the texts of its attributes."""
            result = super().open_store_variable(name, var)
            result.attrs = {key: _classic(key, value) for key, value in var._attributes.items()}
            return result

        def get_attrs(self) -> Any:
            """The file's attributes with their texts."""
            return {key: _classic(key, value) for key, value in self.ds._attributes.items()}

    return Store(str(path))


def _classic(key: str, value: Any) -> Any:
    return value if key == "_FillValue" else plain_text(value)
