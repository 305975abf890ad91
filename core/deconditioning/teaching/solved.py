"""The numbers that an exercise is checked against, from the settings of its address alone: no page is opened.

Each comes from the same part of core as the page's own number; tests hold that both say the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.errors import Check, never
from deconditioning.fields.cell_settings import CellSettings
from deconditioning.studies.sweeping import study_of
from deconditioning.teaching.exercises import Address, Exercise, Numbers, Verdict

#: The worked example of page Downscaling, its model, and what its settings are called.
_EXAMPLE, MODEL = "ukv-645m", "area_to_point_gp"
_FIELD = {key: each.label for kind in (DownscaleSettings, CellSettings) for key, each in kind.by_key().items()}
#: Words of an address that read otherwise on paper.
_SAID = {"true": "yes", "false": "no"}


@dataclass(frozen=True)
class Way:
    """How an exercise's numbers are found: of which study (None: a field is downscaled), and from its settings."""

    study: str | None
    numbers: Callable[..., tuple[float, ...]]


def verdict_at(exercise: Exercise, address: Address, check: Check = never) -> Verdict:
    """What the numbers say at the settings of an address; raises ``InputError`` if one is refused."""
    check()
    way = _WAYS[exercise.key]
    result = way.numbers(address) if way.study is None else way.numbers(_settings_at(way, address))
    numbers: Numbers = dict(zip(exercise.needs, result, strict=True))
    verdict = exercise.verdict(numbers)
    assert verdict is not None
    return verdict


def _settings_at(way: Way, address: Address) -> dict[str, Any]:
    """All settings of the way's study, those of the address among them."""
    study = study_of(str(way.study))
    held = study.held
    settings = {held[key]: study.settings[held[key]].read(text) for key, text in address.items() if key in held}
    return study.complete(settings)


def opens_on(exercise: Exercise) -> str:
    """What the exercise is about, such as "One dimension: there and back"."""
    study = _WAYS[exercise.key].study
    return "Downscaling" if study is None else study_of(study).title


def solution_words(exercise: Exercise) -> str:
    """What the solution changes of the settings that the exercise opens with, such as "λ = 0.002"."""
    changed = {key: text for key, text in exercise.solution.items() if exercise.opening.get(key) != text}
    study = _WAYS[exercise.key].study
    if study is None:
        names: Mapping[str, str] = _FIELD
    else:
        own = study_of(study)
        names = {key: own.settings[name].title for key, name in own.held.items()}
    return "; ".join(f"{names[key]} = {_SAID.get(text, text)}" for key, text in changed.items())


def _band(values: dict[str, Any]) -> tuple[float, ...]:
    from deconditioning.studies.one_dimension.problem import condition_line, on_grid
    from deconditioning.studies.one_dimension.sweep import line_at, model_at

    line, spec = line_at(values), model_at(values)
    return (on_grid(line, condition_line(line, spec), spec).scores(line)["coverage_2sd"],)


def _evidence(values: dict[str, Any]) -> tuple[float, ...]:
    """The evidence, and the best of the picture that page One dimension opens with."""
    from deconditioning.studies.one_dimension.evidence_surface import evidence_surface
    from deconditioning.studies.one_dimension.sweep import line_at, model_at

    surface = evidence_surface(line_at(values), model_at(values), "k1 lengthscale [x]", "ℓ1 lengthscale [y]")
    return *_scored("one-dimension", "evidence")(values), float(np.nanmax(surface.values))


def _few_points(values: dict[str, Any]) -> tuple[float, ...]:
    from deconditioning.datasets.sparse_toy import ToySpec
    from deconditioning.studies.sparse_representation.study import SparseSettings, represent
    from deconditioning.studies.sparse_representation.sweep import toy_at

    toy = toy_at(ToySpec(values["data"], values["made_of"], values["data_noise"], values["seed"]))
    every = represent(toy, SparseSettings("exact_gp", values["points"])).scores(toy)["rmse"]
    return *_scored("sparse-representation", "rmse")(values), every


