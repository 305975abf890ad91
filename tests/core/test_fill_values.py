"""Marks of missing values: one search for fields and tables, and the user's answer before anything is computed."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.cli.program import make_parser
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.upload import open_upload
from deconditioning.fields.reading.zarr_reading import open_store
from deconditioning.fields.reading.zarr_reading import region as window
from deconditioning.fields.several import together
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fill_values import checked_missing, equals_fill_value, fill_values_of, find_fill_values
from deconditioning.tables.table import read_table
from tests.core.fields.samples import netcdf, region

MARKS = [-9.9, -99, -99.9, -999, -999.99, -9999.9, -8.88e8, 1e20, -1e20, 9999, 65535, -32768, 6999, 9.96921e36, 0.0]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("count", [1, 40])
def test_fields_and_tables_find_the_same(mark, count, tmp_path):
    """The same numbers as a field of 40 × 50 pixels and as a column of 2,000 rows."""
    rng = np.random.default_rng(1)
    values = 280 + rng.normal(0, 4, 2000).round(2)
    values[rng.choice(2000, count, replace=False)] = mark
    data = region(40, 50)
    data["t"] = data.t.copy(data=values.reshape(40, 50))
    (tmp_path / "a.nc").write_bytes(netcdf(data))
    (tmp_path / "a.csv").write_text("t,n\n" + "".join(f"{v!r},{n % 7}\n" for n, v in enumerate(values.tolist())))
    fields, table = open_fields(tmp_path / "a.nc"), read_table(tmp_path / "a.csv")
    there = [mark.text for mark in fields.marks_in("t")]
    if mark == 9.96921e36:  # too large to be a value, which fields know without asking
        there = ["9.96921e+36"] if np.isnan(fields.values("t")).sum() == count else []
    notes = " ".join(table.notes)
    assert [text for text in there if f"'t' is {text} in {count:,} row" in notes] == there
    assert bool(there) == (count == 40 or mark not in (-9.9, 0.0))


def test_two_marks_at_one_end_and_one_at_the_other():
    values = np.r_[np.linspace(0, 20, 50), -999.0, -99.0, -99.0, 9999.0]
    assert {(mark.value, mark.count, mark.sure) for mark in find_fill_values(values)} == {
        (-999.0, 1, True), (-99.0, 2, True), (9999.0, 1, True),
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("mark", [-999.9, -99999.99, -8.88e8, 1e20, 9.999e20, -0.1])
def test_a_number_is_meant_as_double_and_as_single(kind, mark):
    values = np.array([mark, mark * (1 + 1e-5), 280.0], kind)
    assert equals_fill_value(values.astype("f8"), mark).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([-999.9, "-999.90", "t=-8.88e8"], ("-999.9", "t=-888000000")), ("1e20", ("1e+20",)), ([], ()),
        (["a=b=-1"], ("a=b=-1",)), (["\u2212999"], ("-999",)), (None, ()),
    ],
)  # fmt: skip
def test_numbers_as_a_user_writes_them(given, kept):
    found = checked_missing(given)
    assert checked_missing(found) == found and len(found) == len(kept)
    assert [float(each.rpartition("=")[2]) for each in found] == [float(each.rpartition("=")[2]) for each in kept]
    assert [each.rpartition("=")[0] for each in found] == [each.rpartition("=")[0] for each in kept]


@pytest.mark.parametrize("given", ["none", ["t="], ["=-9"], ["nan"], ["inf"], ["-999,9"]])
def test_what_is_no_number_is_refused(given):
    with pytest.raises(InputError, match="is not a marker of missing values: give a number"):
        checked_missing(given)


def test_a_number_is_of_every_field_or_of_one():
    assert fill_values_of(("-999.9", "t=0", "q=7"), "t") == (-999.9, 0.0)


@pytest.mark.parametrize("words", [["-999.9"], ["-8.88e8"], ["-1E+20", "t=-9"], [".5", "-.5"], []])
def test_negative_numbers_are_no_options(words):
    options = make_parser().parse_args(["kbr-filter", "--missing", *words, "--quiet"])
    assert options.missing == words and options.quiet
    options = make_parser().parse_args(["downscale", "a.nc", *(f"--missing={word}" for word in words)])
    assert (options.missing or []) == words


#: The field with a mark in a corner and along an edge of cells, and its place.
WHERE = np.zeros((36, 48), dtype=bool)
WHERE[:5, :7] = WHERE[17, :] = True


def with_marks(mark: float, kind: str = "f4", **more) -> tuple[xr.Dataset, xr.Dataset]:
    """A field and covariates as files ought to have them, with NaN, and as they have them."""
    data = region().astype(kind)
    right, wrong = data.copy(deep=True), data.copy(deep=True)
    right.t.values[WHERE], wrong.t.values[WHERE] = np.nan, mark
    right.orog.values[3, 3:9], wrong.orog.values[3, 3:9] = np.nan, mark
    return right, wrong


def saved(tmp_path, name, data):
    (tmp_path / name).write_bytes(netcdf(data))
    return tmp_path / name


def assert_same(found, wanted):
    for name in ("coarse", "coarse_truth", "truth", "observed", "pixel"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name), equal_nan=name != "pixel"), name
    assert np.array_equal(found.inputs.numpy(), wanted.inputs.numpy())
    assert found.target_scale.sd == wanted.target_scale.sd


@pytest.mark.parametrize("mark", [-999.9, -9999.0, 1e20, 0.0])
@pytest.mark.parametrize("way", ["file", "upload", "store", "several"])
def test_an_answer_counts_before_any_mean(mark, way, tmp_path):
    right, wrong = with_marks(mark)
    wanted = open_fields(saved(tmp_path, "right.nc", right))
    path = saved(tmp_path, "wrong.nc", wrong)
    if way == "store":
        wrong.to_zarr(tmp_path / "a.zarr", zarr_format=2, consolidated=False)
        found = open_store(tmp_path / "a.zarr")
    elif way == "several":
        parts = [saved(tmp_path, f"{n}.nc", wrong[[n]]) for n in ("t", "orog")]
        found = together([open_fields(part) for part in parts])
    else:
        found = open_fields(path) if way == "file" else open_upload(path, "wrong.nc")
    spec = DownscalingSpec("t", ("orog",), block=(4, 6), withhold=0.2)
    asked = DownscalingSpec("t", ("orog",), block=(4, 6), withhold=0.2, missing=(str(mark),))
    assert_same(make_problem(found, asked), make_problem(wanted, spec))
    notes = make_problem(found, asked).notes
    text = asked.missing[0]
    assert any(f"`t`: {WHERE.sum()} values of {text} are taken as missing, as requested" in note for note in notes)
    assert any(f"`orog`: 6 values of {text} are taken as missing, as requested" in note for note in notes)
    assert any("'Count as missing' on the page, `--missing` of a command" in note for note in notes)
    assert not any("count as data" in note for note in notes if text in note)


def test_a_window_of_a_store_has_the_same_gaps(tmp_path):
    right, wrong = with_marks(-9999.9)
    wrong.to_zarr(tmp_path / "a.zarr", zarr_format=3, consolidated=False)
    found = open_store(tmp_path / "a.zarr").with_missing(("t=-9999.9",))
    at = slice(2, 30), slice(1, 20)
    assert np.array_equal(window(found, "t", {}, at), right.t.values[at], equal_nan=True)
    assert np.isfinite(window(found, "orog", {}, at)).all()
    assert [mark.text for mark in open_store(tmp_path / "a.zarr").marks_in("t")] == ["-9999.9"]


def test_a_coarse_target_of_its_own_has_its_gaps(tmp_path):
    """The bag of a coarse cell is unharmed, its target is gone: as in a file that has NaN there."""
    fine = region()
    coarse = fine[["t"]].coarsen(lat=4, lon=6).mean()
    gap = coarse.copy(deep=True)
    gap.t.values[2, 2:5], coarse.t.values[2, 2:5] = np.nan, -999.9
    files = {n: saved(tmp_path, n, d) for n, d in (("fine", fine.drop_vars("t")), ("right", gap), ("wrong", coarse))}
    spec = DownscalingSpec("t", ("orog",), withhold=0.0, missing=("-999.9",))
    plain = DownscalingSpec("t", ("orog",), withhold=0.0)
    covariates = open_fields(files["fine"])
    wanted = make_problem_from_files(covariates, open_fields(files["right"]), None, plain)
    found = make_problem_from_files(covariates, open_fields(files["wrong"]), None, spec)
    assert np.array_equal(found.coarse, wanted.coarse, equal_nan=True) and np.isnan(found.coarse).sum() == 3
    assert any("`t`: 3 values of -999.9 are taken as missing" in note for note in found.notes)
    source = Source(str(files["fine"]), str(files["wrong"]))
    again = build_problem(source, DownscalingSpec.from_dict(spec.to_dict()), open_fields)
    assert np.array_equal(again.coarse, wanted.coarse, equal_nan=True)


def test_a_number_that_no_field_holds_is_told(tmp_path):
    found = open_fields(saved(tmp_path, "a.nc", region()))
    spec = DownscalingSpec("t", ("orog",), block=(4, 6), missing=("-999",))
    assert "No value used here is -999, so `--missing=-999` has no effect." in make_problem(found, spec).notes
    assert DownscalingSpec("t").to_dict().keys().isdisjoint({"missing"})


def test_a_table_takes_the_same_answers(tmp_path):
    rows = [(i, -9999 if i == 3 else i, 0 if i % 2 else 500 + i) for i in range(40)]
    path = tmp_path / "a.csv"
    path.write_text("n,a,b\n" + "\n".join(",".join(map(str, row)) for row in rows))
    usual, none, named = (read_table(path, missing=m) for m in (None, [], ["b=0", -9999]))
    assert np.isnan(usual.columns["a"]).sum() == 1 and np.isnan(usual.columns["b"]).sum() == 0
    assert np.isnan(none.columns["a"]).sum() == 0
    assert np.isnan(named.columns["a"]).sum() == 1 and np.isnan(named.columns["b"]).sum() == 20
    assert np.isfinite(named.columns["n"]).all()  # its 0 is no 0 of b
    assert any("'a' is -9999 in 1 row, far from all other values, and counts as data" in note for note in none.notes)
    assert any("'b' is 0 in 20 rows, far from all other values, and counts as data" in note for note in usual.notes)


def test_a_table_in_netcdf_has_marks_too(tmp_path):
    xr.Dataset({"a": ("time", [1.0, 2.0, -9999.0, 4.0]), "b": ("time", [1.0, 2.0, 3.0, 5.0])}).to_netcdf(
        tmp_path / "a.nc"
    )
    table = read_table(tmp_path / "a.nc")
    assert np.isnan(table.columns["a"]).tolist() == [False, False, True, False]
    assert "'a' is -9999 in 1 row and from 1 to 4 elsewhere: -9999 is taken as missing." in table.notes
