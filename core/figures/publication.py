"""Maps for print: panels on one projection with coastlines, as PNG or PDF bytes (Cartopy, no network)."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from core.errors import InputError
from core.fields.grid import Grid
from core.figures.coast import coast_lines
from core.figures.colours import SCALES, Colours, limits_for, rgb

if TYPE_CHECKING:
    from cartopy.crs import CRS
    from matplotlib.figure import Figure

MISSING = "0.82"
Projection = Literal["auto", "native", "platecarree", "robinson", "orthographic", "lambert"]
PROJECTIONS: tuple[Projection, ...] = ("auto", "native", "platecarree", "robinson", "orthographic", "lambert")


@dataclass(frozen=True)
class Panel:
    """One map of a printed figure.

    `values` (H, W) with NaN for missing; panels of the same `scale` name and colours share their limits and one
    colour bar, so give every map of the same quantity the same `scale`.
    """

    values: np.ndarray
    title: str
    label: str
    colours: Colours = "sequential"
    scale: str = "field"
    grid: Grid | None = None


def publication_figure(
    panels: Sequence[Panel],
    grid: Grid,
    *,
    projection: Projection = "auto",
    caption: str = "",
    format: Literal["png", "pdf"] = "png",
    dpi: int = 200,
    columns: int | None = None,
) -> bytes:
    """Draw panels side by side and return the bytes of a PNG or PDF file.

    Parameters
    ----------
    panels : maps to draw; one of another grid (the coarse field) brings its own `grid`.
    grid : the grid of the panels; it also decides what "auto" and "native" mean.
    projection : "native" is the grid's own (rotated pole, or the map projection of the file); "auto" is Robinson for
        global fields, Lambert's conformal cone for wide latitude-longitude regions and "native" otherwise.
    caption : method, data, licence and seed; wrapped below the panels (`caption_text` writes one).

    Raises ``InputError`` without panels, for a panel of the wrong shape, an unknown projection or format.
    """
    _check(panels, grid, projection, format)
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    where = target_projection(grid, projection)
    wide = min(len(panels), columns or 3)
    rows = -(-len(panels) // wide)
    aspect = _aspect(grid, where)
    width = 3.4 * wide + 0.2
    lines = _wrap(caption, int(width * 17.5))
    height = rows * (3.3 * aspect + 0.95) + 0.15 * len(lines) + 0.2
    below = (0.15 * len(lines) + (0.12 if lines else 0)) / height
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(rect=(0, below, 1, 1 - below)))
    limits = _limits(panels)
    for index, panel in enumerate(panels):
        axes = figure.add_subplot(rows, wide, index + 1, projection=where)
        _draw(figure, axes, panel, panel.grid or grid, grid, limits[panel.scale, panel.colours])
    if lines:
        figure.text(0.012, 0.06 / height, "\n".join(lines), fontsize=7, va="bottom", linespacing=1.35, color="0.25")
    stream = io.BytesIO()
    metadata = {"Title": panels[0].title, "Subject" if format == "pdf" else "Description": caption}
    figure.savefig(stream, format=format, dpi=dpi, metadata=metadata)
    return stream.getvalue()


def caption_text(*, method: str, data: str, licence: str, seed: int, more: str = "") -> str:
    """A caption that says how the map came about: method, data, licence, seed."""
    parts = [method.rstrip("."), more.rstrip("."), f"Data: {data.rstrip('.')}", f"Licence: {licence.rstrip('.')}"]
    return ". ".join(part for part in [*parts, f"Seed {seed}"] if part) + ". Coastlines: Natural Earth."


def target_projection(grid: Grid, projection: Projection) -> "CRS":
    """The Cartopy projection of the printed map."""
    import cartopy.crs as ccrs

    central = grid.centre_longitude()
    middle = float(np.mean(grid.latitude))
    chosen = _suited(grid, middle) if projection == "auto" else projection
    if chosen == "native":
        return native_crs(grid)
    if chosen == "robinson":
        return ccrs.Robinson(central_longitude=0.0 if grid.wraps else central)
    if chosen == "orthographic":
        return ccrs.Orthographic(central, middle)
    if chosen == "lambert":
        low, high = float(grid.latitude.min()), float(grid.latitude.max())
        parallels = (low + (high - low) / 6, high - (high - low) / 6)
        return ccrs.LambertConformal(central, middle, standard_parallels=parallels, cutoff=-30 if middle >= 0 else 30)
    return ccrs.PlateCarree(central_longitude=central)


def _suited(grid: Grid, middle: float) -> Projection:
    """Robinson for the world, Lambert's cone for wide regions in middle latitudes, else the grid's own."""
    if grid.wraps:
        return "robinson"
    wide = grid.kind != "rotated" and np.ptp(grid.latitude) > 8 and 20 < abs(middle) < 70
    return "lambert" if wide and grid.kind != "projected" else "native"


def native_crs(grid: Grid) -> "CRS":
    """The grid's own coordinates as a Cartopy projection."""
    import cartopy.crs as ccrs

    if grid.kind == "rotated":
        pole = (grid.mapping["grid_north_pole_longitude"], grid.mapping["grid_north_pole_latitude"])
        origin = float(grid.mapping.get("north_pole_grid_longitude", 0.0))
        return ccrs.RotatedPole(float(pole[0]), float(pole[1]), central_rotated_longitude=origin)
    if grid.kind == "projected":
        from pyproj import CRS

        plane = ccrs.Projection(CRS.from_cf(dict(grid.mapping)))
        half = np.array([np.ptp(grid.x_edges), np.ptp(grid.y_edges)]).max()  # room round the grid for cartopy's cuts
        x, y = grid.x_edges, grid.y_edges
        plane.bounds = [float(x[0] - half), float(x[-1] + half), float(y[0] - half), float(y[-1] + half)]
        return plane
    return ccrs.PlateCarree(central_longitude=grid.centre_longitude() if not grid.wraps else 180.0)


