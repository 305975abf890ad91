"""Steps 7 to 9: the real map, how sure it is, and where it fails."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.downscaling.checks.scale_up_result import OTHERS, OneScaleUp
from deconditioning.fields.problem.baselines import constant
from deconditioning.fields.problem.explained_variation import WEAK, explained_share
from deconditioning.figures.downscaled_maps import field_scale, largest_values
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map
from deconditioning.figures.studies.story import TALL
from deconditioning.figures.style import Figure
from deconditioning.metrics.intervals import RIGHT, trust
from deconditioning.studies.story.whole_map import Solved, one_scale_above, solve
from pages.kit.chart.background import awaited, get_background, session_lane
from pages.story.fields import KEY, problem_of
from pages.story.step import Control, Guess, Link, Question, Shown, Step, number, percent, within

HIGH, LOW = "645 m up", "75 m up"
LEVELS = {HIGH: KEY, LOW: "ukv-75m"}
#: K by which a map's cell averages may differ from the cells before the check is amber.
_FITS_TO = 0.01
SOURCE = "Chau et al. 2021, §3.2 and §5.2; Kyriakidis 2004 (area-to-point kriging)"


@st.cache_resource(show_spinner=False, max_entries=8)
def _results(kind: str, key: str) -> dict[str, Any]:
    """Where background work leaves its result for all sessions."""
    return {}


def _work(kind: str, key: str) -> Callable[[Callable[[], None]], Any]:
    problem = problem_of(key)

    def work(check: Callable[[], None]) -> Any:
        results = _results(kind, key)
        if "found" not in results:
            results["found"] = solve(key, problem, check) if kind == "map" else one_scale_above(problem, check)
        return results["found"]

    return work


def begin(kind: str, key: str) -> "Future[Any]":
    """Start work in the background, for a step that comes later."""
    return get_background().request(f"story-{kind}-{key}", session_lane(f"story-{kind}-{key}"), _work(kind, key))


def ahead(at: int) -> None:
    """Begin at step ``at`` what later steps will show."""
    jobs = [("map", KEY)] * (at >= 4) + [("map", LEVELS[LOW]), *(("up", key) for key in LEVELS.values())] * (at >= 7)
    for kind, key in jobs:
        if "found" not in _results(kind, key):
            begin(kind, key)


def _result(kind: str, key: str) -> Any:
    """The result, or None while it is being computed."""
    return _results(kind, key).get("found")


def _wait(kind: str, key: str) -> Callable[[], Any]:
    words = "The map is being computed …" if kind == "map" else "The test one scale up is being computed …"
    name = f"story-{kind}-{key}"
    return lambda: awaited(name, name, _work(kind, key), words)


def _map(title: str, values: np.ndarray, key: str, dark: bool, scale: MapScale | None = None) -> Figure:
    problem = problem_of(key)
    figure = field_map(
        Panel("story", title, values, problem.grid, scale or field_scale(problem)), dark=dark, height=TALL + 90
    )
    figure["layout"]["meta"]["hall"] = True
    for words in (figure["layout"]["title"]["font"], *(each["font"] for each in figure["layout"]["annotations"])):
        words["size"] = 17
    figure["data"][0]["colorbar"]["tickfont"] = {"size": 15}
    figure["layout"]["margin"] |= {"t": 36, "b": 70}
    figure["layout"]["annotations"][0]["yshift"] = -44
    return figure


def _three_classes(figure: Figure, names: tuple[str, str, str]) -> None:
    """Let a map of −1, 0 and 1 have three colours, and its bar three fields with names."""
    heat = figure["data"][0]
    colours = [heat["colorscale"][at][1] for at in (0, len(heat["colorscale"]) // 2, -1)]
    heat["colorscale"] = [[at / 3, colour] for place, colour in enumerate(colours) for at in (place, place + 1)]
    heat["colorbar"] |= {"tickvals": [-2 / 3, 0, 2 / 3], "ticktext": list(names)}


def _coarse(key: str, dark: bool) -> tuple[Figure, ...]:
    """What is there before anything is computed."""
    return (_map("Cell values; the map is being computed …", constant(problem_of(key)), key, dark),)


def _equation(solved: Solved) -> str:
    bags = solved.problem.data.bags.count
    return rf"""
