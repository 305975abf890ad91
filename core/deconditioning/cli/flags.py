"""Flags of a command from the settings of its study."""

import argparse
from collections.abc import Collection, Mapping
from typing import Any

from deconditioning.cli.options import Options
from deconditioning.errors import InputError
from deconditioning.settings.setting import Choice, Setting, Switch
from deconditioning.settings.settings import Settings


def add_flags(
    parser: Options, kind: type[Settings], *, without: Collection[str] = (), several: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None, unset: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Add one flag per setting, with help and default from its declaration.

    ``without`` these settings; ``several`` accept one or more values; ``defaults`` of the command that differ from the
    page's; a flag in ``unset`` stays None, and its text describes what that means.
    """
    own, unset = defaults or {}, unset or {}
    for name, setting in kind.declared().items():
        if name not in without:
            default = own.get(name, setting.default)
            words = unset.get(name, setting.text(default) if not isinstance(setting, Choice) else default)
            more = _type(setting)
            if name in several:
                more |= {"nargs": "+"}
                default = [default]
            parser.add_argument(
                f"--{name.replace('_', '-')}", dest=name, default=None if name in unset else default,
                help=_help(setting, words, name in several), **more,
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
    if isinstance(setting, Choice):
        return {"choices": list(setting.options)}

    def read(text: str) -> Any:
        try:
            return setting.read(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return {"type": read, "metavar": setting.symbol or setting.name.upper()}
