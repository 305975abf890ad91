"""Text tables out of Excel, R, pandas, numpy and loggers: the same numbers however they are written, or a sentence."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from deconditioning.errors import InputError
from deconditioning.fill_values import find_fill_values
from deconditioning.tables.table import open_table, read_table
from deconditioning.tables.text import read_text

RNG = np.random.default_rng(3)
STATE, FLOW = np.round(10 * np.sin(np.arange(90) / 9), 2), np.round(RNG.uniform(-1, 8, 90), 2)
DATES = np.datetime64("2003-01-15", "s") + np.arange(90) * np.timedelta64(1, "D")


def comma(value: float) -> str:
    """Two digits after a decimal comma."""
    return f"{value:.2f}".replace(".", ",")


def written(names: str, separator: str, *columns: list[str]) -> str:
    """A table's text."""
    return "\n".join([names, *(separator.join(cells) for cells in zip(*columns, strict=True))]) + "\n"


STEPS = [str(number) for number in range(90)]
POINTS = [[f"{v:.2f}" for v in STATE], [f"{v:.2f}" for v in FLOW]]
COMMAS = [[comma(v) for v in STATE], [comma(v) for v in FLOW]]
PLAIN = written("step,temp,flow", ",", STEPS, *POINTS)


def german(form: str = "%d.%m.%Y") -> str:
    """As Excel saves it in Germany."""
    return written("Datum;Temp. 2 m;Abfl.", ";", [pd.Timestamp(date).strftime(form) for date in DATES], *COMMAS)