def _rule(values: dict[str, Any]) -> tuple[float, ...]:
    from deconditioning.studies.kernel_bayes.one_observation import answers
    from deconditioning.studies.kernel_bayes.settings import AnswerSettings, KernelBayesSettings
    from deconditioning.studies.kernel_bayes.study import gaussian_spec
    from deconditioning.studies.kernel_bayes.sweep import problem_at

    settings = KernelBayesSettings(**values)
    problem, y = problem_at(gaussian_spec(settings, 1)), np.array(settings.observed)
    result = answers(problem, y, bandwidth=AnswerSettings().bandwidth, **settings.rule)
    exact = problem.posterior(y)[0]
    return tuple(float(np.linalg.norm(result[name].mean - exact)) for name in ("kbr", "kde"))


def _followed(values: dict[str, Any]) -> tuple[float, ...]:
    from deconditioning.studies.filtering.settings import SweptSettings
    from deconditioning.studies.filtering.study import FilterSettings, follow, rotation_problem, system_of

    settings = SweptSettings(**values)
    problem = rotation_problem(system_of(settings), settings.train, settings.test, settings.seed)
    others = {"ekf": problem.others["ekf"]}
    kernels = FilterSettings(settings.scale, settings.regularisation, settings.tolerance)
    errors = follow(replace(problem, others=others), kernels).errors
    return errors["kbr"], errors["ekf"]


def _field(*scores: str) -> Callable[[Address], tuple[float, ...]]:
    """Scores of the worked example's map, "bilinear" for the error of that interpolation; the last says it is exact."""

    def at(address: Address) -> tuple[float, ...]:
        """The scores at an address, and 1 because they are exact."""
        from deconditioning.fields.problem.baselines import bilinear
        from deconditioning.metrics.field_scores import score_field

        problem, maps = _map(address)
        result = score_field(problem.truth, maps) | {"bilinear": score_field(problem.truth, bilinear(problem))["rmse"]}
        return *(float(result[name]) for name in scores), 1.0

    return at


def _map(address: Address) -> Any:
    """The worked example at an address's settings: the problem, and its posterior in the target's units."""
    from deconditioning.datasets.entries import find
    from deconditioning.downscaling.prediction import matched_data, predict
    from deconditioning.downscaling.presets import preset
    from deconditioning.downscaling.starting import completed, starting_spec
    from deconditioning.downscaling.warping.physical_map import physical_map
    from deconditioning.fields.problem.coarsened import make_problem
    from deconditioning.fields.spec import DownscalingSpec

    entry = find(_EXAMPLE)
    cells, noise = CellSettings.from_address(address), DownscaleSettings.noise
    cell_settings: dict[str, Any] = {"block": cells.block}
    cell_settings |= {"withhold": cells.withhold} if CellSettings.withhold.key in address else {}
    problem = make_problem(entry.open(), DownscalingSpec.from_dict(entry.default | cell_settings))
    family = DownscaleSettings.spatial
    spatial = next((name for name, title in family.inner.options.items() if title == address.get(family.key)), None)
    settings = completed(problem, DownscaleSettings(MODEL, spatial=spatial))
    spec = preset({"fields": _EXAMPLE}, problem.spec.to_dict(), settings) or starting_spec(problem, settings)
    if noise.key in address:
        spec = replace(spec, noise=noise.read(address[noise.key]))
    result = predict(spec, matched_data(problem, spec), problem)
    return problem, physical_map(problem, result.parts, result.cells)


def _scored(study: str, *scores: str) -> Callable[[dict[str, Any]], tuple[float, ...]]:
    """Scores that the study's sweeps tell."""
    return lambda values: tuple(float(result[name]) for result in [study_of(study).row(values)] for name in scores)


_WAYS = {
    "band": Way("one-dimension", _band),
    "evidence": Way("one-dimension", _evidence),
    "trip": Way("there-and-back", _scored("there-and-back", "comes_back")),
    "points": Way("sparse-representation", _few_points),
    "slices": Way("swiss-roll", _scored("swiss-roll", "rmse")),
    "one": Way("conditional-means", _scored("conditional-means", "standard", "shrinkage")),
    "rule": Way("kernel-bayes", _rule),
    "runs": Way("likelihood-free", _scored("likelihood-free", "width")),
    "examples": Way("filtering", _followed),
    "people": Way("distribution-regression", _scored("distribution-regression", "risk")),
    "doubt": Way(None, _field("coverage95")),
    "noise": Way(None, _field("rmse", "bilinear")),
}
