"""Cells of a curvilinear or projected grid without a position: over land in ocean models, beyond a satellite's disk."""

import numpy as np

from deconditioning.fields.grids.sphere import from_unit_vectors, unit_vectors

#: Of the cells, at least this share must have a position.
LEAST_PLACED = 0.2
#: Rounds in which filled positions take the mean of those around them.
_ROUNDS = 30


def placed(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """(H, W) whether a cell has a position; what no degree can be is a mark of a missing one."""
    with np.errstate(invalid="ignore"):
        return (np.abs(latitude) < 1e4) & (np.abs(longitude) < 1e4)


def fill_positions(latitude: np.ndarray, longitude: np.ndarray, there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (H, W) in which missing ones continue their neighbours', so that distances are finite.

    The nearest cell's position, then repeated means over the nine cells around; no value is ever read there. Where
    fewer than `LEAST_PLACED` of the cells have one, positions stay missing.
    """
    from scipy.ndimage import distance_transform_edt, uniform_filter

    if there.all() or there.mean() < LEAST_PLACED:
        return latitude, longitude
    nearest = distance_transform_edt(~there, return_distances=False, return_indices=True)
    vectors = unit_vectors(latitude[tuple(nearest)], longitude[tuple(nearest)])
    for _ in range(_ROUNDS):
        around = uniform_filter(vectors, size=(3, 3, 1), mode="nearest")
        vectors = np.where(there[..., None], vectors, around)
    filled = from_unit_vectors(vectors)
    return np.where(there, latitude, filled[0]), np.where(there, longitude, filled[1])
