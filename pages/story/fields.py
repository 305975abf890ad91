"""Steps 1 to 4: a real curve through large cells, its rivals, a prior, a covariate."""

from typing import Any

import numpy as np
import streamlit as st

from deconditioning.fields.grids.place import latitude_words
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.colours import hue
from deconditioning.figures.studies import story as draw
from deconditioning.figures.style import INK, Figure
from deconditioning.studies.story.recovered import LENGTHS, SMOOTH, Recovered, evidence_of, off_cells, recover, rmse
from deconditioning.studies.story.transect import ROW, Cells, Transect, through_cells, transect_of
from deconditioning.studies.story.whole_map import example
from pages.story.step import Control, Guess, Link, Question, Shown, Step, number, percent, within

KEY, SIZE = "ukv-645m", 9
#: Length in km of the kernel that rivals are drawn from.
DRAWN = 12.0
#: The steps in K in which the real field is stored (`deconditioning.metrics.stored_step`).
_STEP = 0.125
#: Height of the upper of two pictures.
_LOWER = 320
#: The row of the step that asks which curve is real: not the one that the step before has revealed.
_RIVALS_ROW = 150
NAMES = ("A", "B", "C")
AXES = ("distance along the line, km", "potential temperature, K")
WITHOUT, _WITH = "without", "with"
FITS = r"""
$$\tilde z = W^\top \mathbf f,\qquad E[f(x) \mid \tilde z] = c(x)^\top W S^{-1}\tilde z,\qquad S = W^\top K W,\qquad
\mathrm{Var}[f(x) \mid \tilde z] = k(x, x) - c(x)^\top W S^{-1} W^\top c(x)$$
"""
SOURCE = "Chau et al. 2021, §3.2"


@st.cache_resource(show_spinner=False, max_entries=2)
def problem_of(key: str) -> DownscalingProblem:
    """A worked example, kept."""
    return example(key)


@st.cache_resource(show_spinner=False, max_entries=2)
def transect(row: int = ROW) -> Transect:
    """The row across Snowdonia, or another one."""
    return transect_of(problem_of(KEY), row)


@st.cache_resource(show_spinner=False, max_entries=64)
def recovered(length: float, with_altitude: bool) -> Recovered:
    """The curve recovered from its cells."""
    return recover(transect(), SIZE, length, with_altitude=with_altitude)


@st.cache_resource(show_spinner=False)
def evidence(with_altitude: bool) -> np.ndarray:
    """Log evidence at each length."""
    return evidence_of(transect(), SIZE, with_altitude=with_altitude)


@st.cache_resource(show_spinner=False, max_entries=32)
def rivals(pair: int) -> np.ndarray:
    """Three curves that fit the same cells, the real one among them."""
    line = transect(_RIVALS_ROW)
    invented = recover(line, SIZE, DRAWN, family=SMOOTH).rivals(2, 100 + pair)
    return np.insert(invented, _real_place(pair), line.values, axis=0)


def _as_stored(values: np.ndarray) -> np.ndarray:
    """Values in the steps in which the real field is stored, which would else tell it from invented ones."""
    return _STEP * np.round(values / _STEP)


def _real_place(pair: int) -> int:
    """Which of the three is the real one."""
    return int(np.random.default_rng([pair, 1]).integers(3))


def best(with_altitude: bool) -> float:
    """The length of highest evidence."""
    return LENGTHS[int(evidence(with_altitude).argmax())]


def limits() -> tuple[float, float]:
    """Room for the curve, the same in all pictures of it."""
    return _room(transect().values)


def _room(values: np.ndarray) -> tuple[float, float]:
    """The values' range and a margin."""
    room = 0.14 * float(np.ptp(values))
    return float(values.min() - room), float(values.max() + room)


def curve(traces: list[draw.Trace], alt: str, dark: bool, height: int = draw.TALL, row: int = ROW) -> Figure:
    """A picture along the line."""
    return draw.picture(traces, AXES, alt, dark=dark, up=_room(transect(row).values), height=height)


def truth(dark: bool, name: str = "the real field", width: float = 3.0) -> draw.Trace:
    """The real curve."""
    return draw.line(transect().km, transect().values, name, INK[dark], width=width)


def known(cells: Cells, dark: bool) -> draw.Trace:
    """What the cells say."""
    return draw.cells(cells.edges, cells.means, "cell averages", hue("rust", dark))


def _place(line: Transect) -> str:
    """The latitude of a line, to a tenth of a degree where a whole number would not tell it."""
    latitude = line.ends[0][0]
    return (
        latitude_words(round(latitude), None) if abs(latitude - round(latitude)) < 0.05 else latitude_words(latitude, 1)
    )


