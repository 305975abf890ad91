"""Write GRIB files of messages that differ in one key each, and count what is read of any: ``python -m … FOLDER``.

In a process of its own: ecCodes beside pyproj spoils the latter. Prints JSON: name of the file → means of its messages
as ecCodes gives them, means of the fields that are read, dimensions, labels, notes.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import eccodes
import numpy as np

SHAPE = (8, 10)
LAYER = {"discipline": 2, "parameterCategory": 0, "parameterNumber": 2, "typeOfFirstFixedSurface": 106,
         "typeOfSecondFixedSurface": 106}  # fmt: skip
RAIN = {"productDefinitionTemplateNumber": 8, "discipline": 0, "parameterCategory": 1, "parameterNumber": 8,
        "typeOfFirstFixedSurface": 1, "typeOfStatisticalProcessing": 1}  # fmt: skip
WARM = {"discipline": 0, "parameterCategory": 0, "parameterNumber": 0, "typeOfFirstFixedSurface": 103,
        "scaleFactorOfFirstFixedSurface": 0, "scaledValueOfFirstFixedSurface": 2}  # fmt: skip


def layer(top: int, bottom: int, scale: int = 1) -> dict:
    """A soil layer between two depths in tenths, hundredths … of a metre."""
    ends = {"First": top, "Second": bottom}
    return LAYER | {f"scaledValueOf{end}FixedSurface": value for end, value in ends.items()} | {
        f"scaleFactorOf{end}FixedSurface": scale for end in ends}  # fmt: skip


def above(kelvin: int, side: str = "Upper", kind: int = 1) -> dict:
    """The probability that temperature is above (kind 1), below (0) a threshold in tenths of a kelvin."""
    limits = {f"scaleFactorOf{side}Limit": 1, f"scaledValueOf{side}Limit": kelvin}
    return {"productDefinitionTemplateNumber": 5, **WARM, "probabilityType": kind, **limits}


def member(number: int, kind: int = 3) -> dict:
    """One of an ensemble."""
    return {"productDefinitionTemplateNumber": 1, **WARM, "typeOfEnsembleForecast": kind, "perturbationNumber": number,
            "numberOfForecastsInEnsemble": 5}  # fmt: skip


def run(day: int, step: int) -> dict:
    """A forecast from 00 UTC of a day."""
    return {**WARM, "dataDate": 20190700 + day, "forecastTime": step}


MADE: dict[str, list[dict]] = {
    "layers.grib2": [layer(0, 1), layer(1, 4), layer(4, 10), layer(10, 20)],
    "thin-layers.grib2": [layer(0, 5, 3), layer(5, 10, 3), layer(1, 2, 0)],
    "same-middle.grib2": [layer(0, 10), layer(4, 6)],
    "fractional-levels.grib2": [WARM | {"scaleFactorOfFirstFixedSurface": 1, "scaledValueOfFirstFixedSurface": v}
                                for v in (5, 15, 20, 25)],
    "two-accumulations.grib2": [RAIN | {"stepRange": r} for r in ("0-6", "5-6")],
    "hourly-and-all.grib2": [RAIN | {"stepRange": r} for r in ("0-1", "1-2", "2-3", "0-3", "0-2")],
    "average-and-moment.grib2": [RAIN | {"stepRange": "0-6", "typeOfStatisticalProcessing": 0},
                                 RAIN | {"stepRange": "0-6"},
                                 RAIN | {"stepRange": "0-6", "typeOfStatisticalProcessing": 2}],
    "lagged-runs.grib2": [run(day, step) for day in (1, 2, 3) for step in (24, 48, 72)],
    "every-run.grib2": [run(day, step) for day in range(1, 9) for step in range(0, 96, 24)],
    "members.grib2": [member(n) for n in range(5)],
    "pairs.grib2": [member(n, kind) for n in (1, 2) for kind in (2, 3)],
    "mean-and-spread.grib2": [{"productDefinitionTemplateNumber": 2, **WARM, "derivedForecast": d} for d in (0, 4)],
    "percentiles.grib2": [{"productDefinitionTemplateNumber": 6, **WARM, "percentileValue": p} for p in (10, 50, 90)],
    "probabilities.grib2": [above(2731), above(2931), above(2731, "Lower", 0)],
    "minutes.grib2": [WARM | {"indicatorOfUnitOfTimeRange": 0, "forecastTime": m} for m in (0, 15, 30, 45)],
    "seconds.grib2": [WARM | {"indicatorOfUnitOfTimeRange": 13, "forecastTime": s} for s in (0, 20, 40)],
    "versions.grib1": [{"edition": 1, "setLocalDefinition": 1, "localDefinitionNumber": 1, "experimentVersionNumber": v}
                       for v in ("0001", "0005")],
    "satellites.grib2": [{"productDefinitionTemplateNumber": 31, "discipline": 3, "parameterCategory": 1,
                          "parameterNumber": 0, "NB": 1, "satelliteNumber": n} for n in (55, 56)],
    "centres.grib2": [WARM | {"centre": c} for c in (7, 98)],
    "unknown-parameters.grib2": [WARM | {"parameterCategory": 19, "parameterNumber": n} for n in (201, 202)],
    "twice.grib2": [WARM, WARM, WARM],
}  # fmt: skip


def write(path: Path) -> None:
    """Message number n of a file has the constant value 280 + n."""
    with open(path, "wb") as file:
        for number, keys in enumerate(MADE[path.name]):
            handle = eccodes.codes_grib_new_from_samples(f"regular_ll_sfc_grib{keys.get('edition', 2)}")
            grid = {"Nj": SHAPE[0], "Ni": SHAPE[1], "latitudeOfFirstGridPointInDegrees": 47.0,
                    "latitudeOfLastGridPointInDegrees": 40.0, "longitudeOfFirstGridPointInDegrees": 5.0,
                    "longitudeOfLastGridPointInDegrees": 14.0, "iDirectionIncrementInDegrees": 1.0,
                    "jDirectionIncrementInDegrees": 1.0, "dataDate": 20190701, "dataTime": 0}  # fmt: skip
            for key, value in (grid | keys).items():
                if key != "edition":
                    eccodes.codes_set(handle, key, value)
            eccodes.codes_set_values(handle, np.full(SHAPE, 280.0 + number).ravel())
            eccodes.codes_write(handle, file)
            eccodes.codes_release(handle)


def write_alternating(path: Path) -> None:
    """A ramp from west to east whose rows are scanned to and fro."""
    handle = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
    keys = {"Nj": 3, "Ni": 4, "latitudeOfFirstGridPointInDegrees": 47.0, "latitudeOfLastGridPointInDegrees": 45.0,
            "longitudeOfFirstGridPointInDegrees": 5.0, "longitudeOfLastGridPointInDegrees": 8.0,
            "iDirectionIncrementInDegrees": 1.0, "jDirectionIncrementInDegrees": 1.0,
            "alternativeRowScanning": 1}  # fmt: skip
    for key, value in keys.items():
        eccodes.codes_set(handle, key, value)
    ramp = np.tile(np.arange(4.0), (3, 1))
    ramp[1] = ramp[1, ::-1]
    eccodes.codes_set_values(handle, ramp.ravel())
    with open(path, "wb") as file:
        eccodes.codes_write(handle, file)


def write_multi(path: Path) -> None:
    """Two fields in one message: u and v wind of one level."""
    multi = eccodes.codes_grib_multi_new()
    for number, value in ((2, 3.0), (3, -4.0)):
        handle = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib2")
        eccodes.codes_set_long(handle, "parameterCategory", 2)
        eccodes.codes_set_long(handle, "parameterNumber", number)
        eccodes.codes_set_values(handle, np.full(eccodes.codes_get_size(handle, "values"), value))
        eccodes.codes_grib_multi_append(handle, 4, multi)
    with open(path, "wb") as file:
        eccodes.codes_grib_multi_write(multi, file)


def samples() -> list[str]:
    """Names of the GRIB samples that ecCodes brings, from its library or its folder."""
    place = Path(eccodes.codes_samples_path().split(":")[0])
    if place.is_dir():
        return sorted(p.stem for p in place.glob("*.tmpl"))
    import eccodeslib

    library = next(Path(eccodeslib.__file__).parent.rglob("*eccodes_memfs*"))
    found = {name.decode() for name in re.findall(rb"samples/(\w+)\.tmpl", library.read_bytes())}
    return sorted(name for name in found if "grib" in name.lower())


def write_sample(name: str, path: Path) -> bool:
    """One of ecCodes' samples as a file; False where it is no GRIB."""
    try:
        handle = eccodes.codes_grib_new_from_samples(name)
    except eccodes.CodesInternalError:
        return False
    with open(path, "wb") as file:
        eccodes.codes_write(handle, file)
    return True


