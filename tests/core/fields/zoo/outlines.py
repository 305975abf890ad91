"""Regions with outlines: CF geometries and GeoJSON."""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from tests.core.fields.samples import netcdf
from tests.core.fields.zoo.animal import Animal


def square(x: float, y: float, side: float) -> list[tuple[float, float]]:
    """The corners of a square, anticlockwise from its south-west."""
    return [(x, y), (x + side, y), (x + side, y + side), (x, y + side)]


def container(rings: list, *, closed: bool = False, units: tuple[str, str] = ("degrees_east", "degrees_north")):
    """A data set with the geometry container `shapes` of regions, each a list of (corners, whether a hole)."""
    drawn = [[([*ring, ring[0]] if closed else ring, hole) for ring, hole in region] for region in rings]
    every = [part for region in drawn for part in region]
    corners = np.array([corner for ring, _ in every for corner in ring], dtype=float).reshape(-1, 2)
    about = {"geometry_type": "polygon", "node_coordinates": "x y", "node_count": "counts",
             "part_node_count": "parts", "interior_ring": "holes"}  # fmt: skip
    sides = {name: ("node", corners[:, n], {"axis": name.upper(), "units": units[n]}) for n, name in enumerate("xy")}
    return xr.Dataset({
        "shapes": ((), 0, about), "counts": ("region", [sum(len(ring) for ring, _ in region) for region in drawn]),
        "parts": ("part", np.array([len(ring) for ring, _ in every], dtype=int)),
        "holes": ("part", np.array([hole for _, hole in every], dtype=int)), **sides,
    })  # fmt: skip


def animals() -> Iterator[Animal]:
    yield from _of_rings()
    yield from _of_coordinates()
    yield from _of_features()
    yield from _geometries()
    yield from _soundings()


def _json(name: str, shapes: Sequence, reads: str = "", *, values: Sequence = (1, 2, 3, 4), **more) -> Animal:
    """GeoJSON of polygons, each a list of rings, of geometries, or None."""
    features = []
    for shape, value in zip(shapes, values, strict=False):
        geometry = {"type": "Polygon", "coordinates": shape} if isinstance(shape, list) else shape
        features.append({"type": "Feature", "properties": {"rain": value}, "geometry": geometry})
    text = json.dumps({"type": "FeatureCollection", "features": features})
    return Animal(f"{name}.geojson", lambda path: path.write_text(text), reads, kind="regions", **more)


def _ring(x: float, y: float, side: float) -> list:
    return [*square(x, y, side), (x, y)]


def _many(*parts: list) -> dict:
    return {"type": "MultiPolygon", "coordinates": list(parts)}


def _of_rings() -> Iterator[Animal]:
    outer, hole, island = _ring(5, 41, 4), _ring(6, 42, 2), _ring(20, 41, 1)
    yield _json("hole-and-islands", [_many([outer, hole], [island])], "1 regions: 1 on 13")
    yield _json("rings-clockwise", [[outer[::-1], hole]], "1 regions: 1 on 12")
    yield _json("hole-before-its-outline", [[hole, outer]], "1 regions: 1 on 12", noted="rings in a wrong order")
    yield _json("island-as-a-hole", [[outer, island]], "1 regions: 1 on 17", noted="rings in a wrong order")
    yield _json(
        "parts-that-overlap", [_many([outer], [_ring(7, 43, 4)])], "1 regions: 1 on 28", noted="1 of 1 outlines"
    )
    bow = [(5, 41), (7, 43), (7, 41), (5, 43), (5, 41)]
    yield _json("bow-tie", [[bow], [outer]], "2 regions: 1 on 2, 2 on 16", noted="cross themselves")
    yield _json("open-ring", [[outer[:-1]]], "1 regions: 1 on 16")
    yield _json("no-area", [[[(5, 41), (6, 42), (5, 41), (5, 41)]], [outer]], "1 regions: 2 on 16", noted="no outline")
    yield _json("two-corners", [[outer], [[(5, 41), (6, 42)]]], refused="coordinates of region 2 .* three corners")
    yield _json("overlapping-regions", [[outer], [_ring(7, 43, 4)]], "2 regions: 1 on 16, 2 on 16")


