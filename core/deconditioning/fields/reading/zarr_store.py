"""A Zarr store as raw variables: groups merged, and fill values only if they mark missing values."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.backends import ZarrStore
from xarray.backends.common import AbstractDataStore

from deconditioning.errors import InputError, short
from deconditioning.fields.reading.groups import flatten
from deconditioning.fields.reading.missing_values import MARKS, Repaired
from deconditioning.fields.reading.validity import UNMARKED_FILL
from deconditioning.fill_values import is_fill_value

if TYPE_CHECKING:
    import xarray as xr

#: More groups, or groups deeper in one another, are refused.
_MOST_GROUPS, _DEEPEST = 2000, 40
#: What an array raises whose description is damaged.
_FAULTS = (OSError, ValueError, KeyError, TypeError, RuntimeError, NotImplementedError)


class Stores(AbstractDataStore):
    """The arrays of a store's root, or of all its groups where the root holds no field.

    ``left`` maps arrays that cannot be opened to the reason; ``notes`` are sentences.
    """

    def __init__(self, url: str, **options: Any) -> None:
        self.root = ZarrStore.open_group(url, mode="r", consolidated=options.pop("consolidated", None), **options)
        self.left: dict[str, str] = {}
        result = list(self._arrays(self.root, ""))
        inside = []
        if not any(variable.ndim >= 2 for _, _, variable in result):
            for path in _groups(self.root.zarr_group):
                store = ZarrStore.open_group(url, mode="r", group=path, consolidated=False, **options)
                inside += list(self._arrays(store, f"/{path}"))
        self._found, self.notes = _flat([*result, *inside])
        zeros = sorted(name for name, v in self._found.items() if v.encoding.pop("zero_fill", False) and v.ndim >= 2)
        if zeros:
            named = ", ".join(f"`{name}`" for name in zeros[:6]) + (" …" if len(zeros) > 6 else "")
            self.notes.append(f"Zeros of {named} are treated as data: the fill value 0 is Zarr's default.")

    def _arrays(self, store: ZarrStore, path: str) -> Iterator[tuple[str, str, "xr.Variable"]]:
        for name in store.array_keys():
            try:
                _name_dimensions(store.members[name])
                yield path, str(name), _marked(store, str(name), store.open_store_variable(name))
            except _FAULTS as error:
                self.left[f"{path}/{name}".lstrip("/")] = short(error)

    def get_variables(self) -> dict[str, "xr.Variable"]:
        """Raw variables by name."""
        return dict(self._found)

    def get_attrs(self) -> Any:
        """Attributes of the root."""
        return self.root.get_attrs()

    def close(self) -> None:
        """Close the store."""
        self.root.close()


def open_zarr(url: str, **options: Any) -> "tuple[xr.Dataset, list[str]]":
    """The decoded dataset, lazy, and sentences; times that cannot be decoded stay numbers."""
    import xarray as xr

    stores = Stores(url, **options)
    store = Repaired(stores)
    known: dict[str, Any] = {
        "chunks": None, "cache": False, "decode_timedelta": False, "create_default_indexes": False,
    }  # fmt: skip
    try:
        dataset = xr.open_dataset(store, **known)
    except (ValueError, OverflowError) as error:
        if "decode" not in str(error) and "calendar" not in str(error):
            raise
        dataset = xr.open_dataset(store, decode_times=False, **known)
    left = stores.left | store.left
    some = "; ".join(f"`{name}`: {why.rstrip(' .')}" for name, why in list(left.items())[:3])
    lost = [f"Skipped because it could not be read: {some}."] if some else []
    if some and not dataset.variables:
        raise InputError(f"No array can be read ({some}): write the store again.")
    return dataset, [*stores.notes, *store.notes, *lost]


def _groups(root: Any, above: str = "", depth: int = 1) -> Iterator[str]:
    """Paths of all groups in a group."""
    for number, (name, group) in enumerate(root.groups()):
        if depth > _DEEPEST or number > _MOST_GROUPS:
            raise InputError(
                f"The store has more than {_MOST_GROUPS:,} groups or groups more than {_DEEPEST} deep: name one of its "
                "groups instead."
            )
        path = f"{above}/{name}".lstrip("/")
        yield path
        yield from _groups(group, path, depth + 1)


def _flat(result: list[tuple[str, str, "xr.Variable"]]) -> tuple[dict[str, "xr.Variable"], list[str]]:
    names, dims, notes = flatten(result)
    flat = {}
    for name, (path, _, variable) in zip(names, result, strict=True):
        renamed = variable.copy(deep=False)
        renamed.dims = [dims[path, str(dim)] for dim in variable.dims]
        flat[name] = renamed
    return flat, notes


def _name_dimensions(array: Any) -> None:
    """Give an array of netCDF's own Zarr the names of its dimensions, which xarray looks for elsewhere."""
    attributes = array.metadata.attributes
    declared = attributes.get("_nczarr_array", attributes.get("_NCZARR_ARRAY", {}))
    paths: Any = declared.get("dimension_references", declared.get("dimrefs", [])) if isinstance(declared, dict) else []
    if len(paths) == len(array.shape) and "_ARRAY_DIMENSIONS" not in attributes:
        attributes["_ARRAY_DIMENSIONS"] = [str(path).rpartition("/")[2] for path in paths]


def _marked(store: ZarrStore, name: str, variable: "xr.Variable") -> "xr.Variable":
    """The variable whose ``_FillValue`` is there only where Zarr's fill value marks missing values.

    Format 2 has no other word for them, but 0 is its default: it is a mark only where the file calls it so or packs the
    data. In format 3 the fill value is none, unless it is a number that can be nothing else.
    """
    array: Any = store.members[name]
    declared, fill = set(array.metadata.attributes), array.fill_value
    if variable.dtype.kind not in "biuf" or fill is None or set(MARKS) & declared:
        return variable
    if array.metadata.zarr_format == 2 and fill == 0 and not {"scale_factor", "add_offset"} & declared:
        del variable.attrs["_FillValue"]
        variable.encoding["zero_fill"] = True
    elif array.metadata.zarr_format == 3 and np.isfinite(fill) and (is_fill_value(fill) or abs(fill) >= UNMARKED_FILL):
        variable.attrs["_FillValue"] = variable.dtype.type(fill)
    return variable
