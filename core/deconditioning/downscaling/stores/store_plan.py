"""The plan of a prediction over a Zarr store: settings, their check against the data, and the layout of the output."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import deconditioning
from deconditioning.downscaling.further_sources.opening import regions_at, stations_at
from deconditioning.downscaling.source import Source, build_problem, open_source
from deconditioning.downscaling.starting import starting_spec
from deconditioning.downscaling.stores.stored_model import StoredModel
from deconditioning.downscaling.stores.wide_grid import check_grid
from deconditioning.engine.visitors.uploads import UPLOAD
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.zarr_reading import chunks_of, is_url, open_store
from deconditioning.fields.several import is_pattern, keys_of, together
from deconditioning.fields.units import convert
from deconditioning.fields.writing.citation import references_of
from deconditioning.fields.writing.export import grid_coordinates, posterior_attributes
from deconditioning.fields.writing.quantiles_and_draws import checked_levels
from deconditioning.fields.writing.zarr_writing import Layout, about_store, create_store, missing_chunks
from deconditioning.plain_data import changed, from_known
from deconditioning.versions import SAME_NUMBERS_SINCE

#: Pixels of a region where none is asked for.
_PIXELS = 1 << 16
_FINGERPRINT, _TOKEN = "deconditioning_fingerprint", "deconditioning_run"


@dataclass(frozen=True)
class StoreTask:
    """Everything a prediction over a store needs; JSON-able.

    Parameters
    ----------
    store, output : paths of the Zarr stores, as every worker sees them.
    model : a ``StoredModel`` as plain data.
    condition : "once": f is conditioned on the model's own problem and read at the covariates of every step; "each":
        every step is a problem of its own, conditioned on that step's targets with the model's hyperparameters.
    along : the dimension of the steps.
    rows, columns : of a region, which is one chunk of the output; ``None`` for about 65,000 pixels.
    steps : (first, stop) of the steps to predict, from 0; ``None`` for all.
    coarse, mediator : with "each", files or stores of the coarse targets (and mediators) of all steps; without
        ``coarse`` the targets lie in ``store`` at high resolution and are made coarse, as in way (a).
    quantiles : levels in (0, 1) of the quantiles that are written beside mean and sd.
    resume : whether an output that is there is continued; double : float64 on disk instead of float32.
    token : names the run, so that one that is started again after the loss of a worker knows its own output.
    """

    store: str
    output: str
    model: dict[str, Any]
    condition: str = "once"
    along: str = "time"
    rows: int | None = None
    columns: int | None = None
    steps: tuple[int, int] | None = None
    coarse: str | None = None
    mediator: str | None = None
    quantiles: tuple[float, ...] = ()
    resume: bool = False
    double: bool = False
    token: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.condition not in ("once", "each"):
            raise InputError(f"`condition` is {self.condition!r}: choose 'once' or 'each'.")
        for name in ("rows", "columns"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise InputError(f"`{name}` of a region is {value!r}: give a whole number from 1.")
        object.__setattr__(self, "quantiles", checked_levels(self.quantiles))
        if self.condition == "once" and (self.coarse or self.mediator):
            raise InputError("`coarse` and `mediator` are used only with condition 'each': omit them.")
        if self.mediator and not self.coarse:
            raise InputError("`mediator` needs `coarse`: without `coarse` the mediators are read from the store.")
        source = StoredModel.from_dict(self.model).source
        if self.condition == "each" and (source.regions or source.stations or source.also):
            raise InputError(
                "Regions, stations and further sources have values at one time, so steps cannot be conditioned on "
                "their own: use condition 'once'."
            )

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> "StoreTask":
        """A task from plain data; unknown names are refused with a sentence."""
        steps = value.get("steps")
        return from_known(StoreTask, {**value, "steps": tuple(steps) if steps else None})

    def to_dict(self) -> dict[str, Any]:
        """Plain data, inverse of ``from_dict``."""
        return {name: list(item) if isinstance(item, tuple) else item for name, item in asdict(self).items()}

    @property
    def stored(self) -> StoredModel:
        """The model."""
        return StoredModel.from_dict(self.model)

    @property
    def levels(self) -> dict[str, float]:
        """Level of each field of quantiles."""
        return {f"quantile_{100 * level:g}".replace(".", "p"): level for level in self.quantiles}

    def select(self, step: int) -> dict[str, int | str]:
        """Index along every extra dimension at a step: the model's own, and the step."""
        others = {k: i for k, i in self.stored.problem.select.items() if k.rpartition(":")[2] != self.along}
        return {**others, self.along: step}


@lru_cache(maxsize=4)
def opened(path: str, token: str) -> Fields:
    """The store of a run, opened once a worker."""
    return open_store(path)


