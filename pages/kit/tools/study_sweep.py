"""A study's sweep on its page: which control shows which of the study's settings."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from deconditioning.errors import InputError
from deconditioning.studies.sweeping import study_of
from pages.kit.controls.essential import name_of
from pages.kit.record import page_record
from pages.kit.tools import sweep
from pages.kit.tools.sweep import Offer, Sweepable

Held = Mapping[str, Any]


def _nothing(held: Held) -> dict[str, Any]:
    return {}


def _all(settings: dict[str, Any]) -> Collection[str]:
    return tuple(settings)


@dataclass(frozen=True)
class OnPage:
    """Where a study's settings stand on a page.

    Parameters
    ----------
    study : its name in `deconditioning.studies.sweeping`.
    others : what the page's controls hold, by key → the settings that are no numbers of one control.
    back : all settings of a sweep → those that adopting one of its rows puts on their controls.
    more : the same → values of other controls that go with them, by key.
    """

    study: str
    others: Callable[[Held], dict[str, Any]] = _nothing
    back: Callable[[dict[str, Any]], Collection[str]] = _all
    more: Callable[[dict[str, Any]], Mapping[str, Any]] = _nothing


def offer(page: OnPage) -> None:
    """Offer it in the line of tools; call it where the page shows the study."""
    sweep.offer(lambda: sweepable(page))


def sweepable(page: OnPage) -> Sweepable | None:
    """What can be swept at the page's controls; None where they make no settings."""
    study, controls = study_of(page.study), page_record().controls
    names_by_key = study.held
    held = {key: control.value for key, control in controls.items()}
    numbers = {name: held[key] for key, name in names_by_key.items() if held.get(key) is not None}
    try:
        settings = study.complete(numbers | page.others(held))
    except InputError:
        return None
    names = study.names(settings)
    offers = {
        name: Offer(
            name_of(controls[key]), float(held[key]), key, own.low, own.high, own.log, own.whole,
        )
        for key, name in names_by_key.items()
        if name in names and key in held
        for own in [study.settings[name].at(settings)]
        if not getattr(own, "offered", ())
    }  # fmt: skip

    def fits(run_settings: Mapping[str, Any]) -> bool:
        if run_settings.get("study") != page.study:
            return False
        axes = [axis["name"] for axis in run_settings["axes"]]
        then, now = study.chosen(study.complete(run_settings["settings"]), axes), study.chosen(settings, axes)
        return all(then[name] == now[name] for name, setting in study.settings.items() if not setting.swept)

    def put(run_settings: Mapping[str, Any], values: Mapping[str, float]) -> Mapping[str, Any]:
        axes = [axis["name"] for axis in run_settings["axes"]]
        requested = study.chosen(study.complete(run_settings["settings"] | dict(values)), axes)
        own, back = study.settings, page.back(requested)
        result = {key: requested[name] for key, name in names_by_key.items() if name in back and own[name].swept}
        return result | dict(page.more(requested))

    run_spec = {"study": page.study, "settings": settings}
    return Sweepable(offers, "sweep-study", run_spec, int(settings["seed"]), fits, put, study.setting_s)
