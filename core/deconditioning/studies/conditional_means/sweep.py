"""What can be swept of the two estimators of a conditional mean embedding, and their errors at a setting."""

from typing import Any

from deconditioning.figures.small_multiples import small_lines
from deconditioning.studies.conditional_means.settings import BagSettings
from deconditioning.studies.conditional_means.study import BagLayout, compare
from deconditioning.studies.sweeping import Study
from deconditioning.sweeps import Score


def row(values: dict[str, Any]) -> dict[str, Any]:
    """Errors of both estimates of the embedding and of E[X | Y = y], their difference, and the latter as curves."""
    result = compare(BagLayout(**values))
    lines = {name: result.regressions[name].numpy() for name in ("shrinkage", "truth", "standard")}
    return {
        "shrinkage": result.embedding_rmse["shrinkage"],
        "standard": result.embedding_rmse["standard"],
        "mean_shrinkage": result.regression_rmse["shrinkage"],
        "mean_standard": result.regression_rmse["standard"],
        "difference": result.difference,
        "picture": small_lines(result.y.numpy(), lines),
    }


SWEEP = Study(
    "Conditional mean embeddings",
    BagSettings.declared(),
    {
        "shrinkage": Score("RMSE of μ(x, y), shrinkage"),
        "standard": Score("RMSE of μ(x, y), standard"),
        "mean_shrinkage": Score("RMSE of E[X | Y = y], shrinkage"),
        "mean_standard": Score("RMSE of E[X | Y = y], standard"),
        "difference": Score("RMSE between the two μ", ""),
    },
    row,
)
