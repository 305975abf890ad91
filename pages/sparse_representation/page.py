"""Page Sparse representation: a few learned points that stand for many data."""

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from core.datasets.sparse_toy import HALF_WIDTH, Toy, ToySpec, make_toy
from core.engine import Run, RunSpec
from core.errors import InputError
from core.figures.line import function_plot
from core.models.sparse_representation import SparseRepresentation
from core.studies.run_content import locations, readable_runs
from core.studies.sparse_representation.study import (
    VERSIONS,
    Represented,
    SparseSettings,
    random_points,
    read,
    represent,
    spec_from_dict,
    true_model,
)
from core.wording import signed
from pages.kit import run_panel
from pages.kit.layout import explain, page_header, refusals, score_table
from pages.kit.picture_first import picture_first
from pages.kit.plotly_live import plotly_live
from pages.kit.run_panel import begin_run, is_busy, run_of, trace_charts
from pages.kit.state import apply_values, get_engine, log_slider, on_sliders, set_values
from pages.kit.stored import stored
from pages.kit.theme import is_dark
from pages.kit.visitor import visitor_mark

TASK = "sparse-representation"
STORED = "sparse_representation.json"
PLACES = ("random", "even", "learned")
LEARNABLE = {"learned": "points, kernel and noise", "learned_points": "points only"}
#: Data drawn at most.
MOST_SHOWN = 2000


def main() -> None:
    """Read the controls, represent, draw."""
    page_header("Sparse representation", "How few points can stand for all the data?")
    apply_values()
    with refusals():
        body()


def body() -> None:
    """Two pictures: at the sliders' values, and learned; the table of all versions."""
    with st.sidebar:
        toy_spec, count = choose_toy()
    toy, kept, learning = _toy(toy_spec), learned_specs(toy_spec, count), st.container()
    here = pictures(toy, count, kept)
    with st.sidebar:
        settings = choose_learning(count, toy_spec.seed)
        learn_button(toy_spec, settings)
    with learning:
        watch(toy_spec, count)
    table(toy, count, here, kept)
    equation(toy, count, here)


@st.cache_resource(show_spinner=False, max_entries=8)
def _toy(spec: ToySpec) -> Toy:
    return make_toy(spec)


def choose_toy() -> tuple[ToySpec, int]:
    """Data and points."""
    data = st.select_slider("Data", [20, 50, 100, 300, 1000, 10_000, 100_000], 100, key="s-data", bind="query-params")
    made_of = st.slider("Points that make the function", 1, 12, 5, key="s-made", bind="query-params")
    count = st.slider("Points that represent it", 1, 20, 5, key="s-points", bind="query-params")
    noise = st.slider("Noise of the data (sd)", 0.0, 1.0, 0.1, 0.05, key="s-noise", bind="query-params")
    seed = st.number_input("Seed", 0, 9999, 0, key="s-seed", bind="query-params")
    return ToySpec(int(data), int(made_of), float(noise), int(seed)), int(count)


def choose_values() -> tuple[str, tuple[float, float, float]]:
    """Where the points stand, and the hyperparameters of the left picture."""
    places = st.segmented_control("Points of the left picture", PLACES, default="random", key="s-places",
                                  bind="query-params")  # fmt: skip
    scale = log_slider("Lengthscale of k", "s-scale", 0.05, 20.0, 1.0)
    variance = log_slider("Variance of k", "s-size", 1e-2, 1e3, 1.0)
    noise = log_slider("σ²", "s-n", 1e-5, 1.0, 0.01)
    return places or "random", (scale, variance, noise)


def choose_learning(count: int, seed: int) -> SparseSettings:
    """What is learned, and how long."""
    with st.expander("How to learn"):
        version = st.segmented_control("Learn", list(LEARNABLE), default="learned", key="s-learn", bind="query-params",
                                       format_func=LEARNABLE.__getitem__)  # fmt: skip
        starts = st.number_input("Starts", 1, 20, 6, key="s-starts", bind="query-params")
        steps = st.number_input("Steps a start", 5, 300, 100, key="s-steps", bind="query-params")
    return SparseSettings(version or "learned", count, int(starts), int(steps), seed)


def learn_button(toy: ToySpec, settings: SparseSettings) -> None:
    """Learn as a run."""
    run = run_of(TASK)
    if st.button("Learn the points", type="primary", width="stretch", disabled=is_busy(run)):
        given = {"toy": toy.to_dict(), "settings": vars(settings), "model": settings.version}
        begin_run(RunSpec(TASK, given, toy.seed, f"{VERSIONS[settings.version]}: {settings.points} points"))


