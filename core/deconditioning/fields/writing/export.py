"""A downscaled field as CF NetCDF: mean, standard deviation, coarse values, error, and how they came about."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.target_metadata import methods_of, variables_of
from deconditioning.fields.units import is_temperature
from deconditioning.fields.writing.citation import citation, references_of

if TYPE_CHECKING:
    import xarray as xr

_NATIVE = {
    "latlon": (("lat", "latitude", "degrees_north"), ("lon", "longitude", "degrees_east")),
    "rotated": (("rlat", "grid_latitude", "degrees"), ("rlon", "grid_longitude", "degrees")),
    "projected": (("y", "projection_y_coordinate", "m"), ("x", "projection_x_coordinate", "m")),
    "curvilinear": (("y", "", "1"), ("x", "", "1")),
}


def to_dataset(
    problem: DownscalingProblem,
    mean: np.ndarray,
    sd: np.ndarray | None,
    *,
    sd_latent: np.ndarray | None = None,
    local_scale: np.ndarray | None = None,
    baselines: dict[str, np.ndarray] | None = None,
    settings: dict[str, Any],
    model: str,
    seed: int,
    version: str,
    checked: dict[str, Any] | None = None,
    warnings: tuple[str, ...] = (),
    method: str = "",
) -> "xr.Dataset":
    """CF-1.11 dataset of a downscaled field.

    ``mean``, ``sd`` and every baseline are (H, W) in the target's units; ``sd`` is that of a pixel's own value,
    ``sd_latent`` that of the latent field, given where they differ, ``local_scale`` the factor in both. ``truth`` and
    ``error`` = mean − truth join where the truth is known. ``coarse`` holds what the model saw, ``coarse_known`` also
    what was withheld, on the coarse cells. Settings go along as JSON, and so do ``warnings`` as text and what was found
    one scale up (``checked``). ``method`` is what the model names as its source (`references_of`).
    """
    import xarray as xr

    fine, fine_dims, fine_attributes = grid_coordinates(problem.grid, "", vertices=True)
    rough, rough_dims, rough_attributes = grid_coordinates(
        problem.coarse_grid, "coarse_", vertices=problem.regions is None
    )
    words = Words(problem.long_name, problem.standard_name, problem.units)
    predicted = {"mean": mean, "sd": sd, "sd_latent": sd_latent}
    there = {name: values for name, values in predicted.items() if values is not None}
    posterior_words = posterior_attributes(problem, tuple(there))
    fields = {name: (values, posterior_words[name]) for name, values in there.items()}
    if local_scale is not None:
        scale_text = {"long_name": "local scale of the posterior standard deviation", "units": "1"}
        fields["local_scale"] = (local_scale, {**scale_text, "comment": "a factor in sd, from the cells left out"})
    if problem.truth is not None:
        fields["error"] = (mean - problem.truth, words.difference("posterior mean minus truth of {}"))
        fields["truth"] = (problem.truth, words.value("{} as given at high resolution"))
    for name, values in (baselines or {}).items():
        fields[f"baseline_{name}"] = (values, words.value(f"{name} interpolation of coarse {{}}"))
    means = {"cell_methods": methods_of(problem.origin)}
    fields = {name: (values, _same_methods(name, attributes, means)) for name, (values, attributes) in fields.items()}
    variables = {n: (fine_dims, np.asarray(v), {**a, **fine_attributes}) for n, (v, a) in fields.items()}
    variables |= {n: (rough_dims, v, {**a, **rough_attributes}) for n, (v, a) in _cells(problem, words, means).items()}
    about = _global(problem, settings, model, seed, version, method)
    if checked:
        about["one_scale_up"] = json.dumps({k: v for k, v in checked.items() if k != "values"}, sort_keys=True)
    if warnings:
        about["warnings"] = " ".join(warnings)
    carried, ends = variables_of(problem.origin)
    clash = [name for name in carried if name in fine | rough | variables]
    carried = {name: values for name, values in carried.items() if name not in clash}
    grids = fine | rough
    lines = {name: grids[name] for name in grids if not describes_coordinates(name)}
    coarse_grids = {name: grids[name] for name in grids if describes_coordinates(name)} | ends
    result = xr.Dataset(variables | coarse_grids, lines | carried, about)
    for name in coarse_grids:
        result[name].encoding["coordinates"] = None  # neither edges nor the grid mapping are at a date or a height
    return result


def _cells(problem: DownscalingProblem, words: "Words", means: dict[str, str]) -> dict[str, tuple[np.ndarray, Any]]:
    """What the file says of the coarse cells: values and attributes by name."""
    result = {
        "coarse": (problem.coarse, words.value("coarse {} seen by the model", **means)),
        "coarse_known": (problem.coarse_truth, words.value("coarse {}, withheld cells too", **means)),
    }
    if (regions := problem.regions) is not None:
        names = np.full(problem.coarse.size, "", dtype=object)
        names[regions.cell] = regions.name
        result["coarse_region"] = (
            names.astype(np.str_).reshape(problem.coarse_shape),
            {"long_name": "name of the region"},
        )
    return result


def fine_dimensions(problem: DownscalingProblem) -> tuple[tuple[str, str], dict[str, str]]:
    """The dimensions of a field (H, W) in the file, and what it says of the grid."""
    (y, *_), (x, *_) = _NATIVE[problem.grid.kind]
    return (y, x), {"grid_mapping": "crs"} if problem.grid.mapping else {}


def describes_coordinates(name: str) -> bool:
    """Whether a variable of a grid says something about its coordinates and is none."""
    return name.endswith(("_bnds", "_vertices", "crs"))


def _same_methods(name: str, attributes: dict[str, str], means: dict[str, str]) -> dict[str, str]:
    """The attributes of a fine field with the target's cell methods, but for the local scale's."""
    return attributes if name == "local_scale" else {**attributes, **means}


class Words:
    """Attributes of the target's values, spreads and differences."""

    def __init__(self, long_name: str, standard_name: str, units: str) -> None:
        self.long_name, self.standard_name, self.units = long_name, standard_name, units
        self.temperature = is_temperature(units)

    def _make(self, long_name: str, standard_name: str, scale: str, more: dict[str, str]) -> dict[str, str]:
        attributes = {"long_name": long_name.format(self.long_name), **more}
        if self.units:
            attributes["units"] = self.units
        if self.standard_name and standard_name:
            attributes["standard_name"] = standard_name
        if self.temperature:
            attributes["units_metadata"] = f"temperature: {scale}"
        return attributes

    def value(self, long_name: str, **more: str) -> dict[str, str]:
        """Attributes of a value on the target's own scale; ``{}`` in ``long_name`` is the target's own."""
        return self._make(long_name, self.standard_name, "on_scale", more)

    def spread(self, long_name: str, **more: str) -> dict[str, str]:
        """Attributes of a standard error; ``{}`` in ``long_name`` is the target's own."""
        return self._make(long_name, f"{self.standard_name} standard_error", "difference", more)

    def difference(self, long_name: str) -> dict[str, str]:
        """Attributes of a difference of two values; ``{}`` in ``long_name`` is the target's own."""
        return self._make(long_name, "", "difference", {})


