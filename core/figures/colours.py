"""Colour scales of fields, errors and standard deviations, and one constant colour per model."""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np

Colours = Literal["sequential", "diverging", "uncertainty"]

# cmocean (Thyng et al. 2016): thermal for fields, balance for errors, dense for standard deviations
SCALES: dict[str, str] = {"sequential": "thermal", "diverging": "balance", "uncertainty": "dense"}

MODEL_COLOURS: dict[str, str] = {
    "shrinkage_cmp": "#0f7c8f",
    "cmp": "#5b9bd0",
    "bag_gp": "#c2703d",
    "centroid_gp": "#8a6fb0",
    "variational_cmp": "#3f9e8a",
    "vbagg": "#d19a3f",
    "variational_gp": "#b0567a",
    "task_transformed_gp": "#0f7c8f",
    "dme": "#3a6fb0",
    "impute": "#c2703d",
    "cascade": "#8a6fb0",
    "exact_gp": "#6f9b52",
    "kbr": "#0f7c8f",
    "ekf": "#c2703d",
    "ukf": "#6f9b52",
    "particle": "#8a6fb0",
    "kbr_ahead": "#5b9bd0",
    "kbr_smoothed": "#b0567a",
    "kbr_a": "#b0567a",
    "kbr_theorem": "#5b9bd0",
    "kbr_gauss": "#0f7c8f",
    "kbr_tr": "#3a6fb0",
    "kalman": "#c2703d",
    "kalman_matrix": "#c2703d",
    "kalman_quaternion": "#6f9b52",
    "nearest": "#b39b3c",
    "cme": "#8a6fb0",
    "kde": "#c2703d",
    "abc": "#b39b3c",
    "abc_few": "#6f9b52",
    "gpdr": "#0f7c8f",
    "kde_narrow": "#d19a3f",
    "landmark10": "#8a6fb0",
    "landmark50": "#6f9b52",
    "flr": "#b39b3c",
    "random": "#c2703d",
    "learned": "#0f7c8f",
    "learned_points": "#3a6fb0",
    "bicubic": "#6f9b52",
    "bilinear": "#b39b3c",
    "constant": "#8b949b",
    "exact": "#5a6268",
    "truth": "#5a6268",
}
MODEL_NAMES: dict[str, str] = {
    "shrinkage_cmp": "Shrinkage CMP",
    "cmp": "CMP",
    "bag_gp": "Bag GP",
    "centroid_gp": "GP on centroids",
    "variational_cmp": "Variational CMP",
    "vbagg": "VBAgg",
    "variational_gp": "Variational GP",
    "task_transformed_gp": "Task-transformed GP",
    "dme": "DME",
    "impute": "Impute",
    "cascade": "Cascade",
    "exact_gp": "GP on all data",
    "kbr": "Kernel Bayes",
    "ekf": "EKF",
    "ukf": "UKF",
    "particle": "Particles",
    "nearest": "Nearest observation",
    "kbr_ahead": "One step ahead",
    "kbr_smoothed": "Smoothed",
    "kbr_gauss": "KBR (Gauss)",
    "kbr_tr": "KBR (Tr)",
    "kalman": "Learned Kalman",
    "kalman_matrix": "Kalman (9 dim.)",
    "kalman_quaternion": "Kalman (Quat.)",
    "gpdr": "GPDR",
    "kde": "Densities (KDE)",
    "kde_narrow": "Densities, narrow",
    "landmark10": "10 landmarks",
    "landmark50": "50 landmarks",
    "flr": "Functional linear",
    "random": "Random points",
    "learned": "All learned",
    "learned_points": "Points learned",
    "bicubic": "Bicubic",
    "bilinear": "Bilinear",
    "constant": "Constant in cell",
    "cme": "Conditional mean",
    "abc": "ABC",
    "abc_few": "ABC, as many",
    "exact": "Exact",
    "truth": "Truth",
}
SERIES: tuple[str, ...] = ("#0f7c8f", "#c2703d", "#8a6fb0", "#6f9b52", "#b39b3c", "#5b9bd0", "#b0567a", "#8b949b")


def model_colour(model: str) -> str:
    """The colour of a model, the same on every page; unknown names get one of the series, always the same."""
    return MODEL_COLOURS.get(model, SERIES[sum(model.encode()) % len(SERIES)])


def model_name(model: str) -> str:
    """A model's name as shown to people."""
    return MODEL_NAMES.get(model, model.replace("_", " "))


@lru_cache
def rgb(name: str) -> np.ndarray:
    """The (256, 3) table in [0, 1] of a cmocean colour map, read from its text file (no matplotlib)."""
    spec = find_spec("cmocean")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("cmocean is not installed: run `make run` or install requirements.txt.")
    return np.loadtxt(Path(spec.submodule_search_locations[0]) / "rgb" / f"{name}-rgb.txt")


@lru_cache
def colour_scale(colours: Colours, steps: int = 48) -> list[list]:
    """A plotly colour scale ``[[0, "#…"], …, [1, "#…"]]`` for fields, errors or standard deviations."""
    table = rgb(SCALES[colours])
    at = np.linspace(0, 1, steps)
    rows = np.round(255 * table[np.round(at * (len(table) - 1)).astype(int)]).astype(int)
    return [[round(float(a), 4), f"#{r:02x}{g:02x}{b:02x}"] for a, (r, g, b) in zip(at, rows, strict=True)]
