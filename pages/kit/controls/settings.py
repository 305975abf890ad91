"""A study's settings on its page: widgets, essential labels and presets, all from their declarations."""

from collections.abc import Callable, Mapping
from os.path import commonprefix
from typing import Any, TypeVar

import streamlit as st

from deconditioning.settings.setting import Choice, Integer, Linear, Log, Setting, Switch
from deconditioning.settings.settings import Settings
from deconditioning.settings.wider import OrNone
from deconditioning.wording import number
from pages.kit.controls import widgets
from pages.kit.controls.address import correct
from pages.kit.controls.essential import Essential
from pages.kit.record import Control
from pages.kit.state import log_slider, show_as

S = TypeVar("S", bound=Settings)
#: Options that stand side by side; more of them are a list or a slider.
FEW = 4


def controls(kind: type[S], instead: Mapping[str, Setting[Any]] | None = None, **known: Any) -> S:
    """Draw the widget of every setting that applies, in the order of their declaration, and return all values.

    Settings ``instead`` of the declared ones, by name, are copies with another title, default or key; what is ``known``
    is not drawn, nor is what no page shows.
    """
    instead = instead or {}
    values = {name: each.default for name, each in instead.items()} | known
    now = kind(**values)
    for name, setting in kind.declared().items():
        drawn = setting.address is not None and (setting.stays or setting.applies(now.to_dict()))
        if drawn and name not in known:
            values[name] = control(instead.get(name, setting), now)
            if values[name] != getattr(now, name):  # what follows may have other defaults beside it
                now = kind(**values)
    return now


def control(setting: Setting[Any], now: Any = None, **more: Any) -> Any:
    """Draw the widget of one setting, as it is at the settings ``now``, and return its value.

    ``more`` goes to the widget, such as its ``place`` on the page.
    """
    draw = next(each for kind, each in _WIDGETS.items() if isinstance(setting, kind))
    values = {} if now is None else now.to_dict()
    more = {"help": setting.tooltip(now), **more}
    return draw(setting.at(values), more if setting.applies(values) else more | {"disabled": True})


def _whole(setting: Integer, more: dict[str, Any]) -> int:
    if setting.offered:
        buttons = setting.widget == "buttons" or (not setting.widget and len(setting.offered) <= FEW)
        draw = widgets.segmented_control if buttons else widgets.select_slider
        begin = {"default" if buttons else "value": setting.default}
        result = draw(setting.label, setting.offered, key=setting.key, format_func=setting.text, **more, **begin)
        if not buttons:  # the address has no commas
            show_as(setting.key, {setting.text(each): f"{each:,}" for each in setting.offered})
        return int(setting.default if result is None else result)
    if setting.typed:
        ends, step = (setting.low, setting.high), setting.step
        return int(widgets.number_input(setting.label, *ends, setting.default, step=step, key=setting.key, **more))
    ends = setting.low or 0, setting.high or 0
    return int(widgets.slider(setting.label, *ends, setting.default, setting.step, key=setting.key, **more))


def _even(setting: Linear, more: dict[str, Any]) -> float:
    number = int if isinstance(setting.step, int) else float
    ends = number(setting.low or 0), number(setting.high or 0)
    return float(widgets.slider(setting.label, *ends, number(setting.default), setting.step, key=setting.key, **more))


def _logarithmic(setting: Log, more: dict[str, Any]) -> float:
    assert setting.low is not None and setting.high is not None
    return log_slider(setting.label, setting.key, setting.low, setting.high, setting.default, **more)


def _one_of(setting: Choice, more: dict[str, Any]) -> str:
    options, words = list(setting.options), setting.options.__getitem__
    _in_any_case(setting)
    if setting.widget == "menu" or (not setting.widget and len(options) > FEW):
        index = options.index(setting.default)
        return str(widgets.selectbox(setting.label, options, index=index, key=setting.key, format_func=words, **more))
    result = widgets.segmented_control(
        setting.label, options, default=setting.default, key=setting.key, format_func=words, **more
    )
    return str(result or setting.default)


def _in_any_case(setting: Choice) -> None:
    """Let an address name an option with other capitals, as those of earlier versions did."""
    asked = st.query_params.get_all(setting.key)
    same = [word for word in setting.options.values() if [word.casefold()] == [each.casefold() for each in asked]]
    if same and asked != same and setting.key not in st.session_state:
        correct(setting.key, same)


def _yes_or_no(setting: Switch, more: dict[str, Any]) -> bool:
    draw = widgets.checkbox if setting.box else widgets.toggle
    return draw(setting.label, setting.default, key=setting.key, **more)


def _open_number(setting: OrNone[Any], more: dict[str, Any]) -> Any:
    """A number to type; None, which the placeholder explains, until one is typed."""
    of, key = setting.of, setting.key
    usual = f"{number(of.default, 6)} (default)"
    return widgets.number_input(setting.label, of.low, of.high, None, key=key, placeholder=usual, **more)


#: Kind of a setting, the more special ones first → its widget.
_WIDGETS: dict[type[Setting[Any]], Callable[[Any, dict[str, Any]], Any]] = {
    Integer: _whole, Log: _logarithmic, Linear: _even, Choice: _one_of, Switch: _yes_or_no,
    OrNone: _open_number,
}  # fmt: skip


def essentials(*kinds: type[Settings]) -> dict[str, Essential]:
    """The essential controls of a page, by their keys."""
    every = [setting for kind in kinds for setting in kind.declared().values()]
    return {_pattern(setting): Essential(setting.plain, setting.plain_help) for setting in every if setting.plain}


def _pattern(setting: Setting[Any]) -> str:
    """Its key, with a star for what differs between its variants."""
    keys = {variant.key for variant in setting.variants()}
    return keys.pop() if len(keys) == 1 else f"{commonprefix(sorted(keys))}*"  # noqa: RUF071


def at(kind: type[Settings], **values: Any) -> Callable[[Mapping[str, Control]], Mapping[str, Any]]:
    """A preset's values by the names of the settings; raises ``InputError`` for what no control can hold."""
    chosen = kind.on_controls(**values)
    return lambda controls: chosen
