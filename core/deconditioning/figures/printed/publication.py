"""Maps for print: panels on one projection with coastlines, as PNG, PDF or SVG bytes (Cartopy, no network)."""

import io
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.place import latitude_words, longitude_words
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.coast import CREDIT, coast_lines, resolution_for
from deconditioning.figures.colours import shades
from deconditioning.figures.downscaled_maps import MapKey
from deconditioning.figures.hatching import Doubt, hatch
from deconditioning.figures.map_panel import Panel
from deconditioning.figures.printed.coverage import draw_trust
from deconditioning.figures.printed.footprints import draw_footprints
from deconditioning.figures.printed.page_size import HEADING, LINE, Page, PageLayout, page_layout
from deconditioning.figures.style import DARK, LIGHT
from deconditioning.metrics.intervals import Trust

if TYPE_CHECKING:
    from cartopy.crs import CRS
    from matplotlib.figure import Figure

_MISSING = "0.82"
Format = Literal["png", "pdf", "svg"]
FORMATS: tuple[Format, ...] = ("png", "pdf", "svg")
Projection = Literal["auto", "native", "platecarree", "robinson", "orthographic", "lambert"]
_PROJECTIONS: tuple[Projection, ...] = ("auto", "native", "platecarree", "robinson", "orthographic", "lambert")


#: Labels of the graticule.
_LABELS = {"size": 6.5, "color": "0.3"}


def publication_figure(
    panels: Sequence[Panel],
    grid: Grid,
    *,
    projection: Projection = "auto",
    heading: str = "",
    caption: str = "",
    trust: Trust | None = None,
    doubt: Doubt | None = None,
    footprints: DownscalingProblem | None = None,
    page: Page = "fit",
    format: Format = "png",
    dpi: int = 200,
    columns: int | None = None,
) -> bytes:
    """Draw panels side by side, on the limits of their own scales, and return the bytes of a file.

    Parameters
    ----------
    panels : maps to draw, each on its own grid.
    grid : the grid that decides what "auto" and "native" mean and what of the world is shown; a panel on a grid that
        lies elsewhere is shown where it is.
    projection : "native" is the grid's own (rotated pole, or the map projection of the file); "auto" is Robinson for
        global fields, Lambert's conformal cone for wide latitude-longitude regions and "native" otherwise.
    heading : quantity, date and level, above the panels.
    caption : method, data, licence and seed; wrapped below the panels (`caption_text` writes one).
    trust : what the intervals held, drawn after the last panel.
    doubt : what is hatched on the panel of the posterior mean, named at the end of the caption.
    footprints : the problem whose regions and stations are drawn on the maps.
    page : as large as the panels need, a slide of 16 to 9, or a sheet of A4.

    A panel without any value is left out. Raises ``InputError`` without panels, for a panel of the wrong shape, an
    unknown projection, page or format.
    """
    panels = [panel for panel in panels if np.isfinite(panel.values).any()]
    _check(panels, grid, projection, format)
    places, aspect = len(panels) + (trust is not None), _aspect(grid, _target_projection(grid, projection))
    hatched = next((panel for panel in panels if panel.key == MapKey.MEAN), None) if doubt is not None else None
    if doubt is not None and hatched is not None:
        caption = f"{caption.rstrip('.')}. {doubt.sentence(hatched.scale.units)}.".lstrip(". ")
    size = page_layout(places, aspect, page, columns=columns, caption=len(caption), heading=bool(heading))
    figure = _page(size, heading, _wrap(caption, size.letters))
    for index, panel in enumerate(panels):
        shown = grid if _meet(panel.grid, grid) else panel.grid
        where = _target_projection(shown, projection if shown is grid else "auto")
        axes = figure.add_subplot(size.rows, size.columns, index + 1, projection=where)
        _draw(figure, axes, panel, shown, doubt if panel is hatched else None)
        if footprints is not None:
            draw_footprints(axes, panel, footprints)
    if trust is not None:
        draw_trust(figure.add_subplot(size.rows, size.columns, places, box_aspect=aspect), trust, aspect)
    _lay_out(figure)
    stream = io.BytesIO()
    metadata = {"Title": heading or panels[0].title, "Subject" if format == "pdf" else "Description": caption}
    figure.savefig(stream, format=format, dpi=dpi, metadata=metadata)
    return stream.getvalue()


def _lay_out(figure: "Figure") -> None:
    """Lay the page out, once, and write titles that are wider than their map smaller."""
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.execute(figure)
    for axes in figure.axes:
        axes.apply_aspect()
        title = axes.title if axes.title.get_text() else axes._left_title  # type: ignore[attr-defined]
        width, room = title.get_window_extent().width, axes.get_window_extent().width
        if width > room > 0:
            title.set_fontsize(float(title.get_fontsize()) * room / width)
    figure.set_layout_engine("none")  # it would lay the page out again for the file


