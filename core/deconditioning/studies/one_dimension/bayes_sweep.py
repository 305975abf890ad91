"""What can be swept of Bayes' rule in one dimension, and how far the embedding lies from the exact one."""

from typing import Any

from deconditioning.figures.small_multiples import small_lines
from deconditioning.studies.one_dimension.bayes import posterior_of_y
from deconditioning.studies.one_dimension.sweep import kernel_at, kernel_settings, line_at, line_settings, line_spec
from deconditioning.studies.sweeping import Setting, Settings, Study
from deconditioning.sweeps import Score

#: Points of a small picture, of the grid's 400.
THIN = 8


def row(given: Settings) -> dict[str, Any]:
    """The distance of the deconditional embedding from the exact one, the moments of its herded samples, and both."""
    found = posterior_of_y(
        line_at(line_spec(given)), str(given["prior"]), given["x"], kernel_at(given, "k", "x"),
        kernel_at(given, "l", "y"), given["regularisation"], given["second_regularisation"], given["herded"],
    )  # fmt: skip
    lines = {"embedding": found.embedding[::THIN], "exact": found.exact[::THIN]}
    told: dict[str, Any] = {"distance": found.distance, "negative": found.mean.negative}
    if "herded" in found.moments:
        (mean, sd), (right, wide) = found.moments["herded"], found.moments["exact"]
        told |= {"mean_error": abs(mean - right), "sd_error": abs(sd - wide)}
    return told | {"picture": small_lines(found.y[::THIN], lines)}


_KERNELS = kernel_settings("k", "k", 0.6, 1.0) | kernel_settings("ℓ", "l", 0.5, 1.0)

SWEEP = Study(
    "One dimension: Bayes' rule",
    {"prior": Setting("Prior of y", "uniform"), "x": Setting("Observed x", 1.0, -4.0, 4.0, log=False)}
    | line_settings()
    | {name: setting for name, setting in _KERNELS.items() if not name.endswith("_size")}
    | {"k_size": Setting("Variance of k", 1.0), "l_size": Setting("Variance of ℓ", 1.0)}
    | {
        "regularisation": Setting("λ, of the simulation", 1e-5, 1e-9, 1.0),
        "second_regularisation": Setting("ε, of the inverse", 1e-2, 1e-9, 1.0),
        "herded": Setting("Herded samples", 200, 10, 500, whole=True),
    },
    {
        "distance": Score("Distance of the embedding, relative to the norm of the exact one"),
        "mean_error": Score("Error of the herded mean of y"),
        "sd_error": Score("Error of the herded sd of y"),
        "negative": Score("Negative weights", ""),
    },
    row,
)