#: What each spread is, as its comment says it.
_SPREADS = {
    "sd": (
        "posterior standard deviation of {} in a pixel",
        "of the value of the pixel: square root of the variance of the latent field and of the noise of one pixel",
    ),
    "sd_latent": (
        "posterior standard deviation of the latent field of {}",
        "of the latent field, without the independent noise of each pixel",
    ),
}


#: What a quantile is, as its comment says it.
QUANTILE = "of each pixel by itself, inside the target's physical limits"


def posterior_attributes(
    problem: DownscalingProblem, names: tuple[str, ...], levels: Mapping[str, float] | None = None
) -> dict[str, dict[str, str]]:
    """CF attributes of a problem's ``mean``, ``sd`` and ``sd_latent``, those of them that are in ``names``, and of
    quantiles whose ``levels`` in (0, 1) are given by name."""
    words = Words(problem.long_name, problem.standard_name, problem.units)
    spreads = [name for name in _SPREADS if name in names]
    attributes = {"ancillary_variables": " ".join(spreads)} if spreads else {}
    result = {"mean": words.value("posterior mean of {}", **attributes)}
    result |= {name: words.spread(_SPREADS[name][0], comment=_SPREADS[name][1]) for name in spreads}
    return result | {
        name: words.value(f"posterior quantile {level:g} of {{}}", comment=QUANTILE)
        for name, level in (levels or {}).items()
    }


def grid_coordinates(
    grid: Grid, prefix: str, *, vertices: bool = False
) -> tuple[dict[str, Any], tuple[str, str], dict[str, str]]:
    """Coordinate variables, dimensions, and what a field on the grid must say about them.

    With ``vertices``, two-dimensional positions have the four corners of their cells.
    """
    dims: list[str] = []
    result: dict[str, Any] = {}
    for (name, standard, units), values, edges, axis in zip(
        _NATIVE[grid.kind], (grid.y, grid.x), (grid.y_edges, grid.x_edges), "YX", strict=True
    ):
        name = prefix + name
        attributes = {"units": units, "axis": axis, "long_name": standard.replace("_", " ") or f"{axis} position"}
        if standard:
            attributes |= {"standard_name": standard, "bounds": f"{name}_bnds"}
            result[f"{name}_bnds"] = ((name, "bnds"), np.stack([edges[:-1], edges[1:]], axis=-1), {})
        result[name] = (name, values, attributes)
        dims.append(name)
    grid_attributes: dict[str, str] = {}
    if grid.kind != "latlon":
        for name, values, units in (("latitude", grid.latitude, "north"), ("longitude", grid.longitude, "east")):
            attributes = {"standard_name": name, "long_name": name, "units": f"degrees_{units}"}
            result[prefix + name] = (tuple(dims), values, attributes)
            if vertices:
                attributes["bounds"] = f"{prefix}{name}_vertices"
        corners = zip(("latitude", "longitude"), grid.corners(), strict=True) if vertices else ()
        for name, values in corners:
            corner = "vertices" if values.shape[-1] == 4 else f"vertices_{values.shape[-1]}"
            result[f"{prefix}{name}_vertices"] = ((*dims, corner), values, {})
    if grid.mapping:
        result[f"{prefix}crs"] = ((), np.int32(0), dict(grid.mapping))
        grid_attributes["grid_mapping"] = f"{prefix}crs"
    return result, (dims[0], dims[1]), grid_attributes


def _global(
    problem: DownscalingProblem, settings: dict[str, Any], model: str, seed: int, version: str, method: str
) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "Conventions": "CF-1.11",
        "title": f"{problem.long_name}, downscaled",
        "source": f"Deconditioning Lab {version}, model {model}, from {problem.source}",
        "history": f"{now} Deconditioning Lab {version}: downscaled by {model} with seed {seed}",
        "references": references_of(method),
        "citation": citation(version, problem.source, problem.origin.attributes.get("input_doi", "")),
        "comment": " ".join(problem.notes),
        "licence": problem.licence,
        "license": problem.licence,
        **problem.origin.attributes,
        "model": model,
        "seed": int(seed),
        "settings": json.dumps(settings, sort_keys=True),
        "problem": json.dumps(problem.spec.to_dict(), sort_keys=True),
    }