def _page(size: PageLayout, heading: str, lines: Sequence[str]) -> "Figure":
    """An empty page with its heading and the lines of its caption; panels share the room between."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # for all threads alike: outlines as TrueType and text as text (so that editors keep it), and a $ is a $
    matplotlib.rcParams.update({"pdf.fonttype": 42, "svg.fonttype": "none", "text.parse_math": False})
    below = LINE * len(lines) + (0.12 if lines else 0)
    room = (0, below / size.height, 1, 1 - (below + HEADING * bool(heading)) / size.height)
    engine = ConstrainedLayoutEngine(rect=room, compress=True, h_pad=0.09)
    figure = Figure(figsize=(size.width, size.height), layout=engine)
    if heading:
        figure.text(0.012, 1 - 0.1 / size.height, heading, fontsize=10.5, va="top", weight="bold")
    if lines:
        words, up = "\n".join(lines), 0.06 / size.height
        figure.text(0.012, up, words, fontsize=7, va="bottom", linespacing=1.35, color="0.25")
    return figure


def caption_text(*, method: str, data: str, licence: str, seed: int, more: str = "") -> str:
    """A caption that says how the map came about: method, data, licence, seed."""
    parts = [method.rstrip("."), more.rstrip("."), f"Data: {data.rstrip('.')}", f"Licence: {licence.rstrip('.')}"]
    return ". ".join(part for part in [*parts, f"Seed {seed}"] if part) + f". Coastlines: {CREDIT}."


def projections_for(grid: Grid) -> tuple[Projection, ...]:
    """The projections that can show a grid: Lambert's cone stands on one side of the equator."""
    low, high = float(grid.latitude.min()), float(grid.latitude.max())
    one_side = not grid.wraps and abs(low + high) > 5
    return tuple(name for name in _PROJECTIONS if one_side or name != "lambert")


def _target_projection(grid: Grid, projection: Projection) -> "CRS":
    """The Cartopy projection of the printed map."""
    import cartopy.crs as ccrs

    central = grid.centre_longitude()
    middle = float(np.mean(grid.latitude))
    chosen = _suited(grid, middle) if projection == "auto" else projection
    if chosen == "native":
        return _native_crs(grid)
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


def _native_crs(grid: Grid) -> "CRS":
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
    known = projections_for(grid)
    if projection not in known:
        raise InputError(f"The projection '{projection}' cannot show these maps: choose one of {', '.join(known)}.")
    if format not in FORMATS:
        raise InputError(f"The format '{format}' is unknown: choose one of {', '.join(FORMATS)}.")
    for panel in panels:
        if np.shape(panel.values) != panel.grid.shape:
            result = np.shape(panel.values)
            raise InputError(
                f"The panel '{panel.title}' has shape {result}, but its grid is {panel.grid.shape}: give one value per "
                "pixel."
            )


def _meet(one: Grid, other: Grid) -> bool:
    """Whether two grids share some of the sphere: a pixel of either lies in the other's range of places."""
    if one is other or one.wraps or other.wraps:
        return True
    first, second = (sphere.unit_vectors(g.latitude, g.longitude).reshape(-1, 3) for g in (one, other))
    return bool(((first.min(axis=0) <= second.max(axis=0)) & (second.min(axis=0) <= first.max(axis=0))).all())


def _draw(figure: "Figure", axes: Any, panel: Panel, shown: Grid, doubt: Doubt | None) -> None:
    import cartopy.crs as ccrs
    from matplotlib.colors import Colormap, ListedColormap

    grid, scale = panel.grid, panel.scale
    colours: Colormap = ListedColormap(shades(scale.colours), name=scale.colours)
    if not shown.wraps:  # round the globe cartopy hides the cells at the seam and draws them again
        colours = colours.with_extremes(bad=_MISSING)
    longitude, latitude = grid.longitude, grid.latitude
    projection: Any = ccrs.PlateCarree()
    if grid.kind in ("rotated", "projected"):
        projection, (longitude, latitude) = _native_crs(grid), np.meshgrid(grid.x_edges, grid.y_edges)
    elif grid.kind == "latlon":
        longitude, latitude = np.meshgrid(grid.x_edges, grid.y_edges)
    mesh = axes.pcolormesh(
        longitude, latitude, np.ma.masked_invalid(panel.values), transform=projection, cmap=colours, vmin=scale.low,
        vmax=scale.high, rasterized=True, shading="auto",
    )  # fmt: skip
    if doubt is not None:
        hatch(axes, doubt, projection)
    axes.set_facecolor(_MISSING if shown.wraps else "white")
    _frame(axes, shown)
    axes.set_aspect(_stretch(shown, axes.projection))
    coast = _coast(shown)
    for ink, width in ((LIGHT, 1.4), (DARK, 0.5)):
        axes.add_geometries([coast], ccrs.PlateCarree(), facecolor="none", edgecolor=ink, linewidth=width)
    _graticule(axes, shown.wraps)
    axes.set_title(panel.title, fontsize=9.5, loc="left")
    axes.spines["geo"].set_linewidth(0.4)
    _colour_bar(figure, axes, mesh, panel)


