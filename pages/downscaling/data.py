"""Which fields, and how they become a problem: controls on the left, one cached call into core."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.downscaling.source import Source, build_problem, open_source, stored_uploads
from deconditioning.downscaling.warping.physical_map import warped
from deconditioning.engine.visitors.uploads import UPLOAD
from deconditioning.fields.cell_settings import CellSettings
from deconditioning.fields.gridded import Fields, Variable
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.several import joined, keys_of, together
from deconditioning.fields.spec import USUAL, DownscalingSpec
from deconditioning.models.catalogue import MODELS
from deconditioning.models.defaults import usual_model
from pages.downscaling import cell_selection
from pages.downscaling.dimensions import coarse_dimensions, dimensions
from pages.downscaling.footprints import files, further
from pages.downscaling.missing import counted_missing
from pages.downscaling.own_file import request
from pages.kit.controls.essential import group
from pages.kit.controls.level import at_both_levels
from pages.kit.controls.settings import control
from pages.kit.controls.variable_choice import ERRORS, NO_ERRORS, begin, pick, several
from pages.kit.layout.escaping import sentence_of
from pages.kit.record import page_record
from pages.kit.session import Key
from pages.kit.state import forget
from pages.kit.visitor import listed, put_into_link

NONE, FIRST = "(none)", "ukv-645m"
CELLS = CellSettings
_FOLDER = "folder:"
#: Controls that the dialog of one's own file sets at either level, besides those of dimensions.
_IN_DIALOG = ("data", "coarse", "more", "target", "cov", CELLS.rows.key, CELLS.columns.key, *files.KEYS.values())


@dataclass(frozen=True)
class Choice:
    """What was chosen: files by key, the settings of the problem, and the warp of its target as JSON, if it has one."""

    source: Source
    spec: DownscalingSpec
    warp: str = ""

    @property
    def key(self) -> str:
        """One name for the problem these choices make."""
        plain = json.dumps([self.source.to_dict(), self.spec.to_dict()], sort_keys=True) + self.warp
        return hashlib.blake2b(plain.encode(), digest_size=10).hexdigest()

    @property
    def as_drawn(self) -> "Choice":
        """The same with the cells that the seed draws, nothing hidden or revealed by hand."""
        return replace(self, spec=replace(self.spec, hide=(), reveal=()))


@st.cache_resource(show_spinner="Opening the fields …", max_entries=4)
def fields_of(key: str, _fields: Fields | None = None) -> Fields:
    """Fields by key, cached for all sessions: ``_fields`` where they are read already, those of several files from each
    file's own."""
    if _fields is not None:
        return _fields
    keys = keys_of(key)
    return open_source(key) if len(keys) == 1 else together([fields_of(one) for one in keys])


@st.cache_resource(show_spinner="Forming cells and bags …", max_entries=4)
def _problem(key: str, source: dict[str, Any], spec: dict[str, Any]) -> DownscalingProblem:
    return build_problem(Source.from_dict(source), DownscalingSpec.from_dict(spec), fields_of)


@st.cache_resource(show_spinner=False, max_entries=4)
def _warped(key: str, warp: str, _problem: DownscalingProblem) -> DownscalingProblem:
    chosen_warp = Warp.from_dict(json.loads(warp))
    return warped(_problem, chosen_warp, chosen_warp.sentence)


def problem_of(choice: Choice) -> DownscalingProblem:
    """The problem of a choice, kept for all sessions."""
    plain = replace(choice, warp="")
    problem = _problem(plain.key, choice.source.to_dict(), choice.spec.to_dict())
    return _warped(choice.key, choice.warp, problem) if choice.warp else problem


@st.cache_resource(show_spinner=False, max_entries=16)
def _default_of(key: str, coarse: str | None = None) -> dict[str, Any]:
    """Settings a data set opens with: its own, or a guess from its fields and those of a coarse file."""
    from deconditioning.datasets.entries import catalogue
    from deconditioning.fields.guess.problem import guess_problem

    known = {entry.key: entry.default for entry in catalogue()}
    return known.get(key) or guess_problem(fields_of(key), fields_of(coarse) if coarse else None).spec()


