"""Matches time, level and member of one file to the selection in another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.selecting import index_of, is_dated, what_there_is
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.units import convert

#: Characters of a date to the minute, the hour, the day, the month, the year.
_DATE_PARTS = (16, 13, 10, 7, 4)
_Select = Mapping[str, int | str]


def matched(
    covariates: Fields, coarse: Fields, mediator: Fields | None, spec: DownscalingSpec
) -> tuple[Fields, Fields | None]:
    """The coarse file and that of the mediators, each with the place that is taken along its own dimensions and the
    numbers that count as missing."""
    coarse = replace(coarse.with_missing(spec.missing), fixed=_coarse_choice(covariates, coarse, spec))
    if mediator is not None:
        used = {covariates: spec.covariates, coarse: (spec.target,)}
        mediator = replace(mediator.with_missing(spec.missing), fixed=_mediator_choice(used, mediator, spec))
    return coarse, mediator


def chosen_label(fields: Fields, names: Sequence[str], dim: str, labels: Sequence[str], select: _Select) -> str | None:
    """What is chosen of fields along a dimension: the one called ``dim``, or one of dates where ``labels`` are dates.

    ``None`` if no field that changes with it has one, or where ``select`` names a dimension that these fields lack.
    """
    for name in names:
        extra = fields.check(name).extra
        dated = [each for each, values in extra.items() if is_dated(values)] if is_dated(labels) else []
        for each in (*(other for other in extra if other == dim), *dated):
            meant_elsewhere = dim in select and not (each == dim and len(extra[each]) > 1)
            if not meant_elsewhere and not (is_dated(extra[each]) and fields.is_static(name)):
                return extra[each][fields.chosen(name, select)[each]]
    return None


def place_matching(labels: Sequence[str], requested: str) -> int | None:
    """The index of the label that says the same as another file's: equal, the same date to the day, month or year where
    one alone is, or the same number in other units; ``None`` if there is none."""
    if requested in labels:
        return labels.index(requested)
    if not is_dated(labels):
        return next((n for n, label in enumerate(labels) if _same_number(label, requested)), None)
    result: list[int] = []
    for length in _DATE_PARTS:
        result = result or [n for n, label in enumerate(labels) if label[:length] == requested[:length]]
    return result[0] if len(result) == 1 else None


def _same_number(label: str, requested: str) -> bool:
    (text, _, have), (other, _, want) = label.partition(" "), requested.partition(" ")
    try:
        value = float(convert(float(text), have, want, "")[0])  # type: ignore[arg-type]
        return abs(value - float(other)) <= 1e-5 * abs(float(other))
    except (ValueError, InputError):
        return False


def _matching(name: str, dim: str, labels: Sequence[str], requested: str, fields: Fields, option: str) -> int:
    index = place_matching(labels, requested)
    if index is None:
        joint = "" if option.endswith(":") else " "
        raise InputError(
            f"Dimension `{dim}` of `{name}` in {fields.name} has no single value that matches {requested} of the "
            f"other file; it has {what_there_is(labels)}: choose one with `{option}{joint}{dim}=VALUE`, or by "
            f"its index as `{dim}=#0`."
        )
    return index


def _coarse_choice(covariates: Fields, coarse: Fields, spec: DownscalingSpec) -> dict[str, int | str]:
    """The index along every dimension of the target in a file of its own, for ``Fields.fixed``.

    It is what ``spec.coarse_select`` says, else what matches the covariates' own choice along a dimension that they
    have, too; other dimensions are left to ``spec.select``. Raises ``InputError`` if nothing of the coarse file
    matches.
    """
    selected = spec.coarse_select
    fixed: dict[str, int | str] = {}
    labels_of = coarse.check(spec.target).extra
    for name in selected:
        variable, _, dim = name.rpartition(":")
        if dim not in labels_of or variable not in ("", spec.target):
            known = ", ".join(f"`{each}`" for each in labels_of) or "none"
            raise InputError(
                f"The coarse target `{spec.target}` has no dimension `{name}`; it has {known}: correct it."
            )
    for dim, labels in labels_of.items():
        key, choice = f"{spec.target}:{dim}", selected.get(f"{spec.target}:{dim}", selected.get(dim))
        if choice is None and key not in spec.select and len(labels) > 1:
            fine = chosen_label(covariates, spec.covariates, dim, labels, spec.select)
            choice = None if fine is None else _matching(spec.target, dim, labels, fine, coarse, "--coarse-select")
        if choice is not None:
            fixed[key] = fixed[dim] = index_of(dim, labels, choice)
    return fixed


def _mediator_choice(
    files: Mapping[Fields, Sequence[str]], mediator: Fields, spec: DownscalingSpec
) -> dict[str, int | str]:
    """The index along dimensions of the mediators in a file of their own that match what is chosen in other ``files``
    (each with the names of its fields), the first that has such a dimension."""
    fixed: dict[str, int | str] = {}
    for name in (each for each in spec.mediators if mediator.holds(each)):
        for dim, labels in mediator.check(name).extra.items():
            if len(labels) < 2 or f"{name}:{dim}" in spec.select:
                continue
            labels_of_files = (chosen_label(one, names, dim, labels, spec.select) for one, names in files.items())
            label = next((each for each in labels_of_files if each is not None), None)
            if label is not None:
                fixed[f"{name}:{dim}"] = _matching(name, dim, labels, label, mediator, f"--select {name}:")
    return fixed


def apart_in_time(covariates: Fields, target: Fields, spec: DownscalingSpec) -> tuple[str, str] | None:
    """The dates of the covariates and of the target where both have one and these differ; static fields have none."""
    dated = (covariates.time_label(n, spec.select) for n in spec.covariates if not covariates.is_static(n))
    then = target.time_label(spec.target, spec.select)
    when = next((date for date in dated if date and date != then), None)
    return (when, then) if when and then else None


def check_select(select: Mapping[str, int | str], files: Sequence[Fields], names: Sequence[str]) -> None:
    """``InputError`` for a choice along a dimension that no field in use has, or a value that none of them has.

    A dimension of one value takes no part in a choice that is meant for another file, so that is looked at here.
    """
    extras = [(name, one.check(name).extra) for one in files for name in names if one.holds(name)]
    for key, requested in select.items():
        owner, _, dim = key.rpartition(":")
        there = [extra[dim] for name, extra in extras if dim in extra and owner in ("", name)]
        if not there:
            known = sorted({each for _, extra in extras for each in extra})
            listed = (
                f"they have {', '.join(f'`{each}`' for each in known)}" if known else "they have none to choose from"
            )
            what = f"`{owner}` has no" if owner else "The chosen fields have no"
            raise InputError(f"{what} dimension `{dim}` to choose along, {listed}: correct `{key}={requested}`.")
        if isinstance(requested, str) and all(len(labels) == 1 for labels in there):
            index_of(dim, there[0], requested)
