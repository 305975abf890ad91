"""Sweeps of the studies: what each lets vary, its scores at a setting, a grid of settings as a run of the engine.

A study is one file beside its problem, with a `Study` named ``SWEEP`` in it, and one line in `STUDIES`.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deconditioning.downscaling.saved_map import THUMBNAIL
from deconditioning.errors import Check, InputError, never
from deconditioning.figures.sweep import sweep_thumbnail
from deconditioning.settings.setting import Setting
from deconditioning.settings.settings import filled
from deconditioning.sweeps import (
    Axis,
    Row,
    Score,
    cells_of,
    check_axes,
    choosing,
    erring,
    rows_of,
    saved_rows,
    settings_of,
)

#: Study → the module that holds its ``SWEEP``.
STUDIES = {
    "one-dimension": "deconditioning.studies.one_dimension.sweep",
    "bayes-rule": "deconditioning.studies.one_dimension.bayes_sweep",
    "there-and-back": "deconditioning.studies.one_dimension.trip_sweep",
    "sparse-representation": "deconditioning.studies.sparse_representation.sweep",
    "swiss-roll": "deconditioning.studies.swiss_roll.sweep",
    "conditional-means": "deconditioning.studies.conditional_means.sweep",
    "kernel-bayes": "deconditioning.studies.kernel_bayes.sweep",
    "likelihood-free": "deconditioning.studies.likelihood_free.sweep",
    "filtering": "deconditioning.studies.filtering.sweep",
    "camera": "deconditioning.studies.filtering.camera_sweep",
    "distribution-regression": "deconditioning.studies.distribution_regression.sweep",
}


@dataclass(frozen=True)
class Study:
    """What can be swept of a study.

    Parameters
    ----------
    title : of its page.
    settings : all that its scores depend on, by name, flat.
    scores : the scores of each setting.
    row : all settings → scores by name and ``picture`` (`figures.small_multiples`); raises ``InputError``.
    chosen : settings as they are once these names are swept: what followed from others may no longer do so.
    setting_s : seconds of one setting at the usual ones, on one core.
    """

    title: str
    settings: Mapping[str, Setting[Any]]
    scores: Mapping[str, Score]
    row: Callable[[dict[str, Any]], dict[str, Any]]
    chosen: Callable[[dict[str, Any], Sequence[str]], dict[str, Any]] = lambda settings, names: settings
    setting_s: float = 0.05

    @property
    def held(self) -> dict[str, str]:
        """Key of a page's address → the name of the setting that it holds, first axes first."""
        settings = sorted(self.settings.values(), key=lambda each: each.first or len(self.settings))
        every = [variant for each in settings for variant in each.variants()]
        return {each.address: each.name for each in every if each.address is not None}

    def names(self, values: Mapping[str, Any]) -> list[str]:
        """What can be an axis at these settings."""
        return [name for name, setting in self.settings.items() if setting.swept and setting.applies(values)]

    def complete(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All settings, the usual ones where none is given; ``InputError`` for unknown ones and wrong kinds."""
        for name in values:
            if name not in self.settings:
                raise InputError(f"There is no setting `{name}`: choose one of {', '.join(self.settings)}.")
        return filled(self.settings, {name: self.settings[name].like(value) for name, value in values.items()})


def study_of(name: str) -> Study:
    """A study by its name; ``InputError`` with those there are."""
    if name not in STUDIES:
        raise InputError(f"There is no study `{name}` to sweep: choose one of {', '.join(STUDIES)}.")
    study: Study = importlib.import_module(STUDIES[name]).SWEEP
    return study


def sweep_study(
    study: Study, given: Mapping[str, Any], axes: Sequence[Axis], known: Sequence[Row] = (), check: Check = never
) -> Iterator[dict[str, Any]]:
    """One row after the other: ``values`` of the axes, scores, ``picture``, or the ``message`` that refuses them.

    ``given`` settings stay as they are. Rows that are ``known`` come as they are. Raises ``InputError``.
    """
    complete = study.complete(given)
    check_axes(axes, study.names(complete))
    base = study.chosen(complete, [axis.name for axis in axes])
    whole = [replace(axis, whole=study.settings[axis.name].whole) for axis in axes]
    settings = settings_of(whole, lambda name: not study.settings[name].draws)
    return rows_of(settings, lambda values: study.row(base | _typed(study, values)), known, check)


def _typed(study: Study, values: Mapping[str, float]) -> dict[str, Any]:
    """An axis's values as settings: whole numbers where they are."""
    return {name: int(value) if study.settings[name].whole else value for name, value in values.items()}


def study_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: every setting of the axes, kept as they come; ``rows`` of a stopped sweep are gone on from.

    ``settings``: ``study`` (its name), ``settings``, ``axes``, ``rows``.
    """
    study, axes = study_of(settings["study"]), [Axis(**axis) for axis in settings["axes"]]
    rows = sweep_study(study, settings["settings"], axes, settings.get("rows", ()), context.check)
    content = {"axes": settings["axes"], "study": settings["study"]}
    whole = [replace(axis, whole=study.settings[axis.name].whole) for axis in axes]

    def small(cells: Sequence[Row]) -> bytes:
        """The thumbnail (PNG) of the cells."""
        return sweep_thumbnail(cells, choosing(cells, study.scores) or erring(cells, study.scores) or "")

    return saved_rows(rows, content, cells_of(whole), context, small, THUMBNAIL)
