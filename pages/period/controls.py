"""Which series is downscaled, how coarse its cells are, and from when on: the times before are the archive."""

from dataclasses import dataclass

import streamlit as st

from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, kept_uploads, open_source
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.guess.variables import static_covariates
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import read_training
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.scores import bilinear_scores, series_scores
from deconditioning.period.series import read_series
from deconditioning.period.times import time_dimension
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.kit.visitor import listed

MADE = "made-up region"
#: Values of all times and pixels that the page computes; more go through the command.
_MOST_VALUES = 3_000_000


@dataclass(frozen=True)
class Choice:
    """What was chosen: file, variables, pixels in a cell, the first time that is downscaled, and the archive."""

    key: str
    target: str
    covariates: tuple[str, ...]
    block: int
    first: int
    archive: bool


@dataclass(frozen=True, eq=False)
class Shown:
    """A downscaled series, its scores and those of interpolation, and how the archive was read."""

    result: PeriodResult
    scores: dict[str, float]
    bilinear: dict[str, float]
    notes: tuple[str, ...]
    training: int


@st.cache_resource(show_spinner="Opening the fields …", max_entries=4)
def fields_of(key: str) -> Fields:
    """The fields of the made-up region, or of an upload."""
    return weather_region() if key == MADE else open_source(key)


def _with_times(fields: Fields) -> list[str]:
    """The variables that have several times."""
    result = []
    for name in fields.variables():
        try:
            time_dimension(fields, name)
        except InputError:
            continue
        result.append(name)
    return result


def choose() -> Choice:
    """The controls. Raises ``InputError`` for a file without times."""
    names = {MADE: "A made-up region, 480 days", **listed(kept_uploads, "p-data")}
    key = widgets.selectbox("Series", list(names), key="p-data", format_func=names.__getitem__)
    fields = fields_of(key)
    targets = _with_times(fields)
    if not targets:
        raise InputError("This file has no variable with several times: choose another, or page Downscaling.")
    target = widgets.selectbox("Target", targets, key="p-target")
    covariates = tuple(guess.value for guess in static_covariates(fields, target))
    block = int(widgets.select_slider("Pixels along a cell", [2, 4, 8, 16], value=8, key="p-block"))
    labels = fields.check(target).extra[time_dimension(fields, target)]
    last = len(labels) - 1
    first = int(
        widgets.slider(
            "Times before the downscaled ones", 1, max(2, last), max(1, 3 * len(labels) // 4), key="p-first",
            help="All times after them are downscaled; these are what the archive is made of.",
        )
    )  # fmt: skip
    st.caption(f"Downscaled from {plain(labels[min(first, last)])} on.")
    archive = widgets.toggle(
        "The fine truth before is known", value=True, key="p-archive",
        help="The times before the first one are an archive at high resolution: climatology and covariance come from "
        "it. Off: only the coarse values of the downscaled times are used.",
    )  # fmt: skip
    return Choice(key, target, covariates, block, min(first, last), bool(archive))


@st.cache_resource(show_spinner="Downscaling all times …", max_entries=8)
def downscaled(choice: Choice) -> Shown:
    """The chosen times downscaled, kept for all sessions. Raises ``InputError`` where they are too many for a page."""
    fields = fields_of(choice.key)
    spec = DownscalingSpec(choice.target, choice.covariates, block=(choice.block, choice.block), withhold=0.0)
    labels = fields.check(choice.target).extra[time_dimension(fields, choice.target)]
    size = fields.grid.area.size * (len(labels) - choice.first)
    if size > _MOST_VALUES:
        raise InputError(
            f"{len(labels) - choice.first} times of {fields.grid.area.size:,} pixels are too many for a page: begin "
            "later, or use `deconditioning downscale --times` (docs/period.md)."
        )
    series = read_series(Source(choice.key), spec, fields_of, [f"#{choice.first}/#{len(labels) - 1}"])
    settings = DownscaleSettings(model="area_to_point_gp")
    if choice.archive:
        training = read_training(series, fields, [f"#0/#{choice.first - 1}"])
        result, said, known = downscale_with_archive(series, training, settings), training.notes, len(training)
    else:
        result, said, known = downscale_series(series, settings), (), 0
    return Shown(result, series_scores(series, result.means.__getitem__, result.sd), bilinear_scores(series), said,
                 known)  # fmt: skip