ODD = {
    "german": german(),
    "german with two-digit years": german("%d.%m.%y"),
    "german with clocks": german("%d.%m.%Y 12:00"),
    "sep": "sep=;\r\n" + german(),
    "quoted sep": '"sep=;"\n' + german(),
    "comments": "# station 1\n#\n" + PLAIN + "# the end\n",
    "comment in the middle": PLAIN.replace("\n40,", "\n# the pump failed\n40,"),
    "title": "Station Potsdam\n\n" + PLAIN,
    "title of Excel": "Station Potsdam,,\n,,\n" + PLAIN,
    "units": PLAIN.replace("flow\n", "flow\n-,degC,m3/s\n"),
    "two rows of units": PLAIN.replace("flow\n", "flow\n-,degC,m3/s\n,Avg,Smp\n"),
    "logger": '"TOA5","CR1000","1234"\n' + PLAIN.replace("flow\n", "flow\n,degC,m3/s\n"),
    "quoted commas": written("step,temp,flow", ",", STEPS, *([f'"{cell}"' for cell in column] for column in COMMAS)),
    "tabs and commas": written("step\ttemp\tflow", "\t", STEPS, *COMMAS),
    "spaces": written("step  temp flow", "   ", STEPS, *POINTS),
    "bars": written("step|temp|flow", "|", STEPS, *POINTS),
    "pandas": pd.DataFrame({"temp": STATE, "flow": FLOW}).to_csv(),
    "R": written('"temp" "flow"', " ", [f'"{n + 1}"' for n in range(90)], *POINTS),
    "R, csv": written('"","temp","flow"', ",", [f'"{n + 1}"' for n in range(90)], *POINTS),
    "numpy": "# step,temp,flow\n" + PLAIN.partition("\n")[2],
    "empty columns": PLAIN.replace("\n", ",,\n"),
    "long minus": PLAIN.replace("-", "\u2212"),
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_the_same_numbers_however_they_are_written(tmp_path, text, encoding) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    found = read_table(tmp_path / "t.csv")
    assert len(found) == 90
    np.testing.assert_array_equal(found.numbers(list(found.columns)[-2:]), np.stack([STATE, FLOW], 1))
    if "Datum" in found.columns:
        assert np.array_equal(found.columns["Datum"].astype("datetime64[D]"), DATES.astype("datetime64[D]"))


def test_an_upload_is_read_as_it_would_be_here_with_its_notes(tmp_path) -> None:
    name = "flow ° \u20ac"
    text = PLAIN.replace(f",{FLOW[7]:.2f}\n", ",-9999\n", 1).replace("flow", name)
    data = text.encode("cp1252")
    (tmp_path / "t.csv").write_bytes(data)
    here, apart = read_table(tmp_path / "t.csv"), open_table(data, "t.csv")
    assert here.notes == apart.notes and list(here.columns) == list(apart.columns) == ["step", "temp", name]
    np.testing.assert_array_equal(here.columns[name], apart.columns[name])
    assert "Windows-1252" in here.notes[0] and "-9999 is taken as missing" in here.notes[1]
    assert open_table(data, "t.csv", []).column(name).min() == -9999
    assert np.isnan(open_table(data, "t.csv", [0.0]).column("step")[0])


@pytest.mark.parametrize(
    ("cells", "beside", "values"),
    [
        (["1.000,62", "999,5", "-1.234.567,8"], "0,5", [1000.62, 999.5, -1234567.8]),
        (["1.030", "2.045", "7"], "0,18", [1030, 2045, 7]),
        (["1,030.25", "2,045.5", "7"], "0.18", [1030.25, 2045.5, 7]),
        (["1,030", "2,045", "7"], "0.18", [1030, 2045, 7]),
        (["1.234.567", "2", "3"], "7", [1234567, 2, 3]),
        (["1\u00a0234,5", "12 345,6", "1"], "7", [1234.5, 12345.6, 1]),
        (["1\u2019234.5", "12'345.6", "1"], "7", [1234.5, 12345.6, 1]),
        (["0,123", "1,234", "2,345"], "7", [0.123, 1.234, 2.345]),
        (["0.123", "1.234", "2.345"], "7", [0.123, 1.234, 2.345]),
        (["1e-3", "2E5", ".5"], "7", [1e-3, 2e5, 0.5]),
        (["1e-3", "2,5E5", ",5"], "7", [1e-3, 2.5e5, 0.5]),
        (["50%", "51 %", "7%"], "7", [50, 51, 7]),
        (["#NV", "k.A.", "3,5"], "7", [np.nan, np.nan, 3.5]),
        (["-", "n/a", "3"], "7", [np.nan, np.nan, 3]),
        (["", "", ""], "7", [np.nan, np.nan, np.nan]),
        (["TRUE", "False", "true"], "7", [1, 0, 1]),
    ],
)
def test_decimal_marks_and_thousands(cells, beside, values) -> None:
    found = read_text(written("a;b", ";", cells, [beside] * 3).encode(), "t.csv", most_rows=9)
    np.testing.assert_array_equal(found.columns["a"], values)


@pytest.mark.parametrize(
    ("cells", "row"),
    [(["0.5", "0,5", "1.5"], 2), (["50%", "0.5", "1%"], 1), (["1", "x", "3"], 2), (["1,2,3", "1.5"], 1)],
)
def test_what_is_no_one_kind_of_number_is_words(tmp_path, cells, row) -> None:
    (tmp_path / "t.csv").write_text(written("a;b", ";", cells, ["7"] * len(cells)))
    with pytest.raises(InputError, match=f"'{cells[row - 1]}' in row {row}"):
        read_table(tmp_path / "t.csv").numbers(["a"])


@pytest.mark.parametrize(
    ("separator", "cells", "values"),
    [(";", ["1.234", "5.678"], [1.234, 5.678]), (";", ["1,234", "5,678"], [1.234, 5.678]),
     ("\t", ["1,234", "5,678"], [1234, 5678])],
)  # fmt: skip
def test_a_number_of_two_readings_is_said(separator, cells, values) -> None:
    found = read_text(written(f"a{separator}b", separator, cells, ["1", "2"]).encode(), "t.csv", most_rows=9)
    assert found.columns["a"].tolist() == values
    assert f"Numbers such as {cells[0]} of 'a' are read as {values[0]:g};" in found.notes[0]


def test_tables_of_r_have_quotes_between_spaces() -> None:
    """What `write.table` writes by default: quoted names and words, and the rows' own names without a name above."""
    rows = "".join(f'"{n}"  {n / 4} "two words" "{n}.5"\n' for n in range(1, 5))
    found = read_text(f'"x" "at sea" "y"\n{rows}'.encode(), "t.txt", most_rows=9)
    assert list(found.columns) == ["x", "at sea", "y"]
    assert found.columns["x"].tolist() == [0.25, 0.5, 0.75, 1.0] and found.columns["y"].tolist() == [1.5, 2.5, 3.5, 4.5]
    assert list(found.columns["at sea"]) == ["two words"] * 4
    assert found.notes == ("The first column of t.txt has no name: it counts the rows and is skipped.",)


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["2003-04-05", "2003-04-06", "2003-04-07"], "2003-04-05"),
        (["2003-04-05T06:30:00Z", "2003-04-05T07:30:00Z", ""], "2003-04-05T06:30"),
        (["2003-04-05 06:30:00+02:00", "2003-04-05 07:30:00+02:00", ""], "2003-04-05T04:30"),
        (["5.4.2003", "6.4.2003", "17.4.2003"], "2003-04-05"),
        (["05.04.2003, 06:30", "06.04.2003, 06:30", ""], "2003-04-05T06:30"),
        (["13/04/2003", "14/04/2003", "15/04/2003"], "2003-04-13"),
        (["04/13/2003 6:30 PM", "04/14/2003 6:30 PM", ""], "2003-04-13T18:30"),
        (["01/04/2003", "02/04/2003", "04/04/2003", "05/04/2003"], "2003-04-01"),  # days are even
        (["05-Apr-2003", "06-Apr-2003", ""], "2003-04-05"),
        (["2003-04", "2003-05", ""], "2003-04-01"),
    ],
)
def test_dates(cells, first) -> None:
    found = read_text(written("when|b", "|", cells, ["7"] * len(cells)).encode(), "t.csv", most_rows=9).columns["when"]
    assert found.dtype == "datetime64[s]" and found[0] == np.datetime64(first)
    assert np.isnat(found[-1]) == (not cells[-1])


