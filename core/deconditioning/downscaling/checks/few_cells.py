"""Maps from few visible cells: when they are averaged over hyperparameters, and what they must say.

Fewer than eight cells are refused when the problem is made (`deconditioning.fields.problem.assemble`).
"""

from dataclasses import replace

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.local_scale import LocalScale

#: Visible cells below which hyperparameters are integrated out, and below which a sentence says what that means; up to
#: so many the local scale only widens.
INTEGRATED, FEW = 60, 40


def integrates(settings: DownscaleSettings, cells: int) -> bool:
    """Whether learning from so many visible cells ends with a spread of hyperparameters; for completed settings."""
    return bool(settings.integrate) and settings.kind.on_bags and cells < INTEGRATED


def sentences(problem: DownscalingProblem, integrated: bool) -> tuple[str, ...]:
    """What a map from few cells must say; ``integrated``: it is an average over hyperparameters."""
    cells = len(problem.data.targets)
    if cells >= FEW:
        return ()
    known = (
        "the map is therefore an average over plausible hyperparameters"
        if integrated
        else "the intervals may be too narrow, because the map takes its hyperparameters as known"
    )
    return (
        f"Only {cells} cells are visible. They hardly determine how rough the field is inside the cells: {known}. The "
        f"intervals are more reliable with at least {FEW} cells: choose a larger region or smaller cells, or withhold "
        "fewer.",
    )


def widening(scale: LocalScale, cells: int, below: int = FEW + 1) -> LocalScale:
    """The local scale κ from so many visible cells; ``below`` some number of them ``max(κ, 1)``.

    Few cells can widen intervals, but are no reason to narrow any. From more than `FEW` cells κ stays as it is:
    the uncertainty of the hyperparameters is in the spread of the map's members already, and ``max(κ, 1)`` of every
    member would widen the intervals once more.
    """
    return replace(scale, factor=scale.factor.clamp_min(1.0)) if cells < below else scale