def _is_own(key: str) -> bool:
    """Whether a key is that of a person's own file: an upload, or one in the folder that the server was given."""
    return key.startswith((UPLOAD, _FOLDER))


def visitor_files() -> dict[str, str]:
    """Key → name of the files of their own that the visitor may choose."""
    from deconditioning.datasets.entries import catalogue

    folder = {entry.key: entry.title for entry in catalogue() if entry.kind == "folder"}
    return listed(stored_uploads, "data", "coarse", "third", "more", further.KEY) | folder


def sources() -> dict[str, str]:
    """Key → title of the fields that the visitor may choose."""
    from deconditioning.datasets.entries import catalogue

    names = {entry.key: entry.title for entry in catalogue()}
    uploads = listed(stored_uploads, "data", "coarse", "third", "more", further.KEY)
    twice = [name for name, count in Counter(uploads.values()).items() if count > 1]
    for key, name in uploads.items():
        names[key] = f"Upload: {name}" + (f" ({key.removeprefix(UPLOAD)[:6]})" if name in twice else "")
    return names


def choose(hidden: DeltaGenerator) -> Choice:
    """The data controls, that of the hidden cells in a place of its own.

    Raises ``InputError`` with a sentence when they make no problem.
    """
    names = sources()
    listed_names = {request.OWN: request.LABEL, **names}
    key = pick("Field", "data", list(listed_names), FIRST, listed_names, on_change=request.open_from_list)
    request.button(_is_own(key))
    _forget_others(key)
    from deconditioning.datasets.entries import folder_problem

    trouble = folder_problem()
    if trouble:
        st.warning(sentence_of(trouble))
    with group("Own files"):
        others = [NONE, *names]
        coarse = pick("Coarse target from another file", "coarse", others, NONE, names)
        mediator = pick("Mediators from a third file", "third", others, NONE, names) if coarse != NONE else NONE
        others = [one for one in names if one not in (key, coarse)]
        more = several("More covariates from", "more", others, [], names)
        more_files = files.choose(key, visitor_files(), [coarse, mediator, *more], fields_of)
    beside = [each for each in more_files.values() if isinstance(each, str)]
    beside += [each["key"] for each in more_files.get("also", [])]
    put_into_link(*(one for one in (key, coarse, mediator, *more, *beside) if one.startswith(UPLOAD)))
    every = joined([key, *more])
    fields = fields_of(every)
    requested = st.container()
    dimensions_place = at_both_levels("dimensions") if _is_own(key) else nullcontext()
    gridded = {"coarse": coarse, "mediator": mediator}
    source = Source.from_dict(more_files | {n: k for n, k in gridded.items() if k != NONE} | {"fields": every})
    with group("Variables and cells"):
        spec = _spec(fields, source, hidden, (requested, dimensions_place))
    choice = Choice(source, spec)
    if _is_own(key):
        in_dialog = [
            name for name in page_record().controls
            if name in _IN_DIALOG or "dim-" in name or name.startswith(further.KEY)
        ]  # fmt: skip
        page_record().reachable |= set(in_dialog)
    st.session_state[Key.SHOWN_CHOICE] = choice
    return choice


def shown_choice() -> Choice | None:
    """What the page shows, or showed last."""
    result: Choice | None = st.session_state.get(Key.SHOWN_CHOICE)
    return result


def _forget_others(key: str) -> None:
    """Another data set starts from its own settings; a link that is being opened keeps what it asks for."""
    before = st.session_state.get(Key.DATA)
    st.session_state[Key.DATA_CHANGED] = before is not None and before != key
    if st.session_state.get(Key.DATA_CHANGED):
        forget(Key.SELECTION, Key.COARSE_SELECTION)
    st.session_state[Key.DATA] = key