def learned_specs(toy: ToySpec, count: int) -> dict[str, SparseRepresentation]:
    """What has been learned of this problem: kept with the app, or by runs on this page."""
    found: dict[str, SparseRepresentation] = {}
    kept = stored(STORED)
    defaults = ToySpec(kept["settings"]["data"], noise=kept["settings"]["noise"])
    if replace(toy, seed=0) == defaults and count == kept["settings"]["points"]:
        rows = [row for row in kept["results"] if row["seed"] == toy.seed and row.get("learned")]
        found = {row["model"]: spec_from_dict(row["learned"]) for row in rows if row["model"] in LEARNABLE}
    run, folder = run_of(TASK), get_engine().root
    changed = folder.stat().st_mtime_ns if folder.is_dir() else 0
    return found | _learned_by_runs(toy, count, changed, (run.id, run.status) if run else None, visitor_mark())


@st.cache_data(show_spinner=False, max_entries=16, ttl=5)
def _learned_by_runs(
    toy: ToySpec, count: int, changed: int, of_page: tuple[str, str] | None, mark: str
) -> dict[str, SparseRepresentation]:
    """Learned by ended runs of exactly this problem, the latest of each version.

    The folder is scanned again when it or the page's run has changed, and every few seconds; every visitor (``mark``)
    has runs of their own.
    """

    def fits(run: Run) -> bool:
        return (
            not run.active
            and bool((run.result or {}).get("learned"))
            and run.spec.settings["toy"] == toy.to_dict()
            and run.spec.settings["settings"]["points"] == count
        )

    ended = [run for run in readable_runs(reversed(get_engine().runs()), TASK) if fits(run)]
    return {run.spec.settings["settings"]["version"]: spec_from_dict((run.result or {})["learned"]) for run in ended}


@st.cache_data(show_spinner=False, max_entries=64)
def _read(toy: ToySpec, spec: SparseRepresentation) -> Represented:
    return read(_toy(toy), spec)


@st.cache_data(show_spinner=False, max_entries=16)
def _version(toy: ToySpec, version: str, count: int) -> Represented:
    return represent(_toy(toy), SparseSettings(version, count, seed=toy.seed))


def at_values(
    toy: Toy, count: int, places: str, values: tuple[float, float, float], kept: dict[str, SparseRepresentation]
) -> Represented:
    """The representation at the sliders' values."""
    if places == "learned" and not kept:
        st.info("Nothing has been learned of this problem yet: press Learn, or choose other points.")
    if places == "learned" and kept:
        chosen = kept.get("learned") or next(iter(kept.values()))
        at = np.array(chosen.locations)[:, 0]
    else:
        even = np.linspace(-0.85 * HALF_WIDTH, 0.85 * HALF_WIDTH, count) if count > 1 else np.zeros(1)
        at = even if places == "even" else random_points(count, toy.spec.seed)
    base, (scale, variance, noise) = true_model(toy, at), values
    term = base.kernel.terms[0]
    factor = replace(term.factors[0], lengthscales=(scale,))
    kernel = replace(base.kernel, terms=(replace(term, factors=(factor,), scale=variance),))
    return _read(toy.spec, replace(base, kernel=kernel, noise=noise))


def watch(toy: ToySpec, count: int) -> None:
    """The run's panel with the points as they move; when it has ended its values go to the sliders, once."""

    def take(run: Run, learned: dict[str, Any]) -> None:
        if run.spec.settings["toy"] == toy.to_dict() and run.spec.settings["settings"]["points"] == count:
            spec = spec_from_dict(learned)
            term = spec.kernel.terms[0]
            values = {"s-scale": term.factors[0].lengthscales[0], "s-size": term.scale, "s-n": spec.noise}
            set_values(on_sliders(values) | {"s-places": "learned"})

    run_panel.watch(TASK, take, draw=moving, cancelled="Cancelled, the best so far is shown")


def moving(run: Run, rows: list[dict[str, Any]]) -> None:
    """Where the run's points stand at this moment, and the evidence so far."""
    toy = _toy(ToySpec(**run.spec.settings["toy"]))
    seen = locations(rows)
    if seen:
        last, truth = np.array(seen[-1]), toy.truth
        figure = function_plot(
            toy.grid[:, 0].numpy(), truth, None, {}, title="The points as they move", model="truth", name="truth",
            marks=last, points=_shown(toy), labels=("x", "z"), height=260, dark=is_dark(),
        )  # fmt: skip
        plotly_live(figure, "s-moving")
    trace_charts(rows)


def _shown(toy: Toy) -> tuple[np.ndarray, np.ndarray]:
    x, z = toy.inputs[:MOST_SHOWN, 0].numpy(), toy.targets[:MOST_SHOWN].numpy()
    return x, z


