"""The warp of the target that the model sees: none, one by name, or the one that learning chose."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from deconditioning.downscaling.settings import AUTO, DownscaleSettings
from deconditioning.downscaling.warping.choice import warp_of_kind
from pages.downscaling.data import Choice, problem_of
from pages.kit.controls.default_or_choice import take_earlier_words
from pages.kit.controls.settings import control
from pages.kit.session import Key

#: What the control offers beside the names of warps.
_NONE = "none"


def choose(choice: Choice) -> tuple[Choice, str]:
    """The control; the choice with the warp that the model sees, and what learning is to do about it.

    Raises ``InputError`` where the values do not allow a warp.
    """
    setting = DownscaleSettings.warp.inner
    take_earlier_words(setting.key, {"The one that is best one scale up": setting.text(AUTO)})
    requested = str(control(setting))
    if requested == AUTO:
        return replace(choice, warp=_learned(choice)), requested
    if requested == _NONE:
        return choice, requested
    warp = warp_of_kind(problem_of(choice), requested)
    straight = warp.kind == "box-cox" and warp.power == 1
    return (choice if straight else replace(choice, warp=_text(warp.to_dict()))), requested


def of_learned(learned: Mapping[str, Any]) -> str:
    """The warp of learned settings, as ``Choice.warp`` has it."""
    warp_of_run = learned.get("warp")
    return _text(warp_of_run) if isinstance(warp_of_run, Mapping) else ""


def take(choice: Choice, requested: str, learned: Mapping[str, Any]) -> None:
    """The warp that learning chose goes onto the page, which is drawn anew where it showed another one."""
    st.session_state[Key.LEARNED_WARP] = (_about(choice), of_learned(learned))
    if requested == AUTO and choice.warp != of_learned(learned):
        st.rerun()


def value_of(settings: Mapping[str, Any]) -> str:
    """What the control must hold for the settings of a run: a warp of its own is the one that learning found."""
    value = settings.get("warp", AUTO)
    return value if isinstance(value, str) else AUTO


def _learned(choice: Choice) -> str:
    about, warp = st.session_state.get(Key.LEARNED_WARP, (None, ""))
    return warp if about == _about(choice) else ""


def _about(choice: Choice) -> list[Any]:
    """What a learned warp is about; other cells leave it as it is."""
    spec = choice.spec
    return [choice.source.to_dict(), spec.target, spec.select, spec.coarse_select]


def _text(warp: Mapping[str, Any]) -> str:
    return json.dumps(warp, sort_keys=True)