def _spec(
    fields: Fields,
    source: Source,
    hidden: DeltaGenerator,
    places: tuple[DeltaGenerator, AbstractContextManager[object]],
) -> DownscalingSpec:
    """The problem; ``places`` are those of questions about missing values, and of time and level."""
    questions, dimensions_place = places
    default = _default_of(keys_of(source.fields)[0], source.coarse)
    if source.regions:
        default = {**default, "withhold": 0.0}
    target, covariates, mediators = _variables(fields, source, default)
    fine_names = [*covariates, *mediators] if source.target_apart else [target, *covariates, *mediators]
    with dimensions_place:
        select, coarse = _selections(fields, source, default, (fine_names, target, covariates, mediators))
    used = [(source.fields, name, select) for name in covariates]
    if not source.regions:
        used.insert(0, (source.coarse or source.fields, target, coarse if source.coarse else select))
    used += [(_holder_of(source, name), name, select) for name in mediators]
    with questions:
        missing = counted_missing(used, fields_of)
    cells = _cells(default, hidden)
    weights, error = _of_cells(fields, source, (target, *covariates, *mediators))
    spec = DownscalingSpec(
        target, tuple(covariates), tuple(mediators), cells.block, cells.withhold, cells.seed,
        None if cells.matching == CELLS.matching.default else cells.matching, cells.coordinates, select,  # type: ignore[arg-type]
        coarse_select=coarse, missing=missing, weights=weights, error=error,
    )  # fmt: skip
    return cell_selection.chosen(source, _reweighed(spec), fields_of)


def _selections(
    fields: Fields, source: Source, default: dict[str, Any], names: tuple[list[str], str, list[str], list[str]]
) -> tuple[dict[str, int | str], dict[str, int | str]]:
    """Time, level and member of the fields, and of a coarse target in a file of its own."""
    fine_names, target, covariates, mediators = names
    select = dimensions(fields, fine_names, default.get("select", {}))
    if source.mediator:
        select |= dimensions(fields_of(source.mediator), mediators, {}, leave_out=list(select))
    if not source.coarse:
        return select, {}
    return select, coarse_dimensions(fields_of(source.coarse), target, (fields, covariates, select))


def _cells(default: dict[str, Any], hidden: DeltaGenerator) -> CellSettings:
    """How cells are formed, matched and withheld; each control begins as the data set has it."""
    rows, columns = default.get("block", USUAL.block)
    usual = {"rows": rows, "columns": columns, "coordinates": CELLS.coordinates.default}
    usual |= {name: default.get(name, CELLS.declaration(name).default) for name in ("withhold", "seed")}
    declared = CELLS.declared()
    shown = {name: declared[name].copy(default=declared[name].like(value)) for name, value in usual.items()}
    for setting in shown.values():
        begin(setting.key, setting.default)
    left, right = st.columns(2, vertical_alignment="bottom")  # one label may wrap
    result = {name: control(shown[name], place=place) for name, place in (("rows", left), ("columns", right))}
    result["withhold"] = control(shown["withhold"], place=hidden, format="percent")
    matching = CELLS.matching
    result["matching"] = pick(matching.label, matching.key, list(matching.options), matching.default)
    return CellSettings(**result, **{name: control(shown[name]) for name in ("coordinates", "seed")})


def cell_values(problem: Mapping[str, Any]) -> dict[str, Any]:
    """What these controls must hold for a problem as ``DownscalingSpec.to_dict`` has it."""
    rows, columns = problem["block"]
    values = {"rows": rows, "columns": columns, "matching": problem["matching"] or CELLS.matching.default}
    values |= {name: problem[name] for name in ("withhold", "coordinates", "seed")}
    values["reweigh"] = problem.get("reweigh", CELLS.reweigh.default)
    names = {"weights": "weights", "error": "errors"}
    fields = {k: problem.get(name) or NONE for name, k in names.items() if problem.get(name) or k in st.session_state}
    return fields | {CELLS.declaration(name).key: value for name, value in values.items()}


def _holder_of(source: Source, name: str) -> str:
    """The key of the file that a mediator is looked for in first."""
    keys = [key for key in (source.mediator, source.fields, source.coarse) if key]
    return next((key for key in keys if fields_of(key).holds(name)), source.fields)


