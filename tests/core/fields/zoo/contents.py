"""What lies on a grid: packed numbers, members, names, levels, auxiliary coordinates."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from tests.core.fields.zoo.animal import Animal, of, small

ALL = "t orog q"


def animals() -> Iterator[Animal]:
    packed = {"dtype": "int16", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -9999}
    yield of("packed", small(), ALL, encoding={"t": packed})
    yield of("unsigned", small(), ALL, encoding={"t": packed | {"_Unsigned": "true"}})
    two_marks = small()
    two_marks.t.attrs["missing_value"] = -9999.0
    two_marks.t.values[0, 0] = -9999.0
    yield of("two-fill-values", two_marks, ALL, encoding={"t": {"_FillValue": 1e20}})
    members = small().expand_dims(realization=3).assign_coords(
        realization=("realization", [1, 2, 5], {"standard_name": "realization", "units": "1"}))  # fmt: skip
    yield of("ensemble", members, ALL, when=("realization 5",), select={"realization": 2})
    named = small().expand_dims(member=2).assign_coords(member=["r1i1p1f1", "r2i1p1f1"])
    yield of("member-names", named, ALL, when=("member r2i1p1f1",), select={"member": "r2i1p1f1"})
    letters = small().assign_coords(region=((), "Europe"), station_name=("lat", [f"row {n}" for n in range(8)]))
    yield of("string-coordinates", letters, ALL)
    height = small().assign_coords(height=((), 2.0, {"units": "m", "positive": "up", "axis": "Z"}))
    yield of("scalar-height", height, ALL, when=("height 2 m",))
    levels = small().expand_dims(plev=2).assign_coords(plev=("plev", [85000.0, 50000.0], {"units": "Pa"}))
    yield of("levels", levels, ALL, when=("plev 50000 Pa",), select={"plev": 1})
    hybrid = small().expand_dims(lev=2).assign_coords(
        lev=("lev", [0.9, 0.5], {"standard_name": "atmosphere_hybrid_sigma_pressure_coordinate", "positive": "down",
             "formula_terms": "a: a b: b ps: ps", "bounds": "lev_bnds"}))  # fmt: skip
    hybrid["a"], hybrid["b"] = ("lev", [0.0, 1.0]), ("lev", [1.0, 0.5])
    hybrid["lev_bnds"] = (("lev", "bnds"), [[1.0, 0.8], [0.6, 0.4]])
    yield of("hybrid-levels", hybrid, ALL)
    auxiliary = small().assign_coords(
        surface_altitude=(("lat", "lon"), small().orog.values * 100, {"units": "m", "standard_name":
            "surface_altitude"}))  # fmt: skip
    auxiliary.t.attrs["coordinates"] = "surface_altitude"
    yield of("auxiliary-orography", auxiliary, f"{ALL} surface_altitude")
    flags = small().assign(mask=(("lat", "lon"), np.ones((8, 10), "i1"), {"flag_values": np.array([0, 1], "i1"),
                                                                         "flag_meanings": "sea land"}))  # fmt: skip
    yield of("flags", flags, f"{ALL} mask")
    small_numbers = small().assign(t=small().t.astype("f4"), q=(small().q * 100).astype("i4"))
    yield of("singles-and-integers", small_numbers, ALL)
    yield of("no-attributes", xr.Dataset({n: (("lat", "lon"), v.values) for n, v in small().data_vars.items()},
             {"lat": small().lat.values, "lon": small().lon.values}), ALL)  # fmt: skip
    spaced = small().rename(t="air temperature (2 m)", orog="Höhe")
    yield of("odd-names", spaced, "air temperature (2 m) Höhe q")
    one = small().expand_dims(time=1, lev=1, member=1)
    yield of("single-everything", one, ALL, when=())
    cells = small().assign(cell_area=(("lat", "lon"), np.ones((8, 10)), {"standard_name": "cell_area", "units": "m2"}))
    cells.t.attrs["cell_measures"] = "area: cell_area"
    yield of("cell-area", cells, f"{ALL} cell_area")
    climate = small().expand_dims(time=1).assign_coords(
        time=("time", [196.0], {"units": "days since 1991-01-01", "climatology": "climatology_bounds"}))  # fmt: skip
    climate["climatology_bounds"] = (("time", "nv"), [[181.0, 10800.0]])
    yield of("climatology", climate, ALL)