def _colour_bar(figure: "Figure", axes: Any, mesh: Any, panel: Panel) -> None:
    """The bar of one map, with the ends, ticks and words of the one on the screen."""
    extend = panel.scale.extend(panel.values)
    bar = figure.colorbar(
        mesh, ax=axes, orientation="horizontal", fraction=0.05, pad=0.03, aspect=34, extend=extend, extendfrac=0.035
    )
    places, words = zip(*panel.scale.ticks(extend), strict=True)
    bar.set_ticks(places, labels=words, fontsize=7.5)
    bar.set_label(panel.scale.label, fontsize=8)
    bar.ax.tick_params(length=2)
    bar.outline.set_linewidth(0.3)


def _graticule(axes: Any, whole: bool) -> None:
    """Meridians and parallels, named at the left and the lower edge."""
    import cartopy.crs as ccrs
    from matplotlib.ticker import FuncFormatter

    where: dict[str, Any] = {"xlocs": (-90, 0, 90), "ylocs": (-60, -30, 0, 30, 60)} if whole else {}
    sides = {"left": "y", "bottom": "x"}
    if whole and isinstance(axes.projection, ccrs.Orthographic):  # all meridians meet at the lower edge
        del sides["bottom"]
    axes.gridlines(
        draw_labels=sides, linewidth=0.3, color="0.2", alpha=0.4, rotate_labels=False,
        xformatter=FuncFormatter(lambda at, _: longitude_words(at, None)),
        yformatter=FuncFormatter(lambda at, _: latitude_words(at, None)),
        xlabel_style=_LABELS, ylabel_style=_LABELS, xpadding=3, ypadding=3,
        x_inline=False, y_inline=False, **where,
    )  # fmt: skip


def _frame(axes: Any, grid: Grid) -> None:
    if grid.wraps:
        axes.set_global()
        return
    if grid.kind in ("rotated", "projected"):
        bounds = (grid.x_edges[0], grid.x_edges[-1], grid.y_edges[0], grid.y_edges[-1])
        axes.set_extent(bounds, crs=_native_crs(grid))
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


def _stretch(grid: Grid, where: "CRS") -> float:
    """Height of a degree of latitude over that of longitude on a plain map of a region: 1/cos φ in its middle."""
    import cartopy.crs as ccrs

    low, high = float(grid.latitude.min()), float(grid.latitude.max())
    if not isinstance(where, ccrs.PlateCarree) or high - low > 90:
        return 1.0
    return 1 / max(float(np.cos(np.deg2rad((low + high) / 2))), 0.2)


def _aspect(grid: Grid, where: "CRS") -> float:
    """Height over width of the map, to size the page before drawing."""
    import cartopy.crs as ccrs

    if grid.wraps:
        return 0.51 if not isinstance(where, ccrs.Orthographic) else 1.0
    points = where.transform_points(ccrs.PlateCarree(), *_border(grid))
    spans = np.nanmax(points, axis=0) - np.nanmin(points, axis=0)
    return float(np.clip(_stretch(grid, where) * spans[1] / spans[0], 0.3, 1.8))


@lru_cache(maxsize=4)
def _coast(grid: Grid) -> Any:
    """The coastline near the grid as one geometry in degrees, the same one for all panels: cartopy keeps its path."""
    from shapely.geometry import MultiLineString

    resolution = resolution_for(grid.latitude)
    if grid.wraps or resolution == "110m":
        return MultiLineString(list(coast_lines("110m")))
    centre = grid.centre_longitude()
    half = np.abs((grid.longitude - centre + 180) % 360 - 180).max() + 5
    low, high = grid.latitude.min() - 5, grid.latitude.max() + 5
    lines = coast_lines(resolution)
    points = np.concatenate(lines)
    near = np.abs((points[:, 0] - centre + 180) % 360 - 180) < half
    near &= (points[:, 1] > low) & (points[:, 1] < high)
    inside, begins = np.flatnonzero(near), np.cumsum([0, *map(len, lines[:-1])])
    cuts = np.flatnonzero((np.diff(inside) > 1) | np.isin(inside[1:], begins)) + 1
    return MultiLineString([run for run in np.split(points[inside], cuts) if len(run) > 1])


def _wrap(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text.replace(" %", "\u00a0%"), width) if text else []
