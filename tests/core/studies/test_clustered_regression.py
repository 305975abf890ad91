"""The study of clusters: its simulation, its refusals, its rows; and cross-validation by few features."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.distribution_regression.gpdr import fit
from deconditioning.distribution_regression.simulate import SimulationSpec, regression_function, simulate
from deconditioning.distribution_regression.stand_in import accelerometer_stand_in
from deconditioning.distribution_regression.subjects import with_covariates
from deconditioning.errors import InputError
from deconditioning.studies.distribution_regression.clustered import ClusterSpec, cluster_sweep, regress_clusters
from deconditioning.studies.distribution_regression.compare import Prepared
from deconditioning.studies.distribution_regression.few_features import (
    BOTH,
    features_of,
    fit_parts,
    leading_features,
    validate_few,
)
from deconditioning.studies.distribution_regression.study import MethodSettings

SMALL = ClusterSpec(SimulationSpec(30, 40), 3, 0.3)
FEATURES = MethodSettings("matern52", 8.0, intercept=True)


def test_functions_average_to_the_simulation_s_and_lie_as_far_apart_as_they_should():
    x = np.linspace(0, 1, 4001)[:-1]
    values = np.stack([SMALL.function(c)(x) for c in range(3)])
    assert np.allclose(values.mean(0), regression_function(x), atol=1e-12)
    assert np.allclose(((values - regression_function(x)) ** 2).mean(1), 0.3**2, atol=1e-12)


def test_subjects_follow_their_clusters_functions():
    """By the difference of outcomes from those of one function for all, whose noise is the same."""
    apart, alike = (
        simulate(SMALL.simulation, lambda i, s=spec: s.function(i % 3)).subjects
        for spec in (SMALL, replace(SMALL, apart=0.0))
    )
    assert torch.equal(apart.measures, alike.measures)
    assert float((apart.outcomes - alike.outcomes).std()) == pytest.approx(0.3 / 26**0.5, rel=0.4)


def test_rows_are_those_of_the_single_draws():
    rows = cluster_sweep(SMALL, [0.3], [2], MethodSettings())
    found = regress_clusters(replace(SMALL, simulation=replace(SMALL.simulation, seed=2)), MethodSettings())
    assert [row["scores"]["posterior_risk"] for row in rows] == [float(each.mean()) for each in found.risks.values()]
    assert [row["model"] for row in rows] == ["pooled", "separate", "exchangeable"]
    at, mean, sd = found.curve("separate", 1)
    assert at.shape == mean.shape == sd.shape and (sd > 0).all()


def test_too_many_clusters_and_no_distance_are_refused():
    with pytest.raises(InputError, match="give 2 to 15"):
        replace(SMALL, clusters=16)
    with pytest.raises(InputError, match="not negative"):
        replace(SMALL, apart=-1.0)


@pytest.fixture(scope="module")
def people():
    return Prepared(with_covariates(accelerometer_stand_in(60, minutes=200), ["bmi"]))


def test_few_features_of_full_rank_are_the_process_itself(people):
    """GPDR at the scale and noise that few features found: the same predictions, by another solve."""
    subjects = people.subjects
    kernel = FEATURES.regression(subjects.columns).kernel
    gram = people.base.gram(kernel)
    features = leading_features(gram, 60)
    design = torch.cat([torch.ones(60, 1).double(), subjects.covariates], 1)
    found = fit_parts([features[:45]], subjects.outcomes[:45], design[:45])
    unit = float((features @ features.T).sum() / gram.sum())  # features are of unit size
    term = kernel.terms[0]
    scaled = replace(kernel, terms=(replace(term, scale=found.scale * unit),))
    spec = replace(FEATURES.regression(subjects.columns), kernel=scaled, noise=found.noise)
    whole = people.base.gram(scaled)
    exact = fit(spec, people.base, subjects.outcomes[:45], subjects.covariates[:45], whole[:45, :45])
    expected, _ = exact.predict(whole[:45, 45:], whole.diagonal()[45:], design[45:])
    assert torch.allclose(found.predict([features[45:]], design[45:]), expected, atol=1e-5)
    assert found.evidence == pytest.approx(exact.evidence, abs=1e-5)


def test_the_share_of_two_parts_has_the_highest_evidence(people):
    parts, y = features_of(BOTH, people, FEATURES, 5), people.subjects.outcomes
    design = torch.ones(60, 1).double()
    found = fit_parts(parts, y, design)
    assert sum(found.shares) == pytest.approx(1)
    for share in (0.05, 0.3, 0.6, 0.95):
        beside = torch.cat([share**0.5 * parts[0], (1 - share) ** 0.5 * parts[1]], 1)
        assert fit_parts([beside], y, design).evidence <= found.evidence + 1e-3
    with pytest.raises(InputError, match="one or two"):
        fit_parts([*parts, parts[0]], y, design)


def test_landmarks_beyond_their_number_add_nothing(people):
    ten = features_of("landmark10", people, FEATURES, 3)[0]
    assert ten.shape == (60, 10)
    with pytest.raises(InputError, match="few features"):
        features_of("bdr10", people, FEATURES, 3)


def test_validation_does_not_see_the_outcomes_left_out(people):
    """Outcomes of noise cannot be predicted; those that are a feature can."""
    given, rng = people.subjects, np.random.default_rng(0)
    noise = replace(given, outcomes=torch.from_numpy(rng.normal(size=60)))
    told = replace(given, outcomes=features_of("gpdr", people, FEATURES, 3)[0][:, 1].clone())
    low, high = (validate_few(each, FEATURES, ("gpdr",), rank=3, repeats=4)["gpdr"].r2.mean() for each in (noise, told))
    assert low < 0.1 and high > 0.99


def test_covariates_that_are_not_there_are_refused():
    with pytest.raises(InputError, match="choose one of bmi"):
        with_covariates(accelerometer_stand_in(4, minutes=3), ["age"])
    assert with_covariates(accelerometer_stand_in(4, minutes=3), []).covariates.shape == (4, 0)
