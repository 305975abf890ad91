"""What page Downscaling offers to sweep: the hyperparameters of its model."""

import json
import re
from collections.abc import Mapping
from typing import Any

from deconditioning.downscaling.duration import setting_seconds
from deconditioning.downscaling.interactive import traced_spec
from deconditioning.downscaling.pictures.settings import SliderSettings
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.sweep import sweepable
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import hyperparameter_names
from pages.downscaling.data import Choice
from pages.downscaling.essentials import in_kilometres
from pages.downscaling.model import slider_values
from pages.kit.tools import sweep
from pages.kit.tools.sweep import Offer, Sweepable


def offer(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> None:
    """Offer it in the line of tools."""
    sweep.offer(lambda: _sweepable(choice, problem, spec))


def _sweepable(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> Sweepable:
    about = {"source": choice.source.to_dict(), "problem": choice.spec.to_dict()}
    bags = problem.data.bags.count
    if choice.warp:
        about["warp"] = json.loads(choice.warp)

    def fits(settings: Mapping[str, Any]) -> bool:
        same = all(settings.get(name) == value for name, value in about.items()) and ("warp" in settings) == (
            "warp" in about
        )
        return same and (settings.get("model") or {}).get("model") == spec.model.name

    def controls(settings: Mapping[str, Any], values: Mapping[str, float]) -> Mapping[str, Any]:
        return slider_values(traced_spec(ModelSpec.from_dict(settings["model"]), problem, dict(values)), bags)

    values, offers = sweepable(spec, problem), {}
    titles = hyperparameter_names(values)
    for name, value in values.items():
        key = _slider(problem, spec, name, value)
        title = titles[name] + (f" (1 = {in_kilometres(problem)(1)})" if _is_distance(name, problem) else "")
        offers[name] = Offer(title, value, key, *_ends(key, bags))
    names = sorted(offers, key=lambda name: "lengthscale" not in name)
    settings = {"model": spec.to_dict(), **about}
    ordered = {name: offers[name] for name in names}
    return Sweepable(ordered, "sweep", settings, problem.spec.seed, fits, controls, setting_seconds(problem))


def _is_distance(name: str, problem: DownscalingProblem) -> bool:
    """Whether it is a lengthscale of k along the coordinates alone."""
    kind, _, columns = name.rstrip("]").partition(" [")
    alone = not set(columns.split("+")) & set(problem.spec.covariates)
    return problem.spec.coordinates and alone and kind.startswith("k") and kind.endswith("lengthscale")


def _slider(problem: DownscalingProblem, spec: ModelSpec, name: str, value: float) -> str:
    """The slider that shows a hyperparameter: the one that follows when it is moved."""
    bags = problem.data.bags.count
    now, moved_values = (
        slider_values(traced_spec(spec, problem, {name: moved}), bags) for moved in (value or 1.0, 2 * (value or 1.0))
    )
    return next((key for key in now if now[key] != moved_values.get(key)), "")


def _ends(key: str, bags: int) -> tuple[float | None, float | None]:
    """The ends of a slider, in the units of its hyperparameter; no row beyond them could be put onto it."""
    of_terms = re.fullmatch(r"(?:m-)?([ls])\d+(?:-\d+)*", key)
    if of_terms:
        setting = {"l": SliderSettings.lengthscale, "s": SliderSettings.variance}[of_terms[1]]
        return setting.low, setting.high
    known = DownscaleSettings.by_key().get(key)
    if known is None or known.low is None or known.high is None:
        return None, None
    times = bags if known.name == DownscaleSettings.regularisation.name else 1  # its slider shows λ·B
    return known.low / times, known.high / times
