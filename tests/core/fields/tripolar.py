"""Global ocean grids in the manner of ORCA: rows of latitude, then half ellipses between two northern poles."""

import numpy as np
import xarray as xr

from tests.core.fields.samples import smooth


def tripolar(
    columns: int = 90, rows: int = 40, pivot: str = "T", halo: int = 2, cap: int = 14
) -> tuple[np.ndarray, ...]:
    """(latitude, longitude, whether a cell is a copy), each (rows + cap, columns + halo).

    In the polar stereographic plane the cap's rows are half ellipses through both poles, of which the last ends on the
    fold: its cells themselves meet there (``pivot`` "T", as in ORCA2), or it repeats the row before (else, as in
    ORCA1). ``halo`` columns follow that repeat the first.
    """
    angle = 2 * np.pi * (np.arange(columns) + 0.5) / columns
    lower = np.repeat(np.linspace(-78, 60, rows)[:, None], columns, axis=1)
    half = np.arange(1, cap + 1) / cap if pivot == "T" else (np.arange(1, cap + 1) / (cap - 0.5))
    flat = 1 - half  # of the ellipses; below zero, the row is beyond the fold
    edge = np.tan(np.deg2rad(90 - 60) / 2)
    x, y = edge * np.cos(angle)[None] + 0 * flat[:, None], edge * flat[:, None] * np.sin(angle)[None]
    radius = np.hypot(x, y)
    height = np.rad2deg(np.pi / 2 - 2 * np.arctan(radius))
    latitude = np.concatenate([lower, height])
    longitude = np.concatenate([np.rad2deg(angle)[None] + 0 * lower, np.rad2deg(np.arctan2(y, x))])
    copy = np.zeros(latitude.shape, dtype=bool)
    copy[-1, columns // 2 if pivot == "T" else 0 :] = True
    around = np.arange(columns + halo) % columns
    copies = copy[:, around] | (np.arange(columns + halo) >= columns)
    return latitude[:, around], longitude[:, around] % 360, copies


def ocean(latitude: np.ndarray, longitude: np.ndarray) -> xr.Dataset:
    """A field that is smooth on the sphere, as NEMO writes it."""
    dims = ("y", "x")
    return xr.Dataset(
        {"tos": (dims, smooth(latitude, longitude), {"units": "K", "coordinates": "nav_lat nav_lon"})},
        {"nav_lat": (dims, latitude), "nav_lon": (dims, longitude)},
    )
