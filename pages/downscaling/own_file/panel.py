"""What was guessed of one's own files, each choice with its reason and changeable, and the button Downscale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.cell_settings import CellSettings
from deconditioning.fields.gridded import Fields
from deconditioning.fields.guess.problem import ProblemGuess, cells_in_words, guess_files, guess_problem, pixel_km
from deconditioning.fields.guess.variables import declared_error, static_covariates
from deconditioning.fields.selecting import index_of
from deconditioning.fields.several import joined, keys_of
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.wording import number
from pages.downscaling.data import NONE, Choice, cell_values, fields_of, labels_of, problem_of, shown_choice
from pages.downscaling.descriptions import PARTS
from pages.downscaling.dimensions import AS_COVARIATES, matching_place, places, title_of
from pages.downscaling.footprints.files import attributes, values_of
from pages.downscaling.own_file.further_files import refuse
from pages.downscaling.own_file.request import close_dialog, pressed
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.layout.escaping import plain
from pages.kit.session import Key
from pages.kit.state import forget

_AVERAGE = "average"
#: Width of the smaller controls, in pixels.
_NARROW = 330


@dataclass(frozen=True)
class _Files:
    """The files of the covariates, of a coarse target where there is one, the problem that is shown of them, and
    files beside the fields by their names in a source."""

    fine: str
    coarse: str | None
    shown: DownscalingSpec | None = None
    mediator: str | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)

    @property
    def regions(self) -> str | None:
        """Regions that are the target."""
        return self.beside.get("regions")

    @property
    def apart(self) -> bool:
        """Whether the target is in a file of its own."""
        return bool(self.coarse or self.regions)

    @property
    def holder(self) -> Fields:
        """The fields among which the target is."""
        return fields_of(self.coarse or self.fine)

    def key(self, name: str) -> str:
        """The key of a widget, which begins anew with other files."""
        of_regions = [self.beside[each] for each in ("regions", "table", "key") if each in self.beside]
        return "-".join([f"lab-own-{name}-{self.fine}-{self.coarse}", *of_regions])


def show(keys: Sequence[str], names: Mapping[str, str], beside: Mapping[str, Any]) -> None:
    """Draw the choices for these files, with those ``beside`` the fields by their names in a source; ``InputError``
    where they hold nothing to downscale."""
    files = replace(_roles(keys, names), beside=beside)
    guessed = guess(files.fine, files.coarse)
    with _tight():
        target, guessed = _target(files, guessed)
    with _tight():
        covariates = _covariates(files, target, guessed)
    with st.container(horizontal=True):
        block = guessed.block.value if files.apart else _block(files, guessed)
        select, coarse_select, places_shown = _places(files, target, covariates, guessed)
        error = _error(files, target) if files.apart else None
    begin = files.shown or DownscalingSpec(target, withhold=0.0 if files.regions else guessed.withhold)
    if begin.withhold:
        part = PARTS.get(begin.withhold, f"{100 * begin.withhold:.0f} % of")
        st.caption(f"{part} the cells will be hidden from the model to test it; the page can change this.")
    if pressed("Downscale", "lab-own-go"):
        mediators = tuple(name for name in begin.mediators if name not in (target, *covariates))
        try:
            spec = replace(
                begin, target=target, covariates=tuple(covariates), mediators=mediators, block=block, select=select,
                coarse_select=coarse_select, error=error, hide=(), reveal=(), region=None,
            )  # fmt: skip
            gridded = {"fields": files.fine, "coarse": files.coarse, "mediator": files.mediator}
            _apply(Choice(Source.from_dict({**beside, **gridded}), spec), places_shown)
        except InputError as error:
            refuse(error, beside)


def _tight(width: int | Literal["stretch"] = "stretch") -> DeltaGenerator:
    """A place for a control and the reason below it."""
    return st.container(gap="xxsmall", width=width)


@st.cache_resource(show_spinner="Looking at the fields …", max_entries=16)
def guess(fine: str, coarse: str | None = None, target: str | None = None) -> ProblemGuess:
    """The guess for files by key, kept for all sessions."""
    return guess_problem(fields_of(fine), fields_of(coarse) if coarse else None, target)


def _roles(keys: Sequence[str], names: Mapping[str, str]) -> _Files:
    """Which file is coarse and which hold the covariates, as guessed or as chosen."""
    files = [fields_of(key) for key in keys]
    roles = guess_files(files)
    now = shown_choice()
    source = None if now is None else now.source
    same = source is not None and {*keys_of(source.fields), source.coarse} - {None} == set(keys)
    begin = None if roles.coarse is None else keys[roles.coarse]
    fine = [keys[index] for index in roles.fine]
    if same and source is not None:
        begin, fine = source.coarse, keys_of(source.fields)
    coarse = begin
    if len(keys) > 1:
        options = [_AVERAGE, *keys]
        words = {key: f"{names[key]}, pixels of {_size(one)}" for key, one in zip(keys, files, strict=True)}
        coarse = st.selectbox(
            "Coarse values from", options, options.index(begin or _AVERAGE), key=f"lab-own-coarse-{'-'.join(keys)}",
            format_func=lambda key: words.get(key, "averages of the fine file over cells"),
        )  # fmt: skip
        coarse = None if coarse == _AVERAGE else coarse
        left = [plain(names[keys[index]]) for index in roles.unused if keys[index] not in (*fine, coarse)]
        why = roles.reason if coarse == begin else "Chosen by you"
        st.caption(f"{why}." + (f" Not used: {', '.join(left)}." if left else ""))
    if coarse != begin:
        fine = sorted((key for key in keys if key != coarse), key=lambda key: pixel_km(fields_of(key).grid))
    if same and now is not None and coarse == begin:
        return _Files(joined(fine), coarse, now.spec, now.source.mediator)
    return _Files(joined(fine), coarse)


def _size(fields: Fields) -> str:
    return f"{number(pixel_km(fields.grid))} km"


def _target(files: _Files, guessed: ProblemGuess) -> tuple[str, ProblemGuess]:
    """The field to downscale, and the guess of everything else for it."""
    if files.regions:
        return str(st.selectbox("Values of the regions", attributes(files.beside), key=files.key("target"))), guessed
    variables = files.holder.variables()
    begin = guessed.target.value if files.shown is None else files.shown.target
    options, labels = list(variables), labels_of(variables)
    target = st.selectbox(
        "Field to downscale", options, options.index(begin if begin in options else guessed.target.value),
        key=files.key("target"), format_func=labels.__getitem__,
    )  # fmt: skip
    if target == guessed.target.value:
        st.caption(f"{plain(target)}: {plain(guessed.target.reason)}.")
        return target, guessed
    st.caption(f"{plain(target)}: chosen by you.")
    return target, guess(files.fine, files.coarse, target)


def _covariates(files: _Files, target: str, guessed: ProblemGuess) -> list[str]:
    """The covariates, with the reason for each that was guessed."""
    variables = fields_of(files.fine).variables()
    options, labels = [name for name in variables if files.apart or name != target], labels_of(variables)
    shown = files.shown if files.shown and files.shown.target == target else None
    fixed = static_covariates(fields_of(files.fine), target) if files.regions else guessed.covariates
    begin = [each.value for each in fixed] if shown is None else shown.covariates
    chosen = st.multiselect(
        "Covariates (known at every pixel)", options, [name for name in begin if name in options],
        key=files.key(f"covariates-{target}"), format_func=labels.__getitem__,
        placeholder="None: location alone",
    )  # fmt: skip
    reasons = {each.value: each.reason for each in fixed}
    known = "; ".join(f"{plain(name)} {plain(reasons.get(name, 'was chosen'))}" for name in chosen)
    st.caption(f"{known}. Location is added." if known else "Location alone: no field of the file was chosen.")
    return chosen


def _block(files: _Files, guessed: ProblemGuess) -> tuple[int, int]:
    """The size of the cells over which the file is averaged."""
    begin = guessed.block.value if files.shown is None else files.shown.block
    with _tight(_NARROW):
        side = int(st.number_input("Cell size in pixels", 2, CellSettings.rows.high, begin[0], key=files.key("block")))
        block = begin if side == begin[0] else (side, side)
        st.caption(f"Averaging makes {cells_in_words(fields_of(files.fine).grid, block)}.")
    return block


def _error(files: _Files, target: str) -> str | None:
    """The field, or attribute of the regions, with the sd of each coarse value's error."""
    variables = {} if files.regions else files.holder.variables()
    names = [name for name in (attributes(files.beside) if files.regions else variables) if name != target]
    declared = None if files.regions else declared_error(files.holder, target)
    begin = declared if files.shown is None else files.shown.error
    if not names:
        return None
    labels, options = labels_of(variables), [NONE, *names]
    with _tight(_NARROW):
        chosen = st.selectbox(
            "Errors of the coarse values (sd)", options, options.index(begin) if begin in names else 0,
            key=files.key(f"error-{target}"), format_func=lambda name: labels.get(name, plain(name)),
        )  # fmt: skip
        why = (
            f"the file declares it as the standard error of {plain(target)}" if chosen == declared else "chosen by you"
        )
        st.caption("None: all values have equal weight." if chosen == NONE else f"{plain(chosen)}: {why}.")
    return None if chosen == NONE else str(chosen)


