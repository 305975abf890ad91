"""Which time, level and member is taken: one list for every further dimension of the chosen variables."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.matching import chosen_label, place_matching
from deconditioning.fields.selecting import index_of
from pages.kit.controls.variable_choice import pick
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.session import Key

AS_COVARIATES = "as the covariates"


def dimensions(
    fields: Fields, names: list[str], default: dict[str, int | str], leave_out: Sequence[str] = ()
) -> dict[str, int | str]:
    """One select box for every further dimension (time, level …) of the chosen variables."""
    extra: dict[str, tuple[str, ...]] = {}
    for name, variable in fields.variables().items():
        if name in names:
            extra |= {dim: tuple(labels) for dim, labels in variable.extra.items() if dim not in leave_out}
    select: dict[str, int | str] = {}
    for dim, labels in extra.items():
        if len(labels) > 1:
            requested = st.session_state.get(Key.SELECTION, {}).get(dim, default.get(dim, 0))
            index = min(index_of(dim, labels, requested), len(labels) - 1)
            options = places(labels)
            _read_place(f"dim-{dim}", dim, labels, options)
            picked = pick(plain(title_of(dim)), f"dim-{dim}", options, options[index])
            select[dim] = options.index(picked)
    return select


def coarse_dimensions(coarse: Fields, target: str, of_fields: tuple[Fields, list[str], Any]) -> dict[str, int | str]:
    """One select box for every further dimension of a target in a file of its own; it opens on what matches the choice
    ``of_fields`` (fields, their names, what is selected of them) where something does."""
    result: dict[str, int | str] = {}
    for dim, labels in coarse.check(target).extra.items():
        if len(labels) < 2:
            continue
        fields, names, select = of_fields
        label = chosen_label(fields, names, dim, labels, select)
        match = None if label is None else place_matching(labels, label)
        options, key = places(labels), f"coarse-dim-{dim}"
        if match is not None:
            options.insert(0, AS_COVARIATES)
        requested = st.session_state.get(Key.COARSE_SELECTION, {}).get(dim)
        begin = options[0] if requested is None else places(labels)[index_of(dim, labels, requested)]
        _read_place(key, dim, labels, options)
        picked = pick(f"{plain(title_of(dim))} of the coarse target", key, options, begin)
        if picked != AS_COVARIATES:
            result[dim] = places(labels).index(picked)
        elif match is not None:
            st.caption(f"The coarse target is for {plain(labels[match])}.")
        if label is not None and match is None:
            st.caption(
                f"No value along this dimension of the coarse target matches that of the covariates, {plain(label)}."
            )
    return result


def matching_place(
    fields: Fields, names: Sequence[str], dim: str, labels: Sequence[str], select: Mapping[str, int | str]
) -> int | None:
    """The place along a dimension of the coarse target that matches what is chosen of the covariates ``names``."""
    label = chosen_label(fields, names, dim, labels, select)
    return None if label is None else place_matching(labels, label)


def title_of(dim: str) -> str:
    """What a dimension is called on the page."""
    return dim.replace("_", " ").capitalize()


def places(labels: Sequence[str]) -> list[str]:
    """The options of a list for a dimension with these labels."""
    return [f"{label} (#{index})" for index, label in enumerate(labels)]


def _read_place(key: str, dim: str, labels: Sequence[str], options: Sequence[str]) -> None:
    """An address may say a value, part of a date or ``#5``; make it say the option, or say why none fits."""
    requested = st.query_params.get(key, "")
    if key in st.session_state or not requested or requested in options:
        return
    index, _, label = requested.partition(": ")  # how addresses had it: 5: 2024-06-01 00:00
    former = index.isdigit() and int(index) < len(labels) and labels[int(index)] == label
    try:
        st.query_params[key] = places(labels)[int(index) if former else index_of(dim, labels, requested)]
    except (InputError, IndexError) as error:
        del st.query_params[key]
        refusal(f"{plain(key)} in the address: {error}")
        return
    st.rerun()
