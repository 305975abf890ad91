"""Grids: orders, seams, poles, projections, sheets with holes, meshes."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from tests.core.fields.samples import rectilinear, rotated_dataset
from tests.core.fields.zoo.animal import Animal, of, small

ALL = "t orog q"


def animals() -> Iterator[Animal]:
    yield from _lines()
    yield from _projections()
    yield from _sheets()
    yield from _meshes()


def _lines() -> Iterator[Animal]:
    yield of("descending", small().isel(lat=slice(None, None, -1)), ALL, noted="`lat` was descending", grid="latlon")
    yield of("from-0-to-360", rectilinear(np.arange(30.0, 40), np.arange(230.0, 245)), ALL, noted="0 to 360")
    globe = rectilinear(np.linspace(-85, 85, 18), np.arange(0.0, 360, 10))
    yield of("globe", globe, ALL)
    yield of("cyclic-column", rectilinear(np.linspace(-85, 85, 18), np.arange(0.0, 361, 10)), ALL, noted="repeats")
    yield of("lon-before-lat", small().transpose("lon", "lat"), ALL)
    bounded = small()
    bounded.lat.attrs["bounds"], bounded.lon.attrs["bounds"] = "lat_bnds", "lon_bnds"
    edges = bounded.lat.values[:, None] + np.array([-0.5, 0.5]), bounded.lon.values[:, None] + np.array([-0.5, 0.5])
    bounded["lat_bnds"], bounded["lon_bnds"] = (("lat", "bnds"), edges[0]), (("lon", "bnds"), edges[1])
    yield of("bounds", bounded, ALL)
    yield of(
        "odd-bounds-name",
        bounded.rename(lat_bnds="south_and_north", lon_bnds="edges").assign_coords(
            lat=bounded.lat.assign_attrs(bounds="south_and_north"), lon=bounded.lon.assign_attrs(bounds="edges")
        ),
        ALL,
    )
    gauss = np.rad2deg(np.arcsin(np.polynomial.legendre.leggauss(32)[0]))
    yield of("gaussian-latitudes", rectilinear(gauss, np.arange(0.0, 360, 5.625)), ALL)
    radians = small().assign_coords(lat=("lat", np.deg2rad(small().lat.values), {"units": "radians", "standard_name":
        "latitude"}))  # fmt: skip
    yield of("radians", radians, ALL, noted="radians")
    yield of("called-y-and-x", rectilinear(np.arange(40, 48, 0.5), np.arange(5, 12, 0.5), names=("y", "x"),
             attributes=False), ALL, grid="latlon")  # fmt: skip
    two = small().assign(u=(("ulat", "lon"), np.ones((9, 10))))
    yield of("staggered", two.assign_coords(ulat=("ulat", np.arange(20.0, 29), {"units": "degrees_north"})), ALL,
             noted="Skipped because they are not on the grid: `u`")  # fmt: skip


def _projections() -> Iterator[Animal]:
    yield of("rotated-pole", rotated_dataset(), "t h", grid="rotated")
    both = rotated_dataset()
    sheet = (("rlat", "rlon"), np.zeros((31, 41)))
    named = {"lat": (*sheet, {"standard_name": "latitude", "units": "degrees_north", "bounds": "lat_vertices"})}
    named |= {"lon": (*sheet, {"standard_name": "longitude", "units": "degrees_east", "bounds": "lon_vertices"})}
    corners = (("rlat", "rlon", "vertices"), np.zeros((31, 41, 4)))
    cordex = both.assign({**named, "lat_vertices": corners, "lon_vertices": corners})
    yield of("cordex", cordex, "t h", grid="rotated")
    yield of("rotated-without-pole", rotated_dataset().drop_vars("pole"), refused="rotated pole")
    lambert = {
        "grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [46.0, 48.0],
        "latitude_of_projection_origin": 47.0, "longitude_of_central_meridian": 10.0,
    }  # fmt: skip
    yield of("lambert", _plane(lambert), "t", grid="projected")
    yield of("kilometres", _plane(lambert, units="km"), "t", grid="projected", noted="in km")
    yield of("mapping-with-axes", _plane(lambert, said="crs: x y"), "t", grid="projected")
    from pyproj import CRS

    yield of("wkt-only", _plane({"crs_wkt": CRS.from_epsg(3035).to_wkt()}, at=(3e6, 4e6)), "t", grid="projected")
    yield of("gdal-wkt", _plane({"spatial_ref": CRS.from_epsg(3035).to_wkt()}, at=(3e6, 4e6)), "t", grid="projected")
    yield of("proj-text", _plane({"proj4": "+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80"},
             at=(3e6, 4e6)), "t", grid="projected")  # fmt: skip
    polar = {"grid_mapping_name": "polar_stereographic", "straight_vertical_longitude_from_pole": -45.0,
             "latitude_of_projection_origin": 90.0, "standard_parallel": 70.0}  # fmt: skip
    yield of("polar-stereographic", _plane(polar), "t", grid="projected")
    disk = {"grid_mapping_name": "geostationary", "perspective_point_height": 35786023.0, "sweep_angle_axis": "y",
            "longitude_of_projection_origin": 0.0, "latitude_of_projection_origin": 0.0}  # fmt: skip
    yield of("full-disk", _plane(disk, step=600_000.0, size=(19, 19)), "t", grid="projected",
             noted="have no position on Earth")  # fmt: skip
    yield of("without-mapping", _plane(lambert).drop_vars("m"), refused="map projection")


def _plane(mapping: dict, *, units="m", said="m", at=(0.0, 0.0), step=20_000.0, size=(8, 10)) -> xr.Dataset:
    """A projected grid around a place of its map."""
    scale = 1e-3 if units == "km" else 1.0
    axes = {
        name: (name, scale * (start + step * (np.arange(count) - count // 2)),
               {"units": units, "standard_name": f"projection_{name}_coordinate"})
        for name, count, start in zip(("y", "x"), size, at, strict=True)
    }  # fmt: skip
    name = said.partition(":")[0]
    values = np.add.outer(np.arange(size[0]), np.arange(size[1])).astype(float)
    return xr.Dataset({"t": (("y", "x"), values, {"grid_mapping": said}), name: ((), 0, mapping)}, axes)


def sheet(rows: int = 12, columns: int = 15, hole: bool = False) -> xr.Dataset:
    """A curvilinear ocean grid with vertices; with ``hole`` cells on land have neither value nor position."""
    j, i = np.meshgrid(np.arange(float(rows)), np.arange(float(columns)), indexing="ij")
    latitude, longitude = 40 + j + 0.1 * i, 10 + 1.2 * i - 0.05 * j
    values = latitude + longitude
    for array in (latitude, longitude, values) if hole else ():
        array[4:7, 5:9], array[0, :3] = np.nan, np.nan
    north, east = np.array([-0.5, -0.5, 0.5, 0.5]), 0.6 * np.array([-1, 1, 1, -1])
    data = xr.Dataset(
        {"sst": (("nlat", "nlon"), values, {"coordinates": "TLONG TLAT", "units": "degC"})},
        {"TLAT": (("nlat", "nlon"), latitude, {"units": "degrees_north", "bounds": "lat_vert"}),
         "TLONG": (("nlat", "nlon"), longitude, {"units": "degrees_east", "bounds": "lon_vert"})},
    )  # fmt: skip
    data["lat_vert"] = (("nlat", "nlon", "nv"), latitude[..., None] + north)
    data["lon_vert"] = (("nlat", "nlon", "nv"), longitude[..., None] + east)
    return data


def _sheets() -> Iterator[Animal]:
    yield of("curvilinear", sheet(), "sst", grid="curvilinear")
    yield of("vertices-first", sheet().transpose("nv", "nlat", "nlon"), "sst", grid="curvilinear")
    yield of("missing-corners", sheet(hole=True), "sst", grid="curvilinear", noted="have no position")
    huge = sheet(hole=True).fillna(1e36)
    yield of("unmarked-corners", huge, "sst", grid="curvilinear", noted="have no position")
    seen = sheet()
    for name, centre in (("lat_vert", "TLAT"), ("lon_vert", "TLONG")):  # pixels that overlap by half
        seen[name] = seen[centre] + 1.5 * (seen[name] - seen[centre])
    yield of("swath-with-errors", seen.assign(error=0.1 * seen.sst), "sst error", grid="curvilinear",
             noted="between the corners that the file gives")  # fmt: skip
    pair = sheet().rename(TLAT="ULAT", TLONG="ULONG").drop_vars(["lat_vert", "lon_vert"])
    both = sheet().assign_coords(ULAT=pair.ULAT + 0.5, ULONG=pair.ULONG + 0.5)
    for name in ("ULAT", "ULONG"):
        both[name].attrs = pair[name].attrs
    both["uvel"] = (("nlat", "nlon"), both.sst.values * 0, {"coordinates": "ULONG ULAT"})
    yield of("two-positions", both, "sst", noted="`uvel`", grid="curvilinear")
    y, x = np.meshgrid(np.arange(40, 48.0), np.arange(5, 15.0), indexing="ij")
    wrf = xr.Dataset(
        {"T2": (("Time", "south_north", "west_east"), np.stack([y, y + 1]))},
        {"XLAT": (("Time", "south_north", "west_east"), np.stack([y, y])),
         "XLONG": (("Time", "south_north", "west_east"), np.stack([x, x]))},
    )  # fmt: skip
    yield of("wrf", wrf, "T2", grid="curvilinear")
    tiles = wrf.rename(Time="tile").assign_coords(XLAT=(("tile", "south_north", "west_east"), np.stack([y, y + 20])))
    yield of("cubed-sphere", tiles, refused="`XLAT` differs along `tile`")
    plain = xr.Dataset({"t": (("row", "column"), y), "lat": (("row", "column"), y), "lon": (("row", "column"), x)})
    yield of("swath-without-attributes", plain, "t", grid="curvilinear")


def _meshes() -> Iterator[Animal]:
    n = 40
    lat, lon = np.linspace(-60, 60, n), np.linspace(0, 350, n)
    icon = xr.Dataset(
        {"t": (("time", "ncells"), np.ones((2, n)), {"CDI_grid_type": "unstructured", "coordinates": "clat clon"})},
        {"clat": ("ncells", np.deg2rad(lat), {"standard_name": "latitude", "units": "radian"}),
         "clon": ("ncells", np.deg2rad(lon), {"standard_name": "longitude", "units": "radian"})},
    )  # fmt: skip
    yield of("icon", icon, refused="unstructured mesh.*cdo remapcon")
    mpas = xr.Dataset({"t": (("Time", "nCells"), np.ones((2, n))), "latCell": ("nCells", np.deg2rad(lat)),
                       "lonCell": ("nCells", np.deg2rad(lon))})  # fmt: skip
    yield of("mpas", mpas, refused="unstructured mesh.*`nCells`")
    topology = {"cf_role": "mesh_topology", "topology_dimension": 2, "node_coordinates": "node_lon node_lat",
                "face_node_connectivity": "face_nodes"}  # fmt: skip
    ugrid = xr.Dataset(
        {"mesh": ((), 0, topology), "face_nodes": (("face", "three"), np.ones((n, 3), int)),
         "t": ("face", np.ones(n), {"mesh": "mesh", "location": "face"})},
        {"node_lat": ("node", lat, {"units": "degrees_north"}), "node_lon": ("node", lon, {"units": "degrees_east"})},
    )  # fmt: skip
    yield of("ugrid", ugrid, refused="unstructured mesh.*`face`")
    spectral = xr.Dataset({"t": (("time", "ncol"), np.ones((2, n))), "lat": ("ncol", lat, {"units": "degrees_north"}),
                           "lon": ("ncol", lon, {"units": "degrees_east"})})  # fmt: skip
    yield of("cam-se", spectral, refused="unstructured mesh.*`ncol`")
    healpix = xr.Dataset({"t": (("time", "cell"), np.ones((2, 48)), {"grid_mapping": "crs"}),
                          "crs": ((), 0, {"grid_mapping_name": "healpix", "healpix_nside": 2})})  # fmt: skip
    yield of("healpix", healpix, refused="HEALPix")
    stations = xr.Dataset(
        {
            "t": (("station", "time"), np.ones((n, 3))),
            "lat": ("station", lat, {"units": "degrees_north"}),
            "lon": ("station", lon, {"units": "degrees_east"}),
        },
        attrs={"featureType": "timeSeries"},
    )
    yield of("stations", stations, refused="stations")
