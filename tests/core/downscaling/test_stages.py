"""Which way of stage one learning takes: joint, unless one scale up or the prior's sd says that it ran away."""

from dataclasses import replace

import numpy as np
import pytest

from deconditioning.downscaling import learning, stages
from deconditioning.downscaling.checks.one_scale_up import one_scale_up
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import CHOOSE, DownscaleSettings
from deconditioning.downscaling.stages import WAYS, Stage, choose_stage, has_two_ways, ran_away
from deconditioning.downscaling.starting import completed
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import Cancelled, InputError, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.catalogue import MODELS, named
from deconditioning.models.learning.learning import Learned
from tests.core.downscaling.test_partial import QUICK, problem

SETTINGS = DownscaleSettings("shrinkage_cmp", restarts=1, **QUICK)


@pytest.fixture(scope="module")
def given() -> DownscalingProblem:
    return problem()


def found(rmse: float, model: str = "shrinkage_cmp") -> OneScaleUp:
    """What was found of eight cells in four larger ones, off by about ``rmse`` each."""
    means = tuple(rmse * (1 + 0.01 * cell) for cell in range(8))
    joined = (1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0)
    values = {
        "cell": tuple(map(float, range(8))),
        "known": (0.0,) * 8,
        "joined": joined,
        "mean": means,
        "sd": (1.0,) * 8,
    }
    errors = {model: rmse, "bilinear": 9.0}
    return OneScaleUp(model, 4, 8, "K", 0.0, errors, {}, 1.0, (0.5, 0.9, 0.95), (1.0,), None, values)


def pretend(monkeypatch: pytest.MonkeyPatch, rmse: dict[str, float | None]) -> list[str]:
    """One scale up finds these errors by way of stage one; the ways that were asked for."""
    asked: list[str] = []

    def check(problem, settings, check):
        asked.append(settings.stage_one)
        error = rmse[settings.stage_one]
        return None if error is None else found(error)

    monkeypatch.setattr(stages, "one_scale_up", check)
    return asked


def test_mediated_models_without_a_covariance_of_their_own_have_two_ways() -> None:
    assert {name for name in MODELS if has_two_ways(named(name))} == {
        "shrinkage_cmp", "uncertain_cmp", "cmp", "variational_cmp", "variational_shrinkage_cmp",
    }  # fmt: skip
    assert DownscaleSettings().stage_one == CHOOSE
    assert DownscaleSettings().learning().stage_one == WAYS[0]
    assert DownscaleSettings(stage_one="joint").learning().stage_one == "joint"


@pytest.mark.parametrize(("apart", "joint", "way"), [(2.0, 1.0, "joint"), (1.0, 23.9, WAYS[0]), (1.0, 1.0, "joint")])
def test_joint_learning_is_taken_unless_it_is_clearly_farther_one_scale_up(
    monkeypatch, given, apart, joint, way
) -> None:
    asked = pretend(monkeypatch, {WAYS[0]: apart, "joint": joint})
    stage = choose_stage(given, SETTINGS, NoReport())
    assert asked == list(WAYS) and stage.way == way
    assert f"{apart:.3g} K" in stage.sentence and f"{joint:.3g} K" in stage.sentence and stage.check is not None
    assert stage.check.rmse["shrinkage_cmp"] == min(apart, joint) and stage.check.choice == stage.sentence
    assert OneScaleUp.from_dict(stage.check.to_dict()) == stage.check


def test_what_is_asked_for_or_has_one_way_is_not_chosen(monkeypatch, given) -> None:
    asked = pretend(monkeypatch, {})
    one_way = [SETTINGS.replace(model=name) for name in ("bag_gp", "task_transformed_gp", "partial_cmp")]
    for settings in (SETTINGS.replace(stage_one="joint"), *one_way):
        expected = "joint" if settings.stage_one == "joint" else WAYS[0]
        assert choose_stage(given, settings, NoReport()) == Stage(expected)
    assert asked == []


