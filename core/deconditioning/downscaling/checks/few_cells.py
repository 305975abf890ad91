"""Maps from few visible cells: when they are averaged over hyperparameters, and what they must say.

Fewer than eight cells are refused when the problem is made (`deconditioning.fields.problem.assemble`).
"""

from dataclasses import replace

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.intervals import RIGHT
from deconditioning.models.local_scale import LocalScale

#: Visible cells below which hyperparameters are integrated out, and below which, stations included, a sentence says
#: what that means; up to so many the local scale only widens.
INTEGRATED, FEW = 60, 40


def integrates(settings: DownscaleSettings, cells: int) -> bool:
    """Whether learning from so many visible cells ends with a spread of hyperparameters; for completed settings."""
    return bool(settings.integrate) and settings.kind.on_bags and cells < INTEGRATED


def stations_inside(problem: DownscalingProblem) -> int:
    """The stations that are targets: they measure points, and so the variation inside the cells."""
    return sum(len(source.row) for source in problem.sources if source.footprints is None)


def visible_targets(problem: DownscalingProblem) -> str:
    """How many cells, and stations inside them, are visible, in words."""
    stations = stations_inside(problem)
    return f"{len(problem.data.targets)} cells" + (f" and {stations} stations" if stations else "")


def sentences(problem: DownscalingProblem, integrated: bool) -> tuple[str, ...]:
    """What a map from few cells, and stations inside them, must say; ``integrated``: it is an average over
    hyperparameters."""
    if len(problem.data.targets) + stations_inside(problem) >= FEW:
        return ()
    visible = visible_targets(problem)
    known = (
        "the map is therefore an average over plausible hyperparameters"
        if integrated
        else "the intervals may be too narrow, because the map takes its hyperparameters as known"
    )
    return (
        f"Only {visible} are visible. They hardly determine how rough the field is inside the cells: {known}. The "
        f"intervals are more reliable with at least {FEW} cells or stations: choose a larger region or smaller cells, "
        "or withhold fewer.",
    )


def refuted(verdict: str | None, at_stations: float | None) -> bool:
    """Whether intervals that few cells may make too narrow are not so: by the ``verdict`` of a truth on them
    (`metrics.intervals.Trust`), else by the share of 95 % intervals that contain a value ``at_stations`` which no
    method used; None for what is not known."""
    if verdict is not None:
        return verdict != "too narrow"
    return at_stations is not None and round(100 * at_stations) >= RIGHT[0]


def widening(scale: LocalScale, cells: int, below: int = FEW + 1) -> LocalScale:
    """The local scale κ from so many visible cells; ``below`` some number of them ``max(κ, 1)``.

    Few cells can widen intervals, but are no reason to narrow any. From more than `FEW` cells κ stays as it is:
    the uncertainty of the hyperparameters is in the spread of the map's members already, and ``max(κ, 1)`` of every
    member would widen the intervals once more.
    """
    return replace(scale, factor=scale.factor.clamp_min(1.0)) if cells < below else scale
