"""Packed values under other attributes than CF's: read by the product's own formula, or left out with the reason."""

from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fill_values import find_fill_values

STORED = np.arange(100, 148).reshape(6, 8)


def _file(path: Path, kind: str = "i2", stored: np.ndarray = STORED, **attributes: Any) -> Fields:
    with netCDF4.Dataset(path / "a.nc", "w") as file:
        for name, units, each in (
            ("lat", "degrees_north", 40 + 0.5 * np.arange(6)),
            ("lon", "degrees_east", 5 + 0.5 * np.arange(8)),
        ):
            file.createDimension(name, each.size)
            file.createVariable(name, "f8", (name,))[:] = each
            file[name].units = units
        fill = attributes.pop("_FillValue", None)
        variable = file.createVariable("t", kind, ("lat", "lon"), fill_value=fill)
        variable.set_auto_maskandscale(False)
        variable.setncatts(attributes)
        variable[:] = stored
    return open_fields(path / "a.nc")


READ = {
    "SeaWiFS": ({"Slope": 0.01, "Intercept": -2.0, "Scaling": "linear"}, lambda n: n / 100 - 2),
    "small letters": ({"slope": 0.5, "intercept": 3.25}, lambda n: n / 2 + 3.25),
    "one side": ({"add_off": -273.15}, lambda n: n - 273.15),
    "capitals and spaces": ({"SCALE FACTOR": 0.01}, lambda n: n / 100),
    "one name of CF": ({"scale_factor": 0.1, "Intercept": 7.0}, lambda n: n / 10 + 7),
    "a fraction is no offset of whole numbers": ({"Scale": 0.02, "Offset": 273.15}, lambda n: n / 50 + 273.15),
    "as text": ({"SCALING_FACTOR": "0.02", "OFFSET": "0"}, lambda n: n / 50),
    "MODIS land divides": (
        {"scale_factor": 10000.0, "add_offset": 0.0, "scale_factor_err": 0.0, "calibrated_nt": 5},
        lambda n: n / 10000,
    ),
    "MODIS atmosphere subtracts first": (
        {"scale_factor": 0.01, "add_offset": -15000.0, "Parameter_Type": "Output", "Geolocation_Pointer": "Internal"},
        lambda n: 0.01 * (n + 15000),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", READ)
def test_packing_by_other_names(tmp_path: Path, kind: str) -> None:
    attributes, formula = READ[kind]
    fields = _file(tmp_path, **attributes)
    np.testing.assert_allclose(fields.values("t"), formula(STORED.astype(float)), rtol=1e-6)
    assert any("value =" in note for note in fields.notes)


UNCLEAR = {
    "multiply or divide": ({"SCALING_FACTOR": 100.0, "OFFSET": 0.0}, "may multiply or divide"),
    "added or subtracted": ({"Scale": 0.01, "Offset": -15000.0}, "may be added to the scaled values or subtracted"),
    "a logarithm": ({"Scaling": "logarithmic", "Base": 10.0, "Slope": 0.015, "Intercept": -2.0}, "by a logarithm"),
    "one a band": ({"Slope": [0.1, 0.2]}, "2 different values"),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNCLEAR)
def test_packing_that_is_not_clear(tmp_path: Path, kind: str) -> None:
    attributes, words = UNCLEAR[kind]
    with pytest.raises(InputError, match=words):
        _file(tmp_path, **attributes)


NOTED = {
    "no packed values": ("f4", {"Slope": 0.01}, 1.0, "`Slope` 0.01 is not applied, as its values are not packed"),
    "two factors": ("i2", {"scale_factor": 0.1, "Slope": 0.01}, 0.1, "its `scale_factor` 0.1 is"),
    "a large factor": ("i2", {"scale_factor": 10000.0}, 1e4, "some products intend a division"),
}  # fmt: skip


@pytest.mark.parametrize("kind", NOTED)
def test_packing_that_is_told(tmp_path: Path, kind: str) -> None:
    stored, attributes, factor, words = NOTED[kind]
    fields = _file(tmp_path, stored, **attributes)
    np.testing.assert_allclose(fields.values("t"), STORED * factor, rtol=1e-6)
    assert any(words in note for note in fields.notes)


@pytest.mark.parametrize(
    "attributes", [{"Slope": 1.0, "Intercept": 0.0}, {"scale": "1:50000"}, {"scale_factor": 0.1, "Slope": 0.1}, {}]
)
def test_what_is_no_packing_needs_no_word(tmp_path: Path, attributes: dict[str, Any]) -> None:
    fields = _file(tmp_path, **attributes)
    np.testing.assert_allclose(fields.values("t"), STORED * attributes.get("scale_factor", 1.0), rtol=1e-6)
    assert not fields.notes


def test_marks_in_units_of_values_packed_by_other_names(tmp_path: Path) -> None:
    stored = STORED.copy()
    stored[0, 0] = -9999
    fields = _file(tmp_path, "i2", stored, Slope=0.01, Intercept=45.46, missing_value=np.float32(-54.53))
    values = fields.values("t")
    assert np.isnan(values[0, 0]) and np.nanmin(values) == pytest.approx(46.47)


@pytest.mark.parametrize("text", ["101, 140", "[101 140]", "101s, 140s", "101 to 140", "101..140"])
def test_ranges_as_text(tmp_path: Path, text: str) -> None:
    values = _file(tmp_path, valid_range=text).values("t")
    assert (np.nanmin(values), np.nanmax(values)) == (101, 140)


def test_ranges_as_text_of_packed_values(tmp_path: Path) -> None:
    about = {"scale_factor": 0.1, "add_offset": 0.0}
    stored = _file(tmp_path, valid_min="101", valid_max="140", **about).values("t")
    assert (np.nanmin(stored), np.nanmax(stored)) == pytest.approx((10.1, 14.0))
    unpacked = _file(tmp_path, "i1", STORED - 50, Valid_Range="-400, 9.05", **about).values("t")
    assert np.nanmax(unpacked) == pytest.approx(9.0)
    beyond = _file(tmp_path, "i1", STORED - 50, valid_range="6 to 1000", **about).values("t")
    assert np.nanmin(beyond) == pytest.approx(6.0)


def _smooth(missing: float) -> np.ndarray:
    """(60, 80) values from about −20 to 45 with a tenth of them ``missing``."""
    rng = np.random.default_rng(0)
    values = 12.5 + 32.5 * np.sin(np.linspace(0, 9, 4800)) + rng.normal(0, 0.01, 4800)
    values[rng.permutation(4800)[:480]] = missing
    return values.reshape(60, 80)


def test_a_mark_that_was_scaled_before_it_was_written() -> None:
    scaled = -9999 * 0.01 + 45.46
    found = find_fill_values(_smooth(scaled))
    assert [(mark.value, mark.count, mark.sure) for mark in found] == [(scaled, 480, False)]


@pytest.mark.parametrize("bound", [-21.0, 12.5])
def test_many_equal_values_near_others_are_data(bound: float) -> None:
    assert not find_fill_values(_smooth(bound)) and not find_fill_values(np.maximum(_smooth(20.0), 0.0))


def test_an_undeclared_mark_of_packed_values(tmp_path: Path) -> None:
    stored = STORED.copy()
    stored[0, :2] = -9999
    fields = _file(tmp_path, "i2", stored, scale_factor=0.01, add_offset=45.46)
    (mark,) = fields.marks_in("t")
    assert (mark.text, mark.count) == ("-54.53", 2) and "look like missing values" in " ".join(fields.notes)
    assert np.isnan(fields.with_missing((mark.text,)).values("t")).sum() == 2


def test_codes_among_packed_values_are_told(tmp_path: Path) -> None:
    codes = {"scale_factor": 0.01, "flag_values": np.array([253, 254], "i2"), "flag_meanings": "coast land"}
    assert "2.53, 2.54 are codes (coast land) and count as data" in " ".join(_file(tmp_path, **codes).notes)
    assert not any("codes" in note for note in _file(tmp_path, **codes, valid_max=np.int16(200)).notes)
