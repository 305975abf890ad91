"""Which fields, and how they become a problem: controls on the left, one cached call into core."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.downscaling.source import UPLOAD, Source, build_problem, keep_upload, kept_uploads, open_source
from core.engine.uploads import NotKept
from core.errors import InputError
from core.fields import DownscalingProblem, DownscalingSpec, Fields, Variable
from core.fields.selecting import index_of
from core.fields.several import joined, keys_of, together
from core.models.catalogue import MODELS, named
from core.models.defaults import usual_model
from pages.downscaling import by_hand
from pages.kit import bound
from pages.kit.asked import ask
from pages.kit.essential import group
from pages.kit.layout import refusal
from pages.kit.state import forget, is_known, offer_only, recall, remember
from pages.kit.visitor import listed, put_into_link, visitor_mark
from pages.kit.words import plain, sentence_of

NONE = "(none)"


@dataclass(frozen=True)
class Choice:
    """What was chosen: files by key, and the settings of the problem."""

    source: Source
    spec: DownscalingSpec

    @property
    def key(self) -> str:
        """One name for the problem these choices make."""
        plain = json.dumps([self.source.to_dict(), self.spec.to_dict()], sort_keys=True)
        return hashlib.blake2b(plain.encode(), digest_size=10).hexdigest()

    @property
    def as_drawn(self) -> "Choice":
        """The same with the cells that the seed draws, nothing hidden or revealed by hand."""
        return replace(self, spec=replace(self.spec, hide=(), reveal=()))


@st.cache_resource(show_spinner="Opening the fields …", max_entries=4)
def fields_of(key: str) -> Fields:
    """Fields by key, kept for all sessions; those of several files from what is kept of each."""
    keys = keys_of(key)
    return open_source(key) if len(keys) == 1 else together([fields_of(one) for one in keys])


@st.cache_resource(show_spinner="Forming cells and bags …", max_entries=4)
def _problem(key: str, source: dict[str, Any], spec: dict[str, Any]) -> DownscalingProblem:
    return build_problem(Source.from_dict(source), DownscalingSpec.from_dict(spec), fields_of)


def problem_of(choice: Choice) -> DownscalingProblem:
    """The problem of a choice, kept for all sessions."""
    return _problem(choice.key, choice.source.to_dict(), choice.spec.to_dict())


@st.cache_resource(show_spinner=False, max_entries=16)
def default_of(key: str) -> dict[str, Any]:
    """Settings a data set opens with: its own, or a guess from its fields."""
    from core.datasets import catalogue, suggest_spec

    known = {entry.key: entry.default for entry in catalogue()}
    return known.get(key) or suggest_spec(fields_of(key))


def _sources() -> dict[str, str]:
    from core.datasets import catalogue

    names = {entry.key: entry.title for entry in catalogue()}
    uploads = listed(kept_uploads, "data", "coarse", "third", "more")
    twice = [name for name, count in Counter(uploads.values()).items() if count > 1]
    for key, name in uploads.items():
        names[key] = f"Upload: {name}" + (f" ({key.removeprefix(UPLOAD)[:6]})" if name in twice else "")
    return names


def _upload() -> None:
    """Read new files; a bad one is refused with its sentence and changes nothing."""
    files = st.file_uploader("Your own NetCDF", type=None, accept_multiple_files=True, key="files")
    for file in files or []:
        data = file.getvalue()
        mark = f"seen-{hashlib.blake2b(data, digest_size=8).hexdigest()}"
        if is_known(mark):
            if isinstance(recall(mark), str):
                refusal(f"{file.name}: {recall(mark)}")
            continue
        try:
            with st.spinner(f"Checking {plain(file.name)} …"):
                key = keep_upload(data, file.name, visitor_mark())
        except InputError as error:
            if not isinstance(error, NotKept):  # that is tried again at every run
                remember(mark, str(error))
            refusal(f"{file.name}: {error}")
            continue
        ask({"data": key})
        remember(mark, True)
        st.rerun()


def _pick(label: str, key: str, options: list[str], default: str, names: dict[str, str] | None = None) -> str:
    """A select box in the address; an asked-for value that is not on offer falls back to the default."""
    offer_only(key, options)
    index = options.index(default) if default in options else 0
    if key not in ("data", "coarse", "third"):
        _begin(key, options[index])
    shown = (lambda option: names.get(option, option)) if names else str
    _translate(key, options, shown)
    return bound.selectbox(label, options, index=index, key=key, format_func=shown)


def choose(hidden: DeltaGenerator) -> Choice:
    """The data controls, that of the hidden cells in a place of its own.

    Raises ``InputError`` with a sentence when they make no problem.
    """
    names = _sources()
    key = _pick("Fields", "data", list(names), "ukv-645m", names)
    _forget_others(key)
    from core.datasets import folder_problem

    trouble = folder_problem()
    if trouble:
        st.warning(sentence_of(trouble))
    with group("Own files"):
        _upload()
        others = [NONE, *names]
        coarse = _pick("Coarse target from another file", "coarse", others, NONE, names)
        mediator = _pick("Mediators from a third file", "third", others, NONE, names) if coarse != NONE else NONE
        beside = [one for one in names if one not in (key, coarse)]
        more = _several("More covariates from", "more", beside, [], names)
    put_into_link(*(one for one in (key, coarse, mediator, *more) if one.startswith(UPLOAD)))
    files = joined([key, *more])
    fields = fields_of(files)
    for doubt in fields.doubts[:3]:
        st.warning(sentence_of(doubt))
    source = Source(files, None if coarse == NONE else coarse, None if mediator == NONE else mediator)
    with group("Variables and cells"):
        spec = _spec(fields, source, hidden)
    return Choice(source, spec)


def _forget_others(key: str) -> None:
    """Another data set starts from its own settings; a link that is being opened keeps what it asks for."""
    before = recall("_data")
    remember("_fresh", before is not None and before != key)
    if recall("_fresh"):
        forget("_select")
    remember("_data", key)


def _begin(key: str, default: Any) -> None:
    """Where the data set has just changed, a control starts from its default (Streamlit keeps it in the address)."""
    if recall("_fresh"):
        remember(key, default)


def _spec(fields: Fields, source: Source, hidden: DeltaGenerator) -> DownscalingSpec:
    default = default_of(keys_of(source.fields)[0])
    here = fields.variables()
    there = fields_of(source.coarse).variables() if source.coarse else here
    between = fields_of(source.mediator).variables() if source.mediator else there
    labels = _labels({**there, **between, **here})
    target = _pick("Target", "target", list(there), default.get("target", ""), labels)
    offered = [name for name in here if name != target or source.coarse]
    covariates = _several("Covariates (high resolution)", "cov", offered, default.get("covariates", []), labels)
    shared = [n for n in between if n != target] if source.coarse else offered
    if source.coarse and not source.mediator:
        shared = [name for name in shared if name in here]
    mediators = _several("Mediators", "med", shared, default.get("mediators", []), labels)
    select = _dimensions(fields, [target, *covariates, *mediators], default.get("select", {}))
    left, right = st.columns(2)
    block = default.get("block", [9, 9])
    plain = {"rows": int(block[0]), "columns": int(block[1]), "seed": int(default.get("seed", 0)), "coords": True}
    for name, value in (plain | {"withhold": float(default.get("withhold", 0.5))}).items():
        _begin(name, value)
    rows = bound.number_input("Rows a cell", 1, 200, int(block[0]), key="rows", place=left)
    columns = bound.number_input("Columns a cell", 1, 200, int(block[1]), key="columns", place=right)
    withhold = bound.slider(
        "Cells whose target is hidden", 0.0, 0.9, float(default.get("withhold", 0.5)), 0.05, key="withhold",
        format="percent", place=hidden,
    )  # fmt: skip
    matching = _pick("Matching", "match", ["auto", "direct", "indirect"], "auto")
    coordinates = bound.toggle("Coordinates join covariates and mediators", True, key="coords")
    seed = bound.number_input("Seed", 0, 9999, int(default.get("seed", 0)), key="seed")
    spec = DownscalingSpec(
        target,
        tuple(covariates),
        tuple(mediators),
        (int(rows), int(columns)),
        float(withhold),
        int(seed),
        None if matching == "auto" else matching,  # type: ignore[arg-type]
        bool(coordinates),
        select,
    )
    return by_hand.chosen(source, _reweighed(spec), fields_of)


def _reweighed(spec: DownscalingSpec) -> DownscalingSpec:
    """Asked only where mediators match cells and the model, chosen further down, weighs by them."""
    told = recall("model", st.query_params.get("model"))
    model = next((each for each in MODELS.values() if told in (each.name, each.title)), None)
    if not (spec.indirect and (model or named(usual_model(False, spec.coordinates))).mediated):
        return spec
    about = (
        "Cells whose mediators are common among the targets count for more in the regression on mediators. 'What the "
        "map rests on' says how far the two sets of mediators lie apart. It pays where the mediators' kernel is too "
        "smooth, and costs where that is learned and few cells count (docs/one_dimension.md)."
    )
    return replace(spec, reweigh=bool(bound.toggle("Weigh cells by the targets' mediators", key="reweigh", help=about)))


def _translate(key: str, options: list[str], shown: Callable[[str], str]) -> None:
    """Addresses may name variables and data sets by key; make them say what is shown, as Streamlit's own do."""
    asked = st.query_params.get_all(key)
    wanted = [shown(name) for name in asked if name in options]
    if not is_known(key) and len(wanted) == len(asked) and wanted != asked:
        st.query_params[key] = wanted
        st.rerun()


