"""Opens an HDF5 file so that nothing outside it is read, and a broken entry affects only itself.

HDF5 files can refer to other files: external storage (raw bytes of any file), external links and virtual datasets. A
foreign file could in this way copy a server's files into a result, so every entry is inspected before a value is read.
"""

import mmap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
from h5py import h5d, h5g, h5l, h5o, h5r

from deconditioning.errors import InputError, short
from deconditioning.fields.reading.groups import UNNAMED, below, flatten
from deconditioning.fields.reading.hdf5_filters import find_filters, missing_filter
from deconditioning.fields.writing.attributes import Readable

if TYPE_CHECKING:
    from xarray.backends import H5NetCDFStore

#: More entries, or groups deeper in one another, are refused.
MOST_ENTRIES, _DEEPEST = 20_000, 40
_REMEDY = "only values inside the file are read; write them into it, for example with `nccopy`."


class ClosedFile(h5py.File):
    """A file for reading, its tree looked through: each entry is looked up once, and broken ones are passed over.

    ``broken`` maps the names of entries of the root group that cannot be opened to the reason. Raises ``InputError``
    where an entry refers to another file, and ``OSError`` where this is no HDF5 file.
    """

    def __init__(self, path: Path) -> None:
        _refuse_endless_heaps(path)
        find_filters()
        super().__init__(path, "r")
        self.broken: dict[str, str] = {}
        self._entries: dict[str, Any] = {"/": self}
        try:
            self._places = _look_through(self.id)
            for name in super().__iter__():
                self._try(name)
        except BaseException:
            self.close()
            raise

    def _try(self, name: str) -> None:
        try:
            entry = self[name]
            for attribute in ("CLASS", "NAME", "DIMENSION_LIST"):
                entry.attrs.get(attribute)
        except MemoryError:
            raise
        except Exception as error:
            self.broken[name] = short(error)

    def __iter__(self) -> Iterator[str]:
        """Names in the root group, without the broken ones."""
        return (name for name in _without_plain_types(self, super().__iter__()) if name not in self.broken)

    def __getitem__(self, name: Any) -> Any:
        """An entry by path or by reference; a reference to what lies outside the tree is refused."""
        if isinstance(name, h5py.Reference):
            address = h5o.get_info(h5r.dereference(name, self.id)).addr
            if address not in self._places:
                raise InputError("A reference leads to an entry without a name: write the file again.")
            name = self._places[address]
        path = name if str(name).startswith("/") else f"/{name}"
        if path not in self._entries:
            entry = super().__getitem__(path)
            self._entries[path] = _Shown(entry.id) if isinstance(entry, h5py.Group) else entry
        return self._entries[path]


class _Shown(h5py.Group):
    """A group without its named types of single numbers or texts."""

    def __iter__(self) -> Iterator[str]:
        return _without_plain_types(self, super().__iter__())


def _without_plain_types(group: h5py.Group, names: Iterator[str]) -> Iterator[str]:
    """Names without those of types that h5netcdf cannot hold: it knows records, enumerations and rows of any length."""
    for name in names:
        try:
            entry = group[name] if group.get(name, getclass=True) is h5py.Datatype else None
        except Exception:  # broken, which is reported where it is opened
            entry = None
        if entry is None or entry.id.get_class() in (h5py.h5t.COMPOUND, h5py.h5t.ENUM, h5py.h5t.VLEN):
            yield name


def _refuse_endless_heaps(path: Path) -> None:
    """``OSError`` where a heap of texts has an entry that takes no room: HDF5 would look for the next one without end.

    A collection is "GCOL", version, three zeros and its size, then entries of index, count, reserve, size and data;
    index 0 is free room, its size that of all (HDF5 File Format Specification, III.E).
    """
    if not path.stat().st_size:
        return
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(b"GCOL\x01\0\0\0")
        while at >= 0:
            offset = at + 16
            end = min(len(data), at + int.from_bytes(data[at + 8 : at + 16], "little"))
            while offset + 16 <= end:
                size = int.from_bytes(data[offset + 8 : offset + 16], "little")
                index = int.from_bytes(data[offset : offset + 2], "little")
                step = (size if index == 0 else 16 + (size + 7 & ~7)) % 2**64
                if step == 0 or step >= 2**63:
                    raise OSError("a heap of texts without end")
                offset += step
            at = data.find(b"GCOL\x01\0\0\0", at + 1)


def _look_through(file: Any) -> dict[int, str]:
    """The path of every entry by its place in the file; ``InputError`` if one refers to another file."""
    root = h5g.open(file, b"/")
    places = {h5o.get_info(root).addr: "/"}
    groups = [(root, "", 0)]
    while groups:
        group, above, depth = groups.pop()
        for link in _links(group, MOST_ENTRIES - len(places)):
            path = f"{above}/{link.decode('utf-8', 'replace')}"
            kind = group.links.get_info(link).type
            if kind == h5l.TYPE_SOFT:
                continue  # leads to another path of this file, whose links are looked at on the way
            if kind != h5l.TYPE_HARD:
                raise InputError(f"The file's entry `{path[1:][:80]}` is a link into another file: {_REMEDY}")
            entry = _entry(group, link)
            if entry is None or (address := h5o.get_info(entry).addr) in places:
                continue
            places[address] = path
            if isinstance(entry, h5d.DatasetID):
                _refuse_outside(entry, path[1:])
            elif isinstance(entry, h5g.GroupID):
                groups.append((entry, path, depth + 1))
        if depth > _DEEPEST or len(places) >= MOST_ENTRIES:
            raise InputError(
                f"The file has more than {MOST_ENTRIES:,} entries or groups more than {_DEEPEST} deep: write the "
                "variables you need into a separate file."
            )
    return places


