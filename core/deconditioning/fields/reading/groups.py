"""Merges the groups of a NetCDF 4 file or Zarr store: all variables together, with the dimensions that they share."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

#: Dimensions that a file does not name (HDF5 without dimension scales) are called so by h5netcdf and netCDF-C.
UNNAMED = "phony_dim_"


def below(group: Any, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """(path of the group, name, variable) of every variable of an h5netcdf group and of the groups in it."""
    for name in group.variables:
        yield path, str(name), group.variables[name]
    for name in group.groups:
        yield from below(group.groups[name], f"{path}/{name}")


def flatten(
    variables: list[tuple[str, str, Any]],
) -> tuple[list[str], dict[tuple[str, str], str], list[str]]:
    """Names without groups for variables given as (path, name, variable).

    Returns the variables' names, (path, dimension) → the dimension's name, and sentences on the groups.
    """
    return _names(variables), _dimensions(variables), _note([path for path, _, _ in variables])


def _names(result: list[tuple[str, str, Any]]) -> list[str]:
    """A name for each: its own where no other group has it, else with its groups before it."""
    count = Counter(name for _, name, _ in result)
    return [
        name if count[name] == 1 or not path else "_".join([*path.split("/")[1:], name]) for path, name, _ in result
    ]


def _dimensions(result: list[tuple[str, str, Any]]) -> dict[tuple[str, str], str]:
    """(path, dimension) → the name that it has among all: its own, or with the groups before it where sizes differ."""
    sizes: dict[str, set[int]] = {}
    for _, _, variable in result:
        for dim, size in zip(_dims(variable), variable.shape, strict=True):
            sizes.setdefault(dim, set()).add(size)
    return {
        (path, dim): dim if len(sizes[dim]) == 1 or not path else "_".join([*path.split("/")[1:], dim])
        for path, _, variable in result
        for dim in _dims(variable)
    }


def _dims(variable: Any) -> tuple[str, ...]:
    """Names of dimensions of a variable of xarray or h5netcdf."""
    return tuple(map(str, variable.dims if hasattr(variable, "dims") else variable.dimensions))


def _note(paths: list[str]) -> list[str]:
    """A sentence on the groups that the variables are taken from."""
    groups = [f"`{path[1:]}`" for path in dict.fromkeys(paths) if path]
    words = f"group {groups[0]}" if len(groups) == 1 else f"groups {', '.join(groups[:6])}"
    return [f"The variables are those of the file's {words}."] if groups else []
