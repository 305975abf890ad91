"""What slides of a downscaling show, put together from what a page or a command has."""

from collections.abc import Mapping, Sequence

from deconditioning.downscaling.checks.assumptions import Assumption, refused
from deconditioning.downscaling.checks.interval_summary import verdict
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.run import DownscalingResult, withheld_scores
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import all_panels, field_scale, largest_values
from deconditioning.figures.map_panel import Panel
from deconditioning.metrics.intervals import Trust, trust
from deconditioning.models.named_model import NamedModel
from deconditioning.slides.deck import Shown, covariate_panel


def assembled(
    problem: DownscalingProblem,
    fields: Fields,
    model: NamedModel,
    panels: Sequence[Panel],
    scores: Mapping[str, Mapping[str, float | None]],
    result: Trust | str,
    checked: OneScaleUp | None,
    *,
    address: str = "",
    command: str = "",
) -> Shown:
    """The contents of the slides: ``panels`` with the limits they have on the screen, ``found`` what is reported of the
    intervals (`deconditioning.downscaling.checks.interval_summary`), ``fields`` those the problem was made of."""
    held, instead = (None, result) if isinstance(result, str) else (result, "")
    sentence = "" if checked is None else checked.sentence
    return Shown(
        problem,
        model,
        tuple(panels),
        scores,
        held,
        instead,
        covariate_panel(problem, fields.variables()),
        sentence,
        address,
        command,
    )


def of_result(problem: DownscalingProblem, fields: Fields, result: DownscalingResult, *, command: str = "") -> Shown:
    """The same of a finished downscaling, as the page shows its run; ``command`` is what made it."""
    problem = result.problem or problem
    mean, sd = result.mean, result.sd
    largest = largest_values(problem, mean, sd)
    panels = all_panels(problem, field_scale(problem), mean, sd, largest.steady(largest))
    held = None if problem.truth is None else trust(problem.truth, result.predictive, weights=problem.grid.area)
    refusals = refused([Assumption(**each) for each in result.diagnostics["assumptions"]])
    summary = verdict(problem, mean, held, result.fields["bilinear"], refusals)
    scores = result.scores or withheld_scores(problem, result.fields)
    one_scale_up = result.diagnostics["one_scale_up"]
    checked = None if one_scale_up is None else OneScaleUp.from_dict(one_scale_up)
    return assembled(problem, fields, result.spec.model, panels, scores, summary, checked, command=command)
