"""Averages of models: moments, draws, files and stores against the components one by one, and how they are learned."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import norm
from scipy.stats import t as student

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.downscaling import interactive
from deconditioning.downscaling.draws import posterior_draws
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.run import downscale, export
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import averaged_with, completed, spec_to_settings, starting_spec
from deconditioning.downscaling.stores.stored_model import condition_on_problem
from deconditioning.downscaling.warping.physical_map import physical_map
from deconditioning.engine.context import Context
from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.models.spec import ModelSpec
from tests.core.fields.samples import fields, runaway

pytestmark = pytest.mark.usefixtures("short_chain")

QUICK = {"restarts": 1, "steps": 10, "points": 6}
WEIGHT = 0.3


def problem(**changes) -> DownscalingProblem:
    spec = {"block": (4, 4), "withhold": 0.3, "mediators": ()} | changes
    return make_problem(fields(runaway()), DownscalingSpec("t", ("orog",), **spec))


@pytest.fixture(scope="module")
def matched() -> DownscalingProblem:
    return problem()


@pytest.fixture(scope="module")
def mediated() -> DownscalingProblem:
    return problem(mediators=("orog",), withhold=0.5)


def pair(given: DownscalingProblem, first: str, second: str) -> ModelSpec:
    """An average of two models at their starting values."""
    one, other = (starting_spec(given, DownscaleSettings(model=name)) for name in (first, second))
    return replace(one, others=((WEIGHT, replace(other, noise=0.05)),))


@pytest.fixture(scope="module", params=["matched", "mediated"])
def average(request, matched, mediated) -> tuple[DownscalingProblem, ModelSpec]:
    if request.param == "matched":
        return matched, pair(matched, "area_to_point_gp", "regression_kriging")
    return mediated, pair(mediated, "partial_cmp", "area_to_point_gp")


def by_hand(given: DownscalingProblem, spec: ModelSpec) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sd of the mixture from the first two moments of its components, each predicted alone."""
    first, second = 0.0, 0.0
    for weight, each in spec.components:
        alone = predict(each, matched_data(given, each), given)
        first = first + weight * alone.mean
        second = second + weight * (alone.sd**2 + alone.mean**2)
    return first.numpy(), (second - first**2).sqrt().numpy()


def test_every_route_has_the_moments_of_the_mixture(average) -> None:
    given, spec = average
    mean, sd = by_hand(given, spec)
    data, store, look = matched_data(given, spec), SumsStore(), interactive.sketch(given, every_pixel=True)
    picture = interactive.picture_or_none(given, spec)
    exact = interactive.exact(spec, data, given, "k", store, picture)
    quick = interactive.preview(spec, data, given, "k", store, picture, look)
    for name, found in (("predict", predict(spec, data, given)), ("exact", exact)):
        assert found.mean.numpy() == pytest.approx(mean, abs=1e-8), name
        assert found.sd.numpy() == pytest.approx(sd, rel=1e-6), name
    assert quick.mean.numpy() == pytest.approx(mean, abs=1e-5) and quick.sd().numpy() == pytest.approx(sd, rel=1e-3)
    stored = condition_on_problem(given, spec_to_settings(DownscaleSettings(), spec), ("m",), torch.device("cpu"))
    read = stored.read(given.inputs).predictive
    assert read.mean == pytest.approx(given.target_scale.backward(mean), abs=1e-6)
    assert read.sd == pytest.approx(given.target_scale.sd * sd, rel=1e-5)


def test_quantiles_are_those_of_the_mixture_not_of_its_moments(average) -> None:
    """Second route: the probability below a quantile, from each model predicted alone."""
    given, spec = average
    alone = [(weight, predict(each, matched_data(given, each), given)) for weight, each in spec.components]
    scale = given.target_scale
    quick = physical_map(given, predict(spec, matched_data(given, spec), given).parts)
    stored = condition_on_problem(given, spec_to_settings(DownscaleSettings(), spec), ("m",), torch.device("cpu"))
    for level in (0.05, 0.975):
        for found in (quick.quantile(level).flat[given.pixel], stored.read(given.inputs).predictive.quantile(level)):
            value = scale.forward(found)
            below = sum(weight * norm.cdf(value, each.mean.numpy(), each.sd.numpy()) for weight, each in alone)
            assert below == pytest.approx(level, abs=1e-6)


