"""How well events are placed: the fractions skill score, and structure, amplitude and location of rain."""

from dataclasses import replace

import numpy as np
import streamlit as st

from deconditioning.figures.colours import MODEL_NAMES
from deconditioning.figures.studies.verification import scores_in_time
from deconditioning.period.scores import verified_result
from deconditioning.verification.fractions import Fractions, fractions
from deconditioning.verification.indices import kind_of
from deconditioning.verification.objects import Objects, rain_objects
from deconditioning.wording import number
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.escaping import MISSING, plain
from pages.kit.layout.theme import is_dark
from pages.period.distribution import DRAWS, with_draws
from pages.period.result import Choice, Shown
from pages.period.words import names_of

#: What the lines of the mean's probability and of the useful skill are called.
_PROBABILITY, _USEFUL = "probability", "useful"
#: The columns of the table of rain objects.
_PARTS = {"sal_structure": "Structure", "sal_amplitude": "Amplitude", "sal_location": "Location"}


def show(choice: Choice, shown: Shown, limit: float, hidden: tuple[str, ...]) -> None:
    """Of rain, a switch, and behind it the scores of events above ``limit``, without methods that are ``hidden``."""
    problem = shown.result.series.problem
    names = " ".join(filter(None, (problem.standard_name, problem.spec.target, problem.long_name)))
    if kind_of(problem.units, names) != "precipitation":
        return
    if not widgets.toggle(
        "Where rain falls: FSS and SAL", value=False, key="p-space",
        help="The fractions skill score (FSS) counts an event that is displaced by less than a window as right. SAL "
        "compares objects of rain: their structure, the amount of rain, and where they are.",
    ):  # fmt: skip
        return
    left, right = st.columns(2)
    with left:
        _fractions(choice, shown, limit, hidden)
    with right:
        _objects(choice, shown)


@st.cache_data(show_spinner="Comparing windows …", max_entries=16)
def _scores(choice: Choice, _shown: Shown, limit: float, hidden: tuple[str, ...]) -> tuple[Fractions, ...]:
    result = verified_result(_shown.result, _shown.result.spec.model.name)
    some = {name: each for name, each in result.forecasts.items() if name not in hidden}
    return fractions(replace(result, forecasts=some), [limit])


def _fractions(choice: Choice, shown: Shown, limit: float, hidden: tuple[str, ...]) -> None:
    rows, model = _scores(choice, shown, limit, hidden), shown.result.spec.model.name
    windows = list(dict.fromkeys(each.window for each in rows))
    lines = {name: [each.of_mean for each in rows if each.prediction == name] for name in _predictions(rows)}
    lines[_PROBABILITY] = [each.of_probability for each in rows if each.prediction == model]
    lines[_USEFUL] = [each.useful for each in rows if each.prediction == model]
    values = {name: np.array([np.nan if each is None else each for each in line]) for name, line in lines.items()}
    names = names_of(_predictions(rows)) | {_PROBABILITY: "its probability", _USEFUL: "useful above this"}
    units = plain(shown.result.series.problem.units)
    figure = scores_in_time(
        [str(each) for each in windows], values, title=f"Events above {number(limit)} {units}, in windows",
        labels=("pixels along the window", "fractions skill score"), names=names, dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "p-fractions")
    st.caption(
        "1 is best, 0 is no overlap. The lines are of the mean above the threshold of the reliability diagram; "
        "*its probability* is the Gaussian process's probability of exceeding it, which counts what the mean smooths "
        "away."
    )


def _predictions(rows: tuple[Fractions, ...]) -> list[str]:
    """The predictions, the first of which is the map itself."""
    return list(dict.fromkeys(each.prediction for each in rows))


@st.cache_data(show_spinner="Comparing objects of rain …", max_entries=8)
def _sal(choice: Choice, _shown: Shown) -> dict[str, Objects]:
    return rain_objects(with_draws(_shown, verified_result(_shown.result, _shown.result.spec.model.name)))


def _objects(choice: Choice, shown: Shown) -> None:
    found = _sal(choice, shown)
    model, names = shown.result.spec.model.name, names_of(found)
    rows = []
    for name, each in found.items():
        values = (each.pooled[part] for part in _PARTS)
        words = [None if value is None else f"{value:.2f}".replace("-", "−") for value in values]
        called = names[name] if name == model or name in MODEL_NAMES else f"{DRAWS} draws"
        rows.append(dict(zip(["", *_PARTS.values()], [called, *words], strict=True)))
    formats = {title: st.column_config.TextColumn(alignment="right") for title in _PARTS.values()}
    st.dataframe(rows, hide_index=True, column_config=formats, placeholder=MISSING)
    st.caption(
        "Means over the times with rain; 0 is best. Structure: above 0 the objects of rain are too large or too flat. "
        "Amplitude: above 0 there is too much rain. Location: distance of the centres and of the objects around them, "
        "as a share of the region. A mean is too flat; possible series should not be."
    )