def pictures(toy: Toy, count: int, kept: dict[str, SparseRepresentation]) -> Represented:
    """At the sliders' values on the left, learned on the right; returns the former."""
    told = st.empty()
    places = [column for _ in range(1 + (len(kept) + 1) // 2) for column in st.columns(2)]
    with places[0]:
        here = picture_first(lambda: _here(toy, count, kept))
    shown = [(version, _read(toy.spec, spec)) for version, spec in kept.items()]
    shown.append(("variational_gp", _version(toy.spec, "variational_gp", len(here.locations))))
    told.markdown(opening(toy, dict(shown)))
    for place, (version, found) in zip(places[1:], shown, strict=False):
        with place:
            _draw(toy, version, VERSIONS[version], found, f"s-{version}")
    st.caption(
        "Triangles: where the points stand; their height means nothing. Between them the band is wide, because the "
        "data are taken to see f at the points alone; the mean is what they agree on."
    )
    return here


def opening(toy: Toy, shown: dict[str, Represented]) -> str:
    """How near the learned points come, beside the variational GP's and beside all data."""
    data = f"{toy.spec.data:,} noisy data of a function that {toy.spec.points} points represent exactly."
    best = min((name for name in shown if name in LEARNABLE), key=lambda n: _rmse(shown[n], toy), default=None)
    if best is None:
        return f"{data} Press **Learn the points** to see how near as many come as represent it here."
    found, other = shown[best], shown["variational_gp"]
    return (
        f"{data} {len(found.locations)} learned points reach RMSE **{_rmse(found, toy):.3g}**, a GP on all data "
        f"{_rmse(_version(toy.spec, 'exact_gp', len(found.locations)), toy):.3g}, a variational GP with as many points "
        f"{_rmse(other, toy):.3g}."
    )


def _rmse(found: Represented, toy: Toy) -> float:
    return found.scores(toy)["rmse"]


def _here(toy: Toy, count: int, kept: dict[str, SparseRepresentation]) -> Represented:
    """The sliders, and the representation at their values."""
    with st.sidebar:
        places, values = choose_values()
    found = at_values(toy, count, places, values, kept)
    _draw(toy, "random", f"{places.capitalize()} points, values of the sliders", found, "s-here")
    st.markdown(
        f"{len(found.locations)} {places} points at the sliders' values reach RMSE "
        f"**{found.scores(toy)['rmse']:.3g}**, log evidence **{signed(found.evidence, 1)}**."
    )
    return found


def _draw(toy: Toy, version: str, title: str, found: Represented, key: str) -> None:
    low, high = float(toy.truth.min()), float(toy.truth.max())
    room = 0.35 * max(high - low, 1.0)
    figure = function_plot(
        toy.grid[:, 0].numpy(), found.mean, found.sd, {"truth": toy.truth}, title=title, model=version,
        name="mean ±2 sd", marks=found.locations, points=_shown(toy), labels=("x", "f(x)"),
        limits=(low - room, high + room), height=330, dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, key)


def table(toy: Toy, count: int, here: Represented, kept: dict[str, SparseRepresentation]) -> None:
    """Scores of all versions that need no learning or have been learned."""
    rows = {"random": here.scores(toy)}
    names = {**VERSIONS, "random": "At the sliders' values"}
    rows |= {version: _read(toy.spec, spec).scores(toy) for version, spec in kept.items()}
    for version in ("variational_gp", "exact_gp"):
        try:
            rows[version] = _version(toy.spec, version, count).scores(toy)
        except InputError:
            names[version] = f"{VERSIONS[version]} (too many)"
    score_table(rows, columns=("rmse", "mae", "bias", "crps", "coverage95", "coverage_2sd"), names=names,
                caption="Against f without noise, over the whole picture")  # fmt: skip


def equation(toy: Toy, count: int, here: Represented) -> None:
    """The model with today's numbers."""
    assert here.spec is not None
    explain(
        "The points take the place of both x and y: every datum is a smoothed value of f at them, and the evidence "
        "says where they should stand. Only n×n matrices are inverted, whatever the number of data.",
        rf"""
$$A = (L + \sigma^2 I)^{{-1}}\ell(\mathbf u, \tilde{{\mathbf y}}),\qquad
\tilde z \sim N(0, A^\top K A + \sigma^2 I),\qquad \alpha = (A A^\top K + \sigma^2 I)^{{-1}} A \tilde z$$

$$\log p(\tilde z) = -\tfrac{{1}}{{2\sigma^2}}\left(\tilde z^\top\tilde z - (A\tilde z)^\top K\alpha\right)
- \tfrac12\log\left|A A^\top K + \sigma^2 I\right| - \tfrac{{m-n}}{{2}}\log\sigma^2 - \tfrac m2\log 2\pi$$

$n = {count}$ points, $m = {toy.spec.data}$ data, $\sigma^2 = {here.spec.noise:.3g}$, $\ell = k$ (f and g are one
function here). $O(n^3 + m n^2)$ time, memory for one chunk of data.
""",
        "Hsu and Ramos 2019, §8.2, definition 4.4 and theorem 5.3 (4)",
    )


main()
