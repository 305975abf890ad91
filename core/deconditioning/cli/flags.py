"""Flags of a command from the settings of its study."""

import argparse
from collections.abc import Collection, Mapping
from typing import Any

from deconditioning.cli.options import Options
from deconditioning.errors import InputError
from deconditioning.settings.lazily import Lazily
from deconditioning.settings.setting import Choice, Setting, Switch
from deconditioning.settings.settings import Settings


def add_flags(
    parser: Options, kind: type[Settings], *, names: Collection[str] = (), without: Collection[str] = (),
    several: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None, unset: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Add one flag per setting, with help and default from its declaration.

    Only these ``names``, if any are given, ``without`` these; ``several`` accept one or more values; ``defaults`` of
    the command that differ from the page's, lists for ``several``; a flag in ``unset`` stays None, and its text
    describes what that means (empty: the default's value).
    """
    own, unset = defaults or {}, unset or {}
    for name, setting in kind.declared().items():
        if name not in without and name in (names or kind.declared()):
            default = own.get(name, setting.default)
            values = default if isinstance(default, list) else [default]
            words = unset.get(name) or " ".join(map(str if isinstance(setting, Choice) else setting.text, values))
            flag = setting.flag or name.replace("_", "-")
            parser.add_argument(
                f"--{flag}", dest=flag.replace("-", "_"), help=_help(setting, words, name in several),
                default=None if name in unset else values if name in several else default,
                **_type(setting) | ({"nargs": "+"} if name in several else {}),
            )  # fmt: skip


def _help(setting: Setting[Any], default: str, several: bool) -> str:
    """Title, what it does, the default in brackets."""
    title = setting.label if setting.label != setting.symbol else ""
    words = ": ".join(part for part in (title, setting.about) if part)
    return f"{words}{', one or several' if several else ''} ({default})".replace("%", "%%")


def _type(setting: Setting[Any]) -> dict[str, Any]:
    """How argparse reads its values."""
    if isinstance(setting, Switch):
        return {"action": argparse.BooleanOptionalAction}

    def read(text: str) -> Any:
        try:
            return setting.read(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    metavar = setting.symbol or setting.name.upper()
    if isinstance(setting, Choice) and not isinstance(setting.options, Lazily):
        metavar = f"{{{','.join(setting.options)}}}"
    return {"type": read, "metavar": metavar}
