"""The one-dimensional problem: its data, its methods, its surface, there and back, and Bayes' rule."""

import numpy as np
import pytest
import torch

from deconditioning.datasets.line_settings import SIMULATIONS, TARGETS
from deconditioning.datasets.one_dimension import LineSpec, make_line
from deconditioning.embeddings.deconditional import (
    conditional_mean_operator,
    deconditional_mean_operator,
)
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term, gaussian
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.one_dimension.bayes import (
    PRIORS,
    exact_density,
    posterior_of_y,
    prior_density,
    sample_prior,
)
from deconditioning.studies.one_dimension.evidence_surface import AXES, evidence_surface, moved, read
from deconditioning.studies.one_dimension.problem import (
    METHODS,
    LineSettings,
    condition_line,
    fit_line,
    line_task,
    starting_model,
)
from deconditioning.studies.one_dimension.round_trip import (
    Operators,
    both_ways,
    drawn_function,
    pseudo_inverse_gap,
    reverse_gap,
    round_trip,
)

SMALL = make_line(LineSpec(40, 50, seed=3))
K, ELL = gaussian(("x",), (0.9,), 2.0), gaussian(("y",), (0.5,), 1.0)


def test_the_data_are_what_their_formula_says():
    line = make_line(LineSpec(2000, 2000, input_noise=0.3, target_noise=0.2))
    y, x = line.mediators.numpy(), line.inputs.numpy()
    assert abs(y).max() <= 6 and abs(y).mean() == pytest.approx(3, rel=0.05)
    noise = x - (3 * np.sin(y) * np.cos(y / 4) + y / 4)
    assert noise.std() == pytest.approx(0.3, rel=0.05) and abs(np.corrcoef(noise, y)[0, 1]) < 0.08
    residual = line.targets - line.conditional_mean(line.query)
    assert abs(float(residual.mean())) < 0.05
    assert torch.equal(make_line(line.spec).targets, line.targets)


@pytest.mark.parametrize("many", [90, 200, 201, 350])
def test_a_larger_data_set_contains_the_smaller_and_leaves_the_other_alone(many: int) -> None:
    base = make_line(LineSpec(80, 60, seed=4))
    first, second = make_line(LineSpec(many, 60, seed=4)), make_line(LineSpec(80, many, seed=4))
    for name in ("mediators", "inputs"):
        assert torch.equal(getattr(first, name)[:80], getattr(base, name))
        assert torch.equal(getattr(second, name), getattr(base, name))
    for name in ("query", "targets"):
        assert torch.equal(getattr(second, name)[:60], getattr(base, name))
        assert torch.equal(getattr(first, name), getattr(base, name))


def test_pairs_beyond_the_first_are_drawn_like_these() -> None:
    line = make_line(LineSpec(2000, 2000, seed=4))
    late, tail = line.mediators[200:], line.query[200:]
    assert float(late.abs().mean()) == pytest.approx(3, rel=0.05) and len(set(line.mediators.tolist())) == 2000
    assert abs(np.corrcoef(late, tail)[0, 1]) < 0.06
    noise = line.inputs[200:] - torch.from_numpy(line.spec.r(late.numpy()))
    assert float(noise.std()) == pytest.approx(0.25, rel=0.05)


def test_the_conditional_mean_by_quadrature_is_that_of_many_draws():
    line = make_line(LineSpec(5, 5))
    y = torch.tensor([-3.0, 0.4, 5.0]).double()
    draws = line.spec.r(y.numpy())[:, None] + 0.25 * np.random.default_rng(0).standard_normal((3, 200_000))
    assert np.allclose(line.conditional_mean(y).numpy(), line.spec.f(draws).mean(1), atol=0.01)
    spread = np.sqrt(line.spec.f(draws).var(1) + 0.25**2)
    assert np.allclose(line.conditional_sd(y).numpy(), spread, atol=0.01)


def test_a_problem_without_noise_or_of_one_pair_is_still_a_problem():
    for spec in (LineSpec(1, 1), LineSpec(1, 30), LineSpec(30, 1), LineSpec(30, 30, input_noise=0, target_noise=0)):
        line = make_line(spec)
        for method in ("task_transformed_gp", "dme", "impute", "cascade"):
            found = fit_line(line, LineSettings(method, learn=False))
            assert torch.isfinite(found.mean).all() and torch.isfinite(found.sd).all()


@pytest.mark.parametrize(
    "wrong, word",
    [({"n": 0}, "between 1"), ({"m": 9999}, "between 1"), ({"input_noise": -1}, "not negative"),
     ({"simulation": "x+1"}, "variable is y"), ({"target": "foo(x)"}, "not allowed"),
     ({"half_width": 0}, "half_width")],
)  # fmt: skip
def test_problems_that_cannot_be_are_refused(wrong, word):
    with pytest.raises(InputError, match=word):
        LineSpec(**wrong)
    with pytest.raises(InputError, match="unknown"):
        LineSpec.from_dict({"sead": 1})


@pytest.mark.parametrize("text", SIMULATIONS)
def test_every_offered_simulation_makes_data(text):
    assert torch.isfinite(make_line(LineSpec(20, 20, simulation=text)).targets).all()


