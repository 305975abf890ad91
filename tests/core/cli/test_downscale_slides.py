"""``downscale --html --pptx --pdf``: the slides say what the NetCDF and the JSON of the same run say."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from deconditioning.slides.field import decoded
from tests.core.cli.test_downscale import QUICK, planet

pytestmark = pytest.mark.usefixtures("coarse_print")

GIVEN = ("--target", "t", "--covariates", "z", "--block", 3, 3, "--withhold", 0.25, *QUICK)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The small field as a NetCDF file."""
    path = tmp_path / "in.nc"
    planet().to_netcdf(path, engine="h5netcdf")
    return path


def deck_in(page: Path) -> dict:
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S)
    return json.loads(data.group(1))


def test_slides_say_what_netcdf_and_json_say(command, file: Path, tmp_path: Path) -> None:
    from pptx import Presentation

    names = {kind: tmp_path / f"out.{kind}" for kind in ("html", "pptx", "pdf")}
    asked = [word for kind, path in names.items() for word in (f"--{kind}", path)]
    answer = command("downscale", file, *GIVEN, "--seed", 3, "--output", tmp_path / "out.nc", *asked)
    assert answer.code == 0, answer.err
    scores = {entry["model"]: entry["scores"] for entry in answer.document["results"]}
    deck = deck_in(names["html"])
    with xr.open_dataset(tmp_path / "out.nc", engine="h5netcdf") as written:
        mean = written["mean"].values
    shown = decoded(deck["fields"]["mean"])[::-1]
    assert np.nanmax(np.abs(shown - mean)) <= np.ptp(mean) / 131068 * 1.01 + 1e-5
    checks, last = deck["slides"][-3], deck["slides"][-1]
    rows = [[f"{row['rmse_area']:.3g}", f"{row['crps_area']:.3g}"] for row in scores.values() if row.get("crps_area")]
    assert [row[1:3] for row in checks["rows"][1:] if row[2] != "–"] == rows and len(rows) >= 1
    assert [f"{row['rmse_area']:.3g}" for row in scores.values()] == [row[1] for row in checks["rows"][1:]]
    facts = dict(last["lines"])
    assert facts["Command"].startswith(f"deconditioning downscale {file} --target t") and facts["Seed"] == "3"
    pages = Presentation(io.BytesIO(names["pptx"].read_bytes())).slides
    [table] = [shape.table for page in pages for shape in page.shapes if shape.has_table]
    assert [[cell.text for cell in row.cells] for row in table.rows] == checks["rows"]
    assert 2 <= len(re.findall(rb"/Type /Page\b", names["pdf"].read_bytes())) <= len(deck["slides"])  # filled pages


def test_several_seeds_make_several_decks(command, file: Path, tmp_path: Path) -> None:
    answer = command("downscale", file, *GIVEN, "--seeds", 1, 2, "--html", tmp_path / "out.html")
    assert answer.code == 0, answer.err
    found = {path.name: dict(deck_in(path)["slides"][-1]["lines"])["Seed"] for path in tmp_path.glob("out*")}
    assert found == {"out_seed1.html": "1", "out_seed2.html": "2"}


def test_without_truth_scores_are_said_to_be_those_of_hidden_cells(command, file: Path, tmp_path: Path) -> None:
    coarse = tmp_path / "coarse.nc"
    planet()[["t"]].coarsen(latitude=3, longitude=3).mean().to_netcdf(coarse, engine="h5netcdf")
    planet()[["z"]].to_netcdf(file, engine="h5netcdf", mode="w")
    answer = command("downscale", file, "--coarse", coarse, *GIVEN, "--html", tmp_path / "out.html")
    assert answer.code == 0, answer.err
    deck = deck_in(tmp_path / "out.html")
    checks = next(slide for slide in deck["slides"] if slide["key"] == "checks")
    rmse = answer.document["results"][0]["scores"]["rmse"]
    assert (
        f"an error of {rmse:.3g} K" in deck["trust"]["badge"] and "intervals could be checked" in deck["trust"]["badge"]
    )
    assert "at the hidden cells" in checks["sentence"] and "truth" not in {s["key"] for s in deck["slides"]}


@pytest.mark.parametrize(("place", "said"), [("none/out.html", "does not exist"), ("in.nc", "also an input")])
def test_a_place_that_cannot_be_written_is_said_before_hours_of_work(
    command, file: Path, tmp_path: Path, place: str, said: str
) -> None:
    answer = command("downscale", file, *GIVEN, "--html", tmp_path / place)
    assert (answer.code, answer.out) == (2, "") and said in answer.err and answer.err.count("\n") == 1


def test_limits_of_colours_are_round_numbers_as_on_the_page(command, file: Path, tmp_path: Path) -> None:
    from deconditioning.figures.downscaled_maps import steady_limit

    answer = command("downscale", file, *GIVEN, "--output", tmp_path / "out.nc", "--html", tmp_path / "out.html")
    assert answer.code == 0, answer.err
    with xr.open_dataset(tmp_path / "out.nc", engine="h5netcdf") as written:
        reach = float(np.quantile(2 * written["sd"].values, 0.98))
    high = deck_in(tmp_path / "out.html")["fields"]["spread"]["high"]
    assert high == pytest.approx(steady_limit(reach, reach)) and len(f"{high:g}".strip("0.").replace(".", "")) <= 2
