"""Functions and points, at the sliders' values and learned."""

import numpy as np
import streamlit as st

from deconditioning.datasets.sparse_toy import Toy, ToySpec
from deconditioning.figures.studies.one_dimension import function_plot
from deconditioning.models.sparse.sparse_representation import SparseRepresentation
from deconditioning.studies.sparse_representation.study import (
    VERSIONS,
    Represented,
    SparseSettings,
    at_hyperparameters,
    places_of,
    read,
    represent,
)
from deconditioning.wording import signed
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.theme import is_dark
from pages.sparse_representation.controls import LEARNABLE, choose_values
from pages.sparse_representation.learned import shown_data, toy_of


@st.cache_data(show_spinner=False, max_entries=64)
def read_at(toy: ToySpec, spec: SparseRepresentation) -> Represented:
    """f by a representation, kept."""
    return read(toy_of(toy), spec)


@st.cache_data(show_spinner=False, max_entries=16)
def fitted(toy: ToySpec, version: str, count: int) -> Represented:
    """f by a version that needs no run to learn, kept."""
    return represent(toy_of(toy), SparseSettings(version, count, seed=toy.seed))


def _at_values(
    toy: Toy, count: int, places: str, values: tuple[float, float, float], kept: dict[str, SparseRepresentation]
) -> Represented:
    """The representation at the sliders' values."""
    if places == "learned" and not kept:
        st.info("Nothing has been learned for this problem yet: press Learn, or choose other points.")
    if places == "learned" and kept:
        chosen = kept.get("learned") or next(iter(kept.values()))
        at = np.array(chosen.locations)[:, 0]
    else:
        at = places_of(toy, count, "random" if places == "learned" else places)
    return read_at(toy.spec, at_hyperparameters(toy, at, *values))


def pictures(toy: Toy, count: int, kept: dict[str, SparseRepresentation]) -> Represented:
    """At the sliders' values on the left, learned on the right; returns the former."""
    told = st.empty()
    places = [column for _ in range(1 + (len(kept) + 1) // 2) for column in st.columns(2)]
    with places[0]:
        here = picture_first(lambda: _here(toy, count, kept))
    shown = [(version, read_at(toy.spec, spec)) for version, spec in kept.items()]
    shown.append(("variational_gp", fitted(toy.spec, "variational_gp", len(here.locations))))
    told.markdown(opening(toy, dict(shown)))
    for place, (version, result) in zip(places[1:], shown, strict=False):
        with place:
            _draw(toy, version, VERSIONS[version], result, f"s-{version}")
    st.caption(
        "Triangles mark the positions of the points; their height has no meaning. Between the points the band is wide, "
        "because the model assumes that the data depend on f only at the points."
    )
    return here


def opening(toy: Toy, shown: dict[str, Represented]) -> str:
    """How near the learned points come, beside the variational GP's and beside all data."""
    data = f"{toy.spec.data:,} noisy data of a function that {toy.spec.points} points represent exactly."
    best = min((name for name in shown if name in LEARNABLE), key=lambda n: _rmse(shown[n], toy), default=None)
    if best is None:
        return f"{data} Press **Learn the points** to see how well this number of points can represent it."
    result, other = shown[best], shown["variational_gp"]
    return (
        f"{data} The RMSE is **{_rmse(result, toy):.3g}** with {len(result.locations)} learned points, "
        f"{_rmse(fitted(toy.spec, 'exact_gp', len(result.locations)), toy):.3g} for a GP on all data and "
        f"{_rmse(other, toy):.3g} for a variational GP with the same number of points."
    )


def _rmse(represented: Represented, toy: Toy) -> float:
    return represented.scores(toy)["rmse"]


def _here(toy: Toy, count: int, kept: dict[str, SparseRepresentation]) -> Represented:
    """The sliders, and the representation at their values."""
    with st.sidebar:
        places, values = choose_values()
    represented = _at_values(toy, count, places, values, kept)
    _draw(toy, "random", f"{places.capitalize()} points, values of the sliders", represented, "s-here")
    st.markdown(
        f"With {len(represented.locations)} {places} points at the values of the sliders the RMSE is "
        f"**{represented.scores(toy)['rmse']:.3g}** and the log evidence **{signed(represented.evidence, 1)}**."
    )
    return represented


def _draw(toy: Toy, version: str, title: str, represented: Represented, key: str) -> None:
    low, high = float(toy.truth.min()), float(toy.truth.max())
    room = 0.35 * max(high - low, 1.0)
    figure = function_plot(
        toy.grid[:, 0].numpy(), represented.mean, represented.sd, {"truth": toy.truth}, title=title, model=version,
        name="mean ±2 sd", marks=represented.locations, points=shown_data(toy), labels=("x", "f(x)"),
        limits=(low - room, high + room), height=330, dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, key)