@pytest.mark.parametrize("text", TARGETS)
def test_every_offered_function_makes_data(text):
    assert torch.isfinite(make_line(LineSpec(20, 20, target=text)).truth).all()


@pytest.mark.slow
def test_learned_deconditioning_reaches_its_numbers_and_the_naive_ways_do_not():
    """METHODS: RMSE .12-.16 at n = m = 200; impute at least 1.8 times worse; cascade far off."""
    found = {
        method: [
            fit_line(line, LineSettings(method, restarts=2)).scores(line)
            for line in (make_line(LineSpec(seed=seed)) for seed in (0, 3))
        ]
        for method in METHODS
    }
    rmse = {method: np.mean([s["rmse"] for s in scores]) for method, scores in found.items()}
    assert rmse["task_transformed_gp"] < 0.14 and rmse["dme"] < 0.16
    assert rmse["impute"] > 1.8 * rmse["task_transformed_gp"] and rmse["cascade"] > 1
    assert 0.85 <= np.mean([s["coverage_2sd"] for s in found["task_transformed_gp"]]) <= 1


def test_a_run_keeps_its_model_and_starts_where_it_is_told():
    settings = LineSettings(learn=False)
    given = {"line": SMALL.spec.to_dict(), "settings": vars(settings)}
    kept = line_task(given, NoReport())
    assert kept["model"] == "task_transformed_gp" and kept["scores"]["rmse"] > 0
    spec = ModelSpec.from_dict(kept["learned"])
    again = fit_line(SMALL, settings.replace(model=spec.to_dict()))
    assert again.evidence == pytest.approx(kept["evidence"]) == pytest.approx(condition_line(SMALL, spec).evidence)
    with pytest.raises(InputError, match="omit `model`"):
        fit_line(SMALL, LineSettings("dme", model=spec.to_dict()))
    with pytest.raises(InputError, match="unknown"):
        LineSettings("nonsense")


@pytest.mark.parametrize("method", ["task_transformed_gp", "dme"])
@pytest.mark.parametrize("tied", [False, True])
def test_the_surface_is_the_evidence_of_the_model_itself(method, tied):
    spec = starting_model(SMALL, method)
    found = evidence_surface(SMALL, spec, "ℓ1 lengthscale [y]", "noise σ²", 4, tied=tied)
    assert found.values.shape == (4, 4)
    for row, column in ((0, 1), (3, 2)):
        noise = float(found.second[row])
        one = moved(moved(spec, "ℓ1 lengthscale [y]", float(found.first[column])), "noise σ²", noise)
        one = moved(one, "regularisation λ", noise / 40) if tied else one
        assert found.values[row, column] == pytest.approx(condition_line(SMALL, one).evidence, abs=1e-8)
    assert found.values[list(found.second).index(found.best[1]), list(found.first).index(found.best[0])] == np.nanmax(
        found.values
    )


def test_every_axis_is_read_and_moved_and_wrong_ones_are_said():
    spec = starting_model(SMALL, "task_transformed_gp")
    for name in AXES:
        assert read(moved(spec, name, 0.37), name) == pytest.approx(0.37)
        assert all(read(moved(spec, name, 0.37), other) == read(spec, other) for other in AXES if other != name)
    with pytest.raises(InputError, match="two different"):
        evidence_surface(SMALL, spec, "noise σ²", "noise σ²")
    with pytest.raises(InputError, match="unknown"):
        evidence_surface(SMALL, spec, "noise σ²", "nonsense")


def operators(lam: float = 1e-4, epsilon: float = 1e-4, line=SMALL) -> Operators:
    return Operators(line, K, ELL, lam, epsilon)


def test_there_and_back_loses_less_as_regularisation_falls_and_data_grow():
    lost = []
    for count, lam, epsilon in ((50, 1e-1, 1e-1), (50, 1e-3, 1e-3), (400, 1e-3, 1e-5)):
        line = make_line(LineSpec(count, count, seed=3))
        at, grid = drawn_function(line, K, 5)
        lost.append(round_trip(Operators(line, K, ELL, lam, epsilon), at, grid).lost)
    assert lost[0] > lost[1] > lost[2]
    at, grid = drawn_function(SMALL, K, 5)
    assert np.array_equal(drawn_function(SMALL, K, 5)[0], at) and len(grid) == 400


def explicit(ops: Operators):
    """The same operators in an explicit feature space: rows are features of all points together."""

    def features(gram):
        values, vectors = torch.linalg.eigh(gram)
        keep = values > 1e-11
        return vectors[:, keep] * values[keep].sqrt()

    n = len(ops.gram)
    joined = torch.cat([torch.cat([ops.within, ops.across], 1), torch.cat([ops.across.T, ops.query], 1)])
    psi = features(joined)
    return features(ops.gram), psi[:n], psi[n:]  # fmt: skip


