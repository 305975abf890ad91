"""Steps 5 and 6: two tables that never meet, the mediator between them, and conditioning run backwards."""

import numpy as np
import streamlit as st

from core.datasets.one_dimension import Line, LineSpec, make_line
from core.figures import story as draw
from core.figures.colours import hue
from core.figures.style import INK
from core.studies.one_dimension.problem import LineFit
from core.studies.one_dimension.round_trip import RoundTrip
from core.studies.story import mediated
from pages.story.step import Control, Guess, Link, Question, Shown, Step, number, percent

#: The input at which the hidden function is to be guessed.
AT = 2.0
#: Height of the upper of two pictures.
UPPER = 330
AVERAGES = (2, 3, 4, 5, 6, 8, 12, 20, 40)


@st.cache_resource(show_spinner=False)
def _line() -> tuple[Line, LineFit]:
    line = make_line(LineSpec())
    return line, mediated.deconditioned(line)


@st.cache_resource(show_spinner=False, max_entries=len(AVERAGES))
def _trip(averages: int) -> tuple[Line, RoundTrip]:
    return mediated.there_and_back(averages)


def mediator(value: float, guess: Guess | None, dark: bool) -> Shown:
    """Step 5: both tables at one value of the mediator."""
    line, found = _line()
    link, rust, grey = mediated.link_at(line, value), hue("rust", dark), hue("grey", dark)
    y = np.array([value])
    left = [draw.dots(line.inputs.numpy(), line.mediators.numpy(), "", grey, size=7, alpha=0.75),
            draw.dots(np.array([link.input]), y, "at this mediator", rust, size=20)]  # fmt: skip
    right = [draw.dots(line.targets.numpy(), line.query.numpy(), "", grey, size=7, alpha=0.75),
             draw.dots(np.array([link.outcome]), y, "", rust, size=20)]  # fmt: skip
    rules = [draw.rule(value, rust, upright=False), draw.rule(value, rust, upright=False, panel="2") | {"yref": "y"},
             draw.rule(AT, INK[dark])]  # fmt: skip
    labels = ("first table: input", "second table: outcome", "the mediator, in both")
    height = draw.TALL if guess is None else UPPER
    alt = "Two scatters that share the mediator."
    figures = [draw.beside(left, right, labels, alt, dark=dark, rules=rules, height=height)]
    exact, own, sd = (mediated.read_at(line, values, AT) for values in (line.truth, found.mean, found.sd))
    lesson = ""
    if guess is not None:
        figures.append(_function(line, found, link, float(guess.value), dark))
        lesson = (
            f"Nobody ever saw an input and an outcome together. Deconditioning says {number(own)} ± {number(2 * sd)} "
            f"at the mark; the hidden function, which made the data, is {number(exact)} there."
        )
    said = (
        f"Near the mediator's {number(value)} the first table's {link.rows[0]} rows have a mean input of "
        f"{number(link.input)}, the second's {link.rows[1]} a mean outcome of {number(link.outcome)}."
    )
    equation = rf"""
$$\tilde z \sim N(W^\top f(\mathbf x), \Sigma),\qquad W = (L + n\lambda I)^{{-1}}\tilde L,\qquad
E[f(x)] = k(x)^\top W (W^\top K W + \Sigma)^{{-1}}\tilde z$$

$L = \ell(\mathbf y, \mathbf y)$ compares mediators of the first table ($n = {line.spec.n}$), $\tilde L$ those of the
first with those of the second ($m = {line.spec.m}$); at the mark $E[f({AT:g})] = {own:.3f}$, sd ${sd:.3f}$.
"""
    return Shown(tuple(figures), said, exact, lesson, equation=equation,
                 source="Hsu and Ramos 2019, §5.2, theorem 5.3 and §8.1",
                 link=Link("one_dimension", "Turn every knob of this"))  # fmt: skip


def _function(line: Line, found: LineFit, link: mediated.Link, guess: float, dark: bool) -> draw.Figure:
    """The hidden function, what was recovered of it, the guess, and where the mediator points."""
    grid, mean, reach, colour = line.grid.numpy(), found.mean.numpy(), 2 * found.sd.numpy(), hue("blue", dark)
    traces = [
        draw.band(grid, mean - reach, mean + reach, "", colour),
        draw.line(grid, line.truth.numpy(), "hidden function", INK[dark], dash="dot"),
        draw.line(grid, mean, "deconditioned, 95 %", colour),
        draw.dots(np.array([link.input]), np.array([link.outcome]), "at this mediator", hue("rust", dark), size=18),
        draw.dots(np.array([AT]), np.array([guess]), "your guess", hue("rust", dark), size=18, symbol="x"),
    ]
    return draw.picture(traces, ("input", "outcome"), "The hidden function, recovered.", dark=dark, height=UPPER - 20)


def backwards(averages: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 6: so many averages of a function, and the function that comes back from them."""
    line, trip = _trip(averages)
    colour, rust, grid = hue("blue", dark), hue("rust", dark), line.grid.numpy()
    left = [draw.line(grid, trip.function, "the function", INK[dark], dash="dot")]
    right = [draw.dots(line.query.numpy(), trip.conditioned, "its averages", rust, size=13)]
    checks: tuple[str, ...] = ()
    if guess is not None:
        left.append(draw.line(grid, trip.back, "what comes back", colour))
        right.append(draw.dots(line.query.numpy(), trip.again, "averages of what comes back", colour, size=20,
                               symbol="circle-open"))  # fmt: skip
        worst = float(np.abs(trip.again - trip.conditioned).max())
        checks = (f"Averaged once more, what comes back returns every average, to {worst:.1g}.",)
    share = mediated.share_back(trip)
    then = share if guess is None else mediated.share_back(_trip(int(guess.control))[1])
    labels = ("input", "mediator", "value")
    figure = draw.beside(left, right, labels, "A function, and its averages given the mediator.", dark=dark)
    figure["layout"]["xaxis2"]["range"] = [-6.4, 6.4]
    lesson = (
        f"From {averages} averages {percent(share)} of the function's variation comes back. What an average never saw "
        "cannot return, whatever the method."
    )
    equation = rf"""
$$\hat g = A^\top f(\mathbf x),\qquad \hat f(x) = \hat g^\top (A^\top K A + m\varepsilon I)^{{-1}} A^\top k(x),\qquad
A = (L + n\lambda I)^{{-1}}\tilde L$$

There: $\hat g$, the conditional mean. Back: $\hat f$, the deconditional mean. $m = {averages}$,
$1 - \mathrm{{MSE}}/\mathrm{{Var}} = {share:.4f}$.
"""
    query = {"o-view": "There and back", "o-m": str(averages)}
    return Shown(
        (figure,), f"There: {averages} averages of a function, each near one value of the mediator.", 100 * then,
        lesson,
        good=checks, equation=equation, source="Hsu and Ramos 2019, theorem 4.2",
        link=Link("one_dimension", "There and back, with its theorems", query),
    )  # fmt: skip


STEPS = (
    Step(
        "A mediator links",
        "Two tables that never meet can be joined by a third quantity that both of them know.",
        Control("The mediator", -5.5, 5.5, -5.0, 0.1),
        Question(f"What is the outcome where the input is {AT:g}, the dashed mark?", -4, 4, 0.1, ""),
        mediator,
    ),
    Step(
        "There and back",
        "Conditioning turns a function into averages; deconditioning runs it backwards.",
        Control("Averages that are known", options=AVERAGES, value=3),
        Question("How much of the function's variation comes back from these averages?"),
        backwards,
    ),
)
