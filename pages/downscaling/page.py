"""Page Downscaling: a coarse field becomes a fine one, with its uncertainty and its error."""

import streamlit as st

from core.fields import DownscalingProblem
from core.models.spec import ModelSpec
from pages.downscaling import data, draws, learn, model, numbers, out, picture, sweep, trust, words
from pages.downscaling.presets import PRESETS
from pages.kit.layout import notes, page_header, refusals


def main() -> None:
    """Read the controls, ask core for the posterior, draw."""
    page_header(
        "Downscaling",
        "A coarse field and what is known at high resolution become a fine field with its doubt.",
        PRESETS,
    )
    run = learn.current_run()
    if run is not None:
        learn.open_run(run)
    with refusals():
        body()


def body() -> None:
    """Controls in the sidebar, picture in the middle, numbers below."""
    said, hidden = words.first_sentence()
    with st.sidebar:
        choice = data.choose(hidden)
    problem = data.problem_of(choice)
    with st.sidebar:
        settings, start = model.choose_model(choice, problem)
    with said:
        words.situation(problem, start)
    numbers.hope(choice.key, problem)
    learning = st.container()
    maps = picture.Maps.of(problem)
    spec, view = picture.posterior(choice, problem, start, maps)
    with st.sidebar:
        how = learn.options(problem, spec.model)
        learn.learn_button(choice, settings, spec, how)
    with learning:
        learn.watch(choice, problem, spec)
    baselines = numbers.interpolations(choice.key, problem)
    panels = picture.panels_of(choice, problem, start, spec, view, maps)
    cell = picture.draw_maps(choice, panels, view, maps)
    held, checked = trust.of_view(problem, view), learn.one_scale_up(choice, problem, spec)
    with maps.places[picture.TRUST]:
        trust.panel(problem, view, held, baselines["bilinear"], trust.refusals(problem, view))
        trust.one_scale_up(spec, checked)
        learn.warn(choice, problem, spec, view)
    picture.await_exact(choice, problem, spec, view)
    if view.jitter:
        st.warning(f"{view.jitter:.1e} was added to a diagonal to factorise it: raise σ² to avoid it.")
    words.what_it_shows(problem, spec, view)
    explore(choice, problem, spec, view, maps)
    numbers.one_cell(problem, view, cell)
    st.subheader("Scores", anchor=False)
    numbers.scores(choice.key, problem, spec, view)
    numbers.reliability(choice.key, problem, spec, view)
    trust.show_assumptions(choice, problem, spec, view)
    trust.show_local_scale(problem, view)
    trust.show_one_scale_up(problem, maps.scale, checked)
    st.subheader("Take it home", anchor=False)
    out.downloads(choice, problem, settings, spec, view, baselines, panels, held, checked)
    notes(problem.notes)


def explore(
    choice: data.Choice, problem: DownscalingProblem, spec: ModelSpec, view: picture.View, maps: picture.Maps
) -> None:
    """What is computed only when it is asked for: joint draws, a grid of settings."""
    draws.show(choice, problem, spec, view, maps.scale)
    sweep.show(choice, problem, spec)


main()