@lru_cache(maxsize=2)
def _open_cached(path: str, token: str) -> Fields:
    return open_fields(path)


def _trained_on(key: str) -> Fields:
    """Fields the model was conditioned on: a data set or an upload by its key, or a path; or several of these."""
    if len(keys := keys_of(key)) > 1:
        return together([_trained_on(one) for one in keys])
    if key.startswith(UPLOAD) or not (is_url(key) or is_pattern(key) or Path(key).exists()):
        return open_source(key)
    return open_fields(key)


def problem_of(task: StoreTask, step: int | None) -> tuple[DownscalingProblem, tuple[str, ...]]:
    """The problem the model is conditioned on at a step (``None``: its own), and the units of its covariates."""
    model = task.stored
    if step is None:
        read_once = cache(_trained_on)
        problem = build_problem(model.source, model.problem, read_once, regions=regions_at, stations=stations_at)
        fields = read_once(model.source.fields)
    else:
        spec, fields = replace(model.problem, select=task.select(step)), opened(task.store, task.token)
        source = Source(task.store, task.coarse, task.mediator)
        problem = build_problem(
            source, spec, lambda key: fields if key == task.store else _open_cached(key, task.token)
        )
    return problem, tuple(fields.check(name).units for name in model.problem.covariates)


@dataclass(frozen=True)
class Plan:
    """The work of a prediction: the output's layout, the index in the store of its first step, notes, and the fields to
    write: ``mean``, ``sd``, ``sd_latent`` if pixels have their own noise, and quantiles.
    """

    layout: Layout
    first: int
    notes: tuple[str, ...]
    fields: tuple[str, ...]


def make_plan(task: StoreTask) -> Plan:
    """Check everything that can be checked before the first chunk, and create the output if it does not exist.

    Raises ``InputError`` for a path that cannot be opened, a missing variable or dimension, other units or another grid
    than the model's, steps that do not exist, or an existing output.
    """
    fields = opened(task.store, task.token)
    names = task.stored.problem.covariates
    count = _steps_of(task, fields, names)
    first, stop = task.steps or (0, count)
    if not 0 <= first < stop <= count:
        raise InputError(
            f"Steps {first} to {stop} were requested, but the store has {count}: choose from 0 to {count}."
        )
    problem, units = problem_of(task, None if task.condition == "once" else first)
    for name, unit in zip(names, units, strict=True):
        convert(np.zeros(1), fields.check(name).units, unit, name)
    _check_further(task, fields, count)
    notes = [*fields.notes]
    if task.condition == "once" or problem.spec.region:
        check_grid(problem, fields.grid)
    if task.condition == "once":
        notes += [f"Conditioned on: {note}" for note in problem.notes]
    layout = Layout((stop - first, *fields.grid.shape), _region(task, fields, names), "<f8" if task.double else "<f4")
    notes += _cost_notes(fields, names, task.along)
    noisy = starting_spec(problem, task.stored.settings).point_noise > 0
    plan = Plan(
        layout, first, tuple(dict.fromkeys(notes)), ("mean", "sd", *(["sd_latent"] if noisy else []), *task.levels)
    )
    _claim(task, plan, fields, problem)
    return plan


def _steps_of(task: StoreTask, fields: Fields, names: tuple[str, ...]) -> int:
    for name in names:
        fields.check(name)
    if task.along not in fields.dataset.sizes:
        known = ", ".join(f"`{dim}`" for dim in fields.dataset.sizes)
        raise InputError(f"The store has no dimension `{task.along}`: name the steps' dimension, one of {known}.")
    moving = [name for name in names if task.along in fields.dataset[name].dims]
    if not moving and task.condition == "once":
        raise InputError(
            f"No covariate changes along `{task.along}`, so every step would be the same field: predict one with "
            "`downscale`, or condition on each step's targets."
        )
    return int(fields.dataset.sizes[task.along])


def _check_further(task: StoreTask, fields: Fields, count: int) -> None:
    """The coarse files must have the same steps; ``InputError`` if they do not."""
    for path in (task.coarse, task.mediator):
        if path is None:
            continue
        other = _open_cached(path, task.token)
        there = int(other.dataset.sizes.get(task.along, 1))
        if there not in (1, count):
            raise InputError(
                f"{Path(path).name} has {there} steps along `{task.along}`, the store {count}: trim one of them."
            )
        times = [f.dataset.coords[task.along].values for f in (fields, other) if task.along in f.dataset.coords]
        if there == count and len(times) == 2 and times[0].dtype.kind == times[1].dtype.kind == "M":
            differ = np.flatnonzero(times[0].astype("M8[D]") != times[1].astype("M8[D]"))
            if len(differ):
                raise InputError(
                    f"Step {differ[0]} is {times[0][differ[0]]!s:.10} in the store and "
                    f"{times[1][differ[0]]!s:.10} in {Path(path).name}: give both the same dates."
                )


