"""How a result leaves: what is in the file, in which precision and format, one file or one for each grid."""

import re
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.writing.export import describes_coordinates
from deconditioning.fields.writing.quantiles_and_draws import checked_levels

if TYPE_CHECKING:
    import xarray as xr

#: What stands for a missing value in single precision, as CMIP has it.
FILL = np.float32(1e20)
#: Attributes that a person may not write, for they say how the file came about.
_OURS = ("Conventions", "settings", "problem", "model", "seed", "history", "one_scale_up", "warnings")
_COARSE = "coarse_"
#: In a Zarr store that is written piece by piece, until it is complete: how far it is.
PROGRESS = ".downscaled.json"


@dataclass(frozen=True)
class Delivery:
    """What is asked of a file.

    Parameters
    ----------
    draws : number of joint draws of the posterior, along ``realization``.
    quantiles : levels in (0, 1) of every pixel's quantiles, along ``quantile``.
    single : fields as float32 with 1e20 for missing, else as float64 with NaN.
    apart : one file for each grid, so that none has two coordinates of one kind.
    store : a consolidated Zarr store (format 2), else NetCDF 4.
    resolution : effective resolution in km that the draws are given, and with them sd and quantiles; None for that of
        the model.
    attributes : global attributes of one's own, such as a ``doi``, a ``contact``, an ``institution``.
    thresholds : values in the target's units, along ``threshold`` of the probabilities of exceeding them.
    """

    draws: int = 0
    quantiles: tuple[float, ...] = ()
    single: bool = False
    apart: bool = False
    store: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)
    resolution: float | None = None
    thresholds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.resolution is not None and not 0 < self.resolution < np.inf:
            raise InputError(f"The effective resolution is {self.resolution:g} km: give a positive number.")
        if self.draws < 0 or self.draws == 1:
            raise InputError(f"{self.draws} draws cannot show the spread: request 0 or at least 2.")
        object.__setattr__(self, "quantiles", checked_levels(self.quantiles))
        for name in self.attributes:
            if name in _OURS or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
                raise InputError(
                    f"`{name}` cannot be one of your own attributes: use letters, digits and underscores, and none of "
                    f"{', '.join(_OURS)}."
                )


def attributes_of_text(lines: list[str]) -> dict[str, str]:
    """Attributes from ``name=value`` each; ``InputError`` if a line is not one."""
    result = {}
    for line in lines:
        name, equals, value = line.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InputError(f"`{line}` is not an attribute: write NAME=VALUE, such as doi=10.5281/zenodo.1234.")
        result[name.strip()] = value.strip()
    return result


def _parts_of(dataset: "xr.Dataset", delivery: Delivery) -> "dict[str, xr.Dataset]":
    """The datasets to write, by what is added to the file's name: "" for all, or for the fine grid, and "_coarse"."""
    whole = dataset.assign_attrs(delivery.attributes)
    if not delivery.apart:
        return {"": whole}
    rough = {str(name) for name in whole.variables if _is_coarse(whole, str(name))}
    shared = {str(name) for name, line in whole.coords.items() if line.ndim == 0}
    shared |= {f"{name}_bnds" for name in shared if f"{name}_bnds" in whole}
    cells = whole.drop_vars([name for name in whole.variables if str(name) not in rough | shared])
    return {"": whole.drop_vars(rough), "_coarse": _plainly_named(cells)}


def _is_coarse(dataset: "xr.Dataset", name: str) -> bool:
    """Whether a variable is, or belongs to, what lies on the coarse cells."""
    return name == "coarse_crs" or any(str(dim).startswith(_COARSE) for dim in dataset[name].dims)


def _plainly_named(dataset: "xr.Dataset") -> "xr.Dataset":
    """Coordinates of the coarse cells under the names that they have in a file of their own."""
    coarse_names = [str(name) for name in (*dataset.variables, *dataset.dims) if str(name).startswith(_COARSE)]
    named = {name: name.removeprefix(_COARSE) for name in coarse_names if name != "coarse_known"}
    result = dataset.rename(named)
    for variable in result.variables.values():
        for word in ("bounds", "grid_mapping", "coordinates"):
            if word in variable.attrs:
                variable.attrs[word] = str(variable.attrs[word]).replace(_COARSE, "")
    return result


def encoding_of(dataset: "xr.Dataset", single: bool) -> dict[Any, dict[str, Any]]:
    """How variables are written: fields with NaN as fill value, or in ``single`` precision with 1e20; others as is."""
    fields = [name for name, v in dataset.data_vars.items() if v.ndim >= 2 and not describes_coordinates(str(name))]
    kind = {"dtype": "float32", "_FillValue": FILL} if single else {"_FillValue": np.nan}
    return {name: kind if name in fields else {"_FillValue": None} for name in dataset.variables}


def to_netcdf_bytes(dataset: "xr.Dataset", *, single: bool = False) -> bytes:
    """The dataset as NetCDF 4 bytes, compressed; fields in ``single`` precision where asked for."""
    encoding = encoding_of(dataset, single)
    packed = {"zlib": True, "complevel": 4, "shuffle": True}
    encoding = {
        name: {**declared, **(packed if dataset[name].ndim >= 2 else {})} for name, declared in encoding.items()
    }
    buffer = BytesIO()
    dataset.to_netcdf(buffer, engine="h5netcdf", encoding=encoding)
    return buffer.getvalue()


def _to_zarr_folder(dataset: "xr.Dataset", path: Path, *, single: bool = False) -> None:
    """The dataset as a Zarr store of format 2 with consolidated metadata, which every reader of Zarr opens.

    Raises ``InputError`` if something is there already or nothing can be written.
    """
    if path.exists():
        raise InputError(f"{path} already exists: choose another name for the new store.")
    try:
        dataset.to_zarr(path, zarr_format=2, consolidated=True, encoding=encoding_of(dataset, single))
    except OSError as error:
        shutil.rmtree(path, ignore_errors=True)
        raise InputError(f"{path} cannot be written ({error.strerror}): choose another location.") from None


def delivered(dataset: "xr.Dataset", delivery: Delivery, path: Path) -> list[Path]:
    """Write what is asked for to ``path``, whose ending counts for nothing, and beside it; the files written."""
    paths = []
    for more, part in _parts_of(dataset, delivery).items():
        target = path.with_name(f"{path.stem}{more}{'.zarr' if delivery.store else '.nc'}")
        if delivery.store:
            _to_zarr_folder(part, target, single=delivery.single)
        else:
            try:
                target.write_bytes(to_netcdf_bytes(part, single=delivery.single))
            except OSError as error:
                raise InputError(f"{target} cannot be written ({error.strerror}): choose another location.") from None
        paths.append(target)
    return paths


def packed(dataset: "xr.Dataset", delivery: Delivery, stem: str) -> tuple[bytes, str]:
    """One file to download and its name: NetCDF, or a zip of several files or of a store."""
    if not delivery.store and not delivery.apart:
        return to_netcdf_bytes(_parts_of(dataset, delivery)[""], single=delivery.single), f"{stem}.nc"
    buffer = BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        delivered(dataset, delivery, Path(folder) / f"{stem}.x")
        for file in sorted(Path(folder).rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder).as_posix())
    return buffer.getvalue(), f"{stem}.zip"
