"""Step 6: conditioning, run backwards."""

import numpy as np
import streamlit as st

from deconditioning.datasets.one_dimension import Line
from deconditioning.figures.colours import hue
from deconditioning.figures.studies import story as draw
from deconditioning.figures.style import INK
from deconditioning.studies.one_dimension.round_trip import RoundTrip
from deconditioning.studies.story import mediated
from pages.story.step import Control, Guess, Link, Question, Shown, Step, percent, within

_AVERAGES = (2, 3, 4, 5, 6, 8, 12, 20, 40)


@st.cache_resource(show_spinner=False, max_entries=len(_AVERAGES))
def _trip(averages: int) -> tuple[Line, RoundTrip]:
    return mediated.there_and_back(averages)


def backwards(averages: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 6: so many averages of a function, and the function that comes back from them."""
    line, trip = _trip(averages)
    colour, rust, grid = hue("blue", dark), hue("rust", dark), line.grid.numpy()
    left = [draw.line(grid, trip.function, "the function", INK[dark], dash="dot")]
    right = [draw.dots(line.query.numpy(), trip.conditioned, "its averages", rust, size=13)]
    checks: tuple[str, ...] = ()
    if guess is not None:
        left.append(draw.line(grid, trip.back, "recovered function", colour))
        right.append(draw.dots(line.query.numpy(), trip.again, "averages of the recovered function", colour, size=20,
                               symbol="circle-open"))  # fmt: skip
        worst = float(np.abs(trip.again - trip.conditioned).max())
        checks = (f"The recovered function has the same averages, to {within(worst)}.",)
    share = mediated.share_back(trip)
    then = share if guess is None else mediated.share_back(_trip(int(guess.control))[1])
    labels = ("input", "mediator", "value")
    figure = draw.two_pictures(left, right, labels, "A function and its averages given the mediator.", dark=dark)
    figure["layout"]["xaxis2"]["range"] = [-6.4, 6.4]
    lesson = (
        f"{averages} averages recover {percent(share)} of the function's variation. No method can recover what no "
        "average contains."
    )
    equation = rf"""
$$\hat g = A^\top f(\mathbf x),\qquad \hat f(x) = \hat g^\top (A^\top K A + m\varepsilon I)^{{-1}} A^\top k(x),\qquad
A = (L + n\lambda I)^{{-1}}\tilde L$$

Conditioning gives $\hat g$, the conditional mean; deconditioning gives $\hat f$, the deconditional mean.
$m = {averages}$, $1 - \mathrm{{MSE}}/\mathrm{{Var}} = {share:.4f}$.
"""
    query = {"o-view": "There and back", "o-m": str(averages), "t-eps": str(mediated.TRIP_EPSILON)}
    return Shown(
        (figure,), f"Conditioning: {averages} averages of a function, each near one value of the mediator.", 100 * then,
        lesson,
        good=checks, equation=equation, source="Hsu and Ramos 2019, theorem 4.2",
        link=Link("one_dimension", "There and back, with the theorems", query),
    )  # fmt: skip


STEPS = (
    Step(
        "There and back",
        "Conditioning turns a function into averages; deconditioning recovers the function from them.",
        Control("Number of averages", options=_AVERAGES, value=3),
        Question("How much of the function's variation can be recovered from these averages?"),
        backwards,
    ),
)