def _places(
    files: _Files, target: str, covariates: Sequence[str], guessed: ProblemGuess
) -> tuple[dict[str, int | str], dict[str, int | str], dict[str, str]]:
    """Time, level and member: of the covariates and a target beside them, of a coarse target, and the values of the
    page's controls."""
    fields, shown = fields_of(files.fine), files.shown
    names = list(covariates) if files.apart else [target, *covariates]
    select: dict[str, int | str] = {}
    controls: dict[str, str] = {}
    for dim, labels in _several(fields, names).items():
        begin = None if shown is None else shown.select.get(dim)
        guessed_index = guessed.select.get(dim) if not files.apart else None
        index = index_of(dim, labels, begin if begin is not None else guessed_index.value if guessed_index else 0)
        options = places(labels)
        why = guessed_index.reason if guessed_index else f"the first of {len(labels)}"
        controls[f"dim-{dim}"] = _choose(files, title_of(dim), f"dim-{dim}", options, options[index], why)
        select[dim] = options.index(controls[f"dim-{dim}"])
    coarse_select: dict[str, int | str] = {}
    for dim, labels in (_several(files.holder, [target]) if files.coarse else {}).items():
        options = places(labels)
        match = matching_place(fields, covariates, dim, labels, select)
        before = None if shown is None else shown.coarse_select.get(dim)
        begin = options[guessed.select[dim].value if before is None else index_of(dim, labels, before)]
        if match is not None:
            options.insert(0, AS_COVARIATES)
            begin = AS_COVARIATES if before is None else begin
        why = f"that of the covariates, {labels[match]}" if match is not None else guessed.select[dim].reason
        picked = _choose(files, f"{title_of(dim)} of the coarse file", f"coarse-dim-{dim}", options, begin, why)
        controls[f"coarse-dim-{dim}"] = picked
        if picked != AS_COVARIATES:
            coarse_select[dim] = places(labels).index(picked)
    return select, coarse_select, controls


