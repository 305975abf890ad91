"""Draw the small maps of page Start from the worked example; run once, the PNG files are kept in static/walk.

python -m scripts.draw_walk
"""

import json
from pathlib import Path

import cmocean.cm
import numpy as np
from matplotlib import image
from matplotlib.colors import Colormap, ListedColormap

from deconditioning.figures.colours import shades
from deconditioning.figures.downscaled_maps import MapKey, all_panels, field_scale, largest_values
from deconditioning.figures.map_panel import MapScale
from deconditioning.studies.story.whole_map import example, solve

FOLDER = Path(__file__).resolve().parents[1] / "static" / "walk"
KEY = "ukv-645m"
#: The maps that are drawn, with the names of their files.
NAMES = {MapKey.OBSERVED: "coarse", MapKey.MEAN: "mean", MapKey.SPREAD: "sd"}
#: The model's sea lies at an altitude of exactly 0 m.
SEA = "#b9cfe0"


def main() -> None:
    """Stored hyperparameters of the worked example, its posterior, four pictures, and how good the map is."""
    problem = example(KEY)
    solved = solve(KEY, problem)
    largest = largest_values(problem, solved.mean, solved.sd)
    panels = all_panels(problem, field_scale(problem), solved.mean, solved.sd, largest.steady(largest))
    column = problem.columns.index("surface_altitude")
    altitude = problem.on_grid(problem.inputs[:, column]) * problem.input_scaling.scales[column].sd
    altitude += problem.input_scaling.scales[column].mean
    sea_is_missing = np.where(altitude.round(3) == 0, np.nan, np.maximum(altitude, 0))
    land = ListedColormap(shades("terrain")).with_extremes(bad=SEA)
    FOLDER.mkdir(parents=True, exist_ok=True)
    height = MapScale("altitude", "m", "terrain", 0.0, 600.0)
    scales = {"covariate": save("covariate", sea_is_missing, land, height)}
    for panel in panels:
        if name := NAMES.get(panel.key):
            colours = cmocean.cm.dense if panel.key == MapKey.SPREAD else cmocean.cm.thermal
            scales[name] = save(name, panel.values, colours, panel.scale)
    scores = {"rmse": solved.rmse(solved.mean), "bilinear": solved.rmse(solved.bilinear), "inside": solved.held(0.95)}
    known = {"scales": scales, "scores": scores}
    (FOLDER / "known.json").write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def save(name: str, values: np.ndarray, colours: Colormap, scale: MapScale) -> list[str]:
    """One map as a PNG of one pixel per grid point, north up, and its colours as another; both ends of its scale."""
    image.imsave(FOLDER / f"{name}.png", values[::-1], cmap=colours, vmin=scale.low, vmax=scale.high)
    image.imsave(FOLDER / f"{name}-scale.png", np.linspace(0, 1, 128)[None], cmap=colours, vmin=0, vmax=1)
    ticks = scale.ticks(scale.extend(values))
    return [ticks[0][1], f"{ticks[-1][1]} {scale.units}"]


if __name__ == "__main__":
    main()