def _labels(variables: dict[str, Variable]) -> dict[str, str]:
    """What a list shows for each variable; the name itself joins where two would read alike."""
    plain = {name: (v.long_name or name) + (f" ({v.units})" if v.units else "") for name, v in variables.items()}
    alike = [label for label, count in Counter(plain.values()).items() if count > 1]
    return {name: f"{label}: {name}" if label in alike else label for name, label in plain.items()}


def _several(label: str, key: str, options: list[str], default: list[str], names: dict[str, str]) -> list[str]:
    if any(value not in options for value in recall(key) or []):
        forget(key)
    _translate(key, options, lambda option: names.get(option, option))
    _begin(key, [name for name in default if name in options])
    return bound.multiselect(
        label,
        options,
        default=[name for name in default if name in options],
        key=key,
        format_func=lambda option: names.get(option, option),
    )


def _dimensions(fields: Fields, names: list[str], default: dict[str, int | str]) -> dict[str, int | str]:
    """One select box for every further dimension (time, level …) of the chosen variables."""
    extra: dict[str, tuple[str, ...]] = {}
    for name, variable in fields.variables().items():
        if name in names:
            extra |= {dim: tuple(labels) for dim, labels in variable.extra.items()}
    select: dict[str, int | str] = {}
    for dim, labels in extra.items():
        if len(labels) > 1:
            asked = recall("_select", {}).get(dim, default.get(dim, 0))
            wanted = min(index_of(dim, labels, asked), len(labels) - 1)
            options = [f"{label} (#{index})" for index, label in enumerate(labels)]
            _read_place(f"dim-{dim}", dim, labels, options)
            picked = _pick(plain(dim.replace("_", " ").capitalize()), f"dim-{dim}", options, options[wanted])
            select[dim] = options.index(picked)
    return select


def _read_place(key: str, dim: str, labels: Sequence[str], options: Sequence[str]) -> None:
    """An address may say a value, part of a date or ``#5``; make it say the option, or say why none fits."""
    asked = st.query_params.get(key, "")
    if is_known(key) or not asked or asked in options:
        return
    index, _, label = asked.partition(": ")  # how addresses had it: 5: 2024-06-01 00:00
    former = index.isdigit() and int(index) < len(labels) and labels[int(index)] == label
    try:
        st.query_params[key] = options[int(index) if former else index_of(dim, labels, asked)]
    except (InputError, IndexError) as error:
        del st.query_params[key]
        refusal(f"{plain(key)} in the address: {error}")
        return
    st.rerun()
