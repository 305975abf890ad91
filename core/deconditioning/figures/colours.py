"""Colour scales of fields, errors and standard deviations, and one constant colour per model."""

import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

_RGB = re.compile(r"rgba?\(([^)]*)\)")
Colours = Literal["sequential", "diverging", "uncertainty", "terrain", "coast", "relief"]

# cmocean (Thyng et al. 2016): thermal for fields, balance for errors, dense for standard deviations, topo for relief,
# and its upper half for the altitude of land
SCALES: dict[Colours, str] = {
    "sequential": "thermal", "diverging": "balance", "uncertainty": "dense", "terrain": "topo", "coast": "topo",
    "relief": "topo",
}  # fmt: skip

#: Colours of marks, lines and bands on (a light, a dark) page. Each has a contrast of at least 3 with its ground, and
#: any two of one column stay apart for eyes without green or red cones (`tests/core/figures/test_palette.py`).
HUES: dict[str, tuple[str, str]] = {
    "teal": ("#0a7a8c", "#42b7c6"),
    "rust": ("#c9622f", "#e18f45"),
    "violet": ("#7456c9", "#ad92fc"),
    "green": ("#698d59", "#8ebb7e"),
    "ochre": ("#715a04", "#e6cf59"),
    "sky": ("#488cc9", "#96cdff"),
    "rose": ("#a2334f", "#cf6a84"),
    "grey": ("#7d878d", "#8f989f"),
    "blue": ("#234e99", "#5c80d2"),
    "jade": ("#22806b", "#5fe2b1"),
    "bronze": ("#5e3200", "#af691f"),
    "plum": ("#7c0d63", "#b32a82"),
    "ink": ("#1e2a32", "#e3e8ea"),
}
#: Words and marks of a verdict on (a light, a dark) page, with the contrast of text.
VERDICTS: dict[str, tuple[str, str]] = {"good": ("#1f7a45", "#58c288"), "bad": ("#985200", "#f0a94e")}
#: The ground of (a light, a dark) page, as in ``.streamlit/config.toml``.
GROUND: tuple[str, str] = ("#fdfdfc", "#11171b")
#: Ends of a diverging scale of points on a dark page, whose middle is grey.
_BRIGHT_ENDS = ("#7fc4ff", "#ffab85")
#: Shares of linear red, green and blue in the relative luminance (WCAG 2).
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
#: The hue of each model; models that are ever shown together have different ones.
MODEL_HUES: dict[str, str] = {
    "default": "jade",
    "area_to_point_gp": "jade",
    "regression_kriging": "bronze",
    "shrinkage_cmp": "teal",
    "partial_cmp": "blue",
    "cmp": "sky",
    "bag_gp": "rust",
    "centroid_gp": "violet",
    "variational_cmp": "jade",
    "variational_shrinkage_cmp": "green",
    "uncertain_cmp": "plum",
    "shrinkage_joint": "sky",
    "shrinkage_chosen": "green",
    "vbagg": "bronze",
    "variational_gp": "rose",
    "task_transformed_gp": "blue",
    "dme": "sky",
    "impute": "rust",
    "cascade": "violet",
    "exact_gp": "green",
    "kbr": "teal",
    "ekf": "rust",
    "ukf": "green",
    "particle": "violet",
    "kbr_ahead": "sky",
    "kbr_smoothed": "rose",
    "kbr_a": "rose",
    "kbr_theorem": "blue",
    "kbr_printed": "jade",
    "kbr_cv": "grey",
    "kde_lscv": "plum",
    "kbr_gauss": "teal",
    "kbr_tr": "blue",
    "kalman": "rust",
    "kalman_matrix": "rust",
    "kalman_quaternion": "green",
    "nearest": "ochre",
    "cme": "violet",
    "kde": "rust",
    "abc": "ochre",
    "abc_few": "green",
    "cme_evidence": "blue",
    "kelfi": "rust",
    "k2_abc": "rose",
    "mdn": "green",
    "smc_abc": "bronze",
    "gpdr": "teal",
    "kde_narrow": "bronze",
    "landmark10": "violet",
    "kde_cut": "grey",
    "landmark50": "green",
    "landmark10_gp": "jade",
    "bdr10": "rose",
    "bdr50": "blue",
    "shrunk": "sky",
    "flr": "ochre",
    "average": "plum",
    "on_sliders": "rust",
    "random": "ochre",
    "learned": "teal",
    "learned_points": "blue",
    "gradient_boosting": "rose",
    "optimal_interpolation": "blue",
    "lapse_rate": "violet",
    "delta": "violet",
    "ridge on delta": "rose",
    "quantile delta mapping": "green",
    "analogs": "teal",
    "EOF regression": "rust",
    "random forest": "blue",
    "bilinear, cell means kept": "sky",
    "bicubic": "green",
    "bilinear": "ochre",
    "constant": "grey",
    "exact": "ink",
    "truth": "ink",
}
MODEL_NAMES: dict[str, str] = {
    "default": "Default model",
    "area_to_point_gp": "Area-to-point GP",
    "regression_kriging": "Regression kriging",
    "shrinkage_cmp": "Shrinkage CMP",
    "partial_cmp": "Partial CMP",
    "cmp": "CMP",
    "bag_gp": "Bag GP",
    "centroid_gp": "GP on centroids",
    "variational_cmp": "Variational CMP",
    "variational_shrinkage_cmp": "Variational shrinkage CMP",
    "uncertain_cmp": "CMP, uncertain operator",
    "shrinkage_joint": "Shrinkage CMP, jointly learned",
    "shrinkage_chosen": "Shrinkage CMP, the chosen way",
    "vbagg": "VBAgg",
    "variational_gp": "Variational GP",
    "task_transformed_gp": "Task-transformed GP",
    "gradient_boosting": "Gradient boosting",
    "optimal_interpolation": "Optimal interpolation",
    "dme": "Deconditional mean",
    "impute": "Impute",
    "cascade": "Cascade",
    "exact_gp": "GP on all data",
    "kbr": "Kernel Bayes",
    "ekf": "Extended Kalman",
    "ukf": "Unscented Kalman",
    "particle": "Particles",
    "nearest": "Nearest observation",
    "kbr_ahead": "One step ahead",
    "kbr_smoothed": "Smoothed",
    "kbr_gauss": "Kernel Bayes (Gauss)",
    "kbr_tr": "Kernel Bayes (trace)",
    "kalman": "Learned Kalman",
    "kalman_matrix": "Kalman (9 dim.)",
    "kalman_quaternion": "Kalman (Quat.)",
    "gpdr": "Gaussian process",
    "kde": "Density estimation",
    "kde_narrow": "Narrow densities",
    "kde_cut": "Cut densities",
    "landmark10": "BLR, 10 landmarks",
    "landmark50": "BLR, 50 landmarks",
    "landmark10_gp": "BLR, 10 landmarks, GP prior",
    "bdr10": "BDR, 10 landmarks",
    "bdr50": "BDR, 50 landmarks",
    "shrunk": "BDR with the GP's prior",
    "flr": "Functional linear",
    "average": "Average alone",
    "random": "Random points",
    "learned": "All learned",
    "learned_points": "Points learned",
    "bicubic": "Bicubic",
    "lapse_rate": "Lapse rate",
    "bilinear": "Bilinear",
    "bilinear, cell means kept": "Bilinear, means kept",
    "delta": "BCSD (delta)",
    "ridge on delta": "Ridge on BCSD",
    "quantile delta mapping": "Quantile mapping",
    "analogs": "Analogs",
    "EOF regression": "EOF regression",
    "random forest": "Random forest",
    "constant": "Constant in cell",
    "cme": "Conditional mean",
    "abc": "ABC",
    "abc_few": "ABC, as many",
    "cme_evidence": "Conditional mean, own evidence",
    "kelfi": "KELFI",
    "k2_abc": "K2-ABC",
    "mdn": "Mixture density",
    "smc_abc": "Sequential ABC",
    "exact": "Exact",
    "truth": "Truth",
}
#: Hues of lines that stand for no model, in this order; the theme of charts in ``.streamlit/config.toml`` repeats them.
SERIES: tuple[str, ...] = ("teal", "rust", "violet", "green", "ochre", "sky", "rose", "grey")


