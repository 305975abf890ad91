"""Further sources beside cells that are matched through mediators: against dense algebra and on a generated field."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.downscaling.interactive import exact, picture_or_none, preview, sketch
from deconditioning.downscaling.learning_data import distances_of
from deconditioning.downscaling.prediction import matched_data, pixels_of_footprints, predict, predict_tiled
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.errors import InputError, never
from deconditioning.fields.footprints.stations import with_scored_stations, with_stations
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.indirect_gp import mediation_weights, mediator_grams
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.spec import ModelSpec
from deconditioning.models.term_bags import separate_bags
from tests.core.downscaling.test_further_sources import second_grid, with_grid
from tests.core.downscaling.test_stations import a_stored_model_predicts_as_the_model_does, problem, stations
from tests.core.fields.samples import rectilinear

TAUS = (0.04, 0.07)
MODELS = ("cmp", "shrinkage_cmp", "uncertain_cmp", "task_transformed_gp", "partial_cmp", "area_to_point_gp")


@pytest.fixture(scope="module")
def joined() -> DownscalingProblem:
    base = problem(24, 32, mediators=("q",))
    found = with_stations(with_grid(base, second_grid(base, 0.4), "sigma"), stations(base, 9, off=0.5))
    return with_scored_stations(found, stations(base, 5, seed=7))


def spec_of(found: DownscalingProblem, model: str) -> ModelSpec:
    spec = starting_spec(found, DownscaleSettings(model, local_scale=False))
    return replace(spec, noise=0.01, point_noise=0.02, representativeness=TAUS, mean=0.3)


def average(bags, pixel: np.ndarray, count: int) -> torch.Tensor:
    result = torch.zeros(bags.count, count, dtype=torch.float64)
    return result.index_put_((bags.bag, torch.as_tensor(pixel)), bags.weights, accumulate=True)


def test_the_table_of_distances_that_models_share_is_that_of_the_sources() -> None:
    """Of bags, and of footprints, whose cells are the same and whose stations are not."""
    base = problem(24, 32, mediators=("q",))
    for seed in (1, 2, 1):
        found = with_stations(base, stations(base, 9, seed=seed))
        data = found.joint_data
        first, second = torch.arange(data.bags.count), data.bags.count + torch.arange(data.footprints.count)
        both = (
            (data.bags, torch.as_tensor(found.joint_pixel), first),
            (data.footprints, pixels_of_footprints(found), second),
        )
        for bags, pixels, among in both:
            shared, alone = (
                distances_of(found, bags, pixels, torch.device("cpu"), never, places)() for places in (among, None)
            )
            grams = [each.gram(torch.exp(-each.radii)) for each in (shared, alone)]
            assert torch.allclose(*grams, atol=1e-7)


@dataclass
class Dense:
    """The joint Gaussian written out over f at every pixel, the sum of independent parts seen through rows each.

    ``y = Σ_p G_p f_p + H b + e``; cells are ``Wᵀ`` of bag means, or of the part of the place the means over footprints.
    """

    found: DownscalingProblem
    spec: ModelSpec

    def __post_init__(self) -> None:
        found, spec = self.found, self.spec
        data, inputs = found.data, found.inputs
        reads = spec.model.reads(data)
        cells = data if reads else matched_data(replace(found, sources=()), spec)
        points = torch.cat([average(each.bags(inputs), each.pixels, len(inputs)) for each in found.sources])
        bags, further = average(data.bags, found.bag_pixel, len(inputs)), len(points)
        weights = mediation_weights(spec, cells, columns_of(found))[: data.bags.count]
        through = [(spec.kernel, weights.T @ bags)]
        if spec.model.partial:
            located = columns_of(found).place
            both = separate_bags(spec, located, data.bags, data.footprints)
            pixel = found.shares.bags(found.target_cell, found.pixel, found.grid.area.size)[0]
            over = average(data.footprints, pixel, len(inputs))
            through = list(zip([part.of(spec.kernel) for part in both], (weights.T @ bags, over), strict=True))
        self.parts = [(self._of(kernel), torch.cat([rows, points])) for kernel, rows in through]
        self.k = sum(k for k, _ in self.parts)
        self.across = sum(k @ rows.T for k, rows in self.parts)
        number = len(cells.targets)
        noise = torch.zeros(number + further, number + further, dtype=torch.float64)
        own = through[-1][1] if spec.model.partial else None
        pixels = (
            torch.diag(own.square().sum(1)) if own is not None
            else weights.T @ torch.diag(data.bags.contamination) @ weights
        )  # fmt: skip
        noise[:number, :number] = spec.noise * torch.eye(number, dtype=torch.float64) + spec.point_noise * pixels
        unknown = None
        if reads:
            grams = mediator_grams(spec, cells, columns_of(found))
            unknown = spec.model.unknown(grams, weights, spec.regularisation)
        if unknown is not None:
            noise[:number, :number] += unknown(bags @ self.parts[0][0] @ bags.T).detach()
        sizes = torch.tensor([len(each.row) for each in found.sources])
        tau = torch.tensor(TAUS, dtype=torch.float64).repeat_interleave(sizes)
        error = torch.cat([each.errors.variance for each in found.sources])
        noise[number:, number:] = torch.diag(tau + error + spec.point_noise * points.square().sum(1))
        self.effects = torch.zeros(number + further, 2, dtype=torch.float64)
        self.effects[number:] = torch.block_diag(*(each.errors.effects for each in found.sources))
        self.prior = torch.diag(torch.cat([each.errors.prior for each in found.sources]))
        self.noise, self.number = noise, number
        signal = sum(rows @ k @ rows.T for k, rows in self.parts)
        self.s = signal + noise + self.effects @ self.prior @ self.effects.T
        mean = torch.ones(number, dtype=torch.float64) if spec.model.partial else weights.sum(0)
        targets = torch.cat([cells.targets, *(each.targets for each in found.sources)])
        self.residual = targets - spec.mean * torch.cat([mean, torch.ones(further, dtype=torch.float64)])
        self.carried = torch.zeros_like(self.s)
        if cells.covariance is not None:
            self.carried[:number, :number] = cells.covariance

    def _of(self, kernel: KernelSpec) -> torch.Tensor:
        return evaluate(kernel.build(self.found.columns), self.found.inputs, self.found.inputs).detach()

    @property
    def log_density(self) -> torch.Tensor:
        zeros = torch.zeros(len(self.s), dtype=torch.float64)
        return torch.distributions.MultivariateNormal(zeros, self.s.detach()).log_prob(self.residual.detach())

    def moments(self, across: torch.Tensor, prior: torch.Tensor, rows=slice(None)) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and covariance of what has these covariances with the targets (n, M), from the targets in ``rows``."""
        solved = torch.linalg.solve(self.s[rows][:, rows], across[:, rows].T)
        carried = solved.T @ self.carried[rows][:, rows] @ solved
        return solved.T @ self.residual[rows], prior - across[:, rows] @ solved + carried


