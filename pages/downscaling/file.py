"""The file that leaves the page: which fields, in which form, made when it is asked for."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.downscaling.draws import Draws, exact_draws
from deconditioning.downscaling.result_dataset import ResultDataset
from deconditioning.errors import InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.writing.delivery import Delivery, attributes_of_text, packed
from deconditioning.fields.writing.quantiles_and_draws import QUANTILES
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import number
from pages.downscaling import picture
from pages.downscaling.data import Choice
from pages.kit.chart.background import awaited
from pages.kit.controls import widgets
from pages.kit.controls.essential import group
from pages.kit.layout.page_layout import refusal

_NETCDF, _ZARR = "NetCDF", "Zarr"
#: Numbers of draws that are offered.
DRAWS = (0, 10, 20, 50, 100)


def offer(choice: Choice, leaving: ResultDataset, name: str, place: DeltaGenerator) -> None:
    """The button in its place; what the file is to hold in an expander below."""
    with group("Contents of the file"):
        delivery, by_standard = _requested()
    stated = st.session_state.get("effective") if st.session_state.get("draws") else None
    if delivery is not None and stated:
        delivery = replace(delivery, resolution=float(stated))
    if delivery is None:
        return
    drawn = _joint_draws(choice, leaving.problem, leaving.spec, delivery.draws) if delivery.draws else None
    stem = leaving.drs_name if by_standard else name
    zipped = delivery.store or delivery.apart
    place.download_button(
        _ZARR if delivery.store else _NETCDF,
        partial(_packed, leaving, delivery, drawn, stem),
        f"{stem}.{'zip' if zipped else 'nc'}",
        "application/zip" if zipped else "application/x-netcdf",
        key="get-nc",
        disabled=bool(delivery.draws) and drawn is None,
        on_click="ignore",
        width="stretch",
    )


def _requested() -> tuple[Delivery | None, bool]:
    """What is asked for, None with a sentence where that cannot be; whether the name is by the syntax."""
    left, right = st.columns(2)
    form = widgets.selectbox("Format", (_NETCDF, _ZARR), key="form", place=left)
    draws = widgets.selectbox(
        "Joint draws", DRAWS, key="members", place=right,
        help="Fields that agree with the same coarse cells, stacked along the dimension `realization`",
    )  # fmt: skip
    levels = ", ".join(number(100 * level, 6) for level in QUANTILES)
    quantiles = widgets.toggle(f"Quantiles ({levels} %)", key="quantiles", place=left)
    single = widgets.toggle("Single precision (float32)", key="single", place=right)
    separate = widgets.toggle(
        "One file per grid", key="apart", place=left, help="Fine and coarse fields in separate files"
    )
    by_standard = widgets.toggle(
        "File name by the data reference syntax",
        key="drs",
        place=right,
        help="The CORDEX file name, built from the attributes of the input",
    )
    text = widgets.text_input(
        "Your own attributes", key="attributes", placeholder="doi=10.5281/zenodo.1234; contact=me@example.org"
    )
    try:
        attributes = attributes_of_text([part for part in text.split(";") if part.strip()])
        return Delivery(draws, QUANTILES if quantiles else (), single, separate, form == _ZARR, attributes), by_standard
    except InputError as error:
        refusal(error)
        return None, by_standard


def _joint_draws(choice: Choice, problem: DownscalingProblem, spec: ModelSpec, count: int) -> Draws | None:
    """The draws, made in the background from the sums that the page keeps; None until they are there."""
    data, sums, _ = picture.inputs_of_draws(choice, problem, spec)

    def work(check: Callable[[], None]) -> Draws:
        return exact_draws(
            spec,
            data,
            problem,
            choice.key,
            picture.sums_store(),
            sums,
            count=count,
            seed=problem.spec.seed,
            check=check,
        )

    key = f"members-{count}-{picture.spec_key(choice, spec)}"
    return awaited(key, "members", work, f"Drawing {count} fields for the file …")


def _packed(leaving: ResultDataset, delivery: Delivery, drawn: Draws | None, stem: str) -> Any:
    drawing = None if drawn is None else lambda count, seed: drawn
    return packed(leaving.dataset(delivery, drawing), delivery, stem)[0]