def test_where_one_scale_up_cannot_be_asked_bags_are_left_out(monkeypatch, given) -> None:
    asked = pretend(monkeypatch, {WAYS[0]: None})
    stage = choose_stage(given, SETTINGS, NoReport())
    assert (stage.way, stage.check) == (WAYS[0], None) and "cannot compare" in stage.sentence and asked == [WAYS[0]]

    def refuses(*_):
        raise InputError("too few")

    monkeypatch.setattr(stages, "one_scale_up", refuses)
    assert choose_stage(given, SETTINGS, NoReport()).way == WAYS[0]


def test_differences_are_counted_in_standard_errors_of_larger_cells(given) -> None:
    far, near = found(3.0), found(1.0)
    area = given.coarse_grid.area
    squares = area.flat[:8] * (np.array(far.values["mean"]) ** 2 - np.array(near.values["mean"]) ** 2)
    sums = squares.reshape(4, 2).sum(axis=1)
    assert far.farther(near, area) == pytest.approx(sums.mean() / (sums.std(ddof=1) / 2))
    assert near.farther(far, area) == pytest.approx(-far.farther(near, area)) and near.farther(near, area) == 0


def test_learning_by_choice_is_learning_in_the_way_that_it_names(given) -> None:
    settings, checked = completed(given, SETTINGS), {}
    for way in WAYS:
        checked[way] = one_scale_up(given, settings.replace(stage_one=way), never)
        assert checked[way] is not None
    far = checked["joint"].farther(checked[WAYS[0]], given.coarse_grid.area)
    way = WAYS[0] if far > 1.645 else "joint"
    chosen, guard = learn_model(given, SETTINGS)
    asked, _ = learn_model(given, SETTINGS.replace(stage_one=way))
    assert chosen.spec == asked.spec and chosen.stages["chosen"]["way"] == way
    assert guard.one_scale_up is not None and guard.one_scale_up.rmse == checked[way].rmse
    for each in checked.values():
        assert f"{each.rmse['shrinkage_cmp']:.3g}" in (guard.one_scale_up.choice or "")


def test_a_joint_learning_that_runs_away_is_turned_back(monkeypatch, given) -> None:
    pretend(monkeypatch, {WAYS[0]: 2.0, "joint": 1.0})
    learned_ways: list[str] = []
    honest = learning.learn_single

    def learns(problem, settings, context):
        learned_ways.append(settings.stage_one)
        learned, guard = honest(problem, settings.replace(stage_one=WAYS[0]), context)
        if settings.stage_one == "joint":
            first, *rest = learned.spec.kernel.terms
            kernel = replace(learned.spec.kernel, terms=(replace(first, scale=400.0), *rest))
            learned = replace(learned, spec=replace(learned.spec, kernel=kernel))
        return learned, guard

    monkeypatch.setattr(learning, "learn_single", learns)
    learned, guard = learn_model(given, SETTINGS)
    assert learned_ways == ["joint", WAYS[0]] and learned.spec.kernel.variance < 100
    assert learned.stages["chosen"]["way"] == WAYS[0] and "grew to 2" in learned.stages["chosen"]["said"]
    assert not ran_away(Stage(WAYS[0]), learned)
    assert guard.one_scale_up is not None and not guard.one_scale_up.stage_one


def test_cancelling_the_choice_keeps_the_start(monkeypatch, given) -> None:
    def cancelled(*_):
        raise Cancelled("stop")

    monkeypatch.setattr(stages, "one_scale_up", cancelled)
    learned, _ = learn_model(given, SETTINGS)
    assert isinstance(learned, Learned) and learned.cancelled


def test_a_result_says_which_way_was_taken(given) -> None:
    told = downscale(given, {**QUICK, "model": "shrinkage_cmp", "restarts": 1}).diagnostics
    assert told["stages"]["chosen"]["way"] in WAYS
    assert told["one_scale_up"]["stage_one"] == told["stages"]["chosen"]["said"]
