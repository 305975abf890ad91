"""The catalogue's entries open, their worked examples build, a folder's files appear."""

import numpy as np
import pytest

from deconditioning.datasets.atmosphere import make_atmosphere
from deconditioning.datasets.entries import BUILT_IN, catalogue, find, folder_problem
from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.explained_variation import explained_share
from deconditioning.fields.spec import DownscalingSpec

KEYS = tuple(entry.key for entry in BUILT_IN)
#: Keys in links, saved runs and papers: none may go, and the first is the one the page opens with.
PUBLISHED = ("ukv-645m", "ukv-75m", "era5-t2m", "gdas-ttop", "era5-uk", "atmosphere", "atmosphere-small", "stations",
             "districts", "uk-stations")  # fmt: skip


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv("DECONDITIONING_DATA", raising=False)


def test_built_in_entries_are_there_and_say_where_they_come_from():
    assert tuple(entry.key for entry in catalogue()) == KEYS and len(set(KEYS)) == len(KEYS)
    assert set(PUBLISHED) <= set(KEYS) and KEYS[0] == PUBLISHED[0]
    assert all(e.title and e.licence and e.source and e.description and e.default for e in catalogue())


@pytest.mark.parametrize(
    ("key", "cells", "bags"),
    [
        ("ukv-645m", (22, 20), 440),
        ("ukv-75m", (22, 20), 440),
        ("era5-t2m", (15, 33), 495),
        ("gdas-ttop", (15, 32), 480),
        ("era5-uk", (8, 12), 96),
        ("made-up-region", (8, 8), 64),
        ("atmosphere-small", (18, 36), 324),
        ("uk-stations", (8, 12), 96),
        ("stations", (4, 4), 16),
        ("sources", (4, 4), 16),
    ],
)
def test_worked_examples_build(key, cells, bags):
    entry = find(key)
    problem = make_problem(entry.open(), DownscalingSpec.from_dict(entry.default))
    assert problem.coarse_shape == cells and problem.data.bags.count == bags
    assert problem.units == "K" and problem.matched == (not key.startswith("atmosphere"))
    assert problem.truth is not None
    missing = float(np.isnan(problem.truth).mean())
    assert 0 < missing < 0.01 if key == "gdas-ttop" else missing == 0


def test_ukv_examples_take_the_stated_level_and_hour():
    shares = {}
    for key, height in (("ukv-645m", "645 m"), ("ukv-75m", "75 m")):
        entry = find(key)
        data = entry.open()
        labels = data.variables()["air_potential_temperature"].extra
        assert labels["level_height"][entry.default["select"]["level_height"]] == height
        assert "12:00" in labels["time"][entry.default["select"]["time"]]
        problem = make_problem(data, DownscalingSpec.from_dict(entry.default))
        shares[key] = explained_share(problem).share
    assert shares["ukv-645m"] == pytest.approx(0.83, abs=0.01)
    assert shares["ukv-75m"] == pytest.approx(0.27, abs=0.01)


def test_unknown_key_lists_the_known_ones():
    with pytest.raises(InputError, match="There is no data set `mars`: choose one of ukv-645m"):
        find("mars")


def test_files_of_the_named_folder_appear(tmp_path, monkeypatch):
    make_atmosphere((32, 64), seed=3).to_netcdf(tmp_path / "planet.nc")
    (tmp_path / "notes.txt").write_text("not data")
    (tmp_path / "broken.nc").write_bytes(b"not a NetCDF file")
    monkeypatch.setenv("DECONDITIONING_DATA", str(tmp_path))
    found = {e.key: e for e in catalogue() if e.kind == "folder"}
    assert set(found) == {"folder:planet.nc", "folder:broken.nc"} and folder_problem() is None
    opened = find("folder:planet.nc").open()
    assert opened.grid.shape == (32, 64) and "cloud_albedo" in opened.variables()
    with pytest.raises(InputError):
        found["folder:broken.nc"].open()


def test_a_folder_that_is_not_there_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("DECONDITIONING_DATA", str(tmp_path / "missing"))
    assert tuple(e.key for e in catalogue()) == KEYS
    assert "not a readable folder" in folder_problem()


def test_titles_differ_in_their_first_words_and_fit_a_narrow_box():
    titles = [entry.title for entry in catalogue() if entry.kind != "folder"]
    assert len({title[:16] for title in titles}) == len(titles) and max(map(len, titles)) <= 30