def hue(name: str, dark: bool) -> str:
    """A colour of the palette on a light or a dark page, as "#rrggbb"."""
    return HUES[name][dark]


def series_colour(index: int, dark: bool) -> str:
    """The colour of the so many-th line (from 0); after the last hue the first comes again."""
    return hue(SERIES[index % len(SERIES)], dark)


def model_colour(model: str, dark: bool) -> str:
    """The colour of a model, the same hue on every page; unknown names get one of the series, always the same."""
    return hue(hue_name(model), dark)


def hue_name(model: str) -> str:
    """The name of a model's hue in `HUES`."""
    return MODEL_HUES.get(model, SERIES[sum(model.encode()) % len(SERIES)])


def clear(colour: str, alpha: float) -> str:
    """A colour "#rrggbb" that lets through what lies behind it, as "rgba(…)"."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def four_numbers(name: Any) -> tuple[int, int, int, int]:
    """``#rrggbb``, ``rgb(…)`` or ``rgba(…)`` as four numbers; the ink of a light page for anything else."""
    text = str(name)
    if re.fullmatch("#[0-9a-fA-F]{6}", text):
        return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16), 255
    result = _RGB.fullmatch(text)
    parts = [float(part) for part in result[1].split(",")] if result else []
    if len(parts) in (3, 4):
        red, green, blue = (round(part) for part in parts[:3])
        return red, green, blue, round(255 * (parts[3] if len(parts) == 4 else 1))
    return four_numbers(hue("ink", False))


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


