"""Tables as people have them: separators, commas, gaps, words, NetCDF; and files that are none."""

import gzip

import numpy as np
import pytest
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.filtering.steps import on_steps, time_column
from deconditioning.tables import table as tables
from deconditioning.tables.table import Table, open_table, read_table


@pytest.mark.parametrize(
    "text",
    ["a,b,who\n1,2.5,x\n3,4,y\n", "a;b;who\n1;2,5;x\n3;4;y\n", "\ufeffa\tb\twho\n1\t2.5\tx\n3\t4\ty\n",
     'a, b, who\r\n1, 2.5, "x"\r\n3, 4, "y"\r\n'],
)  # fmt: skip
def test_the_same_table_however_it_is_written(tmp_path, text):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    found = read_table(tmp_path / "t.csv")
    assert found.numeric == ["a", "b"] and list(found.column("who")) == ["x", "y"]
    assert np.array_equal(found.numbers(["b", "a"]), [[2.5, 1.0], [4.0, 3.0]])


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_netcdf_columns_lie_along_its_main_dimension(tmp_path, form):
    rng = np.random.default_rng(0)
    state, seen = rng.standard_normal((7, 2)), rng.standard_normal(7)
    data = {"state": (("time", "part"), state), "seen": ("time", seen), "other": ("part", [1.0, 2.0]), "one": 3.0}
    kept = xr.Dataset(data, coords={"time": np.arange(7) * np.timedelta64(60, "s") + np.datetime64("2000-01-01", "s")})
    engine = "h5netcdf" if form == "NETCDF4" else "scipy"
    kept.to_netcdf(tmp_path / "t.nc", format=form, engine=engine)
    found = open_table((tmp_path / "t.nc").read_bytes(), "t.nc")
    assert set(found.columns) == {"state[0]", "state[1]", "seen", "time"} and len(found) == 7
    assert np.array_equal(found.numbers(["state[1]", "seen"]), np.stack([state[:, 1], seen], 1))
    assert np.array_equal(found.column("time"), kept.time.values.astype("datetime64[s]"))


def test_dates_of_netcdf_are_dates_also_where_one_is_missing(tmp_path):
    """Months, the newest first: uneven in seconds, even as months."""
    months = np.arange("2001-01", "2002-01", dtype="datetime64[M]").astype("datetime64[ns]")[::-1]
    xr.Dataset({"x": ("time", np.arange(12.0)[::-1])}, {"time": months}).to_netcdf(tmp_path / "t.nc")
    found = read_table(tmp_path / "t.nc")
    assert time_column(found, ["x"]) == "time"
    values, notes = on_steps(found.numbers(["x"]), found.column("time"), "time")
    assert values[:, 0].tolist() == list(range(12)) and "newest first" in notes[0]
    gone = np.where(np.arange(12) == 3, np.datetime64("NaT"), months)
    xr.Dataset({"x": ("row", np.arange(12.0)), "when": ("row", gone)}).to_netcdf(tmp_path / "g.nc")
    dates = read_table(tmp_path / "g.nc").column("when")
    assert np.isnat(dates).tolist() == [n == 3 for n in range(12)] and dates[0] == np.datetime64("2001-12-01")


def test_what_is_wrong_with_a_cell_is_said_with_its_row(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,x,2\n,y,inf\n3,4,5\n")
    found = open_table((tmp_path / "t.csv").read_bytes(), "C:\\here\\t.csv")
    assert found.source == "t.csv"
    for name, words in (("a", "1 empty .* row 2"), ("b", "'x' in row 1"), ("c", "row 2"), ("d", "has 'a', 'b', 'c'")):
        with pytest.raises(InputError, match=words):
            found.numbers([name])
    assert found.numbers([]).shape == (3, 0)


@pytest.mark.parametrize(
    "data",
    [b"", b"a,b\n", gzip.compress(b"a,b\n1,2\n"), b"a,b\n1,2,3\n4,5,6,7\n", b"\xff\xfe\x00a", b"CDF\x01broken"],
    ids=["empty", "no rows", "gzip", "ragged", "bytes", "broken"],
)
def test_a_file_that_is_no_table_is_one_sentence(data):
    with pytest.raises(InputError) as refused:
        open_table(data, "t.csv")
    assert "t.csv" in str(refused.value) and str(refused.value).endswith(".")


LONG = "a,b\n1,2\n{}\n5,6\n"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("3,4,5", "Line 3 of t.csv has 3 cells, the header has 2 names"),
        ('"3,1",4,5', "Line 3 of t.csv has 3 cells"),
        ('"3\n1",4,5', "Line 4 of t.csv has 3 cells"),
        ("3,4,,,5", "Line 3 of t.csv has 5 cells"),
    ],
)
def test_no_cell_is_lost_beside_the_header(row, words):
    with pytest.raises(InputError, match=words):
        open_table(LONG.format(row).encode(), "t.csv")


def test_the_first_row_may_be_the_long_one_and_empty_cells_at_the_end_do_not_count():
    with pytest.raises(InputError, match=r"Line 2 of t\.csv has 3 cells"):
        open_table(b"a,b\n1,2,3\n4,5,6\n", "t.csv")
    found = open_table(b'a,b\n1,2,\n"3",4,\n', "t.csv")
    assert np.array_equal(found.numbers(["a", "b"]), [[1, 2], [3, 4]])


def test_a_name_does_not_choose_how_a_table_is_unpacked():
    found = open_table(b"a,b\n1,2\n", "t.csv.gz")
    assert np.array_equal(found.numbers(["a", "b"]), [[1, 2]])


def test_too_long_a_table_names_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MOST_ROWS", 3)
    (tmp_path / "t.csv").write_text("a\n1\n2\n3\n4\n")
    with pytest.raises(InputError, match="more than 3 rows"):
        read_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match="no file"):
        read_table(tmp_path / "none.csv")
    assert len(Table({})) == 0