def test_dates_of_two_readings_stay_words_and_a_clock_beside_dates_joins_them() -> None:
    odd = read_text(b"d,b\n01/02/2003,1\n05/07/2003,2\n03/01/2003,3\n", "t.csv", most_rows=9)
    assert not isinstance(odd.columns["d"], np.ndarray) and "may have day or month first" in odd.notes[0]
    both = read_text(b"d;Uhrzeit;b\n05.04.2003;06:30;1\n05.04.2003;07:30;2\n", "t.csv", most_rows=9).columns["d"]
    assert both.tolist() == pd.to_datetime(["2003-04-05 06:30", "2003-04-05 07:30"]).to_pydatetime().tolist()
    compact = read_text(b"MESS_DATUM;TT\n2003040506;1\n2003040507;2\n", "t.csv", most_rows=9).columns["MESS_DATUM"]
    assert compact[1] == np.datetime64("2003-04-05T07:00")


@pytest.mark.parametrize(
    ("name", "cells", "dates", "words"),
    [
        ("time", [201911, 201912, 202001], ["2019-11", "2019-12", "2020-01"], "201911 are read as year and month"),
        ("time", [200111, 200112, 200201], ["2001-11", "2001-12", "2002-01"], "are read as year and month"),
        ("date", [190330, 190331, 190401], ["2019-03-30", "2019-03-31", "2019-04-01"], "year, month and day"),
        ("date", [200101, 200102, 200103], None, "may be year and month or year, month and day"),
        ("time", [1553385600, 1553389200], ["2019-03-24T00", "2019-03-24T01"], "Unix time, seconds"),
        ("Zeit", [1553385600000, 1553389200000], ["2019-03-24T00", "2019-03-24T01"], "Unix time, milliseconds"),
        ("time", [553385600, 553389200], None, ""),
        ("count", [1553385600, 1553389200], None, ""),
        ("date", [43525, 43526], None, ""),
        ("time", [120000, 180000], None, ""),
    ],
)
def test_numbers_are_dates_where_their_form_is_clear(name, cells, dates, words) -> None:
    rows = "\n".join(f"{each};1" for each in cells)
    table = read_text(f"{name};b\n{rows}\n".encode(), "t.csv", most_rows=9)
    assert any(words in note for note in table.notes) if words else not table.notes
    found = table.columns[name]
    if dates is None:
        assert found.dtype.kind == "f" and found.tolist() == cells
    else:
        assert found.tolist() == np.array(dates, dtype="datetime64[s]").tolist()


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([1.0, 2.5, -9999], [-9999]), ([1.0, 2.5, -99.9, -999.9], [-999.9, -99.9]), ([-5.0, 20, -99], [-99]),
        ([0.0, 50, 100, 99], []), ([985.0, 1030, 999], []), ([-99.0, -98, -97], []), ([0.0, 1, 1e20], [1e20]),
        ([1.0, 2, 9.96921e36], [9.96921e36]), ([1.0, 2, -32768], [-32768]), ([-9999.0], []), ([], []), ([np.nan], []),
    ],
)  # fmt: skip
def test_marks_of_missing_values_lie_apart(values, marks) -> None:
    assert sorted(mark.value for mark in find_fill_values(np.array(values)) if mark.sure) == sorted(marks)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"1,2,3\n4,5,6\n", "first row of t.csv contains numbers"),
        (b"a,,b\n1,2,3\n", "name of column 2 is empty"),
        (b"a,b,a\n1,2,3\n", "'a' occurs twice"),
        (b"# only\n# this\n", "only comments"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is not a text"),
        (b"PK\x03\x04\x14", "is not a text"),
        (b"a;b\n1;2;3\n4;5;6\n", "Line 2 of t.csv has 3 cells"),
        (b"# one\na,b\n1,2\n# two\n3,4,5\n1,2\n", "Line 5 of t.csv has 3 cells"),
    ],
)
def test_what_is_no_table_is_a_sentence(data, words) -> None:
    with pytest.raises(InputError, match=words):
        read_text(data, "t.csv", most_rows=9)


