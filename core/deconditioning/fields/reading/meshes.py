"""Recognises fields without rows and columns, and gives the command that regrids them."""

from typing import TYPE_CHECKING

from deconditioning.fields.footprints.soundings import corners_of
from deconditioning.fields.grids.roles import role
from deconditioning.fields.reading.groups import UNNAMED

if TYPE_CHECKING:
    import xarray as xr

#: Dimensions of models' meshes: MPAS, ICON, CAM-SE, FESOM, FVCOM, E3SM, reduced Gaussian grids.
_MESH = ("ncells", "cell", "ncol", "nod2", "node", "nele", "face", "nmesh2d_face", "rgrid", "values", "gsize",
         "lndgrid")  # fmt: skip
_STATIONS = ("timeseries", "trajectory", "profile", "point", "timeseriesprofile", "trajectoryprofile")


def no_rows_and_columns(dataset: "xr.Dataset") -> str | None:
    """Message if the fields are on an unstructured mesh, on HEALPix or at stations; ``None`` otherwise."""
    if any(v.attrs.get("grid_mapping_name") == "healpix" for v in dataset.variables.values()):
        return (
            "The fields lie on a HEALPix grid, which has no rows and columns: remap them to latitudes and longitudes "
            "first, for example with `cdo remapcon,r720x360 IN.nc OUT.nc`."
        )
    outlined = [v for v in dataset.variables.values() if "geometry_type" in v.attrs]
    if outlined and not any(v.ndim > 1 and "geometry" not in v.attrs for v in dataset.data_vars.values()):
        return (
            "The file contains regions or places (CF geometries), not a gridded field: give a gridded field, and add "
            "these as regions (`--polygons`)."
        )
    result = _along(dataset)
    return None if result is None else _one_dimension(dataset, *result)


def _one_dimension(dataset: "xr.Dataset", name: str, dim: str) -> str:
    """Message for fields along one dimension: what they are instead, and what one can do."""
    kind = str(dataset.attrs.get("featureType", "")).replace("_", "").lower()
    roles = {str(v.attrs.get("cf_role", "")) for v in dataset.variables.values()}
    if kind in _STATIONS or roles & {"timeseries_id", "profile_id", "trajectory_id"}:
        return (
            f"The file holds {dataset.sizes[dim]:,} stations or points (`{name}` along `{dim}`), not a gridded field: "
            "give a gridded field, and add these as stations (`--stations`)."
        )
    if dim.startswith(UNNAMED):
        return (
            f"The file does not name its dimensions, and several have {dataset.sizes[dim]:,} values (`{name}`): "
            "rows and columns cannot be told apart. Write the file with named dimensions (HDF5 dimension scales) or "
            "with two-dimensional latitudes and longitudes."
        )
    corners = corners_of(dataset)
    if corners is not None and dataset.variables[corners[0]].dims[0] == dim:
        return (
            f"The file holds {dataset.sizes[dim]:,} soundings or cells of a mesh with their corners (`{name}` along "
            f"`{dim}`), not a gridded field: give a gridded field, and add these as regions (`--polygons`); or remap "
            "them to latitudes and longitudes, for example with `cdo remapcon,r720x360 IN.nc OUT.nc`."
        )
    return (
        f"The fields lie on an unstructured mesh (`{name}` along `{dim}`, {dataset.sizes[dim]:,} cells), which has no "
        "rows and columns: remap them to latitudes and longitudes first, for example with `cdo remapcon,r720x360 "
        "IN.nc OUT.nc` (before IN.nc `-setgrid,GRID.nc` if the corners are in a separate file; `cdo remapnn` without "
        "corners)."
    )


def _along(dataset: "xr.Dataset") -> tuple[str, str] | None:
    """A field and the one dimension of the mesh that it runs along."""
    sides: dict[str, set[str]] = {}
    for name, variable in dataset.variables.items():
        if variable.ndim == 1 and (what := role(str(name), variable)) and what[0] == "latlon":
            sides.setdefault(str(variable.dims[0]), set()).add(what[1])
    points = {dim for dim, both in sides.items() if both == {"x", "y"}}
    for name in dataset.data_vars:
        variable = dataset.variables[name]
        declared = variable.attrs.get("CDI_grid_type") == "unstructured" or "mesh" in variable.attrs
        for dim in map(str, variable.dims[::-1]):
            meshed = declared and dataset.sizes[dim] > 1 and dim.lower() not in ("time", "lev", "height")
            if variable.dtype.kind in "fiub" and (dim in points or dim.lower() in _MESH or meshed):
                return str(name), dim
    return None