def _check(panels: Sequence[Panel], grid: Grid, projection: str, format: str) -> None:
    if not panels:
        raise InputError("There is no panel to draw: choose at least one of the maps.")
    if projection not in PROJECTIONS:
        raise InputError(f"The projection '{projection}' is unknown: choose one of {', '.join(PROJECTIONS)}.")
    if format not in ("png", "pdf"):
        raise InputError(f"The format '{format}' is unknown: choose 'png' or 'pdf'.")
    for panel in panels:
        expected = (panel.grid or grid).shape
        if np.shape(panel.values) != expected:
            found = np.shape(panel.values)
            raise InputError(
                f"The panel '{panel.title}' has shape {found}, its grid is {expected}: give one value a pixel."
            )


def _limits(panels: Sequence[Panel]) -> dict[tuple[str, Colours], tuple[float, float]]:
    groups = {(panel.scale, panel.colours) for panel in panels}
    return {
        (scale, colours): limits_for(
            colours, *(panel.values for panel in panels if (panel.scale, panel.colours) == (scale, colours))
        )
        for scale, colours in groups
    }


def _draw(figure: "Figure", axes: Any, panel: Panel, own: Grid, shown: Grid, limits: tuple[float, float]) -> None:
    import cartopy.crs as ccrs
    from matplotlib.colors import ListedColormap

    colours = ListedColormap(rgb(SCALES[panel.colours]), name=panel.colours)
    if not shown.wraps:  # round the globe cartopy hides the cells at the seam and draws them again
        colours.set_bad(MISSING)
    longitude, latitude = own.longitude, own.latitude
    place: Any = ccrs.PlateCarree()
    if own.kind in ("rotated", "projected"):
        place, (longitude, latitude) = native_crs(own), np.meshgrid(own.x_edges, own.y_edges)
    elif own.kind == "latlon":
        longitude, latitude = np.meshgrid(own.x_edges, own.y_edges)
    mesh = axes.pcolormesh(
        longitude, latitude, np.ma.masked_invalid(panel.values), transform=place, cmap=colours, vmin=limits[0],
        vmax=limits[1], rasterized=True, shading="auto",
    )  # fmt: skip
    axes.set_facecolor(MISSING if shown.wraps else "white")
    _frame(axes, shown)
    axes.add_geometries([_coast(shown)], ccrs.PlateCarree(), facecolor="none", edgecolor="0.1", linewidth=0.5)
    axes.set_title(panel.title, fontsize=9.5, loc="left")
    axes.spines["geo"].set_linewidth(0.4)
    bar = figure.colorbar(mesh, ax=axes, orientation="horizontal", fraction=0.05, pad=0.03, aspect=34)
    bar.set_label(panel.label, fontsize=8)
    bar.ax.tick_params(labelsize=7.5, length=2)
    bar.outline.set_linewidth(0.3)


def _frame(axes: Any, grid: Grid) -> None:
    if grid.wraps:
        axes.set_global()
        return
    if grid.kind in ("rotated", "projected"):
        bounds = (grid.x_edges[0], grid.x_edges[-1], grid.y_edges[0], grid.y_edges[-1])
        axes.set_extent(bounds, crs=native_crs(grid))
        return
    import cartopy.crs as ccrs

    outline = axes.projection.transform_points(ccrs.PlateCarree(), *_border(grid))
    x, y = outline[:, 0][np.isfinite(outline[:, 0])], outline[:, 1][np.isfinite(outline[:, 1])]
    axes.set_xlim(x.min(), x.max())
    axes.set_ylim(y.min(), y.max())


def _border(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    lon, lat = (
        np.concatenate([values[0], values[-1], values[:, 0], values[:, -1]])
        for values in (grid.longitude, grid.latitude)
    )
    return lon, lat


def _aspect(grid: Grid, where: "CRS") -> float:
    """Height over width of the map, to size the page before drawing."""
    import cartopy.crs as ccrs

    if grid.wraps:
        return 0.51 if not isinstance(where, ccrs.Orthographic) else 1.0
    points = where.transform_points(ccrs.PlateCarree(), *_border(grid))
    spans = np.nanmax(points, axis=0) - np.nanmin(points, axis=0)
    return float(np.clip(spans[1] / spans[0], 0.3, 1.8))


def _coast(grid: Grid) -> Any:
    """The coastline near the grid as one geometry in degrees (50m for regions, 110m for the world)."""
    from shapely.geometry import MultiLineString

    if grid.wraps or np.ptp(grid.latitude) > 60:
        return MultiLineString(list(coast_lines("110m")))
    centre = grid.centre_longitude()
    half = np.abs((grid.longitude - centre + 180) % 360 - 180).max() + 5
    low, high = grid.latitude.min() - 5, grid.latitude.max() + 5
    kept = []
    for line in coast_lines("50m"):
        near = (np.abs((line[:, 0] - centre + 180) % 360 - 180) < half) & (line[:, 1] > low) & (line[:, 1] < high)
        runs = np.split(np.arange(len(line)), np.flatnonzero(np.diff(near.astype(int))) + 1)
        kept += [line[run] for run in runs if len(run) > 1 and near[run[0]]]
    return MultiLineString(kept)


def _wrap(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width) if text else []
