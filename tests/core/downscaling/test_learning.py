"""Learning with the place on every pixel: as all pairs would have it, and few points where it is not open."""

from dataclasses import replace

import pytest
import torch

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import gram
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.errors import InputError
from deconditioning.models.learning.learning import LearningOptions
from deconditioning.studies.one_dimension.settings import LineSettings
from deconditioning.studies.swiss_roll.study import RollSettings
from tests.core.downscaling.test_run import Context, open_corner, ukv

SETTINGS = DownscaleSettings(model="bag_gp", restarts=1, steps=3, points=2, every_pixel=True)


def corner(**changes):
    """A corner of the field, in cells of 12 × 12 pixels."""
    return ukv((12, 12), open_corner, **changes)


def said(context: Context) -> str:
    """All that a run reported in words."""
    return " ".join(str(row.get("message")) for row in context.rows)


def test_the_evidence_and_the_cells_left_out_are_those_of_all_pairs():
    """A kernel of the place alone, so that nothing else is thinned, at the learned values."""
    problem, context = corner(covariates=[]), Context()
    found, guard = learn_model(problem, SETTINGS, context)
    targets = problem.data.targets
    with torch.no_grad():
        exact = gram(found.spec.kernel.build(problem.columns), sort_bags(problem.data.bags))
    covariance = exact + found.spec.noise * torch.eye(len(targets)).double()
    evidence = torch.distributions.MultivariateNormal(torch.zeros_like(targets), covariance).log_prob(targets)
    assert found.evidence == pytest.approx(float(evidence), abs=1e-4)
    inverse = torch.linalg.inv(covariance)
    error = (inverse @ targets) / inverse.diagonal() * problem.target_scale.sd
    assert guard.kept == "learned" and guard.learned == pytest.approx(float(error.square().mean().sqrt()), rel=1e-5)
    assert "thinned" not in said(context) and "every pixel" not in said(context)
    few, _ = learn_model(problem, SETTINGS.replace(every_pixel=False))
    assert abs(few.evidence - found.evidence) > 1e-3


def test_other_terms_keep_to_few_points_and_it_is_said():
    problem, context = corner(), Context()
    found, _ = learn_model(problem, SETTINGS, context)
    assert "location over every pixel, other terms over 2 points a cell" in said(context)
    assert found.spec.kernel != learn_model(problem, SETTINGS.replace(every_pixel=False))[0].spec.kernel


@pytest.mark.parametrize("change", [{"model": "variational_gp", "inducing": 5}, {"structure": "product"}])
def test_where_it_is_not_open_few_points_stand_for_all(change):
    problem, settings = corner(), SETTINGS.replace(**change)
    contexts = [Context(), Context()]
    found = [
        learn_model(problem, settings.replace(every_pixel=every), context)[0]
        for every, context in zip((True, False), contexts, strict=True)
    ]
    assert found[0].spec == found[1].spec and found[0].evidence == found[1].evidence
    assert all("cells thinned to 2 points" in said(context) for context in contexts)


def test_where_learning_starts_does_not_move_its_priors():
    """A second learning from what the first one found climbs the same function, and so ends no higher."""
    problem = corner()
    settings = DownscaleSettings(model="area_to_point_gp", steps=60, points=3)
    first, _ = learn_model(problem, settings)
    again, _ = learn_model(problem, spec_to_settings(settings, first.spec).replace(learn=True))
    assert again.evidence == pytest.approx(first.evidence, abs=0.05)
    pairs = zip(first.spec.kernel.terms, again.spec.kernel.terms, strict=True)
    assert all(a.factors[0].lengthscales == pytest.approx(b.factors[0].lengthscales, rel=0.1) for a, b in pairs)


def test_settings_hold_the_options_of_their_names():
    many = {"restarts": 4, "steps": 7, "seed": 9}
    found = DownscaleSettings(stage_one="target_gp", method="adam", bound="stochastic", hold=("noise",), **many)
    expected = LearningOptions("target_gp", "adam", 4, 7, 9, bound="stochastic", hold=("noise",))
    assert found.learning() == expected and found.replace(hold=None).learning() == replace(expected, hold=())
    assert DownscaleSettings().learning().restarts == 2
    with pytest.raises(InputError, match="0 restarts"):
        DownscaleSettings(restarts=0).learning()
    with pytest.raises(InputError, match="does not support priors"):
        DownscaleSettings(model="vbagg", bound="stochastic", prior_sd=1.0)
    roll = RollSettings(method="adam", prior_sd=0.3, learn_regularisation=False, **many)
    assert roll.learning("direct") == LearningOptions(
        "joint", "adam", 4, 7, 9, learn_regularisation=False, prior_sd=0.3
    )
    line = LineSettings(tied=False, optimiser="adam", **many)
    assert line.options == LearningOptions("joint", "adam", 4, 7, 9, tied=False)
