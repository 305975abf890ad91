"""A setting of a study, declared once: its names, its default, its ends, and where it can be changed.

Widgets, flags, sweep axes, addresses, checks of presets and JSON schemas are all read off these declarations.
"""

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, overload

from deconditioning.errors import InputError
from deconditioning.wording import slider_text

_T = TypeVar("_T")
#: A tooltip, or a function that makes one of the settings drawn so far (an instance of their class).
_Help = str | Callable[[Any], str]


@dataclass(eq=False)
class Setting(Generic[_T]):
    """A class attribute of `Settings`; on an instance it reads as its value.

    Parameters
    ----------
    title : in the field's terms.
    default : the value to begin with.
    symbol : the letter that stands for it in formulas.
    unit : follows the title after a comma.
    about : what it does: the help of its flag, its description in the schema.
    help : the tooltip on a page.
    plain, plain_help : label and tooltip in plain words; a setting with them is essential.
    low, high : the ends of its slider and of a sweep; a command may go beyond them.
    address : its key in the address, by default ``prefix-name``; None if no page shows it.
    sweep : whether it can be an axis of a sweep, with logarithmic spacing where ``log``.
    first : 1, 2, … for those that a sweep offers first, in this order.
    draws : whether the sample that is drawn depends on it; a sweep changes such a setting least often.
    only : values of other settings with which it means something; settings that are not there restrict nothing.
    stays : a page that shows it where it means nothing shows it disabled, rather than hiding it.
    otherwise : other setting → its values → what is declared otherwise there, such as another ``default``.
    flag : the name of its flag where that is another than its own.
    """

    title: str
    default: _T
    _: KW_ONLY
    symbol: str = ""
    unit: str = ""
    about: str = ""
    help: _Help = ""
    plain: str = ""
    plain_help: str = ""
    low: float | None = None
    high: float | None = None
    address: str | None = ""
    sweep: bool = True
    log: bool = False
    first: int = 0
    draws: bool = False
    only: Mapping[str, Container[Any]] = field(default_factory=dict)
    stays: bool = False
    otherwise: Mapping[str, Mapping[Any, Mapping[str, Any]]] = field(default_factory=dict)
    flag: str = ""
    name: str = field(default="", init=False)

    whole: ClassVar[bool] = False
    json_type: ClassVar[str] = "number"

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name
        if self.address == "":
            self.address = "-".join(part for part in (owner.prefix, name.replace("_", "-")) if part)

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | _T:
        """The declaration on the class; instances hold their values."""
        return self if instance is None else self.default

    @property
    def inner(self) -> "Setting[Any]":
        """The declaration of a single value: itself, or what `OrNone` and `OrDict` surround."""
        return self

    @property
    def label(self) -> str:
        """Title and unit."""
        return f"{self.title}, in {self.unit}" if self.unit else self.title

    @property
    def swept(self) -> bool:
        """Whether it can be the axis of a sweep."""
        return self.sweep and self.low is not None

    @property
    def key(self) -> str:
        """Its key in the address; only of one that a page shows."""
        assert self.address is not None, self.name
        return self.address

    def copy(self, **changes: Any) -> Self:
        """The same setting elsewhere: with another default, other ends, another key in the address."""
        result = replace(self, **changes)
        result.name = self.name
        return result

    def applies(self, values: Mapping[str, Any]) -> bool:
        """Whether it means something at these values of other settings."""
        return all(values[other] in allowed for other, allowed in self.only.items() if other in values)

    def at(self, values: Mapping[str, Any]) -> Self:
        """As it is at these values of other settings."""
        changes = [each[values[other]] for other, each in self.otherwise.items() if values.get(other) in each]
        return self.copy(**{name: value for change in changes for name, value in change.items()}) if changes else self

    def variants(self) -> list[Self]:
        """As it is declared, and as it is at other values of other settings."""
        return [self, *(self.copy(**change) for each in self.otherwise.values() for change in each.values())]

    def tooltip(self, values: Any) -> str | None:
        """The tooltip at these settings; None if it has none."""
        return (self.help if isinstance(self.help, str) else self.help(values)) or None

    def like(self, value: Any) -> _T:
        """The value in this setting's type; raises ``InputError`` for anything that is none of its values."""
        raise NotImplementedError

    def refused(self, value: Any, expected: str = "") -> InputError:
        """The sentence for a value that is refused."""
        shown = f"a number of {value.bit_length()} bits" if _is_huge(value) else repr(value)
        return InputError(f"`{self.name}` is {shown}: give {expected or f'a value such as {self.default!r}'}.")

    def inside(self, value: Any) -> _T:
        """The value in this setting's type, checked against its ends.

        Raises ``InputError`` as ``like``, and for a number outside ``low`` to ``high``.
        """
        result = self.like(value)
        if self.low is not None and self.high is not None and not self.low <= float(value) <= self.high:
            raise self.refused(result, f"{self.low:g} to {self.high:g}")
        return result

    def text(self, value: _T) -> str:
        """A value as an address says it."""
        return str(value)

    def read(self, text: str) -> _T:
        """The value that an address says; raises ``InputError`` for words that say none."""
        try:
            number = float(text)
        except ValueError:
            raise self.refused(text) from None
        return self.like(number)

    def schema(self) -> dict[str, Any]:
        """JSON schema of its values; ``ends`` are those of its slider."""
        result = {"title": self.label, "description": self.about, "type": self.json_type, "default": self.default}
        ends = {"ends": [self.low, self.high]} if self.low is not None else {}
        return {name: value for name, value in (result | ends).items() if value != ""}


