"""Levels and members in AppTest: a page says which one it takes and of how many, and another can be chosen."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from deconditioning.cli.program import main
from deconditioning.downscaling.source import keep_upload
from deconditioning.figures.style import uncompacted
from tests.core.fields.samples import netcdf
from tests.core.period.made import made_dataset
from tests.pages.conftest import session
from tests.pages.test_period import at_the_place, captions
from tests.pages.visitor_files import downscaled

pytestmark = pytest.mark.usefixtures("own_caches", "runs_folder")
TIMES, WARMER = 30, (0.0, 3.0, 7.0)
LATER = {"p-data": "members.nc", "p-period": ["26", "29"], "p-view": "Period statistics"}


def of(dim: str, **attributes: str) -> xr.Dataset:
    """``t`` (dim, time, lat, lon), of which each value along ``dim`` is warmer, by as much at every time and place."""
    made = made_dataset(TIMES).drop_vars("wind")
    along = xr.concat([made["t"] + warmer for warmer in WARMER], dim).assign_attrs(made["t"].attrs)
    return made.assign(t=along).assign_coords({dim: (dim, [2, 5, 9], attributes)})


def upload(dataset: xr.Dataset, name: str = "members.nc") -> None:
    keep_upload(netcdf(dataset), name)


def selected(number: int, dim: str = "realization") -> xr.Dataset:
    return of(dim).isel({dim: number}, drop=True)


def test_page_period_says_which_member_it_takes_and_another_is_chosen_with_its_own_archive() -> None:
    """The archive is of the same member: the climatology of a colder one would be some degrees too low."""
    upload(of("realization"))
    page = session("period", **LATER)
    assert not page.exception and not page.error
    assert "Member 2 of realization is downscaled, one of 3 in the file." in captions(page)
    first = at_the_place(page)
    page.selectbox(key="p-dim-realization").set_value("9").run()
    assert not page.exception and not page.error
    assert "Member 9 of realization is downscaled, one of 3 in the file." in captions(page)
    np.testing.assert_allclose(np.subtract(at_the_place(page), first), WARMER[2], atol=0.11)
    upload(selected(2), "alone.nc")
    alone = session("period", **{**LATER, "p-data": "alone.nc"})
    assert not alone.exception and not [box for box in alone.selectbox if "p-dim" in str(box.key)]
    assert "one of" not in captions(alone) and at_the_place(alone) == at_the_place(page)


def test_all_members_are_shown_as_a_further_one_beside_the_mean_of_each() -> None:
    """Members that differ by a constant have the same sd; it grows by their spread."""
    upload(of("realization"))
    page = session("period", **(LATER | {"p-dim-realization": "All members", "p-archive": "false"}))
    assert not page.exception and not page.error
    assert "All 3 members of realization are downscaled together." in captions(page)
    assert "Thin lines: the means of the 3 members." in captions(page)
    assert "4 times, " in " ".join(each.value for each in page.markdown) and not page.info
    assert "from 50 joint draws of each of the 3 members" in captions(page)
    figures = page.session_state["_seen"].figures
    assert not [key for key in figures if key == "map-truth"] and {"map-mean", "map-sd"} <= set(figures)
    traces = json.loads(figures["p-place"].text)["data"]
    assert [trace["name"] for trace in traces].count("members") == 3
    mean = next(trace for trace in traces if "mean ±" in str(trace["name"]))
    members = [uncompacted(trace["y"]) for trace in traces if trace["name"] == "members"]
    np.testing.assert_allclose(uncompacted(mean["y"]), np.mean(members, axis=0), atol=1e-3)
    np.testing.assert_allclose(members[2] - members[0], WARMER[2], atol=0.05)
    page.segmented_control(key="p-view").set_value("Verification").run()
    assert not page.exception and "of one member" in page.info[0].value
    page.segmented_control(key="p-view").set_value("Hovmöller diagram").run()
    page.toggle(key="p-archive").set_value(True).run()
    assert not page.exception and not page.error
    assert "of the archive has 3 values; the first, 2, is used" in " ".join(each.value for each in page.markdown)


def test_statistics_of_all_members_are_those_of_the_command(tmp_path: Path) -> None:
    upload(of("realization"))
    page = session("period", **(LATER | {"p-dim-realization": "All members", "p-archive": "false"}))
    assert not page.exception and not page.error
    (tmp_path / "members.nc").write_bytes(netcdf(of("realization")))
    block = str(page.session_state["p-block"]) if "p-block" in page.session_state else "2"
    words = ["downscale", tmp_path / "members.nc", "--target", "t", "--covariates", "orog", "--block", block, block]
    words += ["--withhold", 0, "--model", "area_to_point_gp", "--times", "#26/#29", "--statistics", "mean"]
    assert main([*map(str, words), "--output", str(tmp_path / "out.nc")]) == 0
    said = next(each.value for each in page.markdown if each.value.startswith("At ") and "90 % interval" in each.value)
    mean, low, high = map(float, re.findall(r"(?<= )\**(-?\d+\.?\d*)(?= K| to)", said)[:3])
    with xr.open_dataset(tmp_path / "out.nc") as written:
        place = page.session_state["p-row"], page.session_state["p-column"]
        expected = written["ensemble_period_mean"].values[place]
        sd = float(written["ensemble_period_mean_sd"].values[place])
    assert mean == pytest.approx(float(expected), abs=0.06) and low < mean < high
    assert (high - low) / 3.29 == pytest.approx(sd, rel=0.3)


def test_with_a_predictor_the_page_takes_one_member_and_says_so() -> None:
    upload(of("realization").assign(wind=made_dataset(TIMES)["wind"]))
    page = session("period", **(LATER | {"p-target": "t", "p-dim-realization": "All members"}))
    assert not page.exception and "All 3 members" in captions(page)
    page.multiselect(key="p-predictors").set_value(["wind"]).run()
    assert not page.exception and not page.error
    assert page.selectbox(key="p-dim-realization").options == ["2", "5", "9"]
    assert "Member 2 of realization is downscaled, one of 3" in captions(page)


def test_page_period_says_which_level_it_takes() -> None:
    upload(of("level", units="hPa"))
    page = session("period", **LATER, **{"p-dim-level": "5 hPa"})
    assert not page.exception and not page.error and page.selectbox(key="p-dim-level").value == "5 hPa"
    assert "Level 5 hPa is downscaled, one of 3 in the file." in captions(page)


def test_page_downscaling_says_which_member_it_takes(open_page) -> None:
    page = downscaled(open_page("downscaling"), ("members.nc", netcdf(of("realization").isel(time=slice(0, 2)))))
    assert not page.exception and not page.error
    said = " ".join(each.value for each in page.markdown)
    assert page.selectbox(key="dim-realization").value == "2 (#0)" and "realization 2" in said
    assert "has 3 values; 2 (" in said
    page.selectbox(key="dim-realization").set_value("9 (#2)").run()
    assert not page.exception and "has 3 values; 9 (" in " ".join(each.value for each in page.markdown)