@pytest.mark.parametrize("model", MODELS)
def test_the_posterior_is_that_of_dense_algebra(joined: DownscalingProblem, model: str) -> None:
    spec = spec_of(joined, model)
    data, dense = matched_data(joined, spec), Dense(joined, spec)
    assert not joined.matched and spec.model.takes_points
    mean, covariance = dense.moments(dense.across, dense.k)
    effects, spread = dense.moments(dense.prior @ dense.effects.T, dense.prior)
    rows, h = torch.as_tensor(joined.scored.row), joined.scored.errors.effects
    columns = torch.cat([torch.zeros_like(h), h], dim=1)
    across = dense.across[rows] + columns @ dense.prior @ dense.effects.T
    value, variance = dense.moments(across, dense.k[rows][:, rows] + columns @ dense.prior @ columns.T)
    own = spec.point_noise + TAUS[-1] + joined.scored.errors.variance
    density = (
        torch.distributions.MultivariateNormal(torch.zeros(len(dense.s)), dense.s).log_prob(dense.residual).detach()
    )
    for found in (predict(spec, data, joined), predict_tiled(spec, data, joined, joined.inputs)):
        assert float(found.evidence) == pytest.approx(float(density), rel=1e-8)
        assert torch.allclose(found.mean, spec.mean + mean, atol=1e-8)
        assert torch.allclose(found.sd_latent.square(), covariance.diagonal(), atol=1e-8)
        assert torch.allclose(found.sources.effects[0], effects, atol=1e-8)
        assert torch.allclose(found.sources.effects[1], spread.diagonal(), atol=1e-8)
        assert torch.allclose(found.sources.scored[0], spec.mean + value, atol=1e-8)
        assert torch.allclose(found.sources.scored[1], variance.diagonal() + own, atol=1e-8)


