"""What can be swept of Bayes' rule in one dimension, and how far the embedding lies from the exact one."""

from typing import Any

from deconditioning.figures.small_multiples import small_lines
from deconditioning.studies.one_dimension.bayes import posterior_of_y
from deconditioning.studies.one_dimension.settings import BayesSettings
from deconditioning.studies.one_dimension.sweep import further_parameters, kernel_at, line_at
from deconditioning.studies.sweeping import Study
from deconditioning.sweeps import Score

#: Points of a small picture, of the grid's 400.
_THIN = 8


def row(values: dict[str, Any]) -> dict[str, Any]:
    """The distance of the deconditional embedding from the exact one, the moments of its herded samples, and both."""
    posterior = posterior_of_y(
        line_at(values), str(values["prior"]), values["x"], kernel_at(values, "k", "x"),
        kernel_at(values, "l", "y"), values["regularisation"], values["second_regularisation"], values["herded"],
    )  # fmt: skip
    lines = {"embedding": posterior.embedding[::_THIN], "exact": posterior.exact[::_THIN]}
    entry: dict[str, Any] = {"distance": posterior.distance, "negative": posterior.mean.negative}
    if "herded" in posterior.moments:
        (mean, sd), (right, wide) = posterior.moments["herded"], posterior.moments["exact"]
        entry |= {"mean_error": abs(mean - right), "sd_error": abs(sd - wide)}
    return entry | {"picture": small_lines(posterior.y[::_THIN], lines)}


SWEEP = Study(
    "One dimension: Bayes' rule",
    BayesSettings.declared() | further_parameters(BayesSettings, "b"),
    {
        "distance": Score("Distance of the embedding, relative to the norm of the exact one"),
        "mean_error": Score("Error of the herded mean of y"),
        "sd_error": Score("Error of the herded sd of y"),
        "negative": Score("Negative weights", ""),
    },
    row,
)
