"""Identifies variables that are edges, corners or positions of others and therefore not fields."""

from typing import TYPE_CHECKING

from deconditioning.fields.grids.roles import role

if TYPE_CHECKING:
    import xarray as xr

_ENDINGS = ("_bnds", "_bounds", "_bnd", "_vertices", "_vert", "_verts", "_corners", "_edges")
_STARTS = ("vertices_", "bounds_", "bnds_", "corner_")
#: Usual names of the dimension along which edges or corners lie.
_CORNERS = ("bnds", "bounds", "nbnd", "nbnds", "nb2", "nv", "nv4", "tbnds", "vertices", "nvertex", "nvertices",
            "corners", "ncorners", "vertex", "axis_nbounds", "hist_interval", "nvp", "grid_corners")  # fmt: skip


def bounds_of(dataset: "xr.Dataset") -> set[str]:
    """Names of the variables that are bounds of others, from attributes, names or dimensions."""
    result: set[str] = set()
    for variable in dataset.variables.values():
        for about in (variable.attrs, variable.encoding):
            result |= {str(about[key]) for key in ("bounds", "climatology") if about.get(key)}
    for name, variable in dataset.variables.items():
        plain = str(name).lower()
        corners = any(str(dim).lower() in _CORNERS and 2 <= dataset.sizes[dim] <= 12 for dim in variable.dims)
        if corners or plain.endswith(_ENDINGS) or plain.startswith(_STARTS):
            result.add(str(name))
    return result & {str(name) for name in dataset.variables}


def settled(dataset: "xr.Dataset") -> "xr.Dataset":
    """The dataset with bounds and two-dimensional positions among its coordinates, and auxiliary coordinates on two
    or more dimensions, such as ``surface_altitude(lat, lon)``, among its fields.
    """
    edges = bounds_of(dataset)
    sheets = {str(n) for n, v in dataset.variables.items() if v.ndim >= 2 and role(str(n), v) is not None}
    free = [
        name for name, variable in dataset.coords.variables.items()
        if variable.ndim >= 2 and variable.dtype.kind in "fiub" and str(name) not in edges | sheets
    ]  # fmt: skip
    return dataset.reset_coords(free).set_coords([*(edges | sheets)])
