"""Outlines of regions and stations on printed maps, as they are on the screen."""

from typing import Any

from deconditioning.fields.footprints.outlines import footprint_outlines
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.colours import shades
from deconditioning.figures.downscaled_maps import MapKey
from deconditioning.figures.map_panel import Panel
from deconditioning.figures.style import DARK, LIGHT

_WITH_OUTLINES = (MapKey.OBSERVED, MapKey.MEAN)


def draw_footprints(axes: Any, panel: Panel, problem: DownscalingProblem) -> None:
    """Draw a problem's regions, or the pixels of its swath, on the coarse and the mean map, the footprints of further
    sources on the coarse map, and its stations on both and on that of uncertainty; stations that only score stand on
    the coarse map, as small dots."""
    import cartopy.crs as ccrs

    observed = panel.key == MapKey.OBSERVED
    if panel.key in _WITH_OUTLINES and len(outlines := footprint_outlines(problem, further=observed)):
        for ink, width in ((LIGHT, 1.1), (DARK, 0.4)):
            axes.add_geometries(outlines, ccrs.PlateCarree(), facecolor="none", edgecolor=ink, linewidth=width)
    if problem.scored is not None and observed:
        _draw_stations(axes, problem.scored.measured, 5)
    for source in problem.sources if panel.key in _WITH_OUTLINES else ():
        if source.footprints is None or source.stations:
            _draw_stations(axes, source.measured, 22 if observed else 10, panel)
    if problem.stations is not None and panel.key == MapKey.SPREAD:
        _draw_stations(axes, problem.stations.measured, 7)


def _draw_stations(axes: Any, stations: Stations, size: float, panel: Panel | None = None) -> None:
    """Stations as dots of a size in square points, in the colours of a panel by their values where there is one."""
    import cartopy.crs as ccrs
    from matplotlib.colors import ListedColormap

    filled: dict[str, Any] = {"facecolors": LIGHT}
    if panel is not None:
        scale = panel.scale
        filled = {"c": stations.value, "cmap": ListedColormap(shades(scale.colours)), "vmin": scale.low,
                  "vmax": scale.high}  # fmt: skip
    axes.scatter(
        stations.longitude, stations.latitude, size, transform=ccrs.PlateCarree(), edgecolors=DARK, linewidths=0.6,
        zorder=3, **filled,
    )  # fmt: skip
