"""Named settings of page Period, each of which tells something."""

from pages.kit.tools.toolbar import Controls, Preset, keeping


def _small_cells(controls: Controls) -> dict[str, object]:
    """Cells of 2 × 2 pixels, where the grid has them."""
    return {key: controls[key].from_words(["2"]) for key in ("p-block",) if key in controls}


def _short_archive(controls: Controls) -> dict[str, object]:
    """The first sixth of the training period that there is at first."""
    key = "p-training"
    return {key: (0, max(0, (controls[key].default[1] + 1) // 6 - 1))} if key in controls else {}


#: The file and what is looked at stay as they are.
PRESETS = keeping(
    (
        "p-data",
        "p-coarse",
        "p-errors",
        "p-error",
        "p-target",
        "p-dim-*",
        "p-pair",
        "p-stations",
        "p-station-value",
        "p-view",
        "p-row",
        "p-column",
        "p-along",
        "p-line",
        "p-drawn",
    ),
    Preset(
        "Without the archive",
        "Coarse values alone: the errors grow, and the intervals with them.",
        lambda controls: {"p-archive": False},
    ),
    Preset("A short archive", "A sixth of its times: climatology and covariance are rougher.", _short_archive),
    Preset("Small cells", "Cells of 2 × 2 pixels: interpolation is nearly as good.", _small_cells),
    Preset(
        "What moves",
        "Each map minus its own mean over the period: the weather without the mean pattern.",
        lambda controls: {"p-maps": "minus period mean"},
    ),
)
