"""Step 10: a period instead of a moment."""

import numpy as np
import streamlit as st

from deconditioning.figures.colours import hue
from deconditioning.figures.studies import story as draw
from deconditioning.figures.style import INK, Figure
from deconditioning.studies.story.lasting import ARCHIVE, STEP, USED, Lasting, lasting_errors, stretches
from deconditioning.teaching.lesson import ANSWERS
from pages.story.step import Control, Guess, Link, Question, Shown, Step, number, percent

HOURS = (3, 6, 12, 24, 48, 120, 240)
#: Factors between the stated and the real error of a mean within which the check is green.
_NEAR = (0.75, 1.33)
#: Height of the upper of two pictures.
_LOWER = 265

lasting = st.cache_resource(show_spinner="Downscaling ten days …")(lasting_errors)


def period(hours: int, guess: Guess | None, dark: bool) -> Shown:
    """Means over so many hours, and how large their errors are."""
    result, count = lasting(), int(hours) // STEP
    real, stated, independent = result.real(count), result.stated(count), count**-0.5
    requested = real if guess is None else result.real(int(guess.control) // STEP)
    figures = [_at_the_place(result, count, guess is not None, dark)]
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    lesson = ""
    if guess is not None:
        figures.append(_against_length(result, count, dark))
        sentence = f"The prediction states {percent(stated)}; the truth shows {percent(real)}."
        good, bad = ((sentence,), ()) if _NEAR[0] <= stated / real <= _NEAR[1] else ((), (sentence,))
        lesson = (
            f"The error of a mean over {number(hours)} hours is {percent(real)} of that of a single time. If the "
            f"errors of {number(count)} times were independent, it would be {percent(independent)}; if they never "
            "changed, 100\u00a0%. Errors at neighbouring times are similar; the earlier times show how similar."
        )
    equation = rf"""
$$\mathrm{{Var}}\Big(\tfrac1n\sum_i e_i\Big) = \frac1{{n^2}}\sum_{{i,j}} s_i s_j\,\rho(|t_i - t_j|),\qquad
n = {count},\qquad \frac{{1}}{{\sqrt n}} = {independent:.2f},\qquad \text{{stated}}\ {stated:.2f},\qquad
\text{{real}}\ {real:.2f}$$

$s_i$ is the sd of a time and $\rho$ the correlation of errors in time, from left-out times of the archive.
"""
    text = (
        f"Temperature in London from cells of 2° and {number(ARCHIVE)} earlier fine fields, averaged over "
        f"{number(hours)} hours."
    )
    return Shown(tuple(figures), text, 100 * requested, lesson, good, bad, equation, "Thiébaux and Zwiers 1984",
                 Link("period", "This series, with its maps", {"p-period": [f"{ARCHIVE}", f"{ARCHIVE + USED - 1}"]}),
                 )  # fmt: skip


def _at_the_place(result: Lasting, count: int, answered: bool, dark: bool) -> Figure:
    """The downscaled series and its means over stretches; the truth's beside them once it is revealed."""
    edges = np.arange(0, USED + 1, count) * STEP / 24
    means = stretches(result.predicted, count).mean(1)
    edges = edges[: len(means) + 1]
    traces = [
        draw.line(result.days, result.predicted, "downscaled", hue("grey", dark), width=1.5),
        draw.cells(edges, means, "its means", hue("teal", dark)),
    ]
    if answered:
        true = stretches(result.truth, count).mean(1)
        traces.append(draw.cells(edges, true, "means of the truth", INK[dark], width=3))
    alt = f"Temperature in London over ten days, with means over {count * STEP} hours."
    labels = ("day", f"temperature, {result.units}")
    return draw.picture(traces, labels, alt, dark=dark, height=_LOWER if answered else draw.TALL)


def _against_length(result: Lasting, count: int, dark: bool) -> Figure:
    """The error of a mean against the length of the period: real, stated, and if errors were independent."""
    counts = [hours // STEP for hours in HOURS]
    length, shares = np.array(HOURS, dtype=float), [100 * result.real(each) for each in counts]
    traces = [
        draw.line(length, np.array([100 * result.stated(each) for each in counts]), "stated", hue("teal", dark)),
        draw.line(length, np.array([100 * each**-0.5 for each in counts]), "if independent", hue("rust", dark),
                  dash="dash"),
        draw.dots(length, np.array(shares), "real", INK[dark], size=13),
    ]  # fmt: skip
    alt = "Error of a mean against the number of hours, in per cent of the error of a single time."
    labels = ("hours averaged", "error, %")
    rules = [draw.rule(float(count * STEP), hue("grey", dark))]
    figure = draw.picture(traces, labels, alt, dark=dark, up=(0, 108), height=_LOWER - 25, rules=rules)
    figure["layout"]["xaxis"] |= {"type": "log", "tickvals": list(HOURS)}
    figure["layout"]["yaxis"]["nticks"] = 4
    return figure


STEPS = (
    Step(
        "A period",
        "Errors persist: a mean over many times is more certain than a single time, but by less than one might think.",
        Control("Averaged over, hours", options=HOURS, value=120),
        Question("How large is the error of the mean, in per cent of the error of a single time?"),
        period,
        closing=ANSWERS,
    ),
)