def _of_coordinates() -> Iterator[Animal]:
    across = [(178, 41), (-178, 41), (-178, 44), (178, 44), (178, 41)]
    yield _json("across-the-date-line", [[across]], "1 regions: 1 on 12")
    halves = _many([[(178, 41), (180, 41), (180, 44), (178, 44), (178, 41)]],
                   [[(-180, 41), (-178, 41), (-178, 44), (-180, 44), (-180, 41)]])  # fmt: skip
    yield _json("cut-at-the-date-line", [halves], "1 regions: 1 on 12")
    yield _json("longitudes-to-360", [[_ring(350, 41, 3)]], "1 regions: 1 on 9")
    yield _json("with-altitudes", [[[(*at, 100.0) for at in _ring(5, 41, 3)]]], "1 regions: 1 on 9")
    exchanged = [[(y, x) for x, y in _ring(120, 41, 3)]]
    yield _json("latitude-first", [exchanged], refused="as if latitude came first: give longitude, then latitude")
    yield _json("metres-without-system", [[_ring(4e6, 3e6, 1e5)]], refused="not in degrees .* name their coordinate")
    yield _json("corner-nowhere", [[[(5, 41), (float("nan"), 41), (6, 42), (5, 41)]]], refused="without a position")


def _of_features() -> Iterator[Animal]:
    one = [_ring(5, 41, 3)]
    yield _json("without-outlines", [one, None, [], _many()], "1 regions: 1 on 9", noted="3 of 4 regions")
    yield _json("no-outline-at-all", [None], refused="No region of no-outline-at-all")
    yield _json(
        "points-among-polygons", [one, {"type": "Point", "coordinates": (5, 41)}], refused="points are stations"
    )
    collection = {"type": "GeometryCollection", "geometries": [{"type": "Polygon", "coordinates": one}]}
    yield _json("collection", [collection], refused="has a GeometryCollection: give polygons")
    yield _json("marked-values", [one] * 4, "4 regions: 1 on 9, nan on 9, 3 on 9, 2 on 9", values=(1, -9999, 3, 2),
                noted="-9999 in 1 of 4 regions")  # fmt: skip
    yield _json("decimal-commas", [one], values=("1,5",), refused="'1,5': choose an attribute of numbers")
    text = json.dumps({"type": "Topology", "objects": {}, "arcs": []})
    yield Animal("topology.json", lambda path: path.write_text(text), refused="not GeoJSON", kind="regions")


def _geometries() -> Iterator[Animal]:
    holed = [[(square(5, 41, 4), 0), (square(6, 42, 2), 1), (square(20, 41, 1), 0)], [], [(square(30, 41, 1), 0)]]
    yield _cf("cf-geometries", container(holed), "2 regions: 1 on 13, 3 on 1", noted="1 of 3 regions")
    rotated = container(holed[2:], units=("degrees", "degrees"))
    rotated["shapes"].attrs["grid_mapping"] = "pole"
    rotated["pole"] = ((), 0, {"grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 90.0,
                               "grid_north_pole_longitude": 180.0})  # fmt: skip
    yield _cf("cf-rotated-pole", rotated, "1 regions: 1 on 1", noted="grid mapping `pole`")
    points = container(holed)
    points["shapes"].attrs["geometry_type"] = "point"
    yield _cf("cf-points", points, refused="give polygons .points are stations")
    damaged = container(holed)
    damaged["parts"].values[0] += 1
    yield _cf("cf-counts-that-differ", damaged, refused="contradict each other")


def _cf(name: str, data: xr.Dataset, reads: str = "", **more) -> Animal:
    data["rain"] = ("region", 1.0 + np.arange(data.sizes["region"]), {"geometry": "shapes", "units": "mm"})
    return Animal(f"{name}.nc", lambda path: path.write_bytes(netcdf(data)), reads, kind="regions", **more)


def _soundings() -> Iterator[Animal]:
    """Squares of half a degree with their corners in any order; one without corners."""
    south, west = np.array([41.0, 41.25, 43.0]), np.array([5.0, 5.25, 179.75])
    up, along = np.array([0.0, 0.5, 0.5, 0.0]), np.array([0.0, 0.5, 0.0, 0.5])
    latitude, longitude = south[:, None] + up, (west[:, None] + along + 180) % 360 - 180
    latitude[1], longitude[1] = np.nan, np.nan
    about = {side: {"units": f"degrees_{way}"} for side, way in (("lat", "north"), ("lon", "east"))}
    data = xr.Dataset({
        "rain": ("sounding_id", [1.0, 2.0, 3.0], {"units": "mm"}),
        "latitude": ("sounding_id", south + 0.25, about["lat"]), "longitude": ("sounding_id", west, about["lon"]),
        "vertex_latitude": (("sounding_id", "vertices"), latitude, about["lat"]),
        "vertex_longitude": (("sounding_id", "vertices"), longitude, about["lon"]),
    })  # fmt: skip
    reads, noted = "2 regions: 1 on 0.25, 3 on 0.25", "1 of 3 regions"
    yield Animal("soundings.nc", lambda path: path.write_bytes(netcdf(data)), reads, kind="regions", noted=noted)
