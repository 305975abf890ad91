"""Step 5: two tables that never meet, the mediator between them; every row is a point that can be dragged."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from deconditioning.datasets.one_dimension import Line, LineSpec, make_line
from deconditioning.figures.colours import hue
from deconditioning.figures.studies import story as draw
from deconditioning.figures.style import INK, Figure
from deconditioning.studies.one_dimension.problem import LineFit
from deconditioning.studies.story import mediated
from deconditioning.studies.story.mediated import NEAR
from deconditioning.wording import plus_minus
from pages.kit.controls.edits import HINT, EditedPoints
from pages.story.step import Control, Guess, Link, Question, Shown, Step, number

#: The input at which the hidden function is to be guessed.
AT = 2.0
#: Height of both scatters: alone, and above another picture.
TALL, _UPPER = 400, 235
BY_HAND = EditedPoints(
    {"first": ("s5-first", "first table"), "second": ("s5-second", "second table")}, "s5-as-generated", upright=True
)


@st.cache_resource(show_spinner=False, max_entries=16)
def _line(spec: LineSpec) -> tuple[Line, LineFit]:
    line = make_line(spec)
    return line, mediated.deconditioned(line)


@dataclass(frozen=True)
class Table:
    """One table's rows: ``values`` across (n,), ``mediators`` up (n,), the same as ``generated`` (values, mediators),
    and where rows lie by hand (e, 2)."""

    values: np.ndarray
    mediators: np.ndarray
    generated: tuple[np.ndarray, np.ndarray]
    places: np.ndarray

    def near(self, mediator: float) -> np.ndarray:
        """Which rows are counted at that mediator (n,)."""
        return np.abs(self.mediators - mediator) <= NEAR


def _tables(line: Line, drawn: Line) -> tuple[Table, Table]:
    """Both tables; ``drawn`` is the problem before its edits."""
    first, second = (edits.flipped.places for edits in line.spec.edits)
    own, all_of_them = (
        [(each.inputs.numpy(), each.mediators.numpy()), (each.targets.numpy(), each.query.numpy())]
        for each in (drawn, line)
    )
    return Table(*all_of_them[0], own[0], first), Table(*all_of_them[1], own[1], second)


def mediator(value: float, guess: Guess | None, dark: bool) -> Shown:
    """Both tables at one value of the mediator, with the rows that were moved, added and deleted."""
    spec = BY_HAND.edited(LineSpec(), st.container(horizontal=True, vertical_alignment="center", key="story-by-hand"))
    st.caption(HINT)
    (line, result), drawn = _line(spec), _line(LineSpec())[0]
    link, tables = mediated.link_at(line, value), _tables(line, drawn)
    figures = [
        _scatter(table, value, at, labels, dark, TALL if guess is None else _UPPER)
        for table, at, labels in zip(
            tables, (link.input, link.outcome),
            (("first table: input", "mediator"), ("second table: outcome", "mediator")), strict=True,
        )
    ]  # fmt: skip
    figures[0]["layout"]["shapes"].append(draw.rule(AT, INK[dark]))
    points = [
        BY_HAND.editable(scatter, spec, table.generated, (name, "mediator"))
        for scatter, table, name in zip(("first", "second"), tables, ("input", "outcome"), strict=True)
    ]
    exact, estimate, sd = (mediated.read_at(line, values, AT) for values in (line.truth, result.mean, result.sd))
    lesson = ""
    if guess is not None:
        figures.append(_function(line, result, link, float(guess.value), dark))
        made = "which generated the data" if spec == LineSpec() else "which generated all points but yours"
        lesson = (
            f"No input was ever observed with its outcome. At the mark deconditioning estimates "
            f"{plus_minus(estimate, 2 * sd)}; the hidden function, {made}, is {number(exact)} there."
        )
    first, second = spec.counts
    equation = rf"""
$$\tilde z \sim N(W^\top f(\mathbf x), \Sigma),\qquad W = (L + n\lambda I)^{{-1}}\tilde L,\qquad
E[f(x)] = k(x)^\top W (W^\top K W + \Sigma)^{{-1}}\tilde z$$

