"""What is verified: a truth and predictions of it, time by time, on one grid."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from jaxtyping import Float, Int

from deconditioning.errors import InputError
from deconditioning.fields.grids.pixel_shares import Shares
from deconditioning.fields.problem.warp import Warp
from deconditioning.metrics.predictive import Predictive
from deconditioning.verification.static import static_fields

if TYPE_CHECKING:
    import xarray as xr

#: Names of the interpolations of the coarse values that a file holds.
CELL_MEAN, BILINEAR, CONSERVING = "cell mean", "bilinear", "bilinear, cell means kept"
#: Dimensions of a field with members: these, times, rows and columns.
_WITH_MEMBERS = 4


class InTime(Protocol):
    """T fields (H, W), one at each index, such as an array (T, H, W)."""

    def __len__(self) -> int: ...

    def __getitem__(self, time: int, /) -> Any: ...


@dataclass(frozen=True, eq=False)
class Forecast:
    """A predicted series of T fields: mean and, if there is one, sd, (T, H, W) in the units of the truth.

    ``distribution`` gives that of a time where it is not a Gaussian.
    """

    mean: InTime
    sd: InTime | None = None
    distribution: Callable[[int], Predictive] | None = None

    def at(self, time: int) -> tuple[Float[np.ndarray, "h w"], Float[np.ndarray, "h w"] | None]:
        """Mean and sd of one time."""
        sd = None if self.sd is None else np.asarray(self.sd[time], dtype=float)
        return np.asarray(self.mean[time], dtype=float), sd

    def predictive(self, time: int) -> Predictive:
        """The distribution of a time, of sd 0 where there is none, so that its CRPS is its absolute error."""
        if self.distribution is not None:
            return self.distribution(time)
        mean, sd = self.at(time)
        return Predictive(mean, np.zeros_like(mean) if sd is None else sd)


@dataclass(frozen=True, eq=False)
class Verified:
    """A truth with predictions of it.

    Parameters
    ----------
    truth : (T, H, W).
    forecasts : name → prediction; the first is the one that is verified, the others are its references.
    area : (H, W) relative areas of the pixels.
    cells : (H, W) number of the coarse cell of each pixel, −1 outside of all; None if the file does not say.
    units : of the truth.
    notes : what is left out, and why.
    place : a field (H, W) of the file with its coordinates, which maps of scores have too.
    draws : joint draws (D, H, W) of the prediction that is verified at a time; None without any.
    dates : (T,) dates as text (2019-03-01 06:00 …); empty where times have none.
    altitude, land : (H, W) altitude in m and share of land, 0 to 1; None if unknown.
    """

    truth: InTime
    forecasts: dict[str, Forecast]
    area: Float[np.ndarray, "h w"]
    cells: Int[np.ndarray, "h w"] | None
    units: str
    notes: tuple[str, ...] = ()
    place: "xr.DataArray | None" = None
    draws: Callable[[int], Float[np.ndarray, "D H W"]] | None = None
    dates: tuple[str, ...] = ()
    altitude: Float[np.ndarray, "h w"] | None = None
    land: Float[np.ndarray, "h w"] | None = None

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def draws_name(self) -> str:
        """What the scores of the draws are called."""
        return f"draws of {next(iter(self.forecasts))}"

    def times(self) -> Iterator[tuple[Float[np.ndarray, "h w"], Float[np.ndarray, "h w"], dict[str, Predictive]]]:
        """Truth, weights and predictions of each time; pixels that lack any of the values have the weight 0."""
        for time in range(len(self)):
            truth = np.asarray(self.truth[time], dtype=float)
            predictives = {name: each.predictive(time) for name, each in self.forecasts.items()}
            there = np.isfinite(truth)
            for each in predictives.values():
                there &= np.isfinite(each.mean) & np.isfinite(each.sd)
            yield truth, np.where(there, self.area, 0.0), predictives


def verified(
    prediction: "xr.Dataset",
    truth: "xr.DataArray | None" = None,
    references: "dict[str, xr.Dataset] | None" = None,
    name: str = "prediction",
    static: "xr.Dataset | None" = None,
) -> Verified:
    """A prediction, as `deconditioning downscale` writes it, with its truth and what it is compared with.

    Parameters
    ----------
    prediction : has ``mean`` and perhaps ``sd``, (time, y, x) or (y, x); with ``coarse`` on rectilinear axes the
        interpolations of the coarse values are references too. Of an ensemble, (member, time, y, x), the mixture of all
        members with equal weights is verified, and coarse values are their mean over the members.
    truth : by default the variable ``truth`` of the prediction. Its times may be more than those of the prediction.
    references : name → dataset with ``mean`` and perhaps ``sd`` on the same grid.
    static : dataset with altitude or share of land on the same grid; by default those of the prediction are used.

    Raises ``InputError`` for missing variables, times or another grid.
    """
    mean, sd = _moments(prediction, name)
    forecast = Forecast(mean, sd, _distribution(prediction, mean, sd))
    if truth is None and "truth" in prediction and prediction["truth"].ndim == _WITH_MEMBERS:
        raise InputError(
            f"Each member of `{prediction['truth'].dims[0]}` has a truth of its own: choose one with `--member`, or "
            "name a file with one truth for all."
        )
    if truth is None:
        if "truth" not in prediction:
            raise InputError("The prediction has no variable `truth`: name a file with the true field.")
        truth = prediction["truth"]
    true = _on_times_of(_stacked(truth), mean, "The truth")
    forecasts = {name: forecast}
    notes: list[str] = []
    for other, dataset in (references or {}).items():
        both = [None if each is None else _on_times_of(each, mean, f"`{other}`") for each in _moments(dataset, other)]
        assert both[0] is not None
        forecasts[other] = Forecast(both[0], both[1])
    cells, area = _cells(prediction, mean), _area(prediction, mean)
    forecasts |= _interpolated(prediction, mean, cells, area, notes)
    template = true.isel({true.dims[0]: 0}, drop=True)
    units = str(truth.attrs.get("units", ""))
    altitude, land = static_fields(prediction if static is None else static, mean)
    return Verified(
        true, forecasts, area, cells, units, tuple(notes), template, _draws(prediction, mean), _dates(mean), altitude,
        land,
    )  # fmt: skip


def _stacked(field: "xr.DataArray") -> "xr.DataArray":
    """The field with a dimension of times in front, behind that of members if it has one."""
    if field.ndim not in (2, 3, _WITH_MEMBERS):
        raise InputError(
            f"`{field.name}` has the dimensions {field.dims}: give (time, y, x) or (y, x), or for an ensemble (member, "
            "time, y, x)."
        )
    return field if field.ndim > 2 else field.expand_dims("time")


def _moments(dataset: "xr.Dataset", name: str) -> "tuple[xr.DataArray, xr.DataArray | None]":
    if "mean" not in dataset:
        raise InputError(f"`{name}` has no variable `mean`, but {', '.join(map(str, dataset)) or 'none'}: give a file "
                         "that `deconditioning downscale --output` wrote, or rename its field to `mean`.")  # fmt: skip
    mean, sd = _stacked(dataset["mean"]), _stacked(dataset["sd"]) if "sd" in dataset else None
    if mean.ndim < _WITH_MEMBERS:
        return mean, sd
    members = str(mean.dims[0])
    variance = mean.var(members) if sd is None else mean.var(members) + (sd**2).mean(members)
    return mean.mean(members), variance**0.5


def _distribution(
    dataset: "xr.Dataset", mean: "xr.DataArray", sd: "xr.DataArray | None"
) -> Callable[[int], Predictive] | None:
    """What gives the mixtures over members, and the distributions behind the warp that the file describes; None without
    either.
    """
    names, warp, limits = ["warped_mean", "warped_sd"], None, None
    if all(name in dataset and "warp" in dataset[name].attrs for name in names):
        attributes = dataset["warped_mean"].attrs
        warp = Warp.from_dict(json.loads(attributes["warp"]))
        limits = float(attributes.get("dry_up_to", 0.0)), warp.high
    elif dataset["mean"].ndim == _WITH_MEMBERS:
        names = ["mean", "sd"] if "sd" in dataset else ["mean"]
    else:
        return None
    if sd is None:
        return None
    every = [_stacked(dataset[name]) for name in names]
    every = [each if each.ndim == _WITH_MEMBERS else each.expand_dims("member") for each in every]

    def at(time: int) -> Predictive:
        """The distributions of a time."""
        m, s = (np.asarray(each[time], dtype=float) for each in (mean, sd))
        centres, *spreads = (np.asarray(each[:, time], dtype=float) for each in every)
        rows = zip(centres, spreads[0] if spreads else np.zeros_like(centres), strict=True)
        return Predictive(m, s, tuple((1 / len(centres), *each) for each in rows), warp, limits)

    return at


def _draws(dataset: "xr.Dataset", mean: "xr.DataArray") -> Callable[[int], np.ndarray] | None:
    """What gives the joint draws of a time; None if the file has none of this prediction."""
    if "draws" not in dataset:
        return None
    draws = dataset["draws"] if dataset["draws"].ndim == _WITH_MEMBERS else dataset["draws"].expand_dims("time", 1)
    if draws.shape[1:] != mean.shape:
        return None
    return lambda time: np.asarray(draws[:, time], dtype=float)


def _dates(field: "xr.DataArray") -> tuple[str, ...]:
    """The dates of a field (time, …) in its own calendar; none if its first axis has other labels."""
    times = field.coords.get(field.dims[0])
    if times is None or not (np.issubdtype(times.dtype, np.datetime64) or hasattr(times.values[0], "calendar")):
        return ()
    return tuple(str(each)[:16].replace("T", " ") for each in times.values)


def _on_times_of(field: "xr.DataArray", prediction: "xr.DataArray", name: str) -> "xr.DataArray":
    """The field at the times of the prediction, on the same pixels."""
    if field.shape[1:] != prediction.shape[1:]:
        pixels, expected = (f"{each.shape[1]} × {each.shape[2]}" for each in (field, prediction))
        raise InputError(f"{name} has {pixels} pixels, the prediction {expected}: remap one to the grid of the other.")
    for dim, other in zip(field.dims[1:], prediction.dims[1:], strict=True):
        if dim in field.coords and other in prediction.coords and field[dim].dtype.kind == "f":
            step = np.abs(np.diff(prediction[other])).min() if prediction.sizes[other] > 1 else 1.0
            if np.abs(field[dim].values - prediction[other].values).max() > 0.01 * step:
                raise InputError(f"{name} has other values of `{dim}`: remap one to the grid of the other.")
    dim, other = field.dims[0], prediction.dims[0]
    if dim in field.coords and other in prediction.coords:
        try:
            return field.sel({dim: prediction[other].values})
        except (KeyError, TypeError):
            raise InputError(f"{name} lacks some of the prediction's {prediction.sizes[other]} times: give a file that "
                             "has them all, in the same calendar.") from None  # fmt: skip
    if len(field) != len(prediction):
        raise InputError(f"{name} has {len(field)} times, the prediction {len(prediction)}: give the same times.")
    return field


def _area(dataset: "xr.Dataset", prediction: "xr.DataArray") -> Float[np.ndarray, "h w"]:
    """``cell_area`` of the file, else the cosine of the latitude, else 1."""
    if "cell_area" in dataset and dataset["cell_area"].shape == prediction.shape[1:]:
        return np.asarray(dataset["cell_area"], dtype=float)
    for name, coordinate in prediction.coords.items():
        if name in ("lat", "latitude") or coordinate.attrs.get("units") == "degrees_north":
            cosine = np.cos(np.radians(coordinate))
            return np.asarray(
                (cosine * (prediction[0] * 0 + 1).fillna(1.0)).transpose(*prediction.dims[1:]), dtype=float
            )
    return np.ones(prediction.shape[1:])


def _cells(dataset: "xr.Dataset", prediction: "xr.DataArray") -> Int[np.ndarray, "h w"] | None:
    """The coarse cell of every pixel's centre, from the bounds of the coarse axes."""
    indices = []
    for dim in prediction.dims[1:]:
        name = f"coarse_{dim}_bnds"
        if name not in dataset or dim not in prediction.coords:
            return None
        low, high = np.sort(np.asarray(dataset[name], dtype=float), axis=1).T
        centre = prediction[dim].values
        inside = (centre[:, None] >= low) & (centre[:, None] <= high)
        indices.append(np.where(inside.any(axis=1), inside.argmax(axis=1), -1))
    rows, columns = np.meshgrid(*indices, indexing="ij")
    wide = dataset.sizes[f"coarse_{prediction.dims[2]}"]
    return np.where((rows < 0) | (columns < 0), -1, rows * wide + columns)