def _variables(fields: Fields, source: Source, default: dict[str, Any]) -> tuple[str, list[str], list[str]]:
    """Target, covariates and mediators."""
    fine = fields.variables()
    coarse = fields_of(source.coarse).variables() if source.coarse else fine
    between = fields_of(source.mediator).variables() if source.mediator else coarse
    labels = labels_of({**coarse, **between, **fine})
    if source.regions:
        target = pick("Target", "target", files.attributes(source.to_dict()), "")
    else:
        target = pick("Target", "target", list(coarse), default.get("target", ""), labels)
    offered = [name for name in fine if name != target or source.coarse]
    first = [name for name in _default_covariates(source, fields, target, default) if name in offered]
    _follow_default("cov", first)
    covariates = several("Covariates (high resolution)", "cov", offered, first, labels)
    if source.regions:  # matched by their outlines
        return target, covariates, []
    shared = [n for n in between if n != target] if source.coarse else offered
    if source.coarse and not source.mediator:
        shared = [name for name in shared if name in fine]
    return target, covariates, several("Mediators", "med", shared, default.get("mediators", []), labels)


def _of_cells(fields: Fields, source: Source, used: Sequence[str]) -> tuple[str | None, str | None]:
    """The field by which means over cells are weighted beside area, and the one with the sd of each value's error."""
    variables = fields.variables()
    names = {NONE: "area alone", **labels_of(variables)}
    weights = pick(
        "Weights of a cell's pixels", "weights", [NONE, *(n for n in variables if n != used[0])], NONE, names
    )
    errors: list[str] = []
    if source.regions:
        errors = files.attributes(source.to_dict())
    elif source.coarse:
        names, errors = labels_of(fields_of(source.coarse).variables()), list(fields_of(source.coarse).variables())
    error = NONE
    if errors := [name for name in errors if name not in used]:
        error = pick(ERRORS, "errors", [NONE, *errors], NONE, names | {NONE: NO_ERRORS})
    return None if weights == NONE else weights, None if error == NONE else error


def _default_covariates(source: Source, fields: Fields, target: str, default: dict[str, Any]) -> list[str]:
    """Those that the data set comes with; of files beside it, and of files of one's own, all that do not change with
    time."""
    from deconditioning.datasets.entries import catalogue
    from deconditioning.fields.guess.variables import static_covariates

    first, *more = keys_of(source.fields)
    defaults = list(default.get("covariates", []))
    described = any(entry.key == first and entry.default for entry in catalogue())
    fixed = [guess.value for guess in static_covariates(fields, target)] if more or not described else []
    return defaults + [
        name for name in fixed if name not in defaults and not (described and fields_of(first).holds(name))
    ]


def _follow_default(key: str, default: list[str]) -> None:
    """A list that nobody has changed follows its default, such as when a file is added."""
    before = st.session_state.get(Key.DEFAULT.of(key))
    if before is not None and before != default and st.session_state.get(key) == before:
        st.session_state[key] = default
    st.session_state[Key.DEFAULT.of(key)] = default


def _reweighed(spec: DownscalingSpec) -> DownscalingSpec:
    """Asked only where mediators match cells and the model, chosen further down, weighs by them."""
    name = st.session_state.get("model", st.query_params.get("model"))
    model = next((each for each in MODELS.values() if name in (each.name, each.title)), None)
    if not (spec.indirect and (model or usual_model(False, spec.coordinates)).uses("mediator_kernel")):
        return spec
    return replace(spec, reweigh=control(CELLS.reweigh))


def labels_of(variables: Mapping[str, Variable]) -> dict[str, str]:
    """What a list shows for each variable; the name itself joins where two would read alike."""
    units = {
        name: f" ({v.units.removeprefix('(').removesuffix(')')})" if v.units else "" for name, v in variables.items()
    }
    plain = {name: (v.long_name or name) + units[name] for name, v in variables.items()}
    repeated = [label for label, count in Counter(plain.values()).items() if count > 1]
    return {name: f"{label}: {name}" if label in repeated else label for name, label in plain.items()}