def _region(task: StoreTask, fields: Fields, names: tuple[str, ...]) -> tuple[int, int]:
    """Rows and columns of a region: as asked, else about ``_PIXELS`` pixels in whole chunks of the input's rows."""
    height, width = fields.grid.shape
    columns = min(task.columns or min(width, 4096), width)
    if task.rows:
        return min(task.rows, height), columns
    rows = max(1, min(_PIXELS // columns, height))
    for name in names[:1]:
        chunk = chunks_of(fields.dataset[name]).get(fields.grid.y_name, 1)
        rows = rows - rows % chunk if rows >= chunk else rows
    return rows, columns


def _cost_notes(fields: Fields, names: tuple[str, ...], along: str) -> list[str]:
    notes = []
    for name in names:
        chunks = chunks_of(fields.dataset[name])
        if chunks.get(along, 1) > 1:
            notes.append(
                f"A chunk of `{name}` contains {chunks[along]} steps, so it is read {chunks[along]} times; chunks of "
                "one step are read once."
            )
    return notes


def _claim(task: StoreTask, plan: Plan, fields: Fields, problem: DownscalingProblem) -> None:
    """Make the output, or join one of the same task; ``InputError`` if something else is there."""
    path, layout = Path(task.output), plan.layout
    mark = _fingerprint(task, layout, fields, plan.first)
    if not path.exists():
        _create(task, plan, fields, problem, mark)
        return
    there = about_store(path)
    if there.get(_FINGERPRINT) != mark:
        raise InputError(f"{path} already exists and does not belong to this prediction: choose another name.")
    if not task.resume and not (task.token and there.get(_TOKEN) == task.token):
        done = len(layout.chunks()) - len(missing_chunks(path, layout, plan.fields))
        raise InputError(
            f"{path} already exists with {done} of {len(layout.chunks())} chunks: give `--resume` to compute the "
            "missing ones, or another name."
        )


def _fingerprint(task: StoreTask, layout: Layout, fields: Fields, first: int) -> str:
    """What a chunk's values depend on, in few letters."""
    left_out = {"output", "resume", "token", "seed", "rows", "columns", "steps", "double", "model"}
    settings = {name: value for name, value in changed(task).items() if name not in left_out}
    settings["model"] = [changed(task.stored.source), changed(task.stored.problem), task.stored.settings.changed()]
    grid = hashlib.sha256(fields.grid.latitude.tobytes() + fields.grid.longitude.tobytes()).hexdigest()
    plain = json.dumps([settings, asdict(layout), grid, first, SAME_NUMBERS_SINCE], sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def _create(task: StoreTask, plan: Plan, fields: Fields, problem: DownscalingProblem, mark: str) -> None:
    import xarray as xr

    result, dims, attributes = grid_coordinates(fields.grid, "")
    if fields.grid.kind != "latlon":
        attributes = {**attributes, "coordinates": "latitude longitude"}
    coordinates = {name: xr.Variable(*parts) for name, parts in result.items()}
    if task.along in fields.dataset.coords:
        steps = fields.dataset.coords[task.along].variable[plan.first : plan.first + plan.layout.shape[0]]
        if steps.dtype.kind in "fiuM":
            # how it was compressed there is no matter of ours, and perhaps of another format
            encoding = {key: steps.encoding[key] for key in ("units", "calendar") if key in steps.encoding}
            coordinates[task.along] = xr.Variable(steps.dims, steps.values, steps.attrs, encoding)
    words = posterior_attributes(problem, plan.fields, task.levels)
    attributes_of = {name: {**each, **attributes} for name, each in words.items()}
    model = task.stored
    about = {
        "Conventions": "CF-1.11",
        "title": f"{problem.long_name}, downscaled",
        "source": f"Deconditioning Lab {deconditioning.__version__}, model {model.settings.model}, "
        f"from {fields.source}",
        "references": references_of(model.settings.kind.source),
        "licence": problem.licence,
        "comment": " ".join([_WORDS[task.condition], *_of_warp(task)]),
        "settings": json.dumps(model.to_dict(), sort_keys=True),
        _FINGERPRINT: mark,
        _TOKEN: task.token,
    }
    create_store(Path(task.output), (task.along, *dims), plan.layout, attributes_of, coordinates, about)


def _of_warp(task: StoreTask) -> list[str]:
    """A sentence on the warp of the target, if there is one."""
    warp = task.stored.settings.warp
    return [Warp.from_dict(warp).sentence] if isinstance(warp, Mapping) else []


_WORDS = {
    "once": "One posterior, conditioned on the model's own targets and evaluated at the covariates of each step.",
    "each": "Every step is conditioned on its own targets, with the same hyperparameters.",
}
