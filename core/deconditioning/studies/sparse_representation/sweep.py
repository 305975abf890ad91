"""What can be swept of a sparse representation, and its scores at a setting."""

from functools import lru_cache
from typing import Any

from deconditioning.datasets.sparse_toy import Toy, ToySpec, make_toy
from deconditioning.figures.small import small_lines
from deconditioning.studies.sparse_representation.study import PLACES, at_hyperparameters, places_of, read
from deconditioning.studies.sweeping import Score, Setting, Settings, Study

#: Points of a small picture.
POINTS = 50


@lru_cache(maxsize=4)
def toy_at(spec: ToySpec) -> Toy:
    """The data, kept while only the representation moves."""
    return make_toy(spec)


def row(given: Settings) -> dict[str, Any]:
    """Evidence and scores against f, and f's posterior."""
    toy = toy_at(ToySpec(given["data"], given["made_of"], given["data_noise"], given["seed"]))
    places = places_of(toy, given["points"], str(given["places"]))
    found = read(toy, at_hyperparameters(toy, places, given["k_scale"], given["k_size"], given["noise"]))
    scores, thin = found.scores(toy), max(1, len(found.mean) // POINTS)
    lines = {"mean": found.mean[::thin], "truth": toy.truth[::thin]}
    return {
        "evidence": found.evidence,
        **{name: scores[name] for name in SWEEP.scores if name in scores},
        "picture": small_lines(toy.grid[::thin, 0].numpy(), lines, found.sd[::thin]),
    }


SWEEP = Study(
    "Sparse representation",
    {
        "data": Setting("Data", 100, 20, 100_000, whole=True, draws=True),
        "made_of": Setting("Points that make the function", 5, 1, 12, log=False, whole=True, draws=True),
        "points": Setting("Points that represent it", 5, 1, 20, log=False, whole=True),
        "data_noise": Setting("Noise of the data (sd)", 0.1, 0.0, 1.0, log=False, draws=True),
        "seed": Setting("Seed", 0),
        "places": Setting(f"Points: {' or '.join(PLACES)}", PLACES[0]),
        "k_scale": Setting("Lengthscale of k", 1.0, 0.05, 20.0),
        "k_size": Setting("Variance of k", 1.0, 1e-2, 1e3),
        "noise": Setting("σ²", 0.01, 1e-5, 1.0),
    },
    {
        "evidence": Score("Log evidence", "more", truth=False),
        "rmse": Score("RMSE against f"),
        "crps": Score("CRPS against f"),
        "coverage95": Score("f in 95 % intervals", ""),
    },
    row,
)
