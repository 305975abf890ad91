"""Learning: gradients against finite differences, stages, restarts, cancel, guards."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import gram
from deconditioning.errors import Cancelled, InputError
from deconditioning.figures.traces import objective_trace
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.conditioning import log_evidence, observation_noise
from deconditioning.models.indirect_gp import mediation_weights, posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.learning.optimise import minimise
from deconditioning.models.learning.parameters import Parameter, ParameterVector, kernel_parameters, with_values
from deconditioning.models.learning.progress import evaluation_sentence
from deconditioning.models.spec import Inducing
from tests.core.models.small import COLUMNS, KERNEL, assert_gradient, model, problem


def test_the_evidence_gradient_equals_finite_differences():
    data, spec = problem(), model("shrinkage_cmp")
    bags, weights = sort_bags(data.bags), mediation_weights(spec, data, COLUMNS)
    kernel = spec.kernel.build(COLUMNS.inputs)
    vector = ParameterVector(tuple(kernel_parameters("k", spec.kernel, kernel)))
    noise = observation_noise(weights, 0.1, 0.2, data.bags.contamination)

    def value() -> torch.Tensor:
        return log_evidence(gram(kernel, bags), weights, noise, data.targets)

    assert_gradient(value, vector)


@pytest.mark.parametrize("name", ["shrinkage_cmp", "cmp", "bag_gp"])
@pytest.mark.parametrize("method", ["lbfgs", "adam"])
def test_learning_raises_the_evidence(name, method):
    data, spec = problem(matched=name == "bag_gp"), model(name)
    options = LearningOptions(method=method, restarts=1, steps=15)
    learned = learn(spec, data, COLUMNS, options)
    frozen = replace(spec, mediator_kernel=learned.spec.mediator_kernel, regularisation=learned.spec.regularisation)
    assert learned.evidence > posterior(frozen, data, COLUMNS).evidence
    assert learned.evidence == pytest.approx(posterior(learned.spec, data, COLUMNS).evidence, abs=1e-6)


def test_restarts_never_end_below_the_first_start():
    data, spec = problem(), model("shrinkage_cmp")
    one = learn(spec, data, COLUMNS, LearningOptions(restarts=1, steps=10))
    three = learn(spec, data, COLUMNS, LearningOptions(restarts=3, steps=10))
    assert three.evidence >= one.evidence - 1e-9
    assert len(three.stages["stage_two"]["restart_losses"]) == 3


def test_stage_one_keeps_lambda_in_its_bounds_and_reports_every_hyperparameter():
    data, seen = problem(), []
    learned = learn(model("cmp"), data, COLUMNS, LearningOptions(restarts=1, steps=10), report=seen.append)
    assert 1e-8 * 0.999 <= learned.spec.regularisation * data.bags.count <= 0.1 * 1.001
    stages = {event["stage"] for event in seen}
    assert len(stages) == 2
    assert "regularisation λ" in seen[0]["hyperparameters"] and "noise σ²" in seen[-1]["hyperparameters"]


@pytest.mark.parametrize(("name", "prior_sd"), [("shrinkage_cmp", 0.0), ("variational_cmp", 0.0), ("bag_gp", 1.0)])
def test_evaluations_are_told_as_the_log_evidence_of_all_targets_upwards_and_losses_downwards(name, prior_sd):
    data, seen = problem(matched=name == "bag_gp"), []
    options = LearningOptions(restarts=1, steps=8, prior_sd=prior_sd)
    sparse = name.startswith("variational")
    start = replace(model(name), inducing=Inducing(10)) if sparse else model(name)
    learned = learn(start, data, COLUMNS, options, report=seen.append)
    last, bound = seen[-1], "bound on the " * sparse
    assert last["quantity"] == f"{bound}log evidence{' + log prior' if prior_sd else ''}"
    if not prior_sd:
        assert last["best"] == pytest.approx(learned.evidence, rel=1e-9)
        assert last["best"] == pytest.approx(posterior(learned.spec, data, COLUMNS).evidence, rel=1e-3)
    stage_two = [event["best"] for event in seen if event["stage"] == last["stage"]]
    assert stage_two == sorted(stage_two)
    stage_one = [event for event in seen if event["stage"] == "stage one"]
    assert all(event["quantity"] == "leave-one-bag-out loss" and event["value"] > 0 for event in stage_one)
    assert bool(stage_one) == (name != "bag_gp")
    told = evaluation_sentence({**last, "value": -170.126, "best": 0.01239})
    assert told == f"{last['quantity']} −170.13 (best 0.0124)"
    figure = objective_trace("evidence", [1], {last["quantity"]: [last["value"]]})
    assert figure["layout"]["yaxis"]["title"]["text"] == last["quantity"]


@pytest.mark.parametrize("stage", ["target_gp", "joint"])
def test_the_other_first_stages_run(stage):
    learned = learn(model("shrinkage_cmp"), problem(), COLUMNS, LearningOptions(stage, restarts=1, steps=5))
    assert np.isfinite(learned.evidence)


def test_cancelling_keeps_the_best_so_far():
    data, spec = problem(), model("bag_gp")
    data = problem(matched=True)
    seen = []

    def report(event):
        seen.append(event["loss"])
        if len(seen) == 6:
            raise Cancelled

    learned = learn(spec, data, COLUMNS, LearningOptions(restarts=3, steps=30), report=report)
    assert learned.cancelled
    assert learned.evidence == pytest.approx(-min(seen) * len(data.targets), abs=1e-9)
    assert learned.evidence == pytest.approx(posterior(learned.spec, data, COLUMNS).evidence, abs=1e-6)


def test_a_runaway_amplitude_is_said_in_words():
    data = problem(matched=True)
    loud = replace(data, targets=data.targets * 1e3)
    learned = learn(model("bag_gp"), loud, COLUMNS, LearningOptions(restarts=1, steps=40))
    assert any("grew to" in warning for warning in learned.warnings)


def test_a_hit_on_a_bound_is_reported():
    raw = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    vector = ParameterVector((Parameter(("x",), raw, -1.0, 1.0),))
    minimise(lambda: -raw, vector, restarts=1, steps=5)
    assert vector.at_bounds() == ("x at its upper bound 2.72",)


def test_a_rough_kernel_may_reach_beyond_the_data_in_silence():
    """Only the ratio of variance to lengthscale of a Matérn-1/2 term is known then."""
    kernel = KernelSpec((Term((Factor("matern12", ("a",), (10.0,)), Factor("matern32", ("b",), (50.0,)))),))
    vector = ParameterVector(tuple(kernel_parameters("k", kernel, kernel.build(("a", "b")))))
    assert vector.at_bounds() == ("k1 lengthscale [b] at its upper bound 50",)


@pytest.mark.parametrize("hold", [("noise",), ("point_noise",), ("noise", "point_noise")])
@pytest.mark.parametrize("name", ["cmp", "variational_cmp"])
def test_noises_that_are_held_stay_and_are_not_searched(name, hold):
    data, told = problem(targets=6), []
    spec = replace(model(name), inducing=Inducing(4))
    options = LearningOptions(restarts=1, steps=4, hold=hold)
    found = learn(spec, data, COLUMNS, options, report=told.append).spec
    free = learn(spec, data, COLUMNS, replace(options, hold=())).spec
    names = {"noise": "noise σ²", "point_noise": "point noise ς²"}
    for noise, called in names.items():
        assert (getattr(found, noise) == getattr(spec, noise)) == (noise in hold)
        assert getattr(free, noise) != getattr(spec, noise)
        assert (called in told[-1]["hyperparameters"]) == (noise not in hold)
    assert found.kernel != spec.kernel


def test_reported_names_lead_back_to_the_kernel():
    kernel = KERNEL.build(COLUMNS.inputs)
    names = ParameterVector(tuple(kernel_parameters("k", KERNEL, kernel))).values()
    changed = {name: value * 1.1 for name, value in names.items()}
    back = with_values(KERNEL, "k", COLUMNS.inputs, changed)
    assert back.terms[0].scale == pytest.approx(0.88)
    assert back.terms[1].factors[0].lengthscales[0] == pytest.approx(0.88)


def test_unknown_options_are_refused():
    for wrong in ({"stage_one": "nonsense"}, {"restarts": 0}, {"hold": ("mean",)}):
        with pytest.raises(InputError):
            LearningOptions(**wrong)
    with pytest.raises(InputError, match="optimiser"):
        learn(model("cmp"), problem(), COLUMNS, LearningOptions(method="sgd"))


def test_nothing_to_learn_is_said():
    spec = replace(model("bag_gp"), kernel=KernelSpec((Term((Factor("constant", ("a",), ()),)),)))
    with pytest.raises(InputError, match="nothing to learn"):
        learn(spec, problem(matched=True), COLUMNS, LearningOptions(restarts=1, hold=("noise", "point_noise")))


def test_a_kernel_of_one_linear_factor_can_be_learned():
    spec = replace(model("bag_gp"), kernel=KernelSpec((Term((Factor("linear", ("a", "b"), (1.0,)),)),)))
    learned = learn(spec, problem(matched=True), COLUMNS, LearningOptions(restarts=1, steps=10))
    assert np.isfinite(learned.evidence)