def _choose(files: _Files, label: str, key: str, options: list[str], begin: str, why: str) -> str:
    with _tight(_NARROW):
        result = str(st.selectbox(plain(label), options, options.index(begin), key=files.key(key)))
        st.caption(f"{plain(why[:1].upper() + why[1:])}." if result == begin else "Chosen by you.")
    return result


def _several(fields: Fields, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Further dimensions with more than one value, with their labels."""
    extra = [dim for name in names for dim in fields.check(name).extra.items()]
    return {dim: labels for dim, labels in extra if len(labels) > 1}


def _apply(choice: Choice, controls: Mapping[str, str]) -> None:
    """Set the page's controls to these choices and close the dialog; ``InputError`` where they make no problem."""
    with st.spinner("Forming cells …"):
        problem_of(choice)
    first, *more = keys_of(choice.source.fields)
    spec = choice.spec
    values: dict[str, Any] = {
        "data": first, "more": more, "coarse": choice.source.coarse or NONE, "third": choice.source.mediator or NONE,
        "target": spec.target, "cov": list(spec.covariates), "med": list(spec.mediators),
        "missing": list(spec.missing), **cell_values(spec.to_dict()), **values_of(choice.source.to_dict()),
        **controls,
    }  # fmt: skip
    forget(Key.SELECTION, Key.COARSE_SELECTION)
    st.session_state[Key.DATA] = first
    set_on_next_run(values)
    close_dialog()
    st.rerun()
