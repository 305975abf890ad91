"""Prediction over a Zarr store: the same numbers as in one piece, whatever the chunks; resumed, refused, in bounds."""

import gc
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
import xarray as xr

from deconditioning.downscaling.prediction import matched_data, predict, predict_tiled
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.starting import starting_spec
from deconditioning.downscaling.stores import predict_store, store_plan
from deconditioning.downscaling.stores.predict_store import predict_store_task
from deconditioning.downscaling.stores.store_plan import StoreTask
from deconditioning.downscaling.stores.stored_model import StoredModel, read_model
from deconditioning.engine.context import Context
from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.reading.zarr_reading import open_store
from tests.core.downscaling.stores import COVARIATES, stored_model, write_store

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("store") / "in.zarr", flip=True)


def task(store: Path, output: Path, model: StoredModel | None = None, **more) -> StoreTask:
    """A task with a given model, or one through inducing points, which is quick."""
    model = model or stored_model(store, "variational_cmp")
    return StoreTask(str(store), str(output), model.to_dict(), **{"double": True, **more})


def run(given: StoreTask, context: Context | None = None) -> dict:
    return predict_store_task(given.to_dict(), context or Context())


def written(output: Path, name: str = "mean") -> np.ndarray:
    """(T, H, W) as xarray reads it."""
    with xr.open_zarr(output, consolidated=False) as file:
        return file[name].values


@pytest.mark.parametrize("model", ["shrinkage_cmp", "variational_cmp"])
def test_once_is_one_posterior_read_at_every_steps_covariates(store, tmp_path, model):
    """Second route: the later step's covariates scaled by hand with the first step's bag pixels, in one piece."""
    stored = stored_model(store, model)
    found = run(task(store, tmp_path / "out.zarr", stored, rows=17, columns=50, steps=(1, 2)))
    assert found["chunks"] == found["computed"] == 3 * 2 and found["pixels"] == 40 * 80
    assert found["summed_directly"] == 0
    fields = open_store(store)
    first = make_problem(fields, stored.problem)
    spec = starting_spec(first, stored.settings)
    flat = [np.stack([fields.values(n, {"time": i}).ravel() for n in COVARIATES], axis=1) for i in range(2)]
    seen = flat[0][np.unique(first.bag_pixel)]
    scaled = torch.as_tensor((flat[1] - seen.mean(axis=0)) / seen.std(axis=0))
    moved = replace(first, inputs=torch.cat([first.inputs[:, :3], scaled], dim=1))
    if model == "shrinkage_cmp":
        whole = predict_tiled(spec, matched_data(first, spec), first, moved.inputs)
    else:
        whole = predict(spec, matched_data(first, spec), moved)
    for name, values in (("mean", first.physical_mean(whole.mean)), ("sd", first.physical_sd(whole.sd))):
        assert np.abs(written(tmp_path / "out.zarr", name)[0] - values).max() < 1e-10


def test_each_is_the_downscaling_of_each_step(store, tmp_path):
    stored = stored_model(store)
    found = run(task(store, tmp_path / "out.zarr", stored, condition="each", rows=21, steps=(1, 3)))
    assert found["shape"] == [2, 40, 80] and found["warnings"] == [] and found["summed_directly"] == 0
    problem = make_problem(open_store(store), replace(stored.problem, select={"time": 2}))
    alone = downscale(problem, stored.settings)
    assert np.abs(written(tmp_path / "out.zarr")[1] - alone.mean).max() < 1e-8
    assert np.abs(written(tmp_path / "out.zarr", "sd")[1] - alone.sd).max() < 1e-8


def test_a_warped_target_has_the_map_and_the_quantiles_of_each_step(store, tmp_path):
    """Second route: the step downscaled by itself; the cells' values are honoured in the store too."""
    stored = stored_model(store, "bag_gp", matching="direct", mediators=())
    stored = replace(stored, settings=stored.settings.replace(warp=Warp("box-cox").to_dict()))
    more = {"condition": "each", "rows": 21, "steps": (1, 3), "quantiles": (0.975, 0.05)}
    found = run(task(store, tmp_path / "out.zarr", stored, **more))
    assert found["warnings"] == []
    alone = downscale(make_problem(open_store(store), replace(stored.problem, select={"time": 2})), stored.settings)
    spread = float(np.nanstd(alone.mean))
    wanted = {"mean": alone.mean, "sd": alone.sd, "quantile_5": alone.predictive.quantile(0.05),
              "quantile_97p5": alone.predictive.quantile(0.975)}  # fmt: skip
    for name, values in wanted.items():
        assert np.nanmax(np.abs(written(tmp_path / "out.zarr", name)[1] - values)) < 1e-6 * spread, name
    assert "Values are modelled on a log scale" in open_store(tmp_path / "out.zarr").dataset.attrs["comment"]
    once = run(task(store, tmp_path / "once.zarr", stored, steps=(0, 2)))
    first = downscale(make_problem(open_store(store), stored.problem), stored.settings)
    assert once["computed"] and np.nanmax(np.abs(written(tmp_path / "once.zarr")[0] - first.mean)) < 1e-6 * spread
    assert np.isfinite(written(tmp_path / "once.zarr")[1]).all() and written(tmp_path / "once.zarr").min() > 0