$$\tilde z = W^\top \mathbf f + e,\qquad E[f(x)] = m + c(x)^\top W S^{{-1}}(\tilde z - W^\top \bar m),\qquad
\mathrm{{Var}}\,f(x) = k(x, x) - c(x)^\top W S^{{-1}} W^\top c(x)$$

${bags}$ cells, ${len(solved.problem.pixel)}$ pixels; $c(x)$ is the covariance of each cell's average with the field
at $x$. RMSE: blocks ${number(solved.rmse(solved.blocks))}$ K, bilinear ${number(solved.rmse(solved.bilinear))}$ K, mean
${number(solved.rmse(solved.mean))}$ K.
"""


def _dissolve(share: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 7: from blocks to terrain."""
    solved: Solved | None = _result("map", KEY)
    if solved is None:
        return Shown(
            _coarse(KEY, dark), "Cells over Wales and the Irish Sea, one temperature each.", wait=_wait("map", KEY)
        )
    values = solved.dissolved(share / 100)
    off = solved.off_cells(values)
    fits, reduction = off < _FITS_TO, 1 - solved.rmse(solved.mean) / solved.rmse(solved.blocks)
    title = "Cell values" if share == 0 else "Deconditioned" if share == 100 else f"{share} % dissolved"
    lesson = (
        "Compared with the real field, which the model never saw, the RMSE of the blocks is "
        f"{number(solved.rmse(solved.blocks))} K, of the deconditioned map {number(solved.rmse(solved.mean))} K, of "
        f"interpolation between cells {number(solved.rmse(solved.bilinear))} K."
    )
    figures = [_map(title, values, KEY, dark)]
    if guess is not None:
        figures.append(_map("The real field, never shown to the model", solved.truth, KEY, dark))
    return Shown(
        tuple(figures), f"{len(solved.problem.pixel):,} pixels from {solved.problem.data.bags.count} cells.",
        100 * reduction, lesson,
        good=(f"The average over every cell equals the cell's value, to {within(off, 'K')}.",) if fits else (),
        bad=() if fits else (f"Averages over cells differ from the cell values by up to {number(off)} K.",),
        equation=_equation(solved), source=SOURCE, link=Link("downscaling", "This map with all controls"),
    )  # fmt: skip


