"""Stations on page Period in AppTest: the page has what the command has, with and without an archive."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from deconditioning.cli.program import main
from deconditioning.downscaling.further_sources.opening import STATIONS, keep_further_file
from deconditioning.downscaling.source import keep_upload
from deconditioning.figures.style import uncompacted
from tests.core.fields.samples import netcdf
from tests.core.period.made import made_dataset
from tests.core.period.test_stations import table_of
from tests.pages.conftest import session
from tests.pages.test_members import of
from tests.pages.test_period import captions

pytestmark = pytest.mark.usefixtures("own_caches", "runs_folder")
TIMES, FIRST = 40, 34
BEGIN = {"p-data": "made.nc", "p-period": [str(FIRST), str(TIMES - 1)], "p-block": "4"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """An upload of the last six times, and the same table as a file of the command."""
    dataset = made_dataset(TIMES).drop_vars("wind")
    path = table_of(dataset.isel(time=slice(FIRST, TIMES)), tmp_path / "stations.csv", 20)
    (tmp_path / "made.nc").write_bytes(netcdf(dataset))
    keep_upload(netcdf(dataset), "made.nc")
    keep_further_file(STATIONS, path.read_bytes(), path.name)
    rows = pd.read_csv(path)
    rows[rows["date"] == rows["date"][0]].to_csv(tmp_path / "single.csv", index=False)
    keep_further_file(STATIONS, (tmp_path / "single.csv").read_bytes(), "single.csv")
    return path


@pytest.mark.parametrize("archive", [True, False])
def test_the_page_has_the_series_and_the_offset_of_the_command(table: Path, archive: bool, capsys) -> None:
    folder = table.parent
    page = session("period", **BEGIN, **{"p-archive": str(archive).lower()})
    assert not page.exception and not page.error and "are targets in addition" not in captions(page)
    assert page.selectbox(key="p-stations").options == ["(none)", "stations.csv"]  # a table of one date is not offered
    page.selectbox(key="p-stations").set_value("stations.csv").run()
    assert not page.exception and not page.error
    words = ["downscale", folder / "made.nc", "--target", "t", "--covariates", "orog", "--block", 4, 4]
    words += ["--withhold", 0, "--model", "area_to_point_gp", "--times", f"#{FIRST}/#{TIMES - 1}"]
    words += ["--stations", table, "--output", folder / "out.nc"]
    words += ["--archive", folder / "made.nc", "--period", f"#0/#{FIRST - 1}"] if archive else []
    assert main([*map(str, words)]) == 0
    about = json.loads(capsys.readouterr().out)["results"][0]["diagnostics"]["stations"]
    said = captions(page)
    assert f"20 stations with values at {about['times']} of 6 times are targets in addition to the cells." in said
    assert f"Offset from the cells: {about['offset']:.3g} ± {about['offset_sd']:.2g} K." in said
    traces = json.loads(page.session_state["_seen"].figures["p-place"].text)["data"]
    mean = next(each for each in traces if "mean ±" in str(each["name"]))
    with xr.open_dataset(folder / "out.nc") as written:
        place = page.session_state["p-row"], page.session_state["p-column"]
        np.testing.assert_allclose(uncompacted(mean["y"]), written["mean"].values[:, *place], atol=2e-3)
    page.selectbox(key="p-stations").set_value("(none)").run()
    assert not page.exception and "are targets in addition" not in captions(page)


def test_all_members_have_offsets_of_their_own(table: Path) -> None:
    keep_upload(netcdf(of("realization")), "members.nc")
    page = session(
        "period",
        **{"p-data": "members.nc", "p-period": ["26", "29"], "p-dim-realization": "All members", "p-archive": "false"},
    )
    assert not page.exception and not page.error
    later = table_of(made_dataset(30).isel(time=slice(26, 30)), table.parent / "later.csv", 10)
    keep_further_file(STATIONS, later.read_bytes(), "later.csv")
    page.run()
    page.selectbox(key="p-stations").set_value("later.csv").run()
    assert not page.exception and not page.error
    assert "(members) K." in captions(page) and "All 3 members" in captions(page)


def test_stations_of_other_dates_are_refused_with_a_sentence(table: Path) -> None:
    page = session("period", **(BEGIN | {"p-period": [str(FIRST), str(TIMES - 1)]}), **{"p-stations": "stations.csv"})
    assert not page.exception and page.selectbox(key="p-stations").value.startswith("upload:")
    rows = pd.read_csv(table)
    rows.assign(date=pd.to_datetime(rows["date"]) + pd.Timedelta("3650D")).to_csv(
        table.parent / "late.csv", index=False
    )
    keep_further_file(STATIONS, (table.parent / "late.csv").read_bytes(), "late.csv")
    page.run()
    page.selectbox(key="p-stations").set_value("late.csv").run()
    assert not page.exception and any("None of the 6 times" in each.value for each in page.error)