@pytest.mark.parametrize("model", ["cmp", "partial_cmp", "area_to_point_gp"])
def test_shares_and_left_out_values_are_those_of_dense_algebra(joined: DownscalingProblem, model: str) -> None:
    spec = spec_of(joined, model)
    dense, found = Dense(joined, spec), predict(spec, matched_data(joined, spec), joined).sources
    at = found.explained.rows
    prior, number = dense.k[at][:, at], dense.number
    _, left = dense.moments(dense.across[at], prior)
    assert found.explained.prior == pytest.approx(float(prior.diagonal().mean()), rel=1e-8)
    assert found.explained.left == pytest.approx(float(left.detach().diagonal().mean()), rel=1e-8)
    if model != "area_to_point_gp":
        _, first = dense.moments(dense.across[at], prior, slice(number))
        assert found.explained.cells == pytest.approx(float((prior - first).diagonal().mean()), rel=1e-8)
    j = number + 2  # a cell of the second grid
    others = np.delete(np.arange(len(dense.s)), j)
    value, variance = dense.moments(dense.s[[j]], dense.s[[j]][:, [j]], others)
    target = torch.cat([each.targets for each in joined.sources])[2]
    assert float(found.left_out[0][2] - target) == pytest.approx(float(value - dense.residual[j]), abs=1e-8)
    assert float(found.left_out[1][2]) == pytest.approx(float(variance), rel=1e-8)
    _gain_is_that_of_one_more_row(joined, spec, dense, found)


def _gain_is_that_of_one_more_row(joined: DownscalingProblem, spec: ModelSpec, dense: Dense, found) -> None:
    """What one more station without an error takes from the mean variance, by one more row of the targets."""
    at, place = found.explained.rows, 40
    there = at[[place]]
    h = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
    shared = h @ dense.prior @ dense.effects.T
    across = torch.cat([dense.across[at], dense.k[at][:, there]], dim=1)
    row = dense.across[there] + shared
    corner = dense.k[there, there] + (h @ dense.prior @ h.T)[0, 0] + spec.point_noise + TAUS[-1]
    more = replace(dense)
    more.s = torch.cat([torch.cat([dense.s, row.T], 1), torch.cat([row, corner[:, None]], 1)])
    more.residual = torch.cat([dense.residual, torch.zeros(1, dtype=torch.float64)])
    more.carried = torch.nn.functional.pad(dense.carried, (0, 1, 0, 1))
    prior = dense.k[at][:, at]
    _, before = dense.moments(dense.across[at], prior)
    _, after = more.moments(across, prior)
    fall = float((before - after).diagonal().mean())
    assert float(found.explained.gain[place]) == pytest.approx(fall, rel=1e-7)


@pytest.mark.parametrize("model", ["shrinkage_cmp", "partial_cmp", "area_to_point_gp"])
def test_learning_maximises_the_evidence_of_all_targets(joined: DownscalingProblem, model: str) -> None:
    spec = spec_of(joined, model)
    data = matched_data(joined, spec)
    trainable = Trainable(spec, data, columns_of(joined))
    loss = exact_objective(trainable, data, never)
    dense = Dense(joined, spec)
    density = dense.log_density
    assert float(loss().detach()) == pytest.approx(-float(density) / len(dense.s), rel=1e-8)


def test_the_cells_alone_come_back(joined: DownscalingProblem) -> None:
    back = joined.joint_data.cells_alone
    for name in ("mediators", "query_mediators", "targets"):
        assert torch.equal(getattr(back, name), getattr(joined.data, name))
    assert torch.equal(back.bags.inputs, joined.data.bags.inputs)
    assert torch.allclose(back.footprints.weights, joined.data.footprints.weights) and back.points is None
    with pytest.raises(InputError, match="have points already"):
        joined.with_sources(joined.joint_data)


