"""Every colour of both palettes can be seen on its ground and told from the others, also without red or green cones."""

import itertools
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from skimage.color import deltaE_ciede2000, rgb2lab

from deconditioning.figures.colours import (
    GROUND,
    HUES,
    MODEL_HUES,
    MODEL_NAMES,
    SERIES,
    VERDICTS,
    colour_scale,
    mark_scale,
    model_colour,
)
from deconditioning.models.catalogue import GENERAL

ROOT = Path(__file__).parents[3]
THEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
#: Machado, Oliveira & Fernandes 2009, table 1, severity 1; they act on linear RGB.
EYES = {
    "all cones": np.eye(3),
    "no green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
#: Least CIEDE2000 difference of two hues; about 2 is just seen side by side.
LEAST_DIFFERENCE = {"all cones": 13, "no green cones": 10, "no red cones": 9}
#: Models that stand on one page.
TOGETHER = {
    "swiss roll": (*GENERAL, "truth"),
    "when mediation helps": (
        "task_transformed_gp",
        "shrinkage_cmp",
        "shrinkage_joint",
        "shrinkage_chosen",
        "uncertain_cmp",
        "bag_gp",
    ),
    "downscaling": (
        "area_to_point_gp",
        "regression_kriging",
        "shrinkage_cmp",
        "uncertain_cmp",
        "cmp",
        "bag_gp",
        "centroid_gp",
        "task_transformed_gp",
        "gradient_boosting",
        "constant",
        "bilinear",
        "bicubic",
        "truth",
    ),
    "benchmark of unmatched cells": (
        "partial_cmp",
        "area_to_point_gp",
        "shrinkage_cmp",
        "cmp",
        "bag_gp",
        "centroid_gp",
        "constant",
        "bilinear",
        "bicubic",
    ),
    "benchmark of matched cells": (
        "area_to_point_gp",
        "regression_kriging",
        "bag_gp",
        "shrinkage_cmp",
        "gradient_boosting",
        "lapse_rate",
        "constant",
        "bilinear",
        "bicubic",
    ),
    "real fields": (
        "default",
        "regression_kriging",
        "gradient_boosting",
        "optimal_interpolation",
        "lapse_rate",
        "constant",
        "bilinear",
        "bicubic",
    ),
    "period": (
        "area_to_point_gp",
        "delta",
        "ridge on delta",
        "quantile delta mapping",
        "analogs",
        "EOF regression",
        "random forest",
        "bilinear",
        "bilinear, cell means kept",
        "truth",
    ),
    "one dimension": ("task_transformed_gp", "dme", "impute", "cascade", "truth"),
    "sparse representation": (
        "on_sliders",
        "random",
        "learned",
        "learned_points",
        "variational_gp",
        "exact_gp",
        "truth",
    ),
    "likelihood-free inference": (
        "exact",
        "dme",
        "kbr",
        "cme",
        "abc",
        "cme_evidence",
        "kelfi",
        "k2_abc",
        "mdn",
        "smc_abc",
    ),
    "kernel Bayes": (
        "kbr",
        "kbr_a",
        "kbr_theorem",
        "kbr_printed",
        "kbr_cv",
        "cme",
        "kde",
        "kde_lscv",
        "abc",
        "abc_few",
        "dme",
        "exact",
    ),
    "likelihood-free": ("dme", "kbr", "cme", "abc", "exact"),
    "filtering": ("kbr", "kbr_ahead", "kbr_smoothed", "ekf", "ukf", "particle", "nearest", "truth"),
    "recorded series": ("kbr", "kbr_ahead", "kbr_smoothed", "kalman", "nearest", "truth"),
    "camera": ("kbr_gauss", "kbr_tr", "kalman_matrix", "kalman_quaternion", "nearest", "truth"),
    "distribution regression": (
        "gpdr",
        "kde",
        "kde_narrow",
        "kde_cut",
        "landmark10",
        "landmark50",
        "landmark10_gp",
        "bdr10",
        "bdr50",
        "shrunk",
        "flr",
        "average",
        "truth",
    ),
    "embeddings": ("cme", "shrinkage_cmp", "truth"),
}


def channels(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def linear(colour: np.ndarray) -> np.ndarray:
    return np.where(colour <= 0.03928, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG 2.2: (L + 0.05) / (l + 0.05) of the relative luminances of the lighter and the darker colour."""
    low, high = sorted(float(linear(channels(c)) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (high + 0.05) / (low + 0.05)


def seen_by(eye: str, colours: list[str]) -> np.ndarray:
    """CIELAB of colours as an eye sees them."""
    light = np.clip(np.array([linear(channels(c)) for c in colours]) @ EYES[eye].T, 0, 1)
    shown = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return rgb2lab(shown)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # the best known near miss of 4.5


@THEMES
def test_every_mark_is_seen_on_its_ground(dark: bool) -> None:
    pale = {name: contrast(pair[dark], GROUND[dark]) for name, pair in HUES.items()}
    assert min(pale.values()) >= 3, pale
    assert pale["ink"] >= 7  # the letters of every picture
    assert all(contrast(pair[dark], GROUND[dark]) >= 4.5 for pair in VERDICTS.values())


@THEMES
@pytest.mark.parametrize("eye", list(EYES))
def test_any_two_hues_are_told_apart(dark: bool, eye: str) -> None:
    lab = dict(zip(HUES, seen_by(eye, [pair[dark] for pair in HUES.values()]), strict=True))
    apart = {pair: float(deltaE_ciede2000(lab[pair[0]], lab[pair[1]])) for pair in itertools.combinations(HUES, 2)}
    close = {pair: round(d, 1) for pair, d in apart.items() if d < LEAST_DIFFERENCE[eye]}
    assert not close


@pytest.mark.parametrize("page", list(TOGETHER))
def test_models_of_one_page_have_colours_of_their_own(page: str) -> None:
    models = TOGETHER[page]
    for dark in (False, True):
        assert len({model_colour(model, dark) for model in models}) == len(models)


def test_every_named_model_has_a_hue_and_stands_on_a_page() -> None:
    assert set(MODEL_HUES.values()) <= set(HUES)
    assert set(MODEL_NAMES) <= set(MODEL_HUES)
    assert set(MODEL_HUES) == {model for models in TOGETHER.values() for model in models}


@THEMES
@pytest.mark.parametrize("colours", ["sequential", "diverging", "uncertainty", "terrain"])
def test_points_coloured_by_a_scale_are_seen_on_the_page(dark: bool, colours: str) -> None:
    scale = [colour for _, colour in mark_scale(colours, dark)]
    assert min(contrast(colour, GROUND[dark]) for colour in scale) >= 3
    assert len(set(scale)) > 30
    vanishing = [contrast(colour, GROUND[dark]) for _, colour in colour_scale(colours)]
    assert min(vanishing) < 3  # what the whole scale would do


def test_the_theme_of_the_app_is_the_palette() -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    for dark, name in enumerate(("light", "dark")):
        assert theme[name]["backgroundColor"] == GROUND[dark]
        assert theme[name]["textColor"] == HUES["ink"][dark]
        assert theme[name]["chartCategoricalColors"] == [HUES[hue][dark] for hue in SERIES]
        grounds = (theme[name]["backgroundColor"], theme[name]["sidebar"]["backgroundColor"])
        for words in ("textColor", "linkColor", "primaryColor"):
            assert all(contrast(theme[name][words], ground) >= 4.5 for ground in grounds), (name, words)


def test_colours_are_written_in_the_palette_alone() -> None:
    literal = re.compile(r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b|\brgba?\(\s*\d")
    folders = [ROOT / "pages", ROOT / "core" / "deconditioning" / "figures"]
    files = [file for folder in folders for end in ("py", "css", "js") for file in folder.rglob(f"*.{end}")]
    own = {ROOT / "core" / "deconditioning" / "figures" / name for name in ("colours.py", "style.py")}
    assert own < set(files)
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in files
        if file not in own
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if literal.search(line)
    ]
    assert not found, "\n".join(found)