def _is_huge(value: Any) -> bool:
    return isinstance(value, int) and value.bit_length() > 100


def _is_number(value: Any) -> bool:
    """Whether it is a finite number, numpy's among them."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


@dataclass(eq=False)
class Integer(Setting[int]):
    """A whole number of at least ``least``.

    ``step`` of its slider; ``offered``: a page offers these values alone, as "buttons" or on a "slider" where the
    ``widget`` says so, ``grouped`` with commas between thousands; ``typed``: it is typed, as a seed is, not slid.
    """

    step: int = 1
    least: int | None = None
    offered: Sequence[int] = ()
    widget: Literal["", "buttons", "slider"] = ""
    grouped: bool = False
    typed: bool = False

    whole: ClassVar[bool] = True
    json_type: ClassVar[str] = "integer"

    def like(self, value: Any) -> int:
        """The value as an integer; 3.0 counts as 3.

        Raises ``InputError`` for anything else, and below ``least``.
        """
        if not _is_number(value) or value != int(value):
            raise self.refused(value)
        if self.least is not None and value < self.least:
            raise self.refused(int(value), f"at least {self.least}")
        return int(value)

    def text(self, value: int) -> str:
        """Its digits."""
        return f"{value:,}" if self.grouped else str(value)

    def read(self, text: str) -> int:
        """From digits, with or without commas."""
        return super().read(text.replace(",", "") if self.grouped else text)

    def schema(self) -> dict[str, Any]:
        """With the least value that is allowed."""
        return super().schema() | ({} if self.least is None else {"minimum": self.least})


@dataclass(eq=False)
class Linear(Setting[float]):
    """A number on a slider with even steps; where the ``step`` is an ``int`` the slider shows whole numbers."""

    step: float | None = None

    def text(self, value: float) -> str:
        """As its slider says it."""
        return str(int(value) if isinstance(self.step, int) else value)

    def like(self, value: Any) -> float:
        """The value as a float; ``InputError`` for anything but a finite number."""
        if not _is_number(value):
            raise self.refused(value)
        return float(value)


@dataclass(eq=False)
class Log(Linear):
    """A positive number on a slider over orders of magnitude."""

    log: bool = True

    def refused(self, value: Any, expected: str = "") -> InputError:
        """The sentence for a value that is refused."""
        return super().refused(value, expected or f"a positive number such as {self.default!r}")

    def around(self, middle: float, address: str) -> Self:
        """The same number in other units: its default is ``middle``, its ends as many orders of magnitude away."""
        assert self.low is not None and self.high is not None
        ends = (middle * 10 ** round(math.log10(end / self.default), 1) for end in (self.low, self.high))
        low, high = (float(f"{end:.3g}") for end in ends)
        return self.copy(default=float(f"{middle:.3g}"), low=low, high=high, address=address)

    def text(self, value: float) -> str:
        """To four digits."""
        return slider_text(value)


@dataclass(eq=False)
class Choice(Setting[str]):
    """One of several ``options``: value → what a page calls it, which an address says too.

    A page shows few of them as "buttons" and more as a "menu", or whichever the ``widget`` names.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    widget: Literal["", "buttons", "menu"] = ""

    json_type: ClassVar[str] = "string"

    def like(self, value: Any) -> str:
        """The value, which is a key of ``options``; ``InputError`` for any other."""
        if not isinstance(value, str) or value not in self.options:
            offered = " or ".join(map(repr, self.options))
            raise InputError(f"The value {value!r} of `{self.name}` is unknown: choose {offered}.")
        return value

    def text(self, value: str) -> str:
        """What the page calls it."""
        return self.options[value]

    def read(self, text: str) -> str:
        """By what the page calls it."""
        return self.like(next((value for value, words in self.options.items() if words == text), text))

    def schema(self) -> dict[str, Any]:
        """With the values that there are."""
        return super().schema() | {"enum": list(self.options)}


@dataclass(eq=False)
class Switch(Setting[bool]):
    """Yes or no; ``box``: a box to tick rather than a switch."""

    box: bool = False

    json_type: ClassVar[str] = "boolean"

    def like(self, value: Any) -> bool:
        """The value, which is a boolean; ``InputError`` for any other type."""
        if not isinstance(value, bool):
            raise self.refused(value)
        return value

    def text(self, value: bool) -> str:
        """As an address says it."""
        return "true" if value else "false"

    def read(self, text: str) -> bool:
        """From "true" or "false"."""
        return self.like({"true": True, "false": False}.get(text.lower(), text))
