"""What leaves the page: CF NetCDF, printed maps, settings, and the sentences that go with them."""

import json
import shlex
from typing import Any

import numpy as np
import streamlit as st

from deconditioning import __version__
from deconditioning.downscaling.checks.interval_summary import unchecked
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.result_dataset import ResultDataset
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.engine.visitors.uploads import UPLOAD
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.map_panel import Panel
from deconditioning.metrics.intervals import Trust
from deconditioning.models.spec import ModelSpec
from deconditioning.slides.deck import Shown, presented
from pages.downscaling import file, printed
from pages.downscaling.data import Choice
from pages.downscaling.distribution.view import View
from pages.kit.layout.escaping import sentence_of
from pages.kit.tools import present


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
    st.subheader("Download", anchor=False)
    if not view.exact:
        st.caption("Downloads are available once the exact maps are ready.")
        return
    everything = {
        "source": choice.source.to_dict(),
        "problem": choice.spec.to_dict(),
        "settings": spec_to_settings(settings, spec).to_dict(),
        "version": __version__,
    }
    name = f"{choice.spec.target}-{spec.model.name}"
    columns = st.columns(5, vertical_alignment="bottom")
    verdict = held or unchecked(problem, view.mean, baselines["bilinear"])
    columns[4].download_button(
        "Settings, JSON", json.dumps(everything, indent=2), f"{name}.json", "application/json", key="get-json",
        on_click="ignore", width="stretch",
    )  # fmt: skip
    present.files(presented(shown), name, everything)
    printed.offer(choice, problem, spec, view, panels, verdict, name, columns[1:4])
    file.offer(choice, _leaving(problem, spec, view, everything, baselines, checked), name, columns[0])
    _several_steps(choice, f"{name}.json")


def _several_steps(choice: Choice, file: str) -> None:
    """The command that takes this model to every time step of a Zarr store."""
    settings_file = sentence_of(f"`{file}`")
    fields = sentence_of(", ".join(f"`{name}`" for name in choice.spec.covariates))
    with st.expander("Many time steps (Zarr)"):
        st.markdown(
            "Apply the same model to every time step of a Zarr store, region by region; memory use does not grow with "
            "the store. Press **Settings, JSON** to save this model, with the hyperparameters of the sliders, as "
            f"{settings_file}. Then run in the project folder:\n\n`{_predict_command(file)}`"
        )
        needs = f"{fields} of every step" if fields else "the grid of each step"
        st.markdown(
            f"The store must contain {needs} on this grid. Every step is conditioned on the targets of this page; with "
            "`--condition each` it is conditioned on its own targets instead, with the same hyperparameters. The run "
            "appears on page Runs."
        )
        if any(UPLOAD in (key or "") for key in choice.source.to_dict().values()):
            st.caption("An uploaded file is found by its contents in the runs folder of this app.")


def _predict_command(file: str) -> str:
    """The command line that predicts a store with the model in a file."""
    return shlex.join(["deconditioning", "predict-store", "FIELDS.zarr", "--model", file, "--output", "OUT.zarr"])


def _leaving(
    problem: DownscalingProblem, spec: ModelSpec, view: View, settings: dict[str, Any],
    baselines: dict[str, np.ndarray],
    checked: OneScaleUp | None,
) -> ResultDataset:  # fmt: skip
    return ResultDataset(
        problem,
        spec,
        view.predictive,
        settings,
        sd_latent=view.sd_latent,
        local_scale=view.scale,
        baselines=baselines,
        checked=None if checked is None else checked.to_dict(),
        warnings=() if checked is None else checked.sentences,
    )
