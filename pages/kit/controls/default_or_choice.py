"""Choices that a model makes of itself unless somebody makes them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import streamlit as st

from deconditioning.settings.wider import OrNone
from pages.kit.controls import widgets
from pages.kit.controls.address import reword
from pages.kit.state import offer_only

#: Stands for the family that the model has of itself.
OWN = "own"


def take_earlier_words(key: str, earlier: Mapping[str, str]) -> None:
    """Let an address name an option as earlier versions did: ``earlier`` words → those of today, or with "(default)"
    behind those."""
    asked = st.query_params.get_all(key)
    now = [earlier.get(word, word) for word in (word.removesuffix(" (default)") for word in asked)]
    if now != asked and key not in st.session_state:
        reword(key, now)


def default_or_choice(
    setting: OrNone[Any], values: Mapping[str, Any], names: Mapping[str, str], default: Any,
    earlier: Mapping[str, str] = MappingProxyType({}),
) -> Any:  # fmt: skip
    """One of ``values`` by a list whose options have these ``names``; None for the model's ``default``, which comes
    first. ``earlier``: what addresses of earlier versions call them."""
    own = next(name for name in values if values[name] == default)
    options = [OWN, *(name for name in values if name != own)]
    take_earlier_words(setting.key, earlier)
    offer_only(setting.key, options)
    words = {**names, OWN: names[own]}
    chosen = widgets.selectbox(
        setting.label, options, key=setting.key, format_func=lambda option: words[option], help=setting.tooltip(None)
    )
    return values.get(chosen)