@settings(max_examples=60, deadline=None)
@given(
    some.lists(some.tuples(some.floats(-1e6, 1e6), some.integers(-(10**7), 10**7)), min_size=2, max_size=20),
    some.sampled_from([",", ";", "\t"]), some.booleans(),
)  # fmt: skip
def test_any_numbers_come_back_as_pandas_writes_them(rows, separator, european) -> None:
    frame, buffer = pd.DataFrame(rows, columns=["x", "n"]), io.StringIO()
    separator = ";" if european and separator == "," else separator
    frame.to_csv(buffer, sep=separator, decimal="," if european else ".", index=False, float_format="%.5f")
    found = read_text(buffer.getvalue().encode(), "t.csv", most_rows=99, missing=())
    np.testing.assert_allclose(found.columns["x"], frame.x, atol=6e-6)
    np.testing.assert_array_equal(found.columns["n"], frame.n)


def test_names_may_stand_in_a_comment_above_rows_of_words_and_numbers() -> None:
    found = read_text(b"#id,x,y\na,1,2\nb,3,4\n#c,5,6\n", "t.csv", most_rows=9)
    assert list(found.columns) == ["id", "x", "y"] and found.columns["y"].tolist() == [2, 4]
    assert found.notes == ("Lines of t.csv that begin with # are left out, 1 in all.",)


def test_line_numbers_are_the_files() -> None:
    found = read_text(b"# one\na,b\n\n1,2\n# two\n3,4\n", "t.csv", most_rows=9)
    assert found.lines.tolist() == [4, 6]


@pytest.mark.parametrize(
    ("firsts", "last", "odd"),
    [
        ([str(n) for n in range(20)], "Total", True),
        ([f"{n},5" for n in range(20)], "Summe", True),
        ([f"{n + 1:02}.03.2001" for n in range(20)], "Mittel", True),
        ([str(n) for n in range(20)], "20", False),
        ([str(n) for n in range(20)], "n/a", False),
        (["a", "b"] * 10, "Total", False),
        (["1", "2"], "Total", False),
    ],
)
def test_a_row_of_sums_at_the_end_is_told(firsts, last, odd):
    text = "\n".join(["t;v", *(f"{each};{n},25" for n, each in enumerate(firsts)), f"{last};99,5"])
    found = read_text(text.encode(), "a.csv", most_rows=99)
    told = [note for note in found.notes if "That row counts as data" in note]
    assert told == [f"'t' is read as text, because its last row, {len(firsts) + 1}, holds '{last}'. That row counts as "
                    "data: remove it if it is a total or a remark."] * odd  # fmt: skip


def test_first_days_of_months_may_be_days_of_january() -> None:
    text = b"d,b\n01/01/2001,2\n01/02/2001,3\n01/03/2001,4\n"
    table = read_text(text, "t.csv", most_rows=9)
    assert list(table.columns["d"]) == ["01/01/2001", "01/02/2001", "01/03/2001"]
    assert "may have day or month first" in table.notes[0]


def test_an_empty_cell_between_spaces_is_refused() -> None:
    with pytest.raises(InputError, match=r"Line 3 of t\.txt has 2 cells between its spaces, the header has 3"):
        read_text(b"a    b    c\n1.0  2.0  3.0\n4.0       6.0\n", "t.txt", most_rows=9)


@pytest.mark.parametrize(
    ("text", "first", "said"),
    [
        ("01.03.68\n02.03.68\n", "1968-03-01", "read as 1968 to 1968"),
        ("13/12/99\n14/12/99\n", "1999-12-13", "read as 1999 to 1999"),
        ("31.12.99\n01.01.00\n02.01.00\n", "1999-12-31", "read as 1999 to 2000"),
        ("01.03.20 06:30\n02.03.20 06:30\n", "2020-03-01T06:30", "read as 2020 to 2020"),
    ],
)
def test_years_of_two_digits_are_past(tmp_path, text, first, said):
    (tmp_path / "a.csv").write_text(f"date;t\n{text.replace(chr(10), ';1.5' + chr(10))}")
    table = read_text(tmp_path / "a.csv", "a.csv", most_rows=100)
    assert table.columns["date"][0] == np.datetime64(first, "s")
    assert any(said in note for note in table.notes)


def test_years_of_two_digits_from_now_on_are_text(tmp_path):
    now = (np.datetime64("now", "Y").astype(int) + 1970) % 100
    (tmp_path / "a.csv").write_text(f"date;t\n01.03.{now:02d};1.5\n01.03.{(now + 1) % 100:02d};2.5\n")
    table = read_text(tmp_path / "a.csv", "a.csv", most_rows=100)
    assert any("of either century" in note for note in table.notes)
