"""Functions and points, at the sliders' values and learned."""

import numpy as np
import streamlit as st

from deconditioning.datasets.sparse_toy import Toy, ToySpec
from deconditioning.errors import InputError
from deconditioning.figures.studies.one_dimension import function_plot
from deconditioning.models.sparse.sparse_representation import SparseRepresentation
from deconditioning.studies.sparse_representation.settings import PlacedSettings
from deconditioning.studies.sparse_representation.study import (
    VERSIONS,
    Represented,
    SparseSettings,
    at_hyperparameters,
    places_of,
    read,
    represent,
)
from deconditioning.wording import number, signed
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
    """At the sliders' values, large; beside and below, learned and the variational GP. Returns the former."""
    told = st.empty()
    left, right = st.columns([5, 3])
    with left:
        here = picture_first(lambda: _here(toy, count, kept))
    others = {version: read_at(toy.spec, spec) for version, spec in kept.items()}
    others["variational_gp"] = fitted(toy.spec, "variational_gp", len(here.locations))
    told.markdown(opening(toy, here, others, _places()))
    first = [version for version in ("learned", "learned_points", "variational_gp") if version in others]
    below, words = st.columns([1, 2], vertical_alignment="center") if len(first) > 2 else (right, st)
    places = [right.container(), right.container(), below]
    for place, version in zip(places, [first[0], *first[1:][::-1]], strict=False):
        with place:
            _draw(toy, version, VERSIONS[version], others[version], f"s-{version}", height=200, legend=False)
    words.caption(
        "Triangles mark the positions of the points; their height has no meaning. Between the points the band is wide, "
        "because the model assumes that the data depend on f only at the points."
    )
    return here


def _places() -> str:
    """Where the points of the large picture stand, as its control holds it."""
    return str(st.session_state.get(PlacedSettings.places.key) or PlacedSettings.places.default)


def opening(toy: Toy, here: Represented, shown: dict[str, Represented], places: str) -> str:
    """How near the points of the sliders come, beside learned ones, the variational GP and all data."""
    data, count = f"{toy.spec.data:,}", len(here.locations)
    best = min((name for name in shown if name in LEARNABLE), key=lambda n: _rmse(shown[n], toy), default=None)
    own = (
        f"{data} noisy data of a sum of {toy.spec.points} kernels. RMSE with {count} inducing points: "
        f"**{number(_rmse(here, toy))}** at {places} positions and the sliders' values"
    )
    if best is None:
        return f"{own}. Press **Learn the points** to see how well {count} learned points can represent it."
    return (
        f"{own}, **{number(_rmse(shown[best], toy))}** once the points are learned. For comparison: variational GP, "
        f"{count} points {number(_rmse(shown['variational_gp'], toy))}{_all_data(toy, count)}."
    )


def _all_data(toy: Toy, count: int) -> str:
    """The error of a GP on all data; nothing where these are too many."""
    try:
        return f"; GP on all data {number(_rmse(fitted(toy.spec, 'exact_gp', count), toy))}"
    except InputError:
        return ""


def _rmse(represented: Represented, toy: Toy) -> float:
    return represented.scores(toy)["rmse"]


def _here(toy: Toy, count: int, kept: dict[str, SparseRepresentation]) -> Represented:
    """The sliders, and the representation at their values."""
    with st.sidebar:
        places, values = choose_values()
    represented = _at_values(toy, count, places, values, kept)
    title = f"Posterior of f from {len(represented.locations)} {places} points at the sliders' values"
    _draw(toy, "random", title, represented, "s-here", height=420)
    count = len(represented.locations)
    st.markdown(f"The log evidence of these {count} {places} points is **{signed(represented.evidence, 1)}**.")
    return represented


def _draw(
    toy: Toy, version: str, title: str, represented: Represented, key: str, *, height: int, legend: bool = True
) -> None:
    low, high = float(toy.truth.min()), float(toy.truth.max())
    room = 0.5 * max(high - low, 1.0)
    figure = function_plot(
        toy.grid[:, 0].numpy(), represented.mean, represented.sd, {"truth": toy.truth}, title=title, model=version,
        name="posterior:<br>mean ± 2 sd", marks=represented.locations, points=shown_data(toy), labels=("x", "f(x)"),
        limits=(low - room, high + room), names={"truth": "true f"}, legend=legend, height=height, dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, key, later=not legend)
