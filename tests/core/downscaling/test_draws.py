"""Joint draws: against dense posteriors, the cells that they must honour, and small steps of hyperparameters."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.bag_sums.offsets import Cells, GridLayout
from deconditioning.downscaling import interactive
from deconditioning.downscaling.draws import Draws, posterior_draws
from deconditioning.downscaling.grid_draws import _root, grid_draws
from deconditioning.downscaling.prediction import Prediction, matched_data
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import Factor, Term
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.spec import ModelSpec


def problem_of(key: str, **changes) -> DownscalingProblem:
    from deconditioning.datasets.entries import catalogue

    default = next(entry.default for entry in catalogue() if entry.key == key)
    return build_problem(Source(key), DownscalingSpec.from_dict(default | changes))


@pytest.fixture(scope="module")
def matched() -> DownscalingProblem:
    """Twelve by ten cells of the real field: 9,720 pixels."""
    return problem_of("ukv-645m", withhold=0.3, region=(4, 15, 0, 9))


@pytest.fixture(scope="module")
def few() -> DownscalingProblem:
    """Six by five cells of it: 2,430 pixels."""
    return problem_of("ukv-645m", withhold=0.3, region=(4, 9, 0, 4))


def drawn(problem: DownscalingProblem, spec: ModelSpec, count: int, **more) -> Draws:
    return drawn_beside_exact(problem, spec, count, **more)[0]


def drawn_beside_exact(problem: DownscalingProblem, spec: ModelSpec, count: int, **more) -> tuple[Draws, Prediction]:
    data = problem.data if spec.model.reads(problem.data) else matched_data(problem, spec)
    picture, look, store = interactive.picture_or_none(problem, spec), interactive.sketch(problem), SumsStore()
    exact = interactive.exact(spec, data, problem, "key", store, picture)
    return posterior_draws(spec, data, problem, "key", store, picture, look, count=count, **more), exact


@pytest.mark.parametrize("model", ["area_to_point_gp", "bag_gp"])
def test_draws_have_the_posteriors_mean_and_covariance(few: DownscalingProblem, model: str) -> None:
    spec = replace(starting_spec(few, DownscaleSettings(model=model)), noise=1e-3)
    found = drawn(few, replace(spec, noise=1e-3), 400)
    assert found.stride == 1
    at = torch.arange(5, len(few.inputs), 271)
    given = named_posterior(spec, few.data, columns_of(few))
    dense = given.covariance(few.inputs[at]).numpy()
    unit = float(np.nanmean(few.physical_sd(torch.ones(len(few.inputs)))))
    fields = (found.fields - found.mean).reshape(400, -1)[:, few.pixel[at.numpy()]] / unit
    if model == "area_to_point_gp":  # κ, which the dense posterior does not know
        kappa = fields.std(0) / np.sqrt(np.diag(dense))
        assert 0.2 < kappa.min() and kappa.max() < 5
        fields = fields / kappa * np.clip(kappa, 1, 1)
    sd = np.sqrt(np.diag(dense))
    error = np.abs(np.cov(fields.T) - dense) / np.outer(sd, sd)
    assert error.max() < 0.3  # of 400 draws, and of 1,024 features
    assert np.abs(fields.mean(0) / sd).max() < 0.25
    np.testing.assert_allclose(
        found.mean.flat[few.pixel[at.numpy()]], few.physical_mean(given.mean(few.inputs)).flat[
            few.pixel[at.numpy()]], rtol=0, atol=1e-6)  # fmt: skip


def test_all_draws_honour_the_measured_cells_and_differ_elsewhere(matched: DownscalingProblem) -> None:
    spec = replace(starting_spec(matched, DownscaleSettings(model="bag_gp")), noise=1e-6, point_noise=0.0)
    found = drawn(matched, spec, 6)
    cell = matched.cell
    known = np.flatnonzero(matched.observed.ravel())
    for field in found.fields:
        means = np.array([np.nanmean(field[cell == one]) for one in known[::17]])
        np.testing.assert_allclose(means, matched.coarse_truth.ravel()[known[::17]], atol=0.05)
    assert found.off is not None and found.off < 0.05
    assert np.nanmean(found.fields.std(0)) > 3 * found.off


@pytest.mark.usefixtures("few_features")
@pytest.mark.parametrize(
    ("model", "region"),
    [("shrinkage_cmp", None), *((name, (4, 13, 6, 23)) for name in ("partial_cmp", "area_to_point_gp", "centroid_gp"))],
)
def test_unmatched_models_are_drawn_with_their_own_spread(model: str, region: tuple[int, ...] | None) -> None:
    unmatched = problem_of("atmosphere-small", region=region)  # the whole globe, or ten by eighteen cells of it
    spec = starting_spec(unmatched, DownscaleSettings(model=model))
    found, exact = drawn_beside_exact(unmatched, spec, 12)
    sd = unmatched.physical_sd(exact.sd_latent if exact.sd_latent is not None else exact.sd)
    ratio = np.sqrt(np.nanmean(found.fields.var(0, ddof=1)) / np.nanmean(sd[:: found.stride, :: found.stride] ** 2))
    assert 0.75 < ratio < 1.25 and found.off is None
    step = found.stride
    mean = unmatched.physical_mean(exact.mean)[::step, ::step]
    assert np.nanmax(np.abs(found.mean - mean)) < 0.02 * np.nanstd(mean)


def test_a_small_step_of_a_slider_moves_the_draws_a_little(few: DownscalingProblem) -> None:
    spec = starting_spec(few, DownscaleSettings(model="area_to_point_gp"))
    first, again = drawn(few, spec, 3), drawn(few, spec, 3)
    np.testing.assert_array_equal(first.fields, again.fields)
    nearby = drawn(few, replace(spec, noise=max(spec.noise, 1e-4) * 1.05), 3)
    other = drawn(few, spec, 3, seed=1)
    moved, apart = (float(np.nanstd(each.fields - first.fields)) for each in (nearby, other))
    assert moved < 0.2 * apart


def lattice(rows: int, columns: int) -> GridLayout:
    row, column = torch.arange(rows).repeat_interleave(columns), torch.arange(columns).repeat(rows)
    return GridLayout(Cells((rows, columns), row, column), (0.3, 0.2), (0, 1))


def test_draws_on_a_grid_have_the_kernels_covariance() -> None:
    layout = lattice(5, 7)
    term = Term((Factor("powered_exponential", ("y", "x"), (0.8,), (("alpha", 1.2),)),), 1.7)
    like = torch.stack([0.3 * layout.cells.row, 0.2 * layout.cells.column], dim=1).double()
    found = grid_draws(layout, term, ("y", "x"), like, 6000, torch.Generator().manual_seed(0))
    assert found is not None
    distance = torch.cdist(like, like)
    expected = 1.7 * torch.exp(-((distance / 0.8) ** 1.2))
    error = (found @ found.T / 6000 - expected).abs().max()
    assert float(error) < 6 * 1.7 * (2 / 6000) ** 0.5


@pytest.mark.parametrize(("alpha", "scale", "low", "high"), [(1.0, 0.8, 0.0, 1e-12), (1.5, 1.5, 1e-5, 1e-3 / 0.999)])
def test_what_is_cut_off_the_spectrum_bounds_the_covariances_error(alpha, scale, low, high) -> None:
    """The draws' own covariance is the transform of ``|root|²``: k itself, or k but for the negative part."""
    layout = lattice(24, 20)
    term = Term((Factor("powered_exponential", ("y", "x"), (scale,), (("alpha", alpha),)),), 1.0)
    with torch.no_grad():
        root = _root(layout, term, ("y", "x"), torch.zeros(1, 2, dtype=torch.float64))
    assert root is not None
    drawn_with = torch.fft.fft2(root.square()).real[:24, :20]
    rows, columns = 0.3 * torch.arange(24).double()[:, None], 0.2 * torch.arange(20).double()
    error = float((drawn_with - torch.exp(-(((rows**2 + columns**2).sqrt() / scale) ** alpha))).abs().max())
    assert low <= error <= high


def test_other_terms_and_layouts_are_not_drawn_on_a_grid() -> None:
    layout, generator = lattice(3, 4), torch.Generator()
    of_height = Term((Factor("rbf", ("z",), (1.0,), ()),), 1.0)
    like = torch.zeros(12, 3, dtype=torch.float64)
    assert grid_draws(layout, of_height, ("y", "x", "z"), like, 2, generator) is None
    assert grid_draws(None, of_height, ("z",), like, 2, generator) is None


def test_where_no_torus_is_large_enough_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    layout, like = lattice(3, 4), torch.zeros(12, 2, dtype=torch.float64)
    rough = Term((Factor("powered_exponential", ("y", "x"), (0.8,), (("alpha", 1.9),)),), 1.0)
    assert grid_draws(layout, rough, ("y", "x"), like, 2, torch.Generator()) is not None
    monkeypatch.setattr("deconditioning.downscaling.grid_draws.NEGATIVE", -1.0)
    assert grid_draws(layout, rough, ("y", "x"), like, 2, torch.Generator()) is None