def _links(group: h5g.GroupID, most: int) -> list[bytes]:
    """Names of a group's links, at most about ``most``."""
    names: list[bytes] = []

    def note(name: bytes) -> bool | None:
        """Append a name; True ends the iteration."""
        names.append(name)
        return True if len(names) > most else None

    group.links.iterate(note)
    return names


def _entry(group: h5g.GroupID, link: bytes) -> Any:
    """The entry behind a hard link; ``None`` if it is damaged, so that nothing can read it."""
    try:
        return h5o.open(group, link)
    except (KeyError, OSError, RuntimeError, TypeError, ValueError):
        return None


def _refuse_outside(dataset: h5d.DatasetID, path: str) -> None:
    plan = dataset.get_create_plist()
    if plan.get_layout() == h5d.VIRTUAL:
        raise InputError(f"`{path[:80]}` is a virtual dataset assembled from other files: {_REMEDY}")
    if plan.get_external_count():
        raise InputError(f"The file keeps the values of `{path[:80]}` in another file: {_REMEDY}")


def open_hdf5(path: Path) -> "tuple[H5NetCDFStore, dict[str, str], list[str]]":
    """A NetCDF 4 file as a store for xarray, the variables that cannot be opened with the reason, and sentences.

    Where the root holds no field, the variables of its groups stand side by side. Raises ``InputError`` if the file
    refers to another one.
    """
    from xarray.backends import H5NetCDFStore

    class Store(H5NetCDFStore):
        """Variables that can be opened, each opened once."""

        def get_variables(self) -> dict[str, Any]:
            """The variables, but for those that cannot be opened, which ``file.broken`` lists."""
            for name, (inside, variable) in listed.items():
                if name not in result and name not in file.broken:
                    try:
                        if why := missing_filter(file[variable.name]) or _unnamed(variable):
                            raise ValueError(why)
                        read = stores[inside].open_store_variable(variable.name.rpartition("/")[2], Readable(variable))
                        read.dims = [dims.get((inside, dim), dim) for dim in read.dims]
                        result[name] = read
                    except MemoryError:
                        raise
                    except Exception as error:
                        file.broken[name] = short(error, 200)
            return {name: variable.copy(deep=False) for name, variable in result.items()}

        def get_attrs(self) -> dict[str, Any]:
            """The attributes of the root."""
            return Readable(root).attrs

        def close(self, **options: Any) -> None:
            """Close the store and the file under it."""
            super().close(**options)
            file.close()

    result: dict[str, Any] = {}
    file = ClosedFile(path)
    root = _root(file)
    listed, dims, notes = _listed(root)
    groups = {inside: root[inside] if inside else root for inside, _ in listed.values()}
    if unnamed := _named_by_length(groups):
        dims |= unnamed
        notes.append("The file does not name its dimensions: axes of the same length are taken as the same dimension.")
    stores = {inside: H5NetCDFStore(group) for inside, group in groups.items()}
    return Store(root), file.broken, notes


def _root(file: ClosedFile) -> Any:
    """The root group; dimensions are matched by length only if the file has none at all."""
    import h5netcdf

    root = h5netcdf.File(file, "r", decode_vlen_strings=True)
    return root if _has_dimensions(root) else h5netcdf.File(file, "r", decode_vlen_strings=True, phony_dims="sort")


def _has_dimensions(group: Any) -> bool:
    return bool(group.dimensions) or any(map(_has_dimensions, group.groups.values()))


def _named_by_length(groups: dict[str, Any]) -> dict[tuple[str, str], str]:
    """(Group, dimension) → name of dimensions without one: the same in every group if they have the same length."""
    result = {}
    for inside, group in groups.items():
        lengths: Counter[int] = Counter()
        for name, dimension in group.dimensions.items():
            if name.startswith(UNNAMED):
                result[inside, name] = f"{UNNAMED}{dimension.size}{'b' * lengths[dimension.size]}"
                lengths[dimension.size] += 1
    return result


def _unnamed(variable: Any) -> str:
    """Why one cannot say which axis of a variable is which; empty if one can."""
    sizes = [size for dim, size in zip(variable.dimensions, variable.shape, strict=True) if UNNAMED in dim]
    twice = [size for size in sizes if sizes.count(size) > 1]
    return f"has two axes of length {twice[0]} without names" if twice and len(sizes) > 2 else ""


def _listed(root: Any) -> tuple[dict[str, tuple[str, Any]], dict[tuple[str, str], str], list[str]]:
    """Name → (group, variable), the names of the groups' dimensions, and sentences."""
    listed = {str(name): ("", variable) for name, variable in root.variables.items()}
    if not root.groups or any(len(variable.dimensions) >= 2 for _, variable in listed.values()):
        return listed, {}, []
    result = list(below(root))
    names, dimensions, notes = flatten(result)
    listed = {name: (inside, variable) for name, (inside, _, variable) in zip(names, result, strict=True)}
    return listed, dimensions, notes
