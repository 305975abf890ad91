"""Flags of a command from the settings of its study."""

import argparse
from collections.abc import Collection, Mapping
from typing import Any

from deconditioning.cli.options import Options
from deconditioning.errors import InputError
from deconditioning.settings.lazily import Lazily
from deconditioning.settings.setting import Choice, Setting, Switch
from deconditioning.settings.settings import Settings
from deconditioning.settings.wider import Named, OrEach, OrNone, Several, Text


def add_flags(
    parser: Options, kind: type[Settings], *, names: Collection[str] = (), without: Collection[str] = (),
    several: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None, unset: Mapping[str, str] | None = None, given: bool = False,
) -> None:  # fmt: skip
    """Add one flag per setting, with help and default from its declaration.

    Only these ``names``, if any are given, ``without`` these; ``several`` accept one or more values; ``defaults`` of
    the command that differ from the page's, lists for ``several``; a flag in ``unset`` stays None, and its text
    describes what that means (empty: the default's value). ``given``: every flag stays None unless it is given, its
    value is checked when settings are made of it, and its help is what the setting does, without its title.
    """
    defaults, unset = defaults or {}, unset or {}
    for name, setting in kind.declared().items():
        if name not in without and name in (names or kind.declared()):
            default = defaults.get(name, setting.default)
            values = default if isinstance(default, list) else [default]
            words = unset.get(name) or _words(setting, values)
            flag = setting.flag or name.replace("_", "-")
            open_ = name in unset or (given and name not in defaults)
            each = isinstance(getattr(setting, "of", setting), OrEach)
            several_values = {"nargs": "+"} if name in several or each else {}
            parser.add_argument(
                f"--{flag}", dest=flag.replace("-", "_"), help=_help(setting, words, name in several, given),
                default=None if open_ else values if name in several else default,
                **_type(setting.inner, given) | several_values | ({"action": _OneOrEach} if each else {}),
            )  # fmt: skip


class _OneOrEach(argparse.Action):
    """One value for all, or a list with one for each."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        """Keep the values, of which a single one is no list."""
        setattr(namespace, self.dest, values[0] if len(values) == 1 else values)


def _words(setting: Setting[Any], values: list[Any]) -> str:
    """What holds where the flag is not given."""
    if isinstance(setting, OrNone):
        return setting.none
    return " ".join(map(str if isinstance(setting.inner, Choice | Named) else setting.text, values)) or "none"


def _help(setting: Setting[Any], default: str, several: bool, alone: bool) -> str:
    """Title, what it does (``alone`` where it is declared), the default in brackets."""
    title = setting.label if setting.label != setting.symbol and not (alone and setting.about) else ""
    words = ": ".join(part for part in (title, setting.about) if part)
    return f"{words}{', one or several' if several else ''} ({default})".replace("%", "%%")


def _type(setting: Setting[Any], given: bool) -> dict[str, Any]:
    """How argparse reads its values."""
    if isinstance(setting, Switch):
        return {"action": argparse.BooleanOptionalAction}
    if isinstance(setting, Named | Text):
        return {"metavar": setting.symbol or ("NAME" if isinstance(setting, Named) else "TEXT")}
    if isinstance(setting, Several):
        return {"nargs": "*", "choices": list(setting.options), "metavar": setting.name.upper()}

    def read(text: str) -> Any:
        """A value of the setting; its message becomes argparse's."""
        try:
            return setting.read(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    metavar = setting.symbol or setting.name.upper()
    if isinstance(setting, Choice) and not isinstance(setting.options, Lazily):
        return {"type": read, "metavar": f"{{{','.join(setting.options)}}}"}
    return {"type": (int if setting.whole else float) if given else read, "metavar": metavar}