def test_a_step_outside_the_domain_of_the_warp_is_skipped_with_its_reason(tmp_path):
    def colder(step: int, planet: Any) -> None:
        if step == 1:
            planet["cloud_top_temperature"] -= 300.0

    other = write_store(tmp_path / "in.zarr", steps=2, change=colder)
    stored = stored_model(other, "bag_gp", matching="direct", mediators=())
    stored = replace(stored, settings=stored.settings.replace(warp=Warp("box-cox").to_dict()))
    found = run(task(other, tmp_path / "out.zarr", stored, condition="each"))
    assert len(found["warnings"]) == 1 and "Step 1 is skipped: The cells range from −" in found["warnings"][0]
    assert "log(v) is not defined" in found["warnings"][0]


def test_each_with_coarse_targets_of_their_own(store, tmp_path):
    coarse = tmp_path / "coarse.nc"
    fine = open_store(store).dataset[["cloud_top_temperature", "cloud_top_pressure"]]
    fine.coarsen(latitude=5, longitude=5).mean().to_netcdf(coarse, engine="h5netcdf")
    stored = stored_model(store, matching="direct", mediators=())
    run(task(store, tmp_path / "out.zarr", stored, condition="each", coarse=str(coarse), steps=(2, 3)))
    from deconditioning.fields.reading.opening import open_fields

    spec = replace(stored.problem, select={"time": 2})
    problem = make_problem_from_files(open_store(store), open_fields(coarse), None, spec)
    model = starting_spec(problem, stored.settings)
    alone = predict(model, matched_data(problem, model), problem)
    assert np.abs(written(tmp_path / "out.zarr")[0] - problem.physical_mean(alone.mean)).max() < 1e-8


def test_float32_rounds_what_float64_keeps_whatever_the_chunks(store, tmp_path):
    run(task(store, tmp_path / "a.zarr", rows=15, columns=50, steps=(1, 2)))
    run(task(store, tmp_path / "b.zarr", double=False, steps=(1, 2)))
    for name in ("mean", "sd"):
        a, b = written(tmp_path / "a.zarr", name), written(tmp_path / "b.zarr", name)
        assert a.dtype == np.float64 and b.dtype == np.float32
        assert np.allclose(a, b, rtol=1e-7, atol=0)


def test_the_output_says_what_it_is(store, tmp_path):
    run(task(store, tmp_path / "out.zarr"))
    found = open_store(tmp_path / "out.zarr")
    mean, sd = found.dataset["mean"], found.dataset["sd"]
    assert mean.dims == ("time", "lat", "lon") and mean.attrs["units"] == sd.attrs["units"] == "K"
    assert mean.attrs["standard_name"] == "air_temperature_at_cloud_top" and sd.attrs["standard_name"].endswith("error")
    assert np.array_equal(found.dataset["time"].values, open_store(store).dataset["time"].values)
    assert np.allclose(found.grid.latitude, open_store(store).grid.latitude)
    assert StoredModel.from_dict(json.loads(found.dataset.attrs["settings"])) == stored_model(store, "variational_cmp")
    assert json.loads((tmp_path / "out.zarr" / "zarr.json").read_text())["zarr_format"] == 3


def test_resume_computes_only_what_is_missing(store, tmp_path, monkeypatch):
    output, done = tmp_path / "out.zarr", []
    run(task(store, output, rows=20))
    whole = written(output)
    monkeypatch.setattr(predict_store, "write_chunk", _spy(predict_store.write_chunk, done))
    (output / "mean/c/0/1/0").unlink()
    (output / "sd/c/2/0/0").rename(output / "sd/c/2/0/0.3f.partial")  # what a killed worker leaves
    with pytest.raises(InputError, match=r"4 of 6 chunks: give `--resume`"):
        run(task(store, output, rows=20))
    found = run(task(store, output, rows=20, resume=True))
    assert (found["kept"], found["computed"], found["recomputed"]) == (4, 2, 0)
    assert [(chunk.step, chunk.row) for chunk in done] == [(0, 1), (2, 0)]
    assert np.array_equal(written(output), whole)
    for other in (task(store, output, rows=10, resume=True), task(store, output, condition="each", resume=True)):
        with pytest.raises(InputError, match="does not belong to this prediction"):
            run(other)


