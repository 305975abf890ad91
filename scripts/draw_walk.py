"""Draw the small maps of page Start from the worked example; run once, the PNG files are kept in static/walk.

python -m scripts.draw_walk
"""

import json
from pathlib import Path

import cmocean.cm
import numpy as np
from matplotlib import image
from matplotlib.colors import ListedColormap

from deconditioning.datasets.entries import find
from deconditioning.downscaling.presets import preset
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.figures.colours import shades
from deconditioning.wording import number

FOLDER = Path(__file__).resolve().parents[1] / "static" / "walk"
KEY = "ukv-645m"
#: The model's sea lies at an altitude of exactly 0 m.
SEA = "#b9cfe0"


def main() -> None:
    """Learned hyperparameters of the worked example, its posterior, five pictures."""
    given = DownscalingSpec.from_dict(find(KEY).default)
    problem = build_problem(Source(KEY), given)
    settings = DownscaleSettings(model="area_to_point_gp", kernel="rbf")
    spec = preset({"fields": KEY, "coarse": None}, given.to_dict(), settings)
    if spec is None:
        raise SystemExit(f"There are no stored hyperparameters for {KEY}.")
    found = downscale(problem, spec_to_settings(settings, spec))
    coarse = problem.coarse.ravel()[problem.cell]
    low, high = np.nanquantile(problem.truth, [0.002, 0.998])
    column = problem.columns.index("surface_altitude")
    altitude = problem.on_grid(problem.inputs[:, column]) * problem.input_scaling.scales[column].sd
    altitude += problem.input_scaling.scales[column].mean
    land = ListedColormap(shades("terrain")).with_extremes(bad=SEA)
    FOLDER.mkdir(parents=True, exist_ok=True)
    scales = {
        "covariate": save("covariate", np.where(altitude.round(3) == 0, np.nan, altitude), land, 0, 600, "m"),
        "coarse": save("coarse", coarse, cmocean.cm.thermal, low, high, "K"),
        "mean": save("mean", found.mean, cmocean.cm.thermal, low, high, "K"),
        "sd": save("sd", 2 * found.sd, cmocean.cm.dense, 0.0, float(np.nanquantile(2 * found.sd, 0.99)), "K"),
    }
    (FOLDER / "scales.json").write_text(json.dumps(scales, indent=1) + "\n", encoding="utf-8")


def save(name: str, values: np.ndarray, colours, low: float, high: float, units: str) -> list[str]:
    """One map as a PNG of one pixel per grid point, north up, and its colours as another; both ends of its scale."""
    image.imsave(FOLDER / f"{name}.png", values[::-1], cmap=colours, vmin=low, vmax=high)
    image.imsave(FOLDER / f"{name}-scale.png", np.linspace(0, 1, 128)[None], cmap=colours, vmin=0, vmax=1)
    return [number(low, 3), f"{number(high, 3)} {units}"]


if __name__ == "__main__":
    main()
