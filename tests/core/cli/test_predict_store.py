"""``deconditioning predict-store``: from a Zarr store to a Zarr store, and sentences for what cannot be."""

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from deconditioning.cli.commands import predict_store as command_module
from deconditioning.fields.reading.zarr_reading import open_store
from tests.core.downscaling.stores import stored_model, write_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("store") / "in.zarr", 2)


def test_learn_on_a_store_then_predict_all_of_it(command, store: Path, tmp_path: Path, runs_folder) -> None:
    model, output = tmp_path / "model.json", tmp_path / "out.zarr"
    learned = command(
        "downscale", store, "--select", "time=1", "--target", "cloud_top_temperature", "--covariates",
        "total_cloud_cover", "--block", 5, 5, "--withhold", 0, "--model", "bag_gp", "--no-learn", "--quiet", "--output",
        tmp_path / "one.nc", "--json", model,
    )  # fmt: skip
    assert learned.code == 0, learned.err
    answer = command("predict-store", store, "--model", model, "--output", output, "--region-rows", 16, "--double")
    assert answer.code == 0, answer.err
    (entry,) = answer.document["results"]
    assert entry["chunks"] == entry["computed"] == 6 and entry["pixels"] == 2 * 40 * 80
    assert entry["seconds"]["wall"] > 0 and entry["peak_mb"] > 0 and entry["pixels_per_second"] > 0
    assert "6 of 6 chunks" in entry["message"] and "%" in answer.err
    import xarray as xr

    with xr.open_dataset(tmp_path / "one.nc", engine="h5netcdf") as one:
        for name in ("mean", "sd"):
            assert np.abs(open_store(output).values(name, {"time": 1}) - one[name].values).max() < 1e-8


def test_numbers_counted_as_missing_are_missing_in_every_step(
    command, store: Path, tmp_path: Path, runs_folder
) -> None:
    """As from a store that has NaN there: in the bags that the model rests on, and where it is read."""
    fields, outputs = {}, {}
    for name, mark in (("right", np.nan), ("wrong", -99.99)):
        data = open_store(store).dataset[["cloud_top_temperature", "total_cloud_cover"]].load()
        for step, rows in enumerate((slice(3, 9), slice(20, 22))):
            data.total_cloud_cover.values[step, rows, 10:17] = mark
        for variable in data.variables.values():
            variable.encoding = {}
        data.to_zarr(tmp_path / f"{name}.zarr", zarr_format=2, consolidated=False)
        model, outputs[name] = tmp_path / f"{name}.json", tmp_path / f"{name}-out.zarr"
        learned = command(
            "downscale", tmp_path / f"{name}.zarr", "--select", "time=#1", "--target", "cloud_top_temperature",
            "--covariates", "total_cloud_cover", "--block", 5, 5, "--withhold", 0, "--model", "bag_gp", "--no-learn",
            "--json", model, *(["--missing=-99.99"] if name == "wrong" else []),
        )  # fmt: skip
        assert learned.code == 0 and ("taken as missing, as requested" in learned.err) == (name == "wrong")
        answer = command("predict-store", tmp_path / f"{name}.zarr", "--model", model, "--output", outputs[name],
                         "--double", "--quiet")  # fmt: skip
        assert answer.code == 0, answer.err
        fields[name] = np.stack([open_store(outputs[name]).values("mean", {"time": step}) for step in (0, 1)])
    assert np.isnan(fields["wrong"]).sum() == 8 * 7
    assert np.array_equal(fields["wrong"], fields["right"], equal_nan=True)


def options(store: Path, model: Path, *more: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command_module.arguments(parser)
    return parser.parse_args([str(store), "--model", str(model), "--output", "out.zarr", *more])


def test_paths_are_absolute_and_a_netcdf_travels_to_a_cluster_elsewhere(store, tmp_path, monkeypatch, runs_folder):
    one = tmp_path / "one.nc"
    dataset = open_store(store).dataset.isel(time=0).load()
    dataset.to_netcdf(one, engine="h5netcdf")
    model = tmp_path / "model.json"
    model.write_text(json.dumps(stored_model(one).to_dict()))
    monkeypatch.chdir(tmp_path)
    here = command_module.task_settings(options(store, model, "--device", "cpu"))
    assert here["output"] == str(tmp_path / "out.zarr") and here["model"]["source"]["fields"] == str(one)
    there = command_module.task_settings(options(store, model), remote=True)
    assert there["model"]["source"]["fields"].startswith("upload:") and there["token"] != here["token"]
    model.write_text(json.dumps(stored_model(store).to_dict()))
    there = command_module.task_settings(options(store, model), remote=True)
    assert there["model"]["source"]["fields"] == str(store), "a store is a path that all workers see"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--model", "none.json"], "none.json cannot be read"),
        (["--region-rows", "0"], "whole number from 1"),
        (["--coarse", "c.nc"], "only with condition 'each'"),
        (["--condition", "each", "--mediator", "m.nc"], "needs `coarse`"),
        (["--json", "none/out.json"], "does not exist"),
    ],
)
def test_bad_input_is_one_sentence(command, store, tmp_path, runs_folder, more, said) -> None:
    model = tmp_path / "model.json"
    model.write_text(json.dumps(stored_model(store).to_dict()))
    answer = command("predict-store", store, "--model", model, "--output", tmp_path / "out.zarr", "--quiet", *more)
    assert (answer.code, answer.out) == (2, ""), answer.err
    assert said in answer.err and answer.err.count("\n") == 1
