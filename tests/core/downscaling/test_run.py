"""The main job on the bundled field: routes agree, baselines are beaten, previews and settings hold."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.bag_sums.pixel_sums import picture_sums, term_sums
from deconditioning.downscaling import interactive
from deconditioning.downscaling.pictures.layouts import grid_layout
from deconditioning.downscaling.prediction import (
    fits_in_memory,
    matched_data,
    picture_of,
    predict_from_sums,
    predict_tiled,
)
from deconditioning.downscaling.presets import preset
from deconditioning.downscaling.run import downscale, export, learn_task
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem, keep_upload, open_source, stored_uploads
from deconditioning.downscaling.starting import columns_of, spec_to_settings, starting_spec
from deconditioning.errors import Cancelled, InputError
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.models.indirect_gp import posterior
from deconditioning.models.sparse.coreset import coreset

SELECT = {"time": 2, "level_height": 4}
#: A way of learning ℓ and λ, so that none has to be chosen: tests of the choice stand in test_stages.py.
WAY = "leave_one_bag_out"


def ukv(block=(18, 18), opener=open_source, **changes):
    """The UKV example in large cells, quick to fit."""
    given = {"target": "air_potential_temperature", "covariates": ["surface_altitude"], "block": block, "withhold": 0.0}
    return build_problem(Source("ukv-645m"), DownscalingSpec.from_dict(given | {"select": SELECT} | changes), opener)


def open_corner(key):
    """The first 108 rows and columns of a data set."""
    fields, part = open_source(key), slice(0, 108)
    dataset = fields.dataset.isel(grid_latitude=part, grid_longitude=part)
    return replace(fields, dataset=dataset, grid=fields.grid.window(part, part))


@pytest.fixture(scope="module")
def problem():
    return ukv()


@pytest.fixture(scope="module")
def corner():
    """Its corner, for tests that look at every pair of pixels."""
    return ukv(opener=open_corner)


@pytest.mark.parametrize("model", ["bag_gp", "shrinkage_cmp", "cmp"])
def test_sums_and_tiles_give_the_same_picture(corner, model):
    problem, spec = corner, starting_spec(corner, DownscaleSettings(model=model))
    picture = picture_of(problem)
    assert grid_layout(problem) is not None and fits_in_memory(problem)
    found = predict_from_sums(spec, problem.data, problem, [(1.0, picture_sums(spec.kernel, picture))])
    some = torch.arange(0, len(problem.pixel), 97)
    tiled = predict_tiled(spec, problem.data, problem, problem.inputs[some])
    assert torch.allclose(found.mean[some], tiled.mean, atol=1e-8)
    assert torch.allclose(found.sd[some] ** 2, tiled.sd**2, atol=1e-8)
    assert found.evidence == pytest.approx(tiled.evidence, abs=1e-6)
    assert found.routes == ("block offsets", "Chebyshev interpolation")


def test_a_gaussian_process_with_orography_beats_interpolation_on_the_real_field(problem):
    found = downscale(problem, DownscaleSettings(model="bag_gp", restarts=1, points=5))
    scores = found.scores
    assert scores["bag_gp"]["rmse_area"] < 0.6 * scores["bilinear"]["rmse_area"]
    assert scores["bag_gp"]["rmse_area"] < 0.6 * scores["bicubic"]["rmse_area"]
    assert scores["bag_gp"]["ssim"] > scores["bilinear"]["ssim"]
    assert 0.4 < scores["bag_gp"]["coverage95"] <= 1
    assert found.coarse_scores["seen"]["rmse"] < 0.1
    again = downscale(problem, found.settings)
    assert np.allclose(again.mean, found.mean, equal_nan=True, atol=1e-10)
    assert export(problem, found)[:4] == b"\x89HDF"


def test_a_mediated_model_runs_without_any_matched_cell():
    problem = ukv((12, 12), mediators=["surface_altitude"], withhold=0.5)
    found = downscale(problem, DownscaleSettings("shrinkage_cmp", restarts=1, steps=15, points=4, stage_one=WAY))
    assert not problem.matched
    assert found.scores["shrinkage_cmp"]["rmse_area"] < found.scores["bilinear"]["rmse_area"]
    assert found.coarse_scores["withheld"]["rmse"] > 0


def test_unmatched_data_give_the_bag_gp_a_pseudo_target_of_its_own_bag():
    problem = ukv((12, 12), mediators=["surface_altitude"], withhold=0.5)
    spec = starting_spec(problem, DownscaleSettings(model="bag_gp"))
    data = matched_data(problem, spec)
    hidden = problem.target_scale.forward(problem.coarse_truth.ravel()[problem.bag_cell])
    assert data.matched and len(data.targets) == data.bags.count
    assert np.corrcoef(data.targets.numpy(), hidden)[0, 1] > 0.8


def test_the_preview_is_the_exact_picture_where_sums_are_exact(problem):
    spec = starting_spec(problem, DownscaleSettings(model="bag_gp"))
    store, picture = SumsStore(), picture_of(problem)
    quick = interactive.preview(spec, problem.data, problem, "key", store, picture, interactive.sketch(problem))
    exact = interactive.exact(spec, problem.data, problem, "key", store, picture)
    assert torch.allclose(quick.mean, exact.mean, atol=1e-10)
    assert "mean exact" in quick.approximations[0]
    assert float((quick.sd() - exact.sd).abs().mean()) < 0.1 * float(exact.sd.mean())


def test_a_sampled_preview_says_so_and_is_near(corner):
    problem, spec = corner, starting_spec(corner, DownscaleSettings(model="bag_gp", kernel="matern52"))
    store = SumsStore()
    quick = interactive.preview(
        spec, problem.data, problem, "key", store, picture_of(problem), interactive.sketch(problem)
    )
    exact = interactive.exact(spec, problem.data, problem, "key", store, picture_of(problem))
    assert "points a cell" in quick.approximations[0]
    assert np.corrcoef(quick.mean.numpy(), exact.mean.numpy())[0, 1] > 0.9


def test_kept_sums_are_bounded(problem):
    spec = starting_spec(problem, DownscaleSettings(model="bag_gp"))
    store, picture = SumsStore(limit=1), picture_of(problem)
    for term in spec.kernel.terms:
        store.put("key", term, term_sums(term, picture))
    assert store.get("key", spec.kernel.terms[0]) is None
    assert store.get("key", spec.kernel.terms[1]) is not None


def test_settings_survive_json_and_refuse_nonsense(problem):
    spec = starting_spec(problem, DownscaleSettings(model="cmp"))
    settings = spec_to_settings(DownscaleSettings(model="cmp"), spec)
    assert starting_spec(problem, DownscaleSettings.from_dict(settings.to_dict())) == spec
    plain = {"model": "regression_kriging"}
    for wrong in ({"model": "x"}, {"structure": "x"}, {"points": 0}, {"nonsense": 1}, {"spatial": "constant"},
                  {"kernel": "x"}, plain | {"kernel": "rbf"}, plain | {"structure": "product"}):  # fmt: skip
        with pytest.raises(InputError):
            DownscaleSettings.from_dict(wrong)


@pytest.mark.parametrize(
    ("key", "model"),
    [*product(("ukv-645m", "ukv-75m"), ("area_to_point_gp", "bag_gp")), ("atmosphere-small", "area_to_point_gp")],
)
def test_stored_hyperparameters_are_near_an_optimum_of_the_evidence(key, model):
    from deconditioning.datasets.entries import find

    given = DownscalingSpec.from_dict(find(key).default)
    problem = build_problem(Source(key), given)
    stored = preset({"fields": key, "coarse": None}, given.to_dict(), DownscaleSettings(model=model, kernel="rbf"))
    assert stored is not None
    picture, data = picture_of(problem), matched_data(problem, stored)
    best = predict_from_sums(stored, data, problem, [(1.0, picture_sums(stored.kernel, picture))]).evidence
    start = starting_spec(problem, DownscaleSettings(model=model))
    poor = predict_from_sums(start, data, problem, [(1.0, picture_sums(start.kernel, picture))]).evidence
    assert best > poor + 10


def test_stored_hyperparameters_of_the_full_size_are_better_than_the_start_on_a_coreset():
    from deconditioning.datasets.entries import find

    given = DownscalingSpec.from_dict(find("atmosphere").default)
    problem = build_problem(Source("atmosphere"), given)
    settings = DownscaleSettings(model="shrinkage_cmp", kernel="rbf")
    stored = preset({"fields": "atmosphere", "coarse": None}, given.to_dict(), settings)
    assert stored is not None
    small = replace(problem.data, bags=coreset(problem.data.bags, 2))
    best, poor = (
        posterior(spec, small, columns_of(problem)).evidence for spec in (stored, starting_spec(problem, settings))
    )
    assert best > poor + 50


@pytest.mark.parametrize(
    "change",
    [
        {"withhold": 0.3}, {"block": [8, 8]}, {"mediators": ["surface_altitude"]}, {"hide": [[3, 4]]},
        {"region": [0, 9, 0, 9]},
    ],
)  # fmt: skip
def test_stored_hyperparameters_are_for_the_cells_they_were_learned_from(change):
    """With cells withheld that they have seen, scores there would be no prediction."""
    from deconditioning.datasets.entries import find

    source, given = {"fields": "ukv-645m", "coarse": None}, find("ukv-645m").default
    usual = DownscaleSettings(model="bag_gp", kernel="rbf")
    assert preset(source, DownscalingSpec.from_dict(given).to_dict(), usual) is not None
    assert preset(source, DownscalingSpec.from_dict(given | change).to_dict(), usual) is None
    rough, smooth = usual.replace(spatial="matern12"), usual.replace(spatial="matern32")
    assert preset(source, DownscalingSpec.from_dict(given).to_dict(), rough) is not None
    assert preset(source, DownscalingSpec.from_dict(given).to_dict(), smooth) is None


class Context:
    """A context that records and cancels after some reports."""

    def __init__(self, cancel_after: int | None = None):
        self.rows, self.files, self.kept, self.cancel_after = [], {}, None, cancel_after

    def report(self, **row):
        self.rows.append(row)

    def check(self):
        if self.cancel_after is not None and len(self.rows) > self.cancel_after:
            raise Cancelled

    def save(self, name, data):
        self.files[name] = data

    def best(self, result):
        self.kept = result


@pytest.mark.parametrize(
    ("every_pixel", "looked_at"),
    [
        (False, "cells thinned to 3 points"),
        (True, "location over every pixel, other terms over 3 points a cell"),
    ],
)
def test_the_task_reports_saves_and_survives_cancelling(every_pixel, looked_at):
    """Cancelled, it ends with the best so far and begins nothing more."""
    settings = {
        "source": {"fields": "ukv-645m"},
        "problem": {
            "target": "air_potential_temperature", "covariates": ["surface_altitude"], "block": [18, 18],
            "withhold": 0.0, "select": SELECT,
        },
        "settings": {"model": "bag_gp", "restarts": 3, "steps": 30, "points": 3, "every_pixel": every_pixel},
    }  # fmt: skip
    context = Context(cancel_after=5)
    result = learn_task(settings, context)
    assert result["cancelled"] and context.files == {} and context.kept["best_hyperparameters"]
    assert len(context.rows) == 6  # nothing more is begun once the learning has stopped
    told = [row["quantity"] for row in context.rows if "quantity" in row]
    assert set(told) == {f"log evidence ({looked_at})"}  # not the evidence of all pixels
    again = Context()
    finished = learn_task({**settings, "settings": {**result["learned"]}}, again)
    assert not finished["cancelled"] and set(again.files) == {"downscaled.nc", "thumbnail.png"}
    assert math.isfinite(finished["scores"]["bag_gp"]["rmse"])


def test_uploads_are_kept_and_found_again(runs_folder):
    data = (Path(__file__).parents[3] / "data" / "ukv_20091119.nc").read_bytes()
    key, fields = keep_upload(data, "mine.nc")
    assert stored_uploads() == {key: "mine.nc"}
    again = open_source(key)
    assert "surface_altitude" in again.variables() and fields.variables() == again.variables()
    assert fields.dataset.identical(again.dataset) and (fields.source, fields.notes) == (again.source, again.notes)
    with pytest.raises(InputError, match="upload it again"):
        open_source("upload:0000")
    with pytest.raises(InputError):
        keep_upload(b"nonsense", "bad.nc")
    assert len(stored_uploads()) == 1


def test_real_files_reproduce_the_known_order_of_methods(real_data):
    """ERA5: the mediated model lies between interpolation and models given pseudo-targets (RMSE near 1.5 K)."""
    from deconditioning.fields.problem.coarsened import make_problem
    from deconditioning.fields.reading.opening import open_fields

    fields = open_fields(real_data / "era5_1995-07-14T12.nc")
    problem = make_problem(fields, DownscalingSpec("t2m", ("sp", "d2m"), ("sp",), (7, 7), 0.5, 0))
    quick = {"restarts": 1, "steps": 25, "points": 6, "stage_one": WAY}
    found = downscale(problem, DownscaleSettings("shrinkage_cmp", **quick))
    assert found.scores["shrinkage_cmp"]["rmse"] < 0.97 * found.scores["bilinear"]["rmse"]
    assert 0.7 < found.scores["shrinkage_cmp"]["coverage95"] <= 1


def test_a_preview_of_cells_with_few_pixels_is_exact():
    """Where a cell has no more pixels than a preview looks at, only rounding to float32 is left."""

    def opener(key):
        fields, part = open_source(key), slice(0, 36)
        dataset = fields.dataset.isel(grid_latitude=part, grid_longitude=part)
        return replace(fields, dataset=dataset, grid=fields.grid.window(part, part))

    small = ukv(block=(2, 2), opener=opener)
    spec = starting_spec(small, DownscaleSettings(model="bag_gp", kernel="matern52"))
    store, picture = SumsStore(), picture_of(small)
    quick = interactive.preview(spec, small.data, small, "key", store, picture, interactive.sketch(small))
    exact = interactive.exact(spec, small.data, small, "key", store, picture)
    assert "points a cell" in quick.approximations[0]
    assert float((quick.mean - exact.mean).abs().max()) < 1e-3
    assert float((quick.sd() - exact.sd).abs().max()) < 1e-3


@pytest.mark.parametrize("stride", [1, 2, 4])
def test_every_pixel_of_a_thinned_picture_is_stood_for_by_one_of_its_square(stride):
    there = np.random.default_rng(0).random((13, 9)) < 0.7
    pixel = np.flatnonzero(there)
    thin = interactive.thinned(pixel, 9, stride)
    chosen, repeat = pixel[thin.chosen.numpy()], thin.repeat.numpy()
    stand_in = chosen[repeat]
    for one, other in zip(pixel, stand_in, strict=True):
        row, column = divmod(one, 9)
        home = row // stride * stride, column // stride * stride
        assert other == (home[0] * 9 + home[1] if there[home] else one)
    assert len(set(chosen)) == len(chosen) and set(stand_in) == set(chosen)


def test_a_preview_affords_less_the_larger_the_problem():
    assert [interactive._stride(excess) for excess in (0.3, 1.0, 1.1, 4.0, 4.1, 16.0)] == [1, 1, 2, 2, 4, 4]