def test_another_version_resumes_where_its_numbers_are_the_same(store, tmp_path, monkeypatch):
    output = tmp_path / "out.zarr"
    run(task(store, output, rows=20))
    (output / "mean/c/0/1/0").unlink()
    monkeypatch.setattr("deconditioning.__version__", "9.0.0")
    assert run(task(store, output, rows=20, resume=True))["computed"] == 1
    monkeypatch.setattr("deconditioning.downscaling.stores.store_plan.SAME_NUMBERS_SINCE", "9.0.0")
    with pytest.raises(InputError, match="does not belong to this prediction"):
        run(task(store, output, rows=20, resume=True))


def test_a_run_that_starts_again_joins_its_own_output(store, tmp_path):
    """As after the loss of the worker that held the run: same token, no `resume`."""
    output, stopping = tmp_path / "out.zarr", []
    context = Context(on_report=lambda row: stopping.append(row), stop=lambda: len(stopping) > 3)
    cut = run(task(store, output, rows=20, token="mine"), context)
    assert cut["cancelled"] and 0 < cut["computed"] < 6
    again = run(task(store, output, rows=20, token="mine"))
    assert again["kept"] == cut["computed"] and again["kept"] + again["computed"] == 6
    with pytest.raises(InputError, match="resume"):
        run(task(store, output, rows=20, token="another"))


def test_only_a_region_is_read_at_a_time(store, tmp_path, monkeypatch):
    given = task(store, tmp_path / "out.zarr", rows=20, columns=40, steps=(1, 2))
    sizes, region = [], predict_store.region
    conditioned_on = store_plan.problem_of(given, None)  # this reads its own step whole

    def spy(fields, name, select, window):
        sizes.append(region(fields, name, select, window).size)
        return region(fields, name, select, window)

    monkeypatch.setattr(predict_store, "region", spy)
    for module in (store_plan, predict_store):
        monkeypatch.setattr(module, "problem_of", lambda *_: conditioned_on)
    monkeypatch.setattr(store_plan.Fields, "values", lambda *_: pytest.fail("a whole step was read"))
    run(given)
    assert sizes == [20 * 40] * (2 * 2 * 2)


def _spy(function, seen):
    def write(path, layout, chunk, fields):
        seen.append(chunk)
        return function(path, layout, chunk, fields)

    return write


def memory_held(path: str) -> None:
    """Print the megabytes of this process at every report of the run that a file describes."""
    held: list[float] = []

    def look(row: dict[str, Any]) -> None:
        if len(held) in (4, 20):  # those that are compared
            gc.collect()
        held.append(psutil.Process().memory_info().rss / 1e6)

    predict_store_task(json.loads(Path(path).read_text()), Context(on_report=look))
    print(json.dumps(held))


