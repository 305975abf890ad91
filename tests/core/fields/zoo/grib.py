"""Write a GRIB file from a sample that eccodes brings: ``python -m tests.core.fields.zoo.grib PATH SAMPLE``.

In a process of its own: eccodes beside pyproj spoils the latter.
"""

import sys

import numpy as np

REGION = {
    "Ni": 10, "Nj": 8, "latitudeOfFirstGridPointInDegrees": 47.0, "latitudeOfLastGridPointInDegrees": 40.0,
    "longitudeOfFirstGridPointInDegrees": 5.0, "longitudeOfLastGridPointInDegrees": 14.0,
    "iDirectionIncrementInDegrees": 1, "jDirectionIncrementInDegrees": 1,
}  # fmt: skip


def main(path: str, sample: str) -> None:
    """2 m temperature and 10 m wind."""
    import eccodes

    with open(path, "wb") as file:
        for name in ("2t", "10u"):
            message = eccodes.codes_grib_new_from_samples(sample)
            keys: dict = {"dataDate": 19950714, "dataTime": 1200, "stepRange": "0", "shortName": name}
            for key, value in (keys | (REGION if sample.startswith("regular") else {})).items():
                eccodes.codes_set(message, key, value)
            count = 80 if sample.startswith("regular") else eccodes.codes_get_size(message, "values")
            eccodes.codes_set_values(message, 280.0 + np.arange(count) % 80)
            eccodes.codes_write(message, file)
            eccodes.codes_release(message)


if __name__ == "__main__":
    main(*sys.argv[1:])
