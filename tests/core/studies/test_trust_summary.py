"""How far the default can be trusted: counts of made-up rows, and which cases of real fields are run."""

import json
from pathlib import Path
from statistics import fmean

import pytest

from deconditioning.downscaling.drawn.roughest_covariate import RoughestCovariate
from deconditioning.metrics.intervals import AIM
from deconditioning.studies.downscaling.benchmark import (
    CASES,
    REAL_FIELDS,
    REAL_MATCHED,
    REAL_MEDIATED,
    SINGLE,
    DownscalingBenchmark,
    one_fit,
)
from deconditioning.studies.downscaling.given_fields import FIELDS, FOLDER
from deconditioning.studies.downscaling.trust_summary import trust_summary
from tests.claims import OUTSIDE, default_runs

ROOT = Path(__file__).resolve().parents[3]


def row(case: str, model: str, rmse: float, coverage: float = 0.95, crps: float = 1.0, **more) -> dict:
    """A finished row; the best interpolation has RMSE 1."""
    scores = {"rmse": rmse, "coverage95": coverage, "crps": crps}
    best = {"best_interpolation": {"name": "bilinear", "rmse": 1.0}, "warnings": [], "seconds": {"cpu": 2.0}}
    return {"case": case, "seed": 0, "model": model, "scores": scores, **best, **more}


def interpolated(case: str) -> dict:
    scores = {"rmse": 1.0, "crps": 9.0}
    return {"case": case, "seed": 0, "model": "interpolation", "scores": scores, "more": {"bilinear": scores}}


ROWS = [
    interpolated("a"), interpolated("b"), interpolated("c"), interpolated("d"),
    row("a", "auto", 0.5, 0.96, 0.8, claims={"bilinear": True, "regression_kriging": False}),
    row("a", "regression_kriging", 0.6, crps=1.0),
    row("a", "area_to_point_gp", 0.6, crps=1.6),
    row("b", "auto", 1.03, 0.99, 1.5, claims={"bilinear": True}),
    row("b", "regression_kriging", 0.6, crps=1.0),
    row("c", "auto", 1.03, 0.90, claims={"bilinear": None}, warnings=["Bilinear interpolation predicts better here."]),
    row("d", "auto", 1.01, 0.899, claims={"bilinear": False}, warnings=["Something else."]),
    {"case": "e", "seed": 0, "model": "auto", "scores": {}, "status": "skipped"},
]  # fmt: skip


def test_counts_of_made_up_rows() -> None:
    summary = trust_summary(ROWS, "auto", ("regression_kriging", "area_to_point_gp"))
    assert summary is not None and (summary.runs, summary.inside) == (4, 2)
    assert (summary.lost_warned, summary.lost_silent) == (1, 1)
    # Bilinear: right for a (better) and d (worse), wrong for b, silent for c. Kriging: wrong for a.
    assert summary.right == {"bilinear": 2, "regression_kriging": 0}
    assert summary.claimed == {"bilinear": 3, "regression_kriging": 1}
    assert summary.asked == {"bilinear": 4, "regression_kriging": 1}
    assert summary.crps_ratio == pytest.approx((0.8 + 1.5) / 2) and summary.worst_ratio == 1.5
    assert summary.lost == 2 and summary.cpu_s > 0
    assert trust_summary(ROWS, "bag_gp") is None


def test_every_case_of_real_fields_runs_its_own_candidates() -> None:
    assert set(REAL_FIELDS["cases"]) <= set(CASES) and len(REAL_MATCHED) == len(REAL_MEDIATED) == 4 + len(FIELDS)
    items = DownscalingBenchmark.from_dict(REAL_FIELDS).items()
    models = {case: {item["model"] for item in items if item["case"] == case} for case in REAL_FIELDS["cases"]}
    for case in REAL_MATCHED:
        assert models[case] == {"interpolation", "auto", "area_to_point_gp", "regression_kriging"}
    for case in REAL_MEDIATED:
        assert models[case] == {"interpolation", "auto", "area_to_point_gp", "partial_cmp"}


def test_stored_rows_of_few_cells_are_what_is_measured_today(monkeypatch) -> None:
    """In ``few_cells.json``; the field is not the project's own."""
    folder = ROOT.parent / "shared" / "data"
    item = {"case": "usa-rain-15-cells", "seed": 0, "model": "area_to_point_gp", "settings": {}}
    kept = json.loads((ROOT / "data" / "benchmarks" / "few_cells.json").read_text())["rows"]
    (stored,) = (row for row in kept if all(row[key] == item[key] for key in ("case", "seed", "model")))
    assert stored["status"] == "ok" and 0 < stored["scores"]["crps"] < stored["scores"]["rmse"]
    if not folder.is_dir():
        pytest.skip("the folder of given fields is not here")
    monkeypatch.setenv(FOLDER, str(folder))
    today = one_fit(item)["scores"]
    assert {name: today[name] for name in ("rmse", "crps", "coverage95")} == pytest.approx(
        {name: stored["scores"][name] for name in ("rmse", "crps", "coverage95")}, rel=2e-3
    )


