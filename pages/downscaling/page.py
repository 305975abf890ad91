"""Page Downscaling: a coarse field becomes a fine one, with its uncertainty and its error."""

from dataclasses import replace

import streamlit as st

from deconditioning.downscaling.checks.interval_summary import verdict
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import number
from pages.downscaling import (
    cell_selection,
    data,
    descriptions,
    downloads,
    draws,
    learn,
    model,
    numbers,
    picture,
    present,
    sweep,
    trust,
)
from pages.downscaling.distribution import uncertainty, warp
from pages.downscaling.distribution.view import View
from pages.downscaling.essentials import ESSENTIALS
from pages.downscaling.footprints import learned
from pages.downscaling.frames import ahead
from pages.downscaling.frames.along import SliderPosition
from pages.downscaling.own_file import dialog
from pages.downscaling.presets import PRESETS
from pages.kit.layout.page_layout import notes, page_header, refusals
from pages.kit.record import page_record


def main() -> None:
    """Read the controls, ask core for the posterior, draw."""
    page_header(
        "Downscaling",
        "Averages over large cells are known. What does the field look like inside them, and how certain is it?",
        PRESETS,
        ESSENTIALS,
    )
    page_record().presents_itself = True
    run = learn.current_run()
    if run is not None:
        learn.open_run(run)
    dialog.show()
    with refusals():
        body()


def body() -> None:
    """Controls in the sidebar, picture in the middle, numbers below."""
    sentence, hidden = descriptions.first_sentence()
    with st.sidebar:
        choice, requested_warp = warp.choose(data.choose(hidden))
    shows_draws, problem = draws.switch(hidden), data.problem_of(choice)
    with st.sidebar:
        settings, start = model.choose_model(choice, problem)
    with sentence:
        descriptions.situation(problem, start)
    numbers.hope(choice.key, problem, below=False)
    cell_selection.bar(problem)
    maps = picture.Maps.of(problem, learned.marks(problem))
    spec, view, position = picture.posterior(choice, problem, start, maps)
    with st.sidebar:
        how = learn.options(problem, spec.model) | {"warp": requested_warp}
        learn.learn_button(choice, problem, settings, spec, how)
        shown_doubt = uncertainty.choose(problem)
    learn.watch(choice, problem, spec, requested_warp)
    baselines = numbers.interpolations(choice.key, problem)
    panels = picture.panels_of(choice, settings, start, spec, view, maps)
    on_maps = shown_doubt.panels(panels, problem, maps.scale, view)
    cell = picture.draw_maps(choice, on_maps, view, maps, position.by_slider())
    held, checked = trust.of_view(problem, view), learn.one_scale_up(choice, problem, spec)
    doubts = trust.refusals(problem, view, checked)
    with maps.places[picture.TRUST]:
        trust.panel(problem, view, held, baselines["bilinear"], doubts, learn.unlearned(choice, settings, start, spec))
        trust.one_scale_up(spec, checked)
        learn.warn(choice, problem, spec, view)
    _reservations(choice, problem, settings, position, spec, trust.said_of(problem, spec, view, held), shown_doubt)
    numbers.hope(choice.key, problem, below=True)
    descriptions.what_it_shows(problem, spec, view, held)
    explore(choice, problem, spec, view, maps, shows_draws)
    numbers.one_cell(problem, view, cell, maps.places[picture.TRUST])
    scores(choice, problem, spec, view, checked)
    trust.show_one_scale_up(problem, maps.scale, checked)
    result = verdict(problem, view.mean, held, baselines["bilinear"], doubts)
    present.show(shown := present.shown_now(choice, problem, spec, panels, result, checked), view)
    downloads.downloads(choice, problem, settings, spec, view, baselines, on_maps, held, checked, shown)
    notes(problem.notes)


def _reservations(
    choice: data.Choice, problem: DownscalingProblem, settings: DownscaleSettings, position: SliderPosition,
    spec: ModelSpec, view: View, doubt: uncertainty.Shown,
) -> None:  # fmt: skip
    """What is not exact yet, what was added to a diagonal, what the hyperparameters know of hidden cells; once nothing
    is missing, the maps along the sliders are computed.

    In a container, as other sentences that come and go: else charts below change their place and are built anew.
    """
    with st.container():
        picture.await_exact(choice, problem, spec, view)
        ahead.show(choice, problem, replace(spec, others=()), view, position, spread=doubt.is_sd)
        if view.jitter:
            st.warning(
                f"{number(view.jitter, 2)} was added to the diagonal of a matrix to factorise it. Increase σ² to avoid "
                "this."
            )
        cell_selection.knows_too_much(problem, model.learned_from(choice, settings, spec, problem.data.bags.count))


def explore(
    choice: data.Choice, problem: DownscalingProblem, spec: ModelSpec, view: View, maps: picture.Maps,
    shows_draws: bool,
) -> None:  # fmt: skip
    """What is shown only when it is asked for: joint draws, a grid of settings."""
    with st.container():
        if shows_draws:
            draws.show(choice, problem, spec, view, maps)
        sweep.offer(choice, problem, replace(spec, others=()))


def scores(
    choice: data.Choice, problem: DownscalingProblem, spec: ModelSpec, view: View, checked: OneScaleUp | None
) -> None:  # fmt: skip
    """How good the map is, and what it rests on."""
    stations = st.container()
    st.subheader("Scores", anchor=False)
    with st.container():
        numbers.scores(choice.key, problem, spec, view)
    with stations:  # above, but its table of scores is no slide's
        learned.show(choice.key, problem, spec, view, numbers.interpolations(choice.key, problem))
    numbers.reliability(choice.key, problem, spec, view)
    with st.container():
        trust.show_assumptions(choice, problem, spec, view, checked)
    trust.show_local_scale(problem, view)


main()