def test_left_out_errors_are_averaged_with_the_weights(matched) -> None:
    spec = pair(matched, "area_to_point_gp", "regression_kriging")
    missed = [predict(each, matched.data, matched).missed for _, each in spec.components]
    wanted = float(((1 - WEIGHT) * missed[0] + WEIGHT * missed[1]).square().mean().sqrt())
    assert predict(spec, matched.data, matched).left_out == pytest.approx(wanted, rel=1e-9)


def test_draws_are_those_of_components_in_the_shares_of_their_weights(matched) -> None:
    spec = pair(matched, "area_to_point_gp", "regression_kriging")
    apart = replace(spec.others[0][1], mean=5.0, noise=1e4)  # draws of the second one lie far from those of the first
    spec = replace(spec, others=((WEIGHT, apart),))
    look, picture, store = interactive.sketch(matched), interactive.picture_or_none(matched, spec), SumsStore()
    found = posterior_draws(spec, matched.data, matched, "k", store, picture, look, count=40)
    first = predict(spec.components[0][1], matched.data, matched)
    far = np.abs(np.nanmean(found.fields - matched.physical_mean(first.mean), axis=(1, 2)))
    assert int((far > 1.0 * matched.target_scale.sd).sum()) == round(WEIGHT * 40)
    mean, sd = by_hand(matched, spec)
    assert found.mean == pytest.approx(matched.physical_mean(torch.as_tensor(mean)), abs=1e-5, nan_ok=True)
    many = posterior_draws(spec, matched.data, matched, "k", store, picture, look, count=600)
    spread = np.nanmean(many.fields.std(0)) / np.nanmean(matched.physical_sd(torch.as_tensor(sd)))
    assert spread == pytest.approx(1, abs=0.05)


def test_it_is_written_and_read_again(average) -> None:
    given, spec = average
    assert ModelSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    settings = DownscaleSettings.from_dict(
        json.loads(json.dumps(spec_to_settings(DownscaleSettings(), spec).to_dict()))
    )
    assert starting_spec(given, settings) == spec
    assert "others" not in replace(spec, others=()).to_dict()
    with pytest.raises(InputError, match="sum below 1"):
        replace(spec, others=((1.0, spec.others[0][1]),))


def test_auto_averages_and_a_model_picked_by_name_does_not(matched, mediated) -> None:
    def others(given: DownscalingProblem, **changes) -> list[str]:
        settings = completed(given, DownscaleSettings(**changes))
        return [each.model for each in averaged_with(given, settings)]

    assert others(matched) == ["regression_kriging"] and others(mediated) == ["partial_cmp"]
    assert others(matched, model="area_to_point_gp") == others(matched, average=False) == []
    assert others(matched, model="area_to_point_gp", average=True) == ["regression_kriging"]
    assert others(matched, model="bag_gp", average=True) == []


def test_learning_weighs_the_models_one_scale_up_and_the_result_says_so(matched) -> None:
    settings = DownscaleSettings(**QUICK)
    told = Context()
    learned, guard = learn_model(matched, settings, told)
    shares = [row["share"] for row in told.trace if "share" in row]
    assert shares == sorted(shares) and shares[0] == 0 and 0.9 < shares[-1] < 1, "the bar of the run never goes back"
    found = guard.one_scale_up
    assert set(found.weights) == {"area_to_point_gp", "regression_kriging"} and sum(found.weights.values()) == (
        pytest.approx(1)
    )
    assert {each.model.name: weight for weight, each in learned.spec.components} == pytest.approx(
        {name: weight for name, weight in found.weights.items() if weight}
    )
    result = downscale(matched, settings, learned=(learned, guard))
    again = downscale(matched, result.settings)
    assert again.mean == pytest.approx(result.mean, nan_ok=True) and again.sd == pytest.approx(result.sd, nan_ok=True)
    assert len(export(matched, result)) > 1000
    if found.method == "average":
        assert found.choice.startswith("The map is an average of") and "%" in found.choice
    else:
        assert found.choice.startswith("Chosen one scale up")
    for name in found.claims:
        chance = student.cdf(-found.t[name], df=found.groups - 1)
        assert found.probability(name) == pytest.approx(chance)
        assert found.claims[name] is (None if 0.025 < chance < 0.975 else bool(chance > 0.5))