def _interpolated(
    dataset: "xr.Dataset", prediction: "xr.DataArray", cells: Int[np.ndarray, "h w"] | None,
    area: Float[np.ndarray, "h w"], notes: list[str],
) -> dict[str, Forecast]:  # fmt: skip
    """Interpolations of ``coarse``; none if the file lacks it or its axes are not rectilinear."""
    if cells is None or "coarse" not in dataset:
        notes.append("The file has no coarse values on rectilinear axes: nothing is compared with interpolation.")
        return {}
    coarse = _stacked(dataset["coarse"])
    coarse = coarse.mean(str(coarse.dims[0])) if coarse.ndim == _WITH_MEMBERS else coarse
    if not bool(np.isfinite(coarse).all()):
        notes.append("Some coarse cells are missing: nothing is compared with interpolation.")
        return {}
    at = {f"coarse_{dim}": prediction[dim].clip(*_ends(dataset[f"coarse_{dim}"])) for dim in prediction.dims[1:]}
    bilinear, rows = coarse.interp(at, method="linear").values, coarse.values.reshape(len(prediction), -1)
    shares = Shares.whole(cells, rows.shape[1])
    conserving = np.stack([shares.with_means(*each, area, cells) for each in zip(bilinear, rows, strict=True)])
    constant = np.where(cells >= 0, rows[:, cells], np.nan)
    return {CELL_MEAN: Forecast(constant), BILINEAR: Forecast(bilinear), CONSERVING: Forecast(conserving)}


def _ends(axis: "xr.DataArray") -> tuple[float, float]:
    return float(axis.min()), float(axis.max())


def cell_means(
    fields: Float[np.ndarray, "*t h w"], cells: Int[np.ndarray, "h w"], weights: Float[np.ndarray, "h w"]
) -> Float[np.ndarray, "*t h w"]:
    """The weighted mean of every pixel's cell, at the pixel; NaN outside of all cells or where its weights are 0."""
    cell, flat = cells.ravel() + 1, np.asarray(fields, dtype=float).reshape(-1, cells.size)
    count = int(cell.max()) + 1
    mass = np.bincount(cell, weights.ravel(), count)
    result = np.empty_like(flat)
    with np.errstate(invalid="ignore", divide="ignore"):
        for row, field in zip(result, flat, strict=True):
            filled = np.where(weights.ravel() > 0, field, 0.0)
            row[:] = (np.bincount(cell, weights.ravel() * filled, count) / mass)[cell]
    result[:, cell == 0] = np.nan
    return result.reshape(np.shape(fields))
