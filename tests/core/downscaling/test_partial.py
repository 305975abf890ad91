"""The partially mediated process and the choice between it and pseudo-targets, on fields."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.bag_sums.by_term import PartedPicture
from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.downscaling import interactive, learning_data
from deconditioning.downscaling.checks.learning_check import LearningCheck
from deconditioning.downscaling.checks.one_scale_up import moments, one_scale_up
from deconditioning.downscaling.checks.problem_one_scale_up import problem_one_scale_up
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.checks.sums_one_scale_up import cells_of
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.learning_data import distances_of
from deconditioning.downscaling.prediction import matched_data, predict, predict_tiled
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, completed, may_choose, starting_spec
from deconditioning.errors import InputError, never
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.models import pseudo_targets
from deconditioning.models.catalogue import named
from deconditioning.models.indirect_gp import posterior, weights_and_noise
from deconditioning.models.term_bags import bag_gram_of
from tests.core.fields.samples import fields, runaway

QUICK = {"steps": 10, "points": 9}
#: Learning takes one of the two models, not their average.
ONE = {**QUICK, "average": False}
PARTIAL = DownscaleSettings(model="partial_cmp", local_scale=False)


def problem(**changes) -> DownscalingProblem:
    spec = {"block": (3, 3), "withhold": 0.5, "matching": "indirect", "mediators": ()} | changes
    return make_problem(fields(runaway()), DownscalingSpec("t", ("orog",), **spec))


@pytest.fixture(scope="module")
def given() -> DownscalingProblem:
    return problem()


def shares_of(chosen: np.ndarray, cell: np.ndarray, area: np.ndarray) -> np.ndarray:
    rows = np.stack([np.where(cell == one, area, 0.0) for one in chosen])
    return rows / rows.sum(axis=1, keepdims=True)


def test_footprints_are_the_targets_own_cells(given):
    own = given.data.footprints
    for target, cell in enumerate(given.target_cell):
        mine = np.flatnonzero(given.cell.flat[given.pixel] == cell)
        assert torch.equal(own.inputs[own.bag == target], given.inputs[mine])
    assert problem(coordinates=False, mediators=("orog",)).data.footprints is None
    assert problem(matching="direct").data.footprints is None


@pytest.mark.parametrize("local_scale", [False, True])
def test_sums_tiles_and_preview_are_one_picture(given, local_scale):
    spec = starting_spec(given, replace(PARTIAL, local_scale=local_scale))
    picture = interactive.picture_or_none(given, spec)
    assert isinstance(picture, PartedPicture)
    store = SumsStore()
    exact = interactive.exact(spec, given.data, given, "key", store, picture)
    tiled = predict_tiled(spec, given.data, given, given.inputs)
    whole = predict(spec, given.data, given)
    for other in (tiled, whole):
        assert torch.allclose(exact.mean, other.mean, atol=1e-6) and torch.allclose(exact.sd, other.sd, atol=1e-6)
        assert other.evidence == pytest.approx(exact.evidence, abs=1e-5)
    quick = interactive.preview(spec, given.data, given, "key", store, picture, interactive.sketch(given))
    assert torch.allclose(quick.mean, exact.mean, atol=1e-6) and "mean exact" in quick.approximations[0]
    assert float((quick.sd() - exact.sd).abs().max()) < 0.05 * float(exact.sd.mean())
    assert (exact.scale is not None) == local_scale


def test_a_preview_of_few_points_is_near(given):
    spec = starting_spec(given, replace(PARTIAL, kernel="matern52"))
    look = interactive.sketch(given)
    quick = interactive.preview(spec, given.data, given, "key", SumsStore(), None, look)
    exact = predict(spec, given.data, given)
    assert np.corrcoef(quick.mean.numpy(), exact.mean.numpy())[0, 1] > 0.99


def test_sums_of_other_models_are_not_taken(given):
    """A store that holds the same terms through the bags alone."""
    store, spec = SumsStore(), starting_spec(given, PARTIAL)
    plain = replace(spec, model="shrinkage_cmp")
    picture = interactive.picture_or_none(given, plain)
    interactive.exact(plain, given.data, given, "key", store, picture)
    found = interactive.exact(spec, given.data, given, "key", store, interactive.picture_or_none(given, spec))
    assert torch.allclose(found.mean, predict(spec, given.data, given).mean, atol=1e-9)


def test_one_scale_up_is_the_posterior_of_cell_means_given_larger_cells(given):
    """Second route: f₁ through the joined bags, f₂ through the joined targets, from the covariance of all pixels."""
    settings = replace(PARTIAL, points=9, noise=0.02, point_noise=0.3)
    spec, scene = starting_spec(given, settings), problem_one_scale_up(given, settings)
    found = [each.numpy() for each in moments(scene, spec, scene.data, given, cells_of(scene, spec, given, never))]
    cell, area = given.cell.flat[given.pixel], given.grid.area.flat[given.pixel]
    nx = given.coarse_shape[1]
    square = (cell // nx // 2) * nx + cell % nx // 2

    def joined(visible: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        taken = {one: np.unique(cell[visible & (square == one)]) for one in np.unique(square[visible])}
        kept = {one: cells for one, cells in taken.items() if len(cells) >= 2}
        members = np.isin(cell, np.concatenate(list(kept.values())))
        return shares_of(np.array(list(kept)), np.where(members, square, -1), area), np.concatenate(list(kept.values()))

    (bags, _), (targets, cells) = (joined(np.isin(cell, which)) for which in (given.bag_cell, given.target_cell))
    scored = np.sort(cells)
    own = shares_of(scored, cell, area)
    first = [term for term in spec.kernel.terms if "orog" in term.factors[0].columns]
    second = [term for term in spec.kernel.terms if "orog" not in term.factors[0].columns]
    k1, k2 = (
        evaluate(KernelSpec(tuple(terms)).build(given.columns), given.inputs, given.inputs).detach().numpy()
        for terms in (first, second)
    )
    grams = np.zeros((len(bags) + len(targets),) * 2)
    grams[: len(bags), : len(bags)], grams[len(bags) :, len(bags) :] = bags @ k1 @ bags.T, targets @ k2 @ targets.T
    w, noise = (each.numpy() for each in weights_and_noise(spec, scene.data, columns_of(given), torch.as_tensor(grams)))
    s = w.T @ grams @ w + noise
    cross = np.concatenate([own @ k1 @ bags.T, own @ k2 @ targets.T], axis=1) @ w
    mean = cross @ np.linalg.solve(s, scene.data.targets.numpy())
    own_noise = spec.noise + spec.point_noise * np.square(own).sum(axis=1)
    variance = np.diag(own @ (k1 + k2) @ own.T - cross @ np.linalg.solve(s, cross.T)) + own_noise
    assert np.array_equal(given.target_cell[scene.targets.item][scene.joined], scored) and len(scored) > 30
    assert found[0] == pytest.approx(mean, abs=1e-6) and found[1] == pytest.approx(variance, abs=1e-6)


def test_every_pixel_of_the_place_is_seen_one_scale_up(given):
    """By tables of distances, and pair by pair with as many points as there are pixels."""
    settings = replace(PARTIAL, points=9)
    spec, scene = starting_spec(given, settings), problem_one_scale_up(given, settings)
    kernel = spec.kernel.build(given.columns)
    distances = distances_of(given, scene.bags, scene.points, torch.device("cpu"), never)
    assert distances() is distances()
    table, pairs = (cells_of(scene, spec, given, never, each) for each in (distances, None))
    assert torch.allclose(table.of_larger(kernel), pairs.of_larger(kernel), atol=1e-6)
    stacked = bag_gram_of(spec, scene.data, columns_of(given).place)(kernel)
    assert torch.allclose(pairs.of_larger(kernel), stacked, atol=1e-9)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(table.across(kernel), pairs.across(kernel), strict=True))


def test_too_many_cells_for_one_table_have_several(given, monkeypatch):
    scene, cpu = problem_one_scale_up(given, replace(PARTIAL, points=9)), torch.device("cpu")
    one = distances_of(given, scene.bags, scene.points, cpu, never, scene.among)()
    monkeypatch.setattr(learning_data, "_TOGETHER", 1)
    other = distances_of(problem(), scene.bags, scene.points, cpu, never, scene.among)()
    assert torch.allclose(*(each.gram(torch.exp(-each.radii)) for each in (one, other)), atol=1e-8)
    assert not learning_data.distances_suffice(problem(), starting_spec(given, PARTIAL), cpu, never)


def test_one_table_of_distances_serves_the_check_and_every_model(monkeypatch):
    """The same K̄ as from tables of their own, whose radii are others."""
    fresh, made = problem(), []
    tabulated = learning_data.tabulate
    monkeypatch.setattr(learning_data, "tabulate", lambda *given: made.append(1) or tabulated(*given))
    one_scale_up(fresh, DownscaleSettings(**ONE), never)
    learn_model(fresh, DownscaleSettings("partial_cmp", choose=False, **QUICK))
    assert len(made) == 1
    scene, cpu = problem_one_scale_up(fresh, replace(PARTIAL, points=9)), torch.device("cpu")
    shared, alone = (distances_of(fresh, scene.bags, scene.points, cpu, never, each)() for each in (scene.among, None))
    assert len(made) == 2
    for lengthscale in (0.05, 0.7, 9.0):
        grams = [table.gram(torch.exp(-table.radii / lengthscale)) for table in (shared, alone)]
        assert torch.allclose(*grams, atol=1e-8)


@pytest.fixture(scope="module")
def chosen(given) -> OneScaleUp:
    return one_scale_up(given, DownscaleSettings(**ONE), never)


def test_the_model_is_the_nearer_one_at_the_known_cells(given, chosen):
    alone = {
        name: one_scale_up(given, DownscaleSettings(name, choose=False, **QUICK), never)
        for name in ("area_to_point_gp", "partial_cmp")
    }
    for name, found in alone.items():
        assert found.model == name and found.chosen_over is None and found.choice is None
        assert found.rmse[name] == pytest.approx(chosen.rmse[name], rel=1e-6)
    nearer = min(alone, key=lambda name: alone[name].rmse[name])
    assert chosen.model == nearer and {chosen.chosen_over} == set(alone) - {nearer}
    assert chosen.crps == pytest.approx(alone[nearer].crps, rel=1e-6)
    assert f"{chosen.rmse[nearer]:.3g} K against {chosen.rmse[chosen.chosen_over]:.3g} K" in chosen.choice
    assert OneScaleUp.from_dict(chosen.to_dict()) == chosen


def test_learning_goes_on_with_the_model_that_was_chosen(given, monkeypatch, chosen):
    import deconditioning.downscaling.learning as learning

    for model in ("area_to_point_gp", "partial_cmp"):
        told = replace(chosen, model=model, chosen_over="partial_cmp" if model[0] == "a" else "area_to_point_gp")
        monkeypatch.setattr(learning, "one_scale_up", lambda *_, told=told: told)
        learned, guard = learn_model(given, DownscaleSettings(**ONE))
        assert learned.spec.model.name == model and guard.one_scale_up == told
        assert learned.spec.local_scale == (model == "partial_cmp")


def test_the_choice_goes_with_the_run(given):
    found = downscale(given, {**QUICK, "model": "area_to_point_gp", "choose": True})
    told = OneScaleUp.from_dict(found.diagnostics["one_scale_up"])
    assert told.model == found.spec.model.name and told.chosen_over in ("area_to_point_gp", "partial_cmp")
    assert not found.settings.choose and found.settings.model == found.spec.model.name


def test_who_may_choose(given):
    assert completed(given, DownscaleSettings()).choose and completed(given, DownscaleSettings()).model[0] == "a"
    assert not completed(given, DownscaleSettings("partial_cmp")).choose
    assert may_choose(given, named("partial_cmp")) and not may_choose(given, named("shrinkage_cmp"))
    assert not may_choose(problem(matching="direct"), named("area_to_point_gp"))


def test_the_guard_leaves_pseudo_targets_alone(given):
    learned, guard = learn_model(given, DownscaleSettings("area_to_point_gp", **QUICK))
    assert (
        replace(guard, one_scale_up=None) == LearningCheck.of(given) and learned.spec.model.name == "area_to_point_gp"
    )


def test_matched_cells_and_local_scales_are_refused_where_they_cannot_be(given):
    direct = problem(matching="direct")
    with pytest.raises(InputError, match="matched through mediators and whose locations"):
        posterior(starting_spec(direct, PARTIAL), direct.data, columns_of(direct))
    with pytest.raises(InputError, match="A local scale is learned from cells measured"):
        starting_spec(given, DownscaleSettings("area_to_point_gp", local_scale=True))


def test_pseudo_targets_that_are_taken_for_measurements_are_told(given, monkeypatch):
    spec = starting_spec(given, DownscaleSettings("area_to_point_gp"))
    data = matched_data(given, spec)
    assert predict(spec, data, given).notes == ()
    monkeypatch.setattr(pseudo_targets, "DENSE_LIMIT", 9)
    bare = matched_data(replace(given, data=replace(given.data)), spec)
    assert bare.covariance is None and torch.equal(bare.targets, data.targets)
    found = predict(spec, bare, given)
    assert f"The {bare.bags.count} pseudo-targets are treated as measurements" in found.notes[0]
    assert bool((found.sd <= predict(spec, data, given).sd).all())
