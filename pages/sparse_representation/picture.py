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
from deconditioning.wording import rounded, signed
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.page_layout import lead
from pages.kit.layout.theme import is_dark
from pages.sparse_representation.controls import LEARN, LEARNABLE, choose_values
from pages.sparse_representation.learned import shown_data, toy_of

#: Height of the small pictures together: beside the large one and its sentence.
_BESIDE = 470
#: Titles of small pictures, where a version's name says less.
TITLES = {"random": "Random points, same kernel"}


@st.cache_data(show_spinner=False, max_entries=64)
def read_at(toy: ToySpec, spec: SparseRepresentation) -> Represented:
    """f by a representation, kept."""
    return read(toy_of(toy), spec)


@st.cache_data(show_spinner=False, max_entries=16)
def fitted(toy: ToySpec, version: str, count: int) -> Represented:
    """f by a version that needs no run to learn, kept."""
    return represent(toy_of(toy), SparseSettings(version, count, seed=toy.seed))


def _at_values(
    toy: Toy, count: int, places: str, values: tuple[float, float, float], learned: dict[str, SparseRepresentation]
) -> Represented:
    """The representation at the sliders' values."""
    if places == "learned" and not learned:
        st.info("Nothing has been learned for this problem yet: press Learn, or choose other points.")
    if places == "learned" and learned:
        chosen = learned.get("learned") or next(iter(learned.values()))
        at = np.array(chosen.locations)[:, 0]
    else:
        at = places_of(toy, count, "random" if places == "learned" else places)
    return read_at(toy.spec, at_hyperparameters(toy, at, *values))


def pictures(
    toy: Toy, count: int, learned: dict[str, SparseRepresentation]
) -> tuple[Represented, dict[str, Represented]]:
    """At the sliders' values, large; beside it, other positions and the variational GP. Returns the former, and all
    others by their version."""
    sentence = st.empty()
    left, right = st.columns([5, 3])
    with left:
        represented = picture_first(lambda: _represented(toy, count, learned))
    others = {version: read_at(toy.spec, spec) for version, spec in learned.items()}
    others["variational_gp"] = fitted(toy.spec, "variational_gp", len(represented.locations))
    places = places_of_picture(learned)
    if places == "learned":
        others["random"] = _at_values(toy, count, "random", _values(represented), learned)
    with sentence:
        lead(opening(toy, represented, others, places))
    first = [version for version in ("random", "learned", "variational_gp") if version in others]
    height = _BESIDE // len(first)
    for version in first:
        title = TITLES.get(version, VERSIONS[version])
        with right:
            _draw(toy, version, title, others[version], f"s-{version}", height=height, legend=False)
    st.caption(
        "Triangles mark the positions of the points; their height has no meaning. Between the points the band is wide "
        "although there are data: the model takes each observation for a combination of f at the points, so that the "
        "data determine f only there."
    )
    return represented, others


def places_of_picture(learned: dict[str, SparseRepresentation]) -> str:
    """Where the points of the large picture stand."""
    chosen = str(st.session_state.get(PlacedSettings.places.key) or _usual(learned))
    return chosen if learned or chosen != "learned" else "random"


def _usual(learned: dict[str, SparseRepresentation]) -> str:
    """Where they stand at first: where they have been learned, if they have."""
    return "learned" if learned else PlacedSettings.places.default


def _values(represented: Represented) -> tuple[float, float, float]:
    """The hyperparameters of a representation, as the sliders hold them."""
    assert represented.spec is not None
    term = represented.spec.kernel.terms[0]
    return term.factors[0].lengthscales[0], term.scale, represented.spec.noise


def opening(toy: Toy, represented: Represented, shown: dict[str, Represented], places: str) -> str:
    """How near the points of the sliders come, beside learned ones, the variational GP and all data."""
    count = len(represented.locations)
    best = min((name for name in shown if name in LEARNABLE), key=lambda n: _rmse(shown[n], toy), default=None)
    sentence = (
        f"{toy.spec.data:,} noisy observations of a function, represented by {count} inducing points: at {places} "
        f"positions the RMSE is **{rounded(_rmse(represented, toy))}**"
    )
    if "random" in shown:
        return f"{sentence}, at random positions {rounded(_rmse(shown['random'], toy))}{_all_data(toy, count)}."
    if best is None:
        return f"{sentence}. Press **{LEARN}** to see how well {count} learned points can represent it."
    return f"{sentence}, at learned positions **{rounded(_rmse(shown[best], toy))}**{_all_data(toy, count)}."


def _all_data(toy: Toy, count: int) -> str:
    """The error of a GP on all data; nothing where these are too many."""
    try:
        return f". A GP on all data reaches {rounded(_rmse(fitted(toy.spec, 'exact_gp', count), toy))}"
    except InputError:
        return ""


def _rmse(represented: Represented, toy: Toy) -> float:
    return represented.scores(toy)["rmse"]


def _represented(toy: Toy, count: int, learned: dict[str, SparseRepresentation]) -> Represented:
    """The sliders, and the representation at their values."""
    with st.sidebar:
        places, values = choose_values(_usual(learned))
    represented = _at_values(toy, count, places, values, learned)
    stand = places if learned or places != "learned" else "random"
    title = f"{len(represented.locations)} {stand} points, kernel as on the sliders"
    _draw(toy, "on_sliders", title, represented, "s-here", height=420)
    count = len(represented.locations)
    other = ("random" if stand != "random" else "learned") if learned else "even"
    compared = _at_values(toy, count, other, values, learned)
    st.markdown(
        f"Log evidence of these {count} {stand} points: **{signed(represented.evidence, 1)}**; of {other} points with "
        f"the same kernel {signed(compared.evidence, 1)}. Higher is better."
    )
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
