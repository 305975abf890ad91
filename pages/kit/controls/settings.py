"""A study's settings on its page: widgets, essential labels and presets, all from their declarations."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from deconditioning.settings.setting import Choice, Integer, Linear, Log, Setting, Switch
from deconditioning.settings.settings import Settings
from pages.kit.controls import widgets
from pages.kit.controls.essential import Essential
from pages.kit.record import Control
from pages.kit.state import log_slider

S = TypeVar("S", bound=Settings)
#: Options that stand side by side; more of them are a list or a slider.
FEW = 4


def controls(kind: type[S], titles: Mapping[str, str] | None = None, **known: Any) -> S:
    """Draw the widget of every setting that applies, in the order of their declaration, and return all values.

    ``titles`` replace those of the declarations; what is ``known`` is not drawn, nor is what no page shows.
    """
    values = kind(**known).to_dict()
    for name, setting in kind.declared().items():
        if name not in known and setting.address is not None and setting.applies(values):
            values[name] = control(setting, kind(**values), (titles or {}).get(name))
    return kind(**values)


def control(setting: Setting[Any], now: Any, title: str | None = None) -> Any:
    """Draw the widget of one setting and return its value; ``now`` are the settings for its tooltip."""
    return _drawing(setting)(setting, title or setting.label, setting.tooltip(now))


def _drawing(setting: Setting[Any]) -> Callable[[Any, str, str | None], Any]:
    return next(draw for kind, draw in _WIDGETS.items() if isinstance(setting, kind))


def _whole(setting: Integer, title: str, help: str | None) -> int:
    if setting.offered:
        draw = widgets.segmented_control if len(setting.offered) <= FEW else widgets.select_slider
        found = draw(title, setting.offered, key=setting.key, help=help, **_begin(draw, setting.default))
        return int(setting.default if found is None else found)
    if setting.typed:
        return int(widgets.number_input(title, setting.low, setting.high, setting.default, key=setting.key, help=help))
    return int(widgets.slider(title, setting.low or 0, setting.high or 0, setting.default, setting.step,
                            key=setting.key, help=help))  # fmt: skip


def _begin(draw: Any, value: Any) -> dict[str, Any]:
    """The value to begin with, as this widget calls it."""
    return {"default" if draw is widgets.segmented_control else "value": value}


def _even(setting: Linear, title: str, help: str | None) -> float:
    low, high = setting.low or 0.0, setting.high or 0.0
    return float(widgets.slider(title, low, high, setting.default, setting.step, key=setting.key, help=help))


def _logarithmic(setting: Log, title: str, help: str | None) -> float:
    assert setting.low is not None and setting.high is not None
    return log_slider(title, setting.key, setting.low, setting.high, setting.default, help=help)


def _one_of(setting: Choice, title: str, help: str | None) -> str:
    options, words = list(setting.options), setting.options.__getitem__
    if len(options) > FEW:
        index = options.index(setting.default)
        return str(widgets.selectbox(title, options, index=index, key=setting.key, format_func=words, help=help))
    found = widgets.segmented_control(title, options, default=setting.default, key=setting.key, format_func=words,
                                    help=help)  # fmt: skip
    return str(found or setting.default)


def _yes_or_no(setting: Switch, title: str, help: str | None) -> bool:
    return widgets.toggle(title, setting.default, key=setting.key, help=help)


#: Kind of a setting, the more special ones first → its widget.
_WIDGETS: dict[type[Setting[Any]], Callable[[Any, str, str | None], Any]] = {
    Integer: _whole, Log: _logarithmic, Linear: _even, Choice: _one_of, Switch: _yes_or_no,
}  # fmt: skip


def essentials(*kinds: type[Settings]) -> dict[str, Essential]:
    """The essential controls of a page, by their keys."""
    every = [setting for kind in kinds for setting in kind.declared().values()]
    return {setting.key: Essential(setting.plain, setting.plain_help) for setting in every if setting.plain}


def at(kind: type[Settings], **values: Any) -> Callable[[Mapping[str, Control]], Mapping[str, Any]]:
    """A preset's values by the names of the settings; raises ``InputError`` for what no control can hold."""
    chosen = kind.on_controls(**values)
    return lambda controls: chosen