def sure(level: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 8: intervals, checked against the truth."""
    solved: Solved | None = _result("map", KEY)
    if solved is None:
        return Shown(
            _coarse(KEY, dark), "Each pixel gets a temperature and an interval around it.", wait=_wait("map", KEY)
        )
    promised, problem = level / 100, solved.problem
    limit = float(f"{largest_values(problem, solved.mean, solved.sd).spread:.2g}")
    spread = MapScale("2 sd", problem.units, "uncertainty", 0.0, limit)
    figures = [_map("Uncertainty: 2 standard deviations", 2 * solved.sd, KEY, dark, spread)]
    held, lesson = solved.held(promised), ""
    then = held if guess is None else solved.held(guess.control / 100)
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    if guess is not None:
        scale = MapScale("truth and interval", "", "diverging", -1.0, 1.0)
        outside = _map("Where the truth is outside the interval", solved.beyond(promised), KEY, dark, scale)
        _three_classes(outside, ("below", "inside", "above"))
        figures.insert(0, outside)
        result = trust(solved.truth, solved.predictive, weights=problem.grid.area)
        right = result.right
        good, bad = ((result.sentence,), ()) if right else ((), (result.sentence,))
        lesson = (
            f"The {level} % intervals contain the truth on {percent(held)} of the area. Wherever a truth is known, a "
            "stated uncertainty can be tested."
        )
    sentence = f"Every pixel has an interval that should contain the truth in {level} of 100 cases."
    equation = rf"""
$$\hat c(q) = \sum_i a_i\,\mathbf 1\!\left[\,|z_i - m_i| \le \Phi^{{-1}}\!\big(\tfrac{{1+q}}{{2}}\big)\,s_i\right],
\qquad \hat c({number(promised, 6)}) = {held:.3f}$$

$z_i$ the truth, $m_i$ and $s_i$ mean and sd at a pixel of area $a_i$.
"""
    link = Link("downscaling", "Its intervals, next to the map")
    source = "Gneiting, Balabdaoui and Raftery 2007, §3"
    return Shown(tuple(figures), sentence, 100 * then, lesson, good, bad, equation, source, link)


def fails(where: str, guess: Guess | None, dark: bool) -> Shown:
    """Step 9: the same a little above the ground, and the signs by which one would know."""
    key = LEVELS[where]
    solved: Solved | None = _result("map", key)
    if solved is None:
        return Shown(_coarse(key, dark), f"The same cells, {where}.", wait=_wait("map", key))
    share = {name: explained_share(problem_of(name)).share for name in LEVELS.values()}
    figures = [_map(f"Deconditioned, {where}", solved.mean, key, dark)]
    good: list[str] = []
    bad: list[str] = []
    lesson = ""
    if guess is not None:
        figures.append(_map(f"The real field, {where}", solved.truth, key, dark))
        good, bad = signs(solved, share[key], _result("up", key))
        left = solved.rmse(solved.mean) / solved.rmse(solved.blocks)
        lesson = (
            f"{where} the mountains explain {percent(share[key])} of the variation inside the cells; the map's error "
            f"is {percent(left)} of that of the blocks."
        )
    equation = rf"""
$$R^2 = 1 - \frac{{\sum_i a_i (z_i' - \beta h_i')^2}}{{\sum_i a_i z_i'^2}} = {share[key]:.3f}$$

A prime means minus the cell average; $h$ is the altitude, $a$ the area.
"""
    query = {} if key == KEY else {"data": key}
    wait = None if guess is None or _result("up", key) else _wait("up", key)
    return Shown(
        tuple(figures),
        f"The same place, hour and method. {HIGH} the mountains explain {percent(share[KEY])} of the variation inside "
        "the cells.",
        100 * share[LEVELS[LOW]], lesson, tuple(good), tuple(bad), equation, "Wald, Ranchin and Mangolini 1997",
        Link("downscaling", f"This map, {where}", query), wait,
    )  # fmt: skip


def signs(solved: Solved, share: float, checked: OneScaleUp | None) -> tuple[list[str], list[str]]:
    """The three checks of the app, as sentences in green and in amber."""
    held = trust(solved.truth, solved.predictive, weights=solved.problem.grid.area)
    result = [
        (share >= WEAK, f"Covariates explain {percent(share)} of the variation inside the cells."),
        (held.right, held.sentence),
    ]
    if checked is not None:
        ratio, coverage = checked.rmse[checked.method] / checked.rmse["bilinear"], checked.held[-1]
        nearer = f"; {OTHERS[checked.better]} is more accurate" if checked.better and checked.beaten else ""
        fine = not checked.beaten and round(100 * coverage) >= RIGHT[0]
        sentence = (
            f"One scale up, without the truth: the error is {percent(ratio)} of that of interpolation; the "
            f"intervals contain {percent(coverage)}{nearer}."
        )
        result.insert(0, (fine, sentence))
    return [words for fine, words in result if fine], [words for fine, words in result if not fine]


STEPS = (
    Step(
        "The real map",
        "On a real map the blocks dissolve into terrain, and every cell keeps its average.",
        Control("Dissolved, %", 0, 100, 0, 10, revealed=100),
        Question("By how much is the error smaller once the blocks have dissolved?"),
        _dissolve,
    ),
    Step(
        "How sure?",
        "A map must state its uncertainty, and the uncertainty must be right.",
        Control("Nominal level, %", 50, 99, 95, 1),
        Question("How much of the truth do these intervals really contain?"),
        sure,
    ),
    Step(
        "Where it fails",
        "Near the ground the mountains explain little: the map misses detail, and its intervals deserve less trust.",
        Control("Height above the ground", options=(HIGH, LOW), value=LOW),
        Question("How much of the variation inside the cells do the mountains explain at 75 m?"),
        fails,
    ),
)
