"""What can be swept of a sparse representation, and its scores at a setting."""

from functools import lru_cache
from typing import Any

from deconditioning.datasets.sparse_toy import Toy, ToySpec, make_toy
from deconditioning.figures.small_multiples import small_lines
from deconditioning.studies.sparse_representation.settings import RepresentationSettings
from deconditioning.studies.sparse_representation.study import at_hyperparameters, places_of, read
from deconditioning.studies.sweeping import Study
from deconditioning.sweeps import Score

#: Points of a small picture.
_POINTS = 50


@lru_cache(maxsize=4)
def toy_at(spec: ToySpec) -> Toy:
    """The data, kept while only the representation moves."""
    return make_toy(spec)


def row(values: dict[str, Any]) -> dict[str, Any]:
    """Evidence and scores against f, and f's posterior."""
    toy = toy_at(ToySpec(values["data"], values["made_of"], values["data_noise"], values["seed"]))
    places = places_of(toy, values["points"], str(values["places"]))
    result = read(toy, at_hyperparameters(toy, places, values["k_scale"], values["k_size"], values["noise"]))
    scores, thin = result.scores(toy), max(1, len(result.mean) // _POINTS)
    lines = {"mean": result.mean[::thin], "truth": toy.truth[::thin]}
    return {
        "evidence": result.evidence,
        **{name: scores[name] for name in SWEEP.scores if name in scores},
        "picture": small_lines(toy.grid[::thin, 0].numpy(), lines, result.sd[::thin]),
    }


SWEEP = Study(
    "Sparse representation",
    RepresentationSettings.declared(),
    {
        "evidence": Score("Log evidence", "more", truth=False),
        "rmse": Score("RMSE against f"),
        "crps": Score("CRPS against f"),
        "coverage95": Score("f in 95 % intervals", ""),
    },
    row,
)