def test_stored_rows_name_the_matched_fields_whose_draws_are_much_rougher_than_their_covariates() -> None:
    """As docs/benchmarks.md says: five of sixteen, four of which are too rough beside the truth."""
    stored = json.loads((ROOT / "data" / "benchmarks" / "real_fields.json").read_text())["rows"]
    rows = [row for row in stored if row["model"] == "auto" and row["case"] in REAL_MATCHED and row["seed"] == 0]
    assert len(rows) == 16
    spectra = {row["case"].removesuffix("-matched"): row["spectra"] for row in rows}
    beside = {case: RoughestCovariate(**each["roughest_covariate"]) for case, each in spectra.items()}
    suggested = {case for case, each in beside.items() if each.sentence}
    assert suggested == {"era5-t2m", "era5-dew-point", "usa-rain", "mongon-ndvi", "ukv-75m"}
    finest = {case: each["thirds"]["draws"][2] / each["thirds"]["truth"][2] for case, each in spectra.items()}
    assert {case for case in suggested if finest[case] > 2} == suggested - {"ukv-75m"}


def test_stored_rows_name_the_fields_whose_average_is_less_accurate_than_its_better_model() -> None:
    """As docs/benchmarks.md says: seven of 32, by more than 2 % of the CRPS."""
    stored = json.loads((ROOT / "data" / "benchmarks" / "real_fields.json").read_text())["rows"]
    crps = {(row["case"], row["model"]): row["scores"]["crps"] for row in stored if row["model"] != "interpolation"}
    pairs = {case: [crps[case, model] for model in SINGLE[case in REAL_MATCHED]] for case in REAL_FIELDS["cases"]}
    larger = {case for case, pair in pairs.items() if crps[case, "auto"] > 1.02 * min(pair)}
    assert len(pairs) == 32 and larger == {
        "era5-uk-60-3-matched", "era5-uk-654-3-matched", "americas-temperature-mediated", "mongon-ndvi-mediated",
        "eta-gust-mediated", "era5-uk-372-3-mediated", "era5-uk-372-4-mediated",
    }  # fmt: skip
    assert fmean(crps[case, "auto"] / crps[case, "area_to_point_gp"] for case in REAL_MATCHED) < 0.97


def test_docs_list_every_run_outside_the_target_range_with_what_its_draws_show() -> None:
    """As the table of docs/benchmarks.md says: a fault is one where the truth is no more like the draws."""
    runs = default_runs()
    outside = {case for case, row in runs.items() if not AIM[0] <= row["scores"]["coverage95"] <= AIM[1]}
    assert len(runs) == 32 and outside == set(OUTSIDE.values())
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (ROOT / "docs" / "benchmarks.md").read_text().splitlines()
        if line.startswith("| ") and len(line.split("|")) == 8 and OUTSIDE.get(tuple(line[2:].split(" | ")[:2]))
    ]
    assert len(lines) == len(OUTSIDE)
    distance = {case: max(AIM[0] - runs[case]["scores"]["coverage95"], runs[case]["scores"]["coverage95"] - AIM[1])
                for case in outside}  # fmt: skip
    assert {case for case in outside if distance[case] > 2 * runs[case]["coverage_error"]} == {"eta-gust-mediated"}
    for field, cells, *_, verdict in lines:
        row = runs[OUTSIDE[field, cells]]
        held = row["spectra"]["held"]
        beyond = not held[0] <= row["scores"]["coverage95_area"] <= held[-1]
        assert verdict.startswith("no fault") is not beyond, (field, cells)


def test_a_field_that_is_not_there_is_skipped_with_the_reason(tmp_path, monkeypatch) -> None:
    item = {"case": "eta-gust-matched", "seed": 0, "model": "auto", "settings": {}}
    monkeypatch.delenv(FOLDER, raising=False)
    skipped = one_fit(item)
    assert skipped["status"] == "skipped" and FOLDER in skipped["message"] and not skipped["scores"]
    monkeypatch.setenv(FOLDER, str(tmp_path))
    assert "There is no eta_gust_20041208.nc" in one_fit(item)["message"]


def test_a_file_of_the_folder_becomes_its_case(tmp_path, monkeypatch) -> None:
    import numpy as np
    import xarray as xr

    rng = np.random.default_rng(0)
    place = {"latitude": 60 - 0.25 * np.arange(24), "longitude": 0.25 * np.arange(24)}
    fields = {name: (("latitude", "longitude"), rng.random((24, 24)), {"units": "1"}) for name in ("orog", "land")}
    hours = (("time", "latitude", "longitude"), rng.random((700, 24, 24)), {"units": "K"})
    xr.Dataset({**fields, "t2m": hours}, {**place, "time": np.arange(700)}).to_netcdf(
        tmp_path / "era5_uk_2019-03_hourly.nc"
    )
    monkeypatch.setenv(FOLDER, str(tmp_path))
    result = one_fit({"case": "era5-uk-60-4-matched", "seed": 0, "model": "interpolation", "settings": {}})
    assert result["status"] == "ok" and {"constant", "bilinear", "bicubic"} <= set(result["more"])
