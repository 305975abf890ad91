"""Regions with outlines: CF geometries and GeoJSON."""

import numpy as np
import xarray as xr


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