$L = \ell(\mathbf y, \mathbf y)$ compares mediators of the first table ($n = {first}$), $\tilde L$ those of the
first with those of the second ($m = {second}$); at the mark $E[f({number(AT, 6)})] = {estimate:.3f}$, sd ${sd:.3f}$.
"""
    edits = {"o-first-edits": spec.first_edits, "o-second-edits": spec.second_edits}
    query = {key: text for key, text in edits.items() if text}
    return Shown(
        tuple(figures), _sentence(link, value), exact, lesson, equation=equation,
        source="Hsu and Ramos 2019, §5.2, theorem 5.3 and §8.1",
        link=Link("one_dimension", "This problem with all controls", query), points=tuple(points),
    )  # fmt: skip


def _sentence(link: mediated.Link, value: float) -> str:
    """What both tables say near the mediator's value, of the rows that are there now."""
    parts = []
    for table, rows, what, mean in (
        ("the first table", link.rows[0], "input", link.input),
        ("the second", link.rows[1], "outcome", link.outcome),
    ):
        count = "no row" if rows == 0 else "1 row" if rows == 1 else f"{rows} rows"
        parts.append(f"{table} has {count}" + (f", mean {what} {number(mean)}" if rows else ""))
    return f"Near the mediator's {number(value)} (in colour) {'; '.join(parts)}."


def _scatter(table: Table, value: float, mean: float, labels: tuple[str, str], dark: bool, height: int) -> Figure:
    """A table's rows, those at the mediator's value in colour, and their mean."""
    near, rust = table.near(value), hue("rust", dark)
    traces = [
        draw.dots(table.values[~near], table.mediators[~near], "", hue("grey", dark), size=7, alpha=0.75),
        draw.dots(table.values[near], table.mediators[near], "", rust, size=8, alpha=0.75),
        draw.dots(np.array([mean]), np.array([value]), "", rust, size=17, symbol="diamond"),
    ]
    if len(table.places):
        traces.append(
            draw.dots(table.places[:, 0], table.places[:, 1], "", hue("violet", dark), size=13, symbol="circle-open")
        )
    (across, up), alt = (_room(*pair) for pair in zip(table.generated, table.places.T, strict=True)), labels[0]
    rules = [draw.rule(value, rust, upright=False)]
    result = draw.picture(traces, labels, f"The {alt} of every row.", dark=dark, across=across, up=up, rules=rules,
                         height=height)  # fmt: skip
    result["layout"]["margin"]["t"] = 10  # no words above it
    return result


def _room(generated: np.ndarray, by_hand: np.ndarray) -> tuple[float, float]:
    """Room for all rows wherever they are dragged; more only where an address has some farther out."""
    every = np.concatenate([generated, by_hand])
    low, high = float(generated.min()), float(generated.max())
    margin = 0.08 * (high - low)
    return min(low - margin, float(every.min())), max(high + margin, float(every.max()))


def _function(line: Line, line_fit: LineFit, link: mediated.Link, guess: float, dark: bool) -> Figure:
    """The hidden function, what was recovered of it, the guess, and where the mediator points."""
    grid, mean, half_width, colour = (
        line.grid.numpy(),
        line_fit.mean.numpy(),
        2 * line_fit.sd.numpy(),
        hue("blue", dark),
    )
    traces = [
        draw.band(grid, mean - half_width, mean + half_width, "", colour),
        draw.line(grid, line.truth.numpy(), "hidden function", INK[dark], dash="dot"),
        draw.line(grid, mean, "deconditioned, 95 %", colour),
        draw.dots(
            np.array([link.input]),
            np.array([link.outcome]),
            "means at this mediator",
            hue("rust", dark),
            size=17,
            symbol="diamond",
        ),
        draw.dots(np.array([AT]), np.array([guess]), "your guess", hue("rust", dark), size=18, symbol="x"),
    ]
    return draw.picture(traces, ("input", "outcome"), "The hidden function, recovered.", dark=dark, height=_UPPER + 10)


STEPS = (
    Step(
        "A mediator links",
        "Two tables without common rows can be linked by a third quantity that both contain.",
        Control("The mediator", -5.5, 5.5, -5.0, 0.1),
        Question(f"What is the outcome at the dashed mark, where the input is {number(AT, 6)}?", -4, 4, 0.1, ""),
        mediator,
    ),
)
