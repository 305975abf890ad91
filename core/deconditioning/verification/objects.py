"""SAL: structure, amplitude and location of rain, by the objects that a field consists of."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from deconditioning.errors import InputError
from deconditioning.verification.series import Verified

#: Objects are where rain exceeds this share of the largest value of the field.
_SHARE = 1 / 15


@dataclass(frozen=True, eq=False)
class Objects:
    """Structure, amplitude and location (T,) of one prediction; NaN at times without rain in prediction or truth.

    Parameters
    ----------
    structure : −2 to 2; above 0 the predicted objects are too large or too flat, below 0 too small or too peaked.
    amplitude : −2 to 2; above 0 there is too much rain in the region, below 0 too little; 1 is three times as much.
    location : 0 to 2, best 0; distance of the centres of mass, and of the spreads of the objects around them.
    """

    structure: Float[np.ndarray, " t"]
    amplitude: Float[np.ndarray, " t"]
    location: Float[np.ndarray, " t"]

    @property
    def pooled(self) -> dict[str, float | None]:
        """Means over the times, of structure and amplitude also of their sizes; None without rain."""
        rained = np.isfinite(self.location)
        if not rained.any():
            return dict.fromkeys(("sal_structure", "sal_structure_size", "sal_amplitude", "sal_amplitude_size",
                                  "sal_location"))  # fmt: skip
        s, a, location = (each[rained] for each in (self.structure, self.amplitude, self.location))
        means = {"sal_structure": s, "sal_structure_size": np.abs(s), "sal_amplitude": a,
                 "sal_amplitude_size": np.abs(a), "sal_location": location}  # fmt: skip
        return {name: float(values.mean()) for name, values in means.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, None at times without rain."""
        return {name: [None if np.isnan(each) else float(each) for each in values]
                for name, values in vars(self).items()}  # fmt: skip


def rain_objects(series: Verified) -> dict[str, Objects]:
    """SAL of every prediction and, as means over them, of its joint draws.

    With the amounts ``R``, values times areas, of the pixels, and of objects n, connected pixels (across corners, too)
    above a fifteenth of the field's largest value: ``A = (D − D_z)/½(D + D_z)`` of the total amounts D;
    ``L = |x − x_z|/d + 2 |r − r_z|/d`` of the centres of mass x, the mean distances of the objects from them
    ``r = Σ R_n |x − x_n|/Σ R_n``, and the longest distance d in the region; ``S = (V − V_z)/½(V + V_z)`` of
    ``V = Σ R_n² / max_n / Σ R_n``, with the largest value max_n of an object. Distances are along the axes of the grid,
    shortened by the cosine of the mean latitude. Pixels without a value in truth or any prediction have none in all;
    predictions below 0 count as 0.
    Raises ``InputError`` for negative values.

    Source: Wernli, Paulat, Hagen and Frei 2008, *Monthly Weather Review* 136.
    """
    place, draws = _places(series), series.draws_name
    rows: dict[str, list[np.ndarray]] = {}
    for time, (truth, weights, predictions) in enumerate(series.times()):
        there = weights > 0
        if there.any() and truth[there].min() < 0:
            raise InputError("SAL is of amounts such as rain, and the truth has negative values: leave out --sal.")
        fields = {name: [each.mean] for name, each in predictions.items()}
        if series.draws is not None:
            fields[draws] = list(np.asarray(series.draws(time), dtype=float))
        true = _described(truth, weights, place)
        for name, members in fields.items():
            each = [_sal(_described(member, weights, place), true, _longest(place)) for member in members]
            known = [row for row in each if np.isfinite(row).all()]
            rows.setdefault(name, []).append(np.mean(known, axis=0) if known else np.full(3, np.nan))
    return {name: Objects(*np.stack(values, axis=1)) for name, values in rows.items()}


def _places(series: Verified) -> Float[np.ndarray, "two h w"]:
    """Rows and columns of the pixels as lengths that can be compared."""
    steps = [1.0, 1.0]
    axes = (
        [] if series.place is None else [series.place[dim] for dim in series.place.dims if dim in series.place.coords]
    )
    if len(axes) == 2 and all(axis.size > 1 and axis.dtype.kind in "fi" for axis in axes):
        steps = [float(np.abs(np.diff(axis)).mean()) for axis in axes]
        if axes[0].name in ("lat", "latitude") or axes[0].attrs.get("units") == "degrees_north":
            steps[1] *= float(np.cos(np.radians(axes[0])).mean())
    indices = np.indices(series.area.shape, dtype=float)
    return indices * np.array(steps)[:, None, None]


def _longest(place: Float[np.ndarray, "two h w"]) -> float:
    """The diagonal of the region."""
    return float(np.hypot(*place[:, -1, -1]))


def _described(
    field: Float[np.ndarray, "h w"], weights: Float[np.ndarray, "h w"], place: Float[np.ndarray, "two h w"]
) -> tuple[float, Float[np.ndarray, " two"], float, float] | None:
    """Amount, centre of mass, mean distance of the objects from it, and their volume V; None without rain."""
    from scipy.ndimage import label

    values = np.where(weights > 0, np.maximum(np.nan_to_num(field), 0.0), 0.0)
    amounts = values * weights
    if amounts.sum() <= 0:
        return None
    numbers, count = label(values > _SHARE * values.max(), structure=np.ones((3, 3)))
    inside = numbers.ravel()

    def sums(of: np.ndarray) -> np.ndarray:
        return np.bincount(inside, of.ravel(), count + 1)[1:]

    mass = sums(amounts)
    centre = (amounts * place).sum((1, 2)) / amounts.sum()
    centres = np.stack([sums(amounts * axis) / mass for axis in place])
    away = np.hypot(*(centres - centre[:, None]))
    peak = np.zeros(count + 1)
    np.maximum.at(peak, inside, values.ravel())
    return (
        float(amounts.sum()), centre, float(np.sum(mass * away) / mass.sum()),
        float(np.sum(mass**2 / peak[1:]) / mass.sum()),
    )  # fmt: skip


def _sal(one: Any, true: Any, longest: float) -> Float[np.ndarray, " three"]:
    """Structure, amplitude and location; NaN where either has no rain."""
    if one is None or true is None:
        return np.full(3, np.nan)
    (amount, centre, spread, volume), (amount_z, centre_z, spread_z, volume_z) = one, true
    location = np.hypot(*(centre - centre_z)) / longest + 2 * abs(spread - spread_z) / longest
    return np.array(
        [2 * (volume - volume_z) / (volume + volume_z), 2 * (amount - amount_z) / (amount + amount_z), location]
    )
