"""What leaves the page: CF NetCDF, printed maps, settings, and the sentences that go with them."""

import json
import shlex
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core import __version__
from core.downscaling.deliver import Leaving
from core.downscaling.one_scale_up import OneScaleUp
from core.downscaling.settings import DownscaleSettings, spec_to_settings
from core.downscaling.verdict import unchecked
from core.engine.uploads import UPLOAD
from core.fields import DownscalingProblem
from core.figures.downscaled_maps import heading
from core.figures.panel import Panel
from core.figures.publication import caption_text, projections_for, publication_figure
from core.metrics import Trust
from core.models.catalogue import MODELS
from core.models.spec import ModelSpec
from core.slides.deck import Shown, presented
from pages.downscaling import file
from pages.downscaling.data import Choice
from pages.downscaling.picture import View
from pages.downscaling.words import hidden_cells, pixels_of_a_cell
from pages.kit import bound, present
from pages.kit.state import offer_only
from pages.kit.words import sentence_of


def downloads(
    choice: Choice,
    problem: DownscalingProblem,
    settings: DownscaleSettings,
    spec: ModelSpec,
    view: View,
    baselines: dict[str, np.ndarray],
    panels: list[Panel],
    held: Trust | None,
    checked: OneScaleUp | None,
    shown: Shown,
) -> None:
    """Download buttons; files are made when asked for. Only exact pictures leave the page."""
    if not view.exact:
        st.caption("Downloads wait for the exact picture.")
        return
    everything = {
        "source": choice.source.to_dict(),
        "problem": choice.spec.to_dict(),
        "settings": spec_to_settings(settings, spec).to_dict(),
        "version": __version__,
    }
    name = f"{choice.spec.target}-{spec.model}"
    columns = st.columns([2, 1, 1, 1, 1], vertical_alignment="bottom")
    offered = projections_for(problem.grid)
    offer_only("proj", offered)
    projection = bound.selectbox("Projection of printed maps", offered, key="proj", place=columns[0])
    common: dict[str, Any] = {"on_click": "ignore", "width": "stretch"}
    verdict = held or unchecked(problem, view.mean, baselines["bilinear"])
    for column, kind, mime in ((columns[2], "png", "image/png"), (columns[3], "pdf", "application/pdf")):
        column.download_button(
            f"Maps, {kind.upper()}",
            partial(_printed, choice, problem, spec, panels, verdict, projection, kind),
            f"{name}.{kind}",
            mime,
            key=f"get-{kind}",
            **common,
        )
    columns[4].download_button(
        "Settings", json.dumps(everything, indent=2), f"{name}.json", "application/json", key="get-json", **common
    )
    present.files(presented(shown), name, everything)
    file.offer(choice, _leaving(problem, spec, view, everything, baselines, checked), name, columns[1])
    _many_steps(choice, f"{name}.json")


def _many_steps(choice: Choice, file: str) -> None:
    """The command that takes this model to every time step of a Zarr store."""
    kept = sentence_of(f"`{file}`")
    fields = sentence_of(", ".join(f"`{name}`" for name in choice.spec.covariates))
    with st.expander("Many time steps (Zarr)"):
        st.markdown(
            "The same model at every time step of a Zarr store, region by region, in memory that does not grow with "
            "the store: press **Settings** to keep this model, with the sliders' hyperparameters, as "
            f"{kept}, then, in the project's folder:"
        )
        st.code(predict_command(file), language="bash")
        needs = f"{fields} of every step" if fields else "the grid of every step"
        st.markdown(
            f"The store has to hold {needs} on this grid. Targets stay those seen here; with `--condition each` every "
            "step is conditioned on its own targets instead, with these hyperparameters. The run appears on page Runs."
        )
        if any(UPLOAD in (key or "") for key in choice.source.to_dict().values()):
            st.caption("An uploaded file is found by its contents in the runs folder of this app.")


def predict_command(file: str) -> str:
    """The command line that predicts a store with the model in a file."""
    return shlex.join(["python", "-m", "core", "predict-store", "FIELDS.zarr", "--model", file, "--output", "OUT.zarr"])


def _leaving(
    problem: DownscalingProblem, spec: ModelSpec, view: View, settings: dict, baselines: dict[str, np.ndarray],
    checked: OneScaleUp | None,
) -> Leaving:  # fmt: skip
    return Leaving(
        problem,
        spec,
        view.mean,
        view.sd,
        settings,
        sd_latent=view.sd_latent,
        local_scale=view.scale,
        baselines=baselines,
        checked=None if checked is None else checked.to_dict(),
        warnings=() if checked is None else checked.sentences,
    )


def _printed(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, panels: list[Panel], verdict: Trust | str,
    projection: Any, kind: Any,
) -> bytes:  # fmt: skip
    """The maps as they are on the screen; without a truth the caption says what could be checked."""
    covariates = ", ".join(choice.spec.covariates).replace("_", " ")
    more = [f"Covariates: {covariates or 'coordinates only'}"]
    if problem.hidden:
        more.append(hidden_cells(problem))
    if isinstance(verdict, str):
        more.append(verdict)
    caption = caption_text(
        method=f"{MODELS[spec.model].title} ({MODELS[spec.model].source}); coarse values are means over "
        f"{pixels_of_a_cell(problem)}",
        data=problem.source,
        licence=problem.licence,
        seed=choice.spec.seed,
        more=". ".join(sentence.rstrip(".") for sentence in more),
    )
    return publication_figure(
        panels, problem.grid, projection=projection, heading=heading(problem), caption=caption,
        trust=None if isinstance(verdict, str) else verdict, format=kind,
    )  # fmt: skip