def shades(colours: Colours) -> np.ndarray:
    """The (n, 3) table in [0, 1] of what is drawn; "terrain" is the land of the colour map of relief, from a green that
    is not yet black, and "coast" the same above a colour of water.
    """
    table = rgb(SCALES[colours])
    if colours == "coast":
        pale = rgb(SCALES["uncertainty"])
        return np.vstack([pale[len(pale) // 8], shades("terrain")])
    return table[9 * len(table) // 16 :] if colours == "terrain" else table


@lru_cache
def colour_scale(colours: Colours, steps: int = 48) -> list[list[Any]]:
    """A plotly colour scale ``[[0, "#…"], …, [1, "#…"]]`` for fields, errors, standard deviations or altitude."""
    return _scale(shades(colours), steps)


def _scale(table: np.ndarray, steps: int) -> list[list[Any]]:
    at = np.linspace(0, 1, steps)
    rows = np.round(255 * table[np.round(at * (len(table) - 1)).astype(int)]).astype(int)
    return [[round(float(a), 4), f"#{r:02x}{g:02x}{b:02x}"] for a, (r, g, b) in zip(at, rows, strict=True)]


@lru_cache
def mark_scale(colours: Colours, dark: bool, steps: int = 48) -> list[list[Any]]:
    """A plotly colour scale for points on the page itself: every colour has a contrast of at least 3 with the ground.

    A scale from dark to light loses the end that would vanish. The middle of a diverging one is shaded; on a dark page
    it runs from grey to bright ends, so that what is far from zero stands out there too.
    """
    linear = _linear(shades(colours))
    light = linear @ _LUMINANCE
    limit = 3.2 * (_luminance(GROUND[dark]) + 0.05) - 0.05 if dark else (_luminance(GROUND[dark]) + 0.05) / 3.2 - 0.05
    if colours == "diverging" and dark:
        at = np.linspace(-1, 1, len(linear))[:, None]
        low, high = (_linear(_channels(colour)) for colour in _BRIGHT_ENDS)
        linear = limit + np.abs(at) * (np.where(at < 0, low, high) - limit)
    elif colours == "diverging":
        linear *= np.minimum(limit / light, 1)[:, None]
    else:
        linear = linear[light >= limit] if dark else linear[light <= limit]
    return _scale(np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055), steps)


def image_scale(colours: Colours, dark: bool) -> list[list[Any]]:
    """A plotly colour scale for an image on the page itself: a diverging one on a dark page has a grey middle, since a
    white one would be its brightest part. It has a colour at its very middle, unlike that of marks."""
    return mark_scale(colours, dark, 49) if dark and colours == "diverging" else colour_scale(colours)


def _linear(table: np.ndarray) -> np.ndarray:
    """Linear light of sRGB values in [0, 1] (IEC 61966-2-1)."""
    return np.where(table <= 0.04045, table / 12.92, ((table + 0.055) / 1.055) ** 2.4)


def _channels(colour: str) -> np.ndarray:
    """Red, green and blue in [0, 1] of ``#rrggbb``."""
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def _luminance(colour: str) -> float:
    return float(_linear(_channels(colour)) @ _LUMINANCE)
