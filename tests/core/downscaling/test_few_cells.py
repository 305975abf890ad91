"""Maps from few cells: a mixture over hyperparameters by every route, and what is said."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.downscaling import interactive
from deconditioning.downscaling.checks.few_cells import INTEGRATED, integrates, refuted, sentences, widening
from deconditioning.downscaling.checks.one_scale_up import one_scale_up
from deconditioning.downscaling.draws import exact_draws
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.prediction import predict
from deconditioning.downscaling.run import downscale, leaving
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import completed, spec_to_settings, starting_spec
from deconditioning.downscaling.stores.stored_model import condition_on_problem
from deconditioning.errors import never
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.writing.delivery import Delivery
from deconditioning.metrics.intervals import trust
from deconditioning.models.learning import integrate
from deconditioning.models.learning.integrate import members
from deconditioning.models.local_scale import LocalScale, Places
from deconditioning.models.spec import ModelSpec
from tests.core.fields.samples import fields, region

pytestmark = pytest.mark.usefixtures("short_chain")


@pytest.fixture(scope="module")
def problem() -> DownscalingProblem:
    """Twenty-five of 36 cells visible, with a truth."""
    return make_problem(fields(region(24, 24)), DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.3))


@pytest.fixture(scope="module")
def learned(problem: DownscalingProblem) -> ModelSpec:
    return learn_model(problem, DownscaleSettings("area_to_point_gp", steps=15))[0].spec


def test_mean_and_variance_are_those_of_the_mixture(problem: DownscalingProblem, learned: ModelSpec) -> None:
    assert learned.spread is not None and len(learned.spread.offsets) == integrate.MEMBERS
    parts = [predict(each, problem.data, problem) for each in members(learned, problem.columns)]
    found = predict(learned, problem.data, problem)
    means, variances = (torch.stack([getattr(p, name) for p in parts]) for name in ("mean", "sd"))
    assert torch.allclose(found.mean, means.mean(0), atol=1e-12)
    total = (variances.square() + means.square()).mean(0) - means.mean(0).square()
    assert torch.allclose(found.sd.square(), total, atol=1e-10)
    assert (found.sd.square() >= variances.square().mean(0) - 1e-12).all()


def test_every_route_gives_the_mixture(problem: DownscalingProblem, learned: ModelSpec) -> None:
    found = predict(learned, problem.data, problem)
    picture = interactive.picture_or_none(problem, learned)
    shown = interactive.exact(learned, problem.data, problem, "k", SumsStore(), picture)
    assert torch.equal(shown.mean, found.mean) and torch.equal(shown.sd, found.sd)
    stored = spec_to_settings(DownscaleSettings(), learned)
    assert starting_spec(problem, stored) == learned
    store = condition_on_problem(problem, stored, (), torch.device("cpu"))
    values = store.read(problem.inputs).predictive
    assert values.mean == pytest.approx(problem.target_scale.backward(found.mean.numpy()), abs=1e-6)
    assert values.sd == pytest.approx(problem.target_scale.sd * found.sd.numpy(), rel=1e-5)


def test_export_reproduces_the_map_without_learning(problem: DownscalingProblem, learned: ModelSpec) -> None:
    result = downscale(problem, spec_to_settings(DownscaleSettings(), learned))
    file = leaving(problem, result).dataset(Delivery(quantiles=(0.025, 0.5, 0.975)))
    found = predict(learned, problem.data, problem)
    assert np.nanmax(np.abs(file["sd"].values - problem.physical_sd(found.sd))) < 1e-9
    width = (file["quantiles"][2] - file["quantiles"][0]).values
    assert width == pytest.approx(2 * 1.959964 * file["sd"].values, rel=1e-6, nan_ok=True)
    (few,) = sentences(problem, integrated=True)
    narrow = trust(problem.truth, result.predictive, weights=problem.grid.area).verdict == "too narrow"
    assert (few in result.warnings) == narrow


def test_draws_are_of_all_members_and_keep_the_cells(problem: DownscalingProblem, learned: ModelSpec) -> None:
    picture = interactive.picture_or_none(problem, learned)
    drawn = exact_draws(learned, problem.data, problem, "k", SumsStore(), picture, count=320, seed=1)
    found = predict(learned, problem.data, problem)
    assert drawn.fields.shape[0] == 320
    assert np.nanmax(np.abs(drawn.mean - problem.physical_mean(found.mean))) < 1e-6
    sd = problem.physical_sd(found.sd)
    ratio = np.nanmean(drawn.fields.var(0, ddof=1)) / np.nanmean(sd**2)
    assert ratio == pytest.approx(1.0, abs=0.15)
    assert drawn.off is not None and drawn.off < 0.02 * problem.target_scale.sd


def test_one_scale_up_is_the_mixtures_too(problem: DownscalingProblem) -> None:
    settings = completed(problem, DownscaleSettings("area_to_point_gp", steps=3))
    checks = [one_scale_up(problem, settings.replace(integrate=on), never) for on in (True, False)]
    assert all(check is not None for check in checks)
    assert checks[0].values["sd"] != checks[1].values["sd"]


def test_a_sentence_says_what_few_cells_mean(problem: DownscalingProblem, learned: ModelSpec) -> None:
    (together,) = predict(learned, problem.data, problem).notes
    (alone,) = predict(replace(learned, spread=None), problem.data, problem).notes
    assert "Only 25 cells" in together and "average over plausible hyperparameters" in together
    assert "may be too narrow" in alone
    many = make_problem(fields(region(32, 32)), DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.2))
    assert sentences(many, integrated=True) == ()


def test_many_cells_other_models_and_the_switch_leave_hyperparameters_alone(problem: DownscalingProblem) -> None:
    usual = completed(problem, DownscaleSettings())
    assert integrates(usual, 59) and not integrates(usual, 60)
    assert not integrates(usual.replace(integrate=False), 20)
    assert not integrates(completed(problem, DownscaleSettings("bag_gp")), 20)
    assert learn_model(problem, DownscaleSettings(integrate=False, steps=5))[0].spec.spread is None


def test_the_local_scale_of_few_cells_only_widens(problem: DownscalingProblem, learned: ModelSpec) -> None:
    scale = predict(replace(learned, spread=None), problem.data, problem).scale
    assert scale is not None and float(scale.min()) >= 1.0


def test_from_more_than_forty_cells_the_local_scale_narrows_too() -> None:
    cells = torch.tensor([0.5, 2.0])
    scale = LocalScale(Places(torch.zeros(2, 2), torch.zeros(2)), cells, 0.0, 1.0)
    assert widening(scale, 40).factor.tolist() == [1.0, 2.0] and widening(scale, 41) is scale
    assert widening(scale, 59, below=INTEGRATED).factor.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("verdict", "share", "said"),
    [
        (None, None, False), ("too narrow", 0.99, False), ("too wide", 0.2, True), ("about right", None, True),
        (None, 0.896, True), (None, 0.894, False),
    ],
)  # fmt: skip
def test_what_shows_that_intervals_are_not_too_narrow(verdict: str | None, share: float | None, said: bool) -> None:
    assert refuted(verdict, share) == said


def test_a_run_says_nothing_of_few_cells_where_the_truth_refutes_it(problem: DownscalingProblem) -> None:
    """Second route: intervals of the same map, counted by hand against the truth and against another one."""
    settings = DownscaleSettings("area_to_point_gp", learn=False)
    result = downscale(problem, settings)
    (few,) = sentences(problem, integrated=False)
    inside = np.abs(problem.truth - result.predictive.mean) <= 1.96 * result.predictive.sd
    share = np.average(inside, weights=problem.grid.area)
    assert (few in result.warnings) == (share < 0.895)
    far = replace(problem, truth=problem.truth + 1e3)
    assert few in downscale(far, settings).warnings
    unknown = replace(problem, truth=None)
    assert few in downscale(unknown, settings).warnings