def test_draws_have_the_posteriors_moments(joined: DownscalingProblem) -> None:
    from deconditioning.downscaling.result_dataset import ResultDataset
    from deconditioning.metrics.predictive import Predictive

    for model in ("shrinkage_cmp", "partial_cmp"):
        spec = spec_of(joined, model)
        found = predict(spec, matched_data(joined, spec), joined)
        sd = joined.physical_sd(found.sd_latent)
        result = ResultDataset(joined, spec, Predictive(joined.physical_mean(found.mean), sd), {})
        draws = result.drawing()(600, 3).fields
        z = (draws.mean(axis=0) - joined.physical_mean(found.mean)) / (sd / np.sqrt(600))
        assert np.sqrt(np.nanmean(z**2)) < 1.6
        assert np.nanmedian(draws.std(axis=0) / sd) == pytest.approx(1, abs=0.07)


@pytest.mark.parametrize("model", ["auto", "shrinkage_cmp"])
def test_stations_improve_a_map_of_mediated_cells(model: str) -> None:
    base = problem(mediators=("q",))
    scored = stations(base, 60, seed=9)
    fast = {"model": model, "integrate": False, "restarts": 1, "steps": 15}
    cells = downscale(with_scored_stations(base, scored), fast).diagnostics["stations"]["scored"]
    both = downscale(with_scored_stations(with_stations(base, stations(base, 40)), scored), fast)
    said = both.diagnostics["stations"]
    assert said["scored"]["rmse"] < 0.9 * cells["rmse"] and said["scored"]["inside_95"] > 0.85
    assert abs(said["targets"]["offset"]) < 4 * said["targets"]["offset_sd"]


@pytest.mark.parametrize("model", ["shrinkage_cmp", "partial_cmp", "area_to_point_gp"])
def test_a_stored_model_and_a_preview_see_every_source(joined: DownscalingProblem, model: str) -> None:
    settings = DownscaleSettings(model, local_scale=False, learn=False, representativeness=TAUS)
    a_stored_model_predicts_as_the_model_does(joined, settings)
    spec = spec_of(joined, model)
    data = matched_data(joined, spec)
    picture, look = picture_or_none(joined, spec), sketch(joined)
    rough, whole = preview(spec, data, joined, "a", SumsStore(), picture, look), predict(spec, data, joined)
    assert np.corrcoef(rough.mean, whole.mean)[0, 1] > 0.99 and np.corrcoef(rough.sd(), whole.sd)[0, 1] > 0.9
    kept = exact(spec, data, joined, "b", SumsStore(), picture)
    assert torch.allclose(kept.mean, whole.mean, atol=1e-8) and torch.allclose(kept.sd, whole.sd, atol=1e-8)


def test_a_warped_target_takes_both_mediators_and_stations() -> None:
    base = problem(mediators=("q",))
    found = with_scored_stations(with_stations(base, stations(base, 30)), stations(base, 40, seed=9))
    said = {
        warp: downscale(found, {"model": "shrinkage_cmp", "learn": False, "warp": warp}) for warp in ("log", "none")
    }
    log, plain = (said[warp].diagnostics["stations"] for warp in ("log", "none"))
    assert log["targets"]["offset"] == pytest.approx(plain["targets"]["offset"], abs=0.05)
    assert log["scored"]["rmse"] == pytest.approx(plain["scored"]["rmse"], rel=0.05)


def test_the_command_takes_stations_beside_mediators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from deconditioning.cli.program import main

    rectilinear(40 + 0.25 * np.arange(24), 5 + 0.25 * np.arange(32)).to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    rows = stations(problem(), 20)
    lines = [f"{a:.4f},{o:.4f},{v:.3f}" for a, o, v in zip(rows.latitude, rows.longitude, rows.value, strict=True)]
    (tmp_path / "some.csv").write_text("\n".join(["lat,lon,t [K]", *lines]))
    asked = f"downscale {tmp_path}/a.nc --target t --covariates orog --mediators q --block 4 4 --no-learn".split()
    asked += ["--stations", f"{tmp_path}/some.csv", "--output", f"{tmp_path}/out.nc"]
    assert main(asked) == 0
    assert "20 stations are targets in addition to the cells" in capsys.readouterr().err
    assert main([*asked, "--model", "variational_shrinkage_cmp"]) == 2
    assert "cannot use stations or further sources: choose a model without inducing" in capsys.readouterr().err
