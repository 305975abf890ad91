"""Choices that a model makes of itself unless somebody makes them."""

from collections.abc import Mapping
from typing import Any

from deconditioning.settings.wider import OrNone
from pages.kit.controls import widgets

#: Stands for the family that the model has of itself.
OWN = "own"


def default_words(name: str) -> str:
    """The name of an option that is the model's own: the value comes first, since a narrow box cuts off the end."""
    return f"{name} (default)"


def default_or_choice(setting: OrNone[Any], values: Mapping[str, Any], names: Mapping[str, str], default: Any) -> Any:
    """One of ``values`` by a list whose options have these ``names``; None for the model's ``default``."""
    words = {OWN: default_words(next(names[name] for name in values if values[name] == default)), **names}
    chosen = widgets.selectbox(
        setting.label, [OWN, *values], key=setting.key, format_func=lambda option: words[option],
        help=setting.tooltip(None),
    )  # fmt: skip
    return values.get(chosen)
