"""Odd ranges, marks and signs of packed values; each with its value."""

from typing import Any

import netCDF4
import numpy as np
import pytest

from deconditioning.fields.gridded import Fields
from deconditioning.fields.reading.opening import open_fields

LATITUDE, LONGITUDE = 40 + 0.5 * np.arange(6), 5 + 0.5 * np.arange(8)


def _packed(path: Any, values: np.ndarray, kind: str, **attributes: Any) -> Fields:
    with netCDF4.Dataset(path, "w") as file:
        for name, units, each in (("lat", "degrees_north", LATITUDE), ("lon", "degrees_east", LONGITUDE)):
            file.createDimension(name, each.size)
            file.createVariable(name, "f8", (name,))[:] = each
            file[name].units = units
        variable = file.createVariable("t", kind, ("lat", "lon"))
        variable.set_auto_maskandscale(False)
        variable.setncatts(attributes)
        variable[:] = values
    return open_fields(path)


COUNTS = np.arange(48).reshape(6, 8)


def test_a_range_with_fractions_is_not_packed(tmp_path: Any) -> None:
    about = {"scale_factor": 0.01, "add_offset": 273.15, "valid_range": np.array([274.15, 313.15], "f4")}
    values = _packed(tmp_path / "a.nc", COUNTS * 100, "i2", **about).values("t")
    assert np.isnan(values).sum() == 8 and np.nanmax(values) == pytest.approx(313.15)


@pytest.mark.parametrize(("kind", "mark"), [("u1", np.int8(-1)), ("u2", np.int16(-1)), ("i1", np.uint8(200))])
def test_marks_of_the_other_sign_are_the_same_bits(tmp_path: Any, kind: str, mark: Any) -> None:
    counts = COUNTS.astype(kind)
    counts[0, 0] = np.asarray(mark).astype(kind)
    values = _packed(tmp_path / "a.nc", counts, kind, missing_value=mark).values("t")
    assert np.isnan(values[0, 0]) and np.isnan(values).sum() == 1 and np.nanmax(values) == 47


def test_unsigned_in_capitals_and_packing_as_text(tmp_path: Any) -> None:
    counts = COUNTS.astype("i2")
    counts[0, 0] = -1
    values = _packed(tmp_path / "a.nc", counts, "i2", _Unsigned="TRUE", scale_factor="0.5").values("t")
    assert values[0, 0] == 32767.5 and values[0, 1] == 0.5


@pytest.mark.parametrize("name", ["units", "Units", "UNITS", "unit"])
def test_units_under_other_names(tmp_path: Any, name: str) -> None:
    assert _packed(tmp_path / "a.nc", COUNTS, "i2", **{name: "mm/hr"}).variables()["t"].units == "mm/hr"