def test_the_gaps_are_those_of_the_operators_in_feature_space():
    ops = operators(1e-3, 1e-3)
    phi, psi, tilde = explicit(ops)
    forth = conditional_mean_operator(phi, psi, 1e-3)
    back = deconditional_mean_operator(forth, tilde, 1e-3)
    there = ((tilde - tilde @ (back @ forth).T).square().sum() / len(tilde)).sqrt()
    images = tilde @ forth.T
    image = ((images - images @ (forth @ back).T).square().sum() / images.square().sum()).sqrt()
    found = pseudo_inverse_gap(ops, np.array([1e-3]))
    assert found["D̂Ĉψ against ψ"][0] == pytest.approx(float(there), rel=1e-5)
    assert found["ĈD̂Ĉψ against Ĉψ"][0] == pytest.approx(float(image), rel=1e-5)
    reverse = psi.T @ torch.linalg.inv(phi @ phi.T + len(phi) * 1e-3 * torch.eye(len(phi)).double()) @ phi
    same = deconditional_mean_operator(forth, psi, 1e-3)
    expected = float((same - reverse).norm() / reverse.norm())
    assert reverse_gap(ops, np.array([1e-3]))[0] == pytest.approx(expected, rel=1e-4)


def test_the_gaps_vanish_in_the_limits_of_both_theorems():
    gaps = pseudo_inverse_gap(operators(), np.geomspace(1e-12, 1e-1, 8))
    for values in gaps.values():
        assert (np.diff(values) > 0).all()
    assert gaps["ĈD̂Ĉψ against Ĉψ"][0] < 1e-3
    # a rough ℓ, whose eigenvalues do not vanish in rounding: λ must be small against the least of them
    rough = KernelSpec((Term((Factor("matern12", ("y",), (0.5,)),)),))
    reverse = reverse_gap(Operators(SMALL, K, rough, 1e-4, 1e-4), np.array([1e-1, 1e-4, 1e-7, 1e-10]))
    assert (np.diff(reverse) < 0).all() and reverse[-1] < 1e-3
    forth, back = both_ways(Operators(SMALL, K, rough, 1e-10, 1e-4), 0.5, torch.linspace(-6, 6, 30).double())
    assert np.allclose(forth, back, atol=1e-3 * abs(back).max())


@pytest.mark.parametrize("name", PRIORS)
def test_priors_are_densities_and_their_draws_follow_them(name):
    y = np.linspace(-6, 6, 4001)
    density = prior_density(name, y, 6.0)
    assert np.trapezoid(density, y) == pytest.approx(1, abs=1e-3)
    draws = sample_prior(name, 20_000, 6.0, 0)
    assert draws.mean() == pytest.approx(np.trapezoid(y * density, y), abs=0.1)
    assert draws.std() == pytest.approx(np.sqrt(np.trapezoid(y**2 * density, y) - draws.mean() ** 2), rel=0.05)


def test_the_posterior_follows_bayes_rule_and_its_prior():
    line = make_line(LineSpec(400, 400))
    k, ell = gaussian(("x",), (0.6,), 1), gaussian(("y",), (0.5,), 1)
    found = posterior_of_y(line, "uniform", 1.0, k, ell, 1e-5, 1e-2)
    assert found.distance < 0.35 and found.lost is None and len(found.herded) == 200
    assert found.moments["herded"][0] == pytest.approx(found.moments["exact"][0], abs=0.7)
    left = posterior_of_y(line, "left", 1.0, k, ell, 1e-5, 1e-2)
    assert left.moments["herded"][0] < 0 and left.moments["exact"][0] < 0
    assert abs(np.trapezoid(found.density, found.y) - 1) < 1e-9
    peaks = (np.diff(np.sign(np.diff(found.density))) < 0) & (found.density[1:-1] > 0.2 * found.density.max())
    assert peaks.sum() >= 2, "the example has several modes"


def test_the_exact_density_is_that_of_counted_draws():
    line, y = make_line(LineSpec(5, 5)), np.linspace(-6, 6, 3001)
    rng = np.random.default_rng(0)
    at = rng.uniform(-6, 6, 2_000_000)
    x = line.spec.r(at) + 0.25 * rng.standard_normal(len(at))
    counted, edges = np.histogram(at[np.abs(x - 1.0) < 0.05], bins=30, range=(-6, 6), density=True)
    rising = np.cumsum(exact_density(line, "uniform", 1.0, y)) * (y[1] - y[0])
    assert np.abs(np.diff(np.interp(edges, y, rising)) / np.diff(edges) - counted).max() < 0.04


def test_what_has_no_posterior_is_said():
    with pytest.raises(InputError, match="no density"):
        posterior_of_y(make_line(LineSpec(20, 20, input_noise=0)), "uniform", 0.0, K, ELL, 1e-3, 1e-3)
    with pytest.raises(InputError, match="is impossible"):
        posterior_of_y(SMALL, "uniform", 90.0, K, ELL, 1e-3, 1e-3)
    with pytest.raises(InputError, match="prior 'x' is unknown"):
        prior_density("x", np.zeros(1), 6.0)
    far = posterior_of_y(SMALL, "uniform", 3.9, gaussian(("x",), (0.05,), 1), ELL, 1e-3, 1e-3)
    assert (far.lost is None) == (len(far.herded) > 0)
