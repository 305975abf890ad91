"""Messages in = fields out: every GRIB file of ecCodes' samples, of xarray's tests, and files made for one key each.

Further files (such as those that cfgrib's source distribution holds) are counted where ``GRIB_FILES`` names a folder.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray

from deconditioning.fields.reading.opening import open_fields
from tests.conftest import ROOT

needs_grib = pytest.mark.skipif(importlib.util.find_spec("eccodes") is None, reason="no wheel of eccodes is installed")

LABELS = {
    "layers.grib2": ("level", ["0-0.1 m", "0.1-0.4 m", "0.4-1 m", "1-2 m"]),
    "thin-layers.grib2": ("level", ["0-0.005 m", "0.005-0.01 m", "1-2 m"]),
    "same-middle.grib2": ("level", ["0-1 m", "0.4-0.6 m"]),
    "fractional-levels.grib2": ("level", ["0.5", "1.5", "2.0", "2.5"]),
    "two-accumulations.grib2": ("period", ["1.0", "6.0"]),
    "hourly-and-all.grib2": ("period", ["1.0", "2.0", "3.0"]),
    "average-and-moment.grib2": ("typeOfStatisticalProcessing", ["accum", "avg", "max"]),
    "lagged-runs.grib2": ("step", ["24.0", "48.0", "72.0"]),
    "members.grib2": ("number", ["0", "1", "2", "3", "4"]),
    "pairs.grib2": ("typeOfEnsembleForecast", ["2", "3"]),
    "mean-and-spread.grib2": ("derived", ["mean", "spread"]),
    "percentiles.grib2": ("percentile", ["10", "50", "90"]),
    "probabilities.grib2": ("probability", ["above 273.1", "above 293.1", "below 273.1"]),
    "minutes.grib2": ("time", [f"2019-07-01T00:{m}:00" for m in ("00", "15", "30", "45")]),
    "seconds.grib2": ("time", [f"2019-07-01T00:00:{s}" for s in ("00", "20", "40")]),
    "versions.grib1": ("experimentVersionNumber", ["1", "5"]),
    "satellites.grib2": ("satelliteNumber", ["55", "56"]),
    "centres.grib2": ("centre", ["ecmf", "kwbc"]),
    "twice.grib2": ("copy", ["1", "2", "3"]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("grib")


@pytest.fixture(scope="module")
def looks(folder) -> dict:
    others = [Path(xarray.__file__).parent / "tests/data/example.grib"]
    if "GRIB_FILES" in os.environ:
        others += sorted(p for p in Path(os.environ["GRIB_FILES"]).rglob("*.gr*b*") if p.is_file())
    command = [
        sys.executable,
        "-m",
        "tests.core.fields.grib_files",
        str(folder),
        *(str(p) for p in others if p.is_file()),
    ]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@needs_grib
def test_no_message_is_lost(looks):
    read = {name: look for name, look in looks.items() if "refused" not in look}
    assert len(read) > 50
    for name, look in read.items():
        held = [mean for mean in look["messages"] if np.isfinite(mean)]
        if any("left out, on another grid" in note for note in look["notes"]):
            assert 0 < len(look["fields"]) < len(held), name
            continue
        assert len(look["fields"]) == len(held), name
        assert np.allclose(sorted(look["fields"]), sorted(held), rtol=1e-5), name


@needs_grib
def test_only_grids_without_rows_are_refused(looks):
    samples = {name: look for name, look in looks.items() if name.startswith("sample-")}
    assert len(samples) > 50
    for name, look in samples.items():
        odd = any(part in name for part in ("reduced", "sample-sh_", "sample-gg_sfc", "lambert_bf"))
        assert ("refused" in look) == odd, (name, look)
        assert not odd or "has no rows and columns" in look["refused"]


@needs_grib
@pytest.mark.parametrize("name", LABELS)
def test_what_differs_makes_a_coordinate(looks, name):
    dim, labels = LABELS[name]
    assert looks[name]["labels"][dim] == labels


@needs_grib
def test_unknown_parameters_are_two_fields(looks):
    assert list(looks["unknown-parameters.grib2"]["dims"]) == ["parameter_0_19_201", "parameter_0_19_202"]


@needs_grib
def test_parts_of_one_message_are_fields(looks):
    assert sorted(looks["wind.grib2"]["dims"]) == ["u", "v"]


@needs_grib
def test_rows_scanned_to_and_fro_lie_as_rows(looks):
    assert looks["alternating.grib2"]["first"] == [[0.0, 1.0, 2.0, 3.0]] * 3


@needs_grib
def test_what_only_order_tells_apart_is_said(looks):
    assert "along `copy`" in looks["twice.grib2"]["notes"][0]


@needs_grib
def test_a_forecast_is_named_by_run_and_step_and_dated_by_its_valid_time(looks, folder):
    fields = open_fields(folder / "every-run.grib2")
    chosen = {"reference_time": "2019-07-03", "step": "48"}
    assert fields.time_label("t2m", chosen) == "2019-07-05T00:00"
    assert fields.when_and_where("t2m", chosen) == (
        "5 July 2019, 00:00 UTC",
        "run of 3 July 2019, 00:00 UTC",
        "step 48 hours",
    )
    assert np.allclose(fields.values("t2m", chosen), 280 + 2 * 4 + 2)


@needs_grib
def test_four_layers_of_soil_are_four_fields(looks, folder):
    fields = open_fields(folder / "layers.grib2")
    assert [float(fields.values("st", {"level": level}).mean()) for level in range(4)] == [280, 281, 282, 283]
    assert float(fields.values("st", {"level": "0.4-1 m"}).mean()) == 282
