"""Invariance of distribution regression: what a transformation and another order of the measures change."""

from dataclasses import replace

import numpy as np
import pytest

from deconditioning.distribution_regression.simulate import SimulationSpec, simulate
from deconditioning.errors import InputError
from deconditioning.studies.distribution_regression.study import MethodSettings
from deconditioning.studies.distribution_regression.theory import (
    FUNCTIONS,
    TRANSFORMS,
    separation_of,
    shuffled,
    transformed,
    with_measures,
)

SPEC = SimulationSpec(40, 60)


@pytest.mark.parametrize("name", list(TRANSFORMS))
def test_transformations_map_the_interval_onto_itself_and_are_invertible(name):
    x = np.linspace(0, 1, 400)
    steps = np.diff(TRANSFORMS[name](x))
    assert {round(float(TRANSFORMS[name](x[end])), 12) for end in (0, -1)} == {0, 1}
    assert (steps > 0).all() or (steps < 0).all()


def test_a_kernel_of_distances_does_not_mind_turning_round_but_a_stretch():
    """Gaussian kernels know distances alone, which turning round keeps."""
    turned, squared = (transformed(SPEC, name, MethodSettings()) for name in ("turned round", "squares"))
    assert turned.apart["gpdr"] < 1e-10 and turned.apart["kde"] < 1e-8 and turned.shuffled < 1e-10
    assert np.allclose(turned.means["gpdr", True], turned.means["gpdr", False], atol=1e-9)
    assert squared.apart["gpdr"] > 0.01 * squared.spread and squared.shuffled < 1e-10


def test_f_on_transformed_measures_is_that_of_all_pairs():
    """Against the posterior (7) written out over every pair of measures."""
    settings, subjects = MethodSettings(), simulate(SPEC).subjects
    found, h = transformed(SPEC, "squares", settings), TRANSFORMS["squares"]
    values, owner = subjects.measures[:, 0].numpy(), subjects.owner.numpy()
    share = (owner == np.arange(SPEC.subjects)[:, None]) / SPEC.measures
    for changed, x, at in ((False, values, found.at), (True, h(values), h(found.at))):

        def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return settings.variance * np.exp(-((a[:, None] - b) ** 2) / (2 * settings.lengthscale**2))

        gram = share @ kernel(x, x) @ share.T + settings.noise * np.eye(SPEC.subjects)
        by_hand = kernel(at, x) @ share.T @ np.linalg.solve(gram, subjects.outcomes.numpy())
        assert np.allclose(found.means["gpdr", changed], by_hand, atol=1e-8)


def test_only_the_order_of_the_table_is_shuffled():
    subjects = simulate(SPEC).subjects
    other = shuffled(subjects, 0)
    assert not np.array_equal(subjects.measures.numpy(), other.measures.numpy())
    for i in range(SPEC.subjects):
        mine, theirs = (np.sort(each.measures[each.owner == i, 0].numpy()) for each in (subjects, other))
        assert np.array_equal(mine, theirs)
    moved = with_measures(subjects, subjects.measures[:, 0].numpy() + 1)
    assert np.array_equal(moved.outcomes.numpy(), subjects.outcomes.numpy())


def test_functions_by_name():
    assert separation_of("waves", 3, (4.0,), 10, 0).exact[0] == pytest.approx(5)
    assert separation_of("f₀ less its mean", 1, (4.0,), 10, 0).mean == pytest.approx(0, abs=1e-14)
    assert next(iter(FUNCTIONS)) == "f₀ of the simulation"
    with pytest.raises(InputError, match="unknown"):
        separation_of("none", 1, (1.0,), 10, 0)
    with pytest.raises(InputError, match="unknown"):
        transformed(replace(SPEC, seed=1), "none", MethodSettings())
