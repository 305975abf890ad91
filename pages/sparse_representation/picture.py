"""Functions and points, at the sliders' values and learned."""

from contextlib import suppress

import numpy as np
import streamlit as st

from deconditioning.datasets.sparse_toy import LENGTHSCALE, VARIANCE, Toy, ToySpec
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
from deconditioning.wording import number, rounded, signed
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.page_layout import lead
from pages.kit.layout.theme import is_dark
from pages.sparse_representation.controls import LEARN, LEARNABLE, choose_values
from pages.sparse_representation.learned import shown_data, toy_of

#: Small pictures side by side, and their height.
_ACROSS, _HEIGHT = 3, 230
#: Titles of small pictures, where a version's name says less.
TITLES = {"random": "Random points, same kernel", "variational_gp": "Variational GP, k-means points"}


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
        chosen = learned.get("learned_points") or next(iter(learned.values()))
        at = np.array(chosen.locations)[:, 0]
    else:
        at = places_of(toy, count, "random" if places == "learned" else places)
    return read_at(toy.spec, at_hyperparameters(toy, at, *values))


def pictures(
    toy: Toy, count: int, learned: dict[str, SparseRepresentation]
) -> tuple[Represented, dict[str, Represented]]:
    """At the sliders' values, large; below it, other positions, the variational GP, and a GP on all data where these
    are not too many. Returns the former, and all others by their version."""
    sentence = st.container()  # not empty: on the next run it keeps its words until the new ones come
    represented = picture_first(lambda: _represented(toy, count, learned))
    others = {version: read_at(toy.spec, spec) for version, spec in learned.items()}
    others["variational_gp"] = fitted(toy.spec, "variational_gp", len(represented.locations))
    places = places_of_picture(learned)
    if places == "learned":
        others["random"] = _at_values(toy, count, "random", _values(represented), learned)
    with suppress(InputError):  # too many
        others["exact_gp"] = fitted(toy.spec, "exact_gp", count)
    with sentence:
        lead(opening(toy, represented, others, places))
    st.markdown(
        "**Why is the band wide between the points, although there are data?** The model takes each observation for a "
        f"combination of f at the points: the data determine f only there.{_why_wider(toy, others)}"
    )
    shown = [version for version in VERSIONS if version in others]
    for first in range(0, len(shown), _ACROSS):
        for version, place in zip(shown[first : first + _ACROSS], st.columns(_ACROSS), strict=False):
            title = TITLES.get(version, VERSIONS[version])
            with place:
                _draw(toy, version, title, others[version], f"s-{version}", height=_HEIGHT, legend=False)
    st.caption("Triangles mark the positions of the points; their height has no meaning.")
    return represented, others


def _why_wider(toy: Toy, others: dict[str, Represented]) -> str:
    """Why learning the kernel too has made the intervals worse, where it has."""
    everything, places = others.get("learned"), others.get("learned_points")
    if everything is None or places is None:
        return ""
    crps, narrow = everything.scores(toy)["crps"], places.scores(toy)["crps"]
    size, true_size = _values(everything)[1], _values(places)[1]
    if crps <= narrow or size <= true_size:
        return ""
    return (
        " For the same reason they say little about the variance of k: learned together with the points, this variance "
        f"is {number(size, 2)} (true value {number(true_size, 2)}), which widens the band. CRPS: {rounded(crps)}, "
        f"against {rounded(narrow)} with the true hyperparameters."
    )


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
        f"{toy.spec.data:,} noisy observations of a sum of {toy.spec.points} kernels (lengthscale "
        f"{number(LENGTHSCALE)}, variance {number(VARIANCE)}), represented by {count} inducing points: at {places} "
        f"positions the RMSE is **{rounded(_rmse(represented, toy))}**"
    )
    if "random" in shown:
        gain = _gain(toy, count, shown, represented)
        return f"{sentence}, at random positions {rounded(_rmse(shown['random'], toy))}. {gain}"
    if best is None:
        return f"{sentence}. Press **{LEARN}** to see how well {count} learned points can represent it."
    gain = _gain(toy, count, shown, shown[best])
    return f"{sentence}, at learned positions **{rounded(_rmse(shown[best], toy))}**. {gain}"


def _gain(toy: Toy, count: int, shown: dict[str, Represented], points: Represented) -> str:
    """What few ``points`` spare, beside the scores of a GP on all data where these are not too many, and which of both
    to use where the latter has the better intervals."""
    matrices = f"matrices of {count} × {count} instead of {toy.spec.data:,} × {toy.spec.data:,} numbers are inverted"
    if "exact_gp" not in shown:
        return f"What is gained: {matrices}."
    exact, few = shown["exact_gp"].scores(toy), points.scores(toy)
    practice = (
        " **In practice** use the GP on all data as long as it can be computed: its band is narrower, its CRPS "
        f"{rounded(exact['crps'])} against {rounded(few['crps'])}."
    )
    better = exact["crps"] < few["crps"]
    return f"What is gained: {matrices}. A GP on all data reaches {rounded(exact['rmse'])}.{practice if better else ''}"


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
    stay = ""
    if stand == "learned" and "learned_points" in learned:
        stay = " They were learned with the true hyperparameters and stay where they are when the sliders move."
    st.markdown(
        f"Log evidence of these {count} {stand} points: **{signed(represented.evidence, 1)}**; of {other} points with "
        f"the same kernel {signed(compared.evidence, 1)}. Higher is better.{stay}"
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