def test_memory_does_not_grow_with_the_steps(tmp_path):
    """After two steps eight more of 220 × 440 pixels: kept, their covariates and results would be 25 MB in float64."""
    folder = write_store(tmp_path / "in.zarr", 10, (220, 440), same=True)
    model = stored_model(folder, "variational_cmp", block=(20, 20))  # of few cells, which is quick
    (tmp_path / "task.json").write_text(json.dumps(task(folder, tmp_path / "out.zarr", model).to_dict()))
    # a process of its own, where no other test leaves or frees memory
    alone = f"from {__name__} import memory_held; memory_held('{tmp_path / 'task.json'}')"
    said = subprocess.run([sys.executable, "-c", alone], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    held = json.loads(said.splitlines()[-1])
    assert len(held) == 21
    assert held[-1] - held[4] < 12, f"{held[4]:.0f} MB after two steps, {held[-1]:.0f} MB at the end"


def test_a_step_without_targets_is_left_out_and_said(tmp_path):
    def lose(step, planet):
        if step == 1:
            planet["cloud_top_temperature"][:] = np.nan

    folder = write_store(tmp_path / "in.zarr", 2, change=lose)
    found = run(task(folder, tmp_path / "out.zarr", condition="each", rows=20))
    assert found["computed"] == 2 and "Step 1 is skipped: `cloud_top_temperature` has only" in found["warnings"][0]
    assert np.isnan(written(tmp_path / "out.zarr")[1]).all() and np.isfinite(written(tmp_path / "out.zarr")[0]).all()


def test_other_units_are_converted_and_missing_pixels_stay_missing(store, tmp_path):
    def change(step, planet):
        planet["total_cloud_cover"][:] = planet["total_cloud_cover"] / 100
        if step == 0:
            planet["cloud_albedo"][5, 6] = np.nan

    other = write_store(tmp_path / "in.zarr", 1, flip=True, change=change, zarr_format=2, total_cloud_cover="1")
    run(task(store, tmp_path / "a.zarr", steps=(0, 1)))
    run(task(other, tmp_path / "b.zarr", stored_model(store, "variational_cmp")))
    a, b = written(tmp_path / "a.zarr"), written(tmp_path / "b.zarr")
    assert np.flatnonzero(np.isnan(b)).tolist() == [34 * 80 + 6]  # latitudes ascend in the output
    assert np.nanmax(np.abs(a - b)) < 1e-4  # covariates are float32


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"along": "month"}, "no dimension `month`"),
        ({"steps": (1, 9)}, "the store has 3"),
        ({"condition": "twice"}, "choose 'once' or 'each'"),
        ({"coarse": "coarse.nc"}, "only with condition 'each'"),
        ({"rows": 0}, "whole number from 1"),
        ({"store": "/nowhere/in.zarr"}, "every worker must see the same path"),
        ({"output": "/nowhere/out.zarr"}, "cannot be created"),
    ],
)
def test_bad_settings_are_sentences(store, tmp_path, changes, said):
    given = {**StoreTask(str(store), str(tmp_path / "out.zarr"), stored_model(store).to_dict()).to_dict(), **changes}
    with pytest.raises(InputError, match=said):
        predict_store_task(given, Context())
    assert not (tmp_path / "out.zarr").exists()


def test_a_store_that_does_not_fit_the_model_is_refused(store, tmp_path):
    pascals = write_store(tmp_path / "units.zarr", 1, cloud_albedo="Pa")
    with pytest.raises(InputError, match=r"`cloud_albedo` has units 'Pa' in one file and '1'"):
        run(task(pascals, tmp_path / "out.zarr", stored_model(store)))
    for condition in ("once", "each"):
        with pytest.raises(InputError, match="pixels beyond the model's cells"):
            run(task(store, tmp_path / "out.zarr", stored_model(store, region=(1, 6, 2, 9)), condition=condition))
    coarser = write_store(tmp_path / "grid.zarr", 1, (20, 40))
    with pytest.raises(InputError, match="differ from those of the model's grid"):
        run(task(coarser, tmp_path / "out.zarr", stored_model(store)))
    shutil.rmtree(pascals / "cloud_albedo")
    bare = pascals.rename(tmp_path / "bare.zarr")
    with pytest.raises(InputError, match="no variable `cloud_albedo`"):
        run(task(bare, tmp_path / "out.zarr", stored_model(store)))
    (bare / "zarr.json").write_text("{")
    with pytest.raises(InputError, match="could not be read"):
        run(task(bare, tmp_path / "out.zarr", stored_model(store)))
    assert not (tmp_path / "out.zarr").exists()


def test_a_damaged_chunk_is_a_sentence(tmp_path):
    folder = write_store(tmp_path / "in.zarr", 2)
    chunk = folder / "cloud_albedo/c/1/1/0"
    chunk.write_bytes(chunk.read_bytes()[:40])
    with pytest.raises(InputError, match="A chunk of `cloud_albedo` could not be read"):
        run(task(folder, tmp_path / "out.zarr"))


def test_a_stored_model_is_what_the_page_and_the_command_write(store, tmp_path):
    stored = stored_model(store)
    file = tmp_path / "model.json"
    file.write_text(json.dumps({**stored.to_dict(), "version": "0"}))
    assert read_model(file) == stored
    document = {
        "settings": {"input": str(store), "coarse": None, "mediator": None, "problem": stored.problem.to_dict()},
        "results": [{"seed": 3, "settings": stored.settings.to_dict()}],
    }
    assert StoredModel.from_document(document) == replace(stored, problem=replace(stored.problem, seed=3))
    for text, said in (("{", "not valid JSON"), ("[]", "not a saved model"), ('{"results": []}', "not a saved model")):
        file.write_text(text)
        with pytest.raises(InputError, match=said):
            read_model(file)
    with pytest.raises(InputError, match="have not been learned yet"):
        StoredModel.from_dict({**stored.to_dict(), "settings": {"learn": True}})