def through(size: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 1: cells of so many places."""
    cells = through_cells(transect(), size)
    width = size * transect().spacing
    traces = [known(cells, dark)] if guess is None else [truth(dark), known(cells, dark)]
    where = f"across Snowdonia at {_place(transect())}"
    sentence = f"{len(cells.means)} cells, each {number(width)} km wide, along a line {where}."
    then = cells if guess is None else through_cells(transect(), int(guess.control))
    lesson = (
        f"The field differs most from its cell average at {number(then.where)} km. Averages over cells of "
        f"{number(width)} km keep {percent(cells.kept)} of the field's variance; the other {percent(1 - cells.kept)} "
        "is inside the cells."
    )
    equation = rf"""
$$\bar f_c = \frac{{1}}{{|c|}}\int_c f(x)\,dx,\qquad
\frac{{\mathrm{{Var}}\,\bar f}}{{\mathrm{{Var}}\,f}} = {cells.kept:.3f},\qquad
\max_x |f(x) - \bar f_{{c(x)}}| = {number(cells.farthest)}\ \mathrm{{K}}$$
"""
    query = {"rows": str(size), "columns": str(size)} if size != SIZE else {}
    return Shown(
        (curve(traces, f"Averages over cells of {number(width)} km along a line.", dark),), sentence, then.farthest,
        lesson, equation=equation, source=SOURCE,
        link=Link("downscaling", "The whole map, with cells of this width", query),
    )  # fmt: skip


def fit(pair: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 2: three curves that return the same cell means."""
    line = transect(_RIVALS_ROW)
    cells, three, real = through_cells(line, SIZE), rivals(pair), _real_place(pair)
    shown = _three(_as_stored(three), None if guess is None else real, dark)
    worst = max(off_cells(values, cells) for values in three)
    spread = float(np.max(np.ptp(three, axis=0)))
    drawn = [at for at in range(3) if at != real]
    errors = " and ".join(f"{number(rmse(three[at], line.values))} K" for at in drawn)
    requested = real if guess is None else _real_place(int(guess.control))
    lesson = (
        f"The invented curves differ from the real field by {errors} (RMSE), although their cell averages agree. If "
        "you could tell them apart, you used information that the averages do not contain, such as how smooth a real "
        "field is."
    )
    equation = (
        FITS
        + rf"""
The invented curves are joint draws of this posterior, with a Matérn 3/2 kernel of length {number(DRAWN)} km;
$\max_c |\overline{{f}}_c - \tilde z_c| = {number(worst, 2)}$ K.
"""
    )
    return Shown(
        (curve([known(cells, dark), *shown], "Three curves through the same cell averages.", dark, row=_RIVALS_ROW),),
        f"Three curves along another line, at {_place(line)}, up to {number(spread)} K apart. One is real, two are "
        f"invented; all are drawn in the steps of {number(_STEP)} K in which the real field is stored.",
        NAMES[requested], lesson,
        good=(f"All three have the same cell averages, to {within(worst, 'K')}.",),
        equation=equation,
        source=SOURCE, link=Link("downscaling", "Show 20 equally plausible maps", {"draws": "true"}),
    )  # fmt: skip


def _three(curves: np.ndarray, real: int | None, dark: bool) -> list[draw.Trace]:
    """The three curves alike, or the real one before the invented ones."""
    result = []
    for at, (name, colour) in enumerate(zip(NAMES, ("teal", "violet", "green"), strict=True)):
        words, ink, width = name, hue(colour, dark), 2.2
        if real is not None:
            words, ink, width = (f"{name}: real", INK[dark], 4.0) if at == real else (f"{name}: invented", ink, 1.4)
        result.append(draw.line(transect(_RIVALS_ROW).km, curves[at], words, ink, width=width))
    return result


def prior(length: float, guess: Guess | None, dark: bool) -> Shown:
    """Step 3: a length, its posterior, and what the evidence says of it."""
    cells, result, colour = through_cells(transect(), SIZE), recovered(length, False), hue("teal", dark)
    traces = _posterior(result, colour)
    figures = [curve([*traces, known(cells, dark)], f"Recovered with a length of {number(length)} km.", dark)]
    lesson = ""
    if guess is not None:
        top, guessed = recovered(best(False), False), recovered(float(guess.value), False)
        both = curve([*traces, truth(dark, width=2), known(cells, dark)], "Recovered and true field.", dark, _LOWER)
        figures = [both, _evidence(length, float(guess.value), dark)]
        times = np.exp(min(top.evidence - guessed.evidence, 50))
        lesson = (
            f"With {number(best(False))} km the cell averages are {number(times)} times as probable as with your "
            f"{number(float(guess.value))} km. The band contains the real field at {percent(top.held)} of all places, "
            f"with your length at {percent(guessed.held)}; the RMSE is {_two(top.rmse, guessed.rmse)}."
        )
    equation = (
        FITS
        + rf"""
$$\log p(\tilde z) = -\tfrac12 \tilde z^\top S^{{-1}}\tilde z - \tfrac12\log|S| - \tfrac n2 \log 2\pi =
{result.evidence:.2f},\qquad k(x, x') = s^2 e^{{-|x - x'|/\ell}},\quad \ell = {number(length)}\ \mathrm{{km}},\quad
s^2 = {number(result.scale)}$$

$n = {len(cells.means)}$ standardised cell means; $s^2$ has the highest evidence at this length.
"""
    )
    link = Link("downscaling", "Learn the lengths of the whole map")
    sentence = (
        "The field recovered from the cell averages, with its 95 % band, if temperatures are correlated over the "
        f"{number(length)} km of the slider."
    )
    return Shown(tuple(figures), sentence, best(False), lesson, equation=equation, source=SOURCE, link=link)


def _two(first: float, second: float) -> str:
    """Two errors in K; one where they round to the same."""
    both = [f"{number(each)} K" for each in (first, second)]
    return f"{both[0]} with both lengths" if both[0] == both[1] else " and ".join(both)


def _posterior(recovered: Recovered, colour: str) -> list[draw.Trace]:
    km, mean, half_width = transect().km, recovered.mean, 2 * recovered.sd
    return [draw.band(km, mean - half_width, mean + half_width, "95 % band", colour),
            draw.line(km, mean, "recovered", colour)]  # fmt: skip


def _evidence(length: float, guess: float, dark: bool) -> Figure:
    """How probable each length makes the cells, with that of the slider, the guess and the best."""
    values = np.exp(evidence(False) - evidence(False).max())

    def mark(at: float, name: str, colour: str, **more: Any) -> draw.Trace:
        height = np.interp(np.log(at), np.log(LENGTHS), values)
        return draw.dots(np.array([at]), np.array([height]), name, colour, size=15, **more)

    traces = [
        draw.line(np.array(LENGTHS), values, "", hue("teal", dark)),
        mark(length, "the slider's, drawn above", hue("teal", dark)),
        mark(guess, "your guess", hue("rust", dark)),
        mark(best(False), "the best", INK[dark], symbol="circle-open"),
    ]
    result = draw.picture(
        traces,
        ("length, km", "evidence"),
        "Evidence of each length.",
        dark=dark,
        height=draw.TALL - _LOWER + 10,
    )
    result["layout"]["xaxis"] |= {"type": "log", "tickvals": [2, 5, 10, 20, 50, 100, 200, 400]}
    result["layout"]["yaxis"]["nticks"] = 4
    return result


def covariate(choice: str, guess: Guess | None, dark: bool) -> Shown:
    """Step 4: the same cells, with the mountains known or not."""
    knows, cells = choice == _WITH, through_cells(transect(), SIZE)
    without, with_it = recovered(best(False), False), recovered(best(True), True)
    result, colour = (with_it if knows else without), hue("jade" if knows else "teal", dark)
    traces = _posterior(result, colour)
    if guess is not None:
        traces.append(truth(dark, width=2))
    highest = float(transect().altitude.max())
    mountains = draw.ground(transect().km, transect().altitude, f"the ground, up to {number(highest)} m", dark)
    figure = draw.over_ground(
        curve([mountains, *traces, known(cells, dark)], "Recovered field above the mountains.", dark),
        highest, dark,
    )  # fmt: skip
    low, high = limits()
    figure["layout"]["yaxis"]["range"] = [low - 0.35 * (high - low), high]
    reduction = 1 - with_it.rmse / without.rmse
    sentence = "The altitude of the ground below the line is known everywhere."
    lesson = (
        f"Without the mountains the error of the recovered field is {number(without.rmse)} K, with them it is "
        f"{number(with_it.rmse)} K. The bands contain {percent(without.held)} and {percent(with_it.held)} of the real "
        "field."
    )
    checks = (f"Both have the observed cell averages, to {within(max(without.off, with_it.off), 'K')}.",)
    equation = (
        FITS
        + rf"""
$$k = s^2\big(e^{{-|x - x'|/\ell}} + 10\,h(x)h(x')\big),\qquad \ell = {number(with_it.length)}\ \mathrm{{km}},\quad
s^2 = {number(with_it.scale)},
\qquad \log p(\tilde z) = {with_it.evidence:.2f}\ \text{{against}}\ {without.evidence:.2f}$$

$h$ is the altitude, standardised.
"""
    )
    return Shown((figure,), sentence, 100 * reduction, lesson, good=checks, equation=equation, source=SOURCE,
                 link=Link("downscaling", "The whole map with its mountains"))  # fmt: skip


STEPS = (
    Step(
        "Cells hide",
        "A large cell shows one number and hides all variation inside it.",
        Control("Places per cell", 3, 45, SIZE, 3),
        Question("What is the largest difference between the real field and its cell average?", 0, 5, 0.1, "K"),
        through,
    ),
    Step(
        "Many fields fit",
        "Averaging loses information: many different fields have exactly the same averages.",
        Control("Which pair of invented curves", 1, 12, 1),
        Question("Which of the three is the real field?", choices=NAMES),
        fit,
    ),
    Step(
        "A prior chooses",
        "The distance over which temperatures stay similar tells which of these fields are likely.",
        Control("Distance over which temperatures are similar, km", options=LENGTHS, value=LENGTHS[4]),
        Question("Which length makes the averages most probable?", 2, 100, 1, "km"),
        prior,
    ),
    Step(
        "Mountains help",
        "A variable that is known in fine detail, such as altitude, supplies the missing detail.",
        Control("Altitude", options=(WITHOUT, _WITH), value=WITHOUT),
        Question("How much does knowing the mountains reduce the error?"),
        covariate,
    ),
)