def look(path: Path) -> dict[str, Any]:
    """Means of messages as ecCodes gives them one by one, and of what is read."""
    from deconditioning.errors import InputError
    from deconditioning.fields.reading.grib.dataset import open_grib

    try:
        dataset, notes = open_grib(path)
    except InputError as error:
        return {"refused": str(error)}
    fields = {str(name): dataset.variables[name] for name in dataset.data_vars}
    slices = [one for v in fields.values() for one in v.values.reshape(-1, *v.shape[-2:])]
    first = next(iter(fields.values()))
    labels = {str(d): [str(x) for x in dataset.variables[d].values] for v in fields.values() for d in v.dims[:-2]}
    return {
        "messages": messages(path), "notes": notes, "labels": labels,
        "fields": [float(np.nanmean(one)) for one in slices if np.isfinite(one).any()],
        "dims": {name: list(map(str, v.dims[:-2])) for name, v in fields.items()},
        "first": first.values.reshape(-1, *first.shape[-2:])[0].tolist() if first.size < 100 else [],
    }  # fmt: skip


def messages(path: Path) -> list[float]:
    """Means without missing values, of every message and part of one."""
    eccodes.codes_grib_multi_support_on()
    means = []
    with open(path, "rb") as file:
        while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
            eccodes.codes_set(handle, "missingValue", 1e33)
            values = eccodes.codes_get_array(handle, "values")
            means.append(float(values[values < 9e32].mean()))
            eccodes.codes_release(handle)
    return means


def main(folder: Path, *others: str) -> None:
    """Write all into a folder and look at them, at ecCodes' samples and at other files."""
    for name in MADE:
        write(folder / name)
    write_multi(folder / "wind.grib2")
    write_alternating(folder / "alternating.grib2")
    for name in samples():
        write_sample(name, folder / f"sample-{name}.grib")
    paths = [*sorted(folder.iterdir()), *map(Path, others)]
    print(json.dumps({path.name: look(path) for path in paths}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
