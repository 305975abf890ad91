"""Declarations of values that are no single number: a name from a list, several names, None, a whole description."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self, TypeVar

from deconditioning.errors import InputError
from deconditioning.settings.setting import Choice, Setting

_T = TypeVar("_T")


@dataclass(eq=False)
class Text(Setting[str]):
    """A line of text; a page may offer some."""

    offered: Sequence[str] = ()

    json_type: ClassVar[str] = "string"

    def like(self, value: Any) -> str:
        """The value, which is a string; ``InputError`` for any other type."""
        if not isinstance(value, str):
            raise self.refused(value, "a text")
        return value

    def read(self, text: str) -> str:
        """The text itself."""
        return text


@dataclass(eq=False)
class Whole(Setting[dict[str, Any]]):
    """A whole description as plain data, which is checked where it is read."""

    json_type: ClassVar[str] = "object"

    def like(self, value: Any) -> dict[str, Any]:
        """The value as a dictionary; ``InputError`` for anything but a mapping."""
        if not isinstance(value, Mapping):
            raise self.refused(value, "a dictionary")
        return dict(value)


@dataclass(eq=False)
class Named(Choice):
    """A name from a list, which is looked at only for another one than the default."""

    def like(self, value: Any) -> str:
        """The value, which is the default or a key of ``options``; ``InputError`` for any other."""
        if not isinstance(value, str):
            raise self.refused(value)
        if value != self.default and value not in self.options:
            names = ", ".join(self.options)
            raise InputError(f"The {self.title.lower()} '{value}' is unknown: choose one of {names}.")
        return value


@dataclass(eq=False)
class Several(Setting[tuple[str, ...]]):
    """Any of the ``options``, value → what a page calls it; as plain data a list."""

    options: Mapping[str, str] = field(default_factory=dict)

    json_type: ClassVar[str] = "array"

    def like(self, value: Any) -> tuple[str, ...]:
        """The values as a tuple without repeats, in their order.

        Raises ``InputError`` for anything but a list, and for a value that is none of the ``options``.
        """
        if isinstance(value, str) or not isinstance(value, list | tuple):
            raise self.refused(value, f"a list of {' and '.join(self.options)}")
        unknown = [each for each in value if each not in self.options]
        if unknown:
            raise InputError(f"`{self.name}` holds {unknown[0]!r}: choose among {', '.join(self.options)}.")
        return tuple(dict.fromkeys(value))

    def schema(self) -> dict[str, Any]:
        """A list of options."""
        result = super().schema() | {"items": {"enum": list(self.options)}}
        return result | {"default": list(self.default)}


class _Around(Setting[Any]):
    """A declaration that surrounds another one, with the same names and ends."""

    of: Setting[Any]

    def _surround(self, of: Setting[Any], default: Any) -> None:
        self.of = of
        same = [each.name for each in fields(Setting) if each.init and each.name != "default"]
        Setting.__init__(self, default=default, **{name: getattr(of, name) for name in same})

    def __set_name__(self, owner: Any, name: str) -> None:
        super().__set_name__(owner, name)
        self.of.__set_name__(owner, name)

    @property
    def inner(self) -> Setting[Any]:
        """What it surrounds at last."""
        return self.of.inner

    @property
    def whole(self) -> bool:  # type: ignore[override]
        """Whether its numbers are whole."""
        return self.of.whole

    def copy(self, **changes: Any) -> Self:
        """The same with these changes, inside too; but for the default, which is its own."""
        result = copy(self)
        result.__dict__.update(changes)
        result.of = self.of.copy(**{name: value for name, value in changes.items() if name != "default"})
        return result

    def text(self, value: Any) -> str:
        """As what it surrounds has it."""
        return self.of.text(value)

    def read(self, text: str) -> Any:
        """As what it surrounds has it."""
        return self.of.read(text)

    def _or(self, other: str) -> dict[str, Any]:
        """Schema of what it surrounds, or of a value of another type."""
        schema = self.of.schema()
        about = {name: schema.pop(name) for name in ("title", "description", "ends") if name in schema}
        schema.pop("default", None)
        return about | {"anyOf": [schema, {"type": other}], "default": self.default}


class OrNone(_Around, Setting[_T | None]):
    """A setting that may be left open: None, the default, stands for what ``none`` says.

    The default of what it surrounds is the usual value that then holds.
    """

    def __init__(self, of: Setting[_T], none: str) -> None:
        self._surround(of, None)
        self.none = none

    def usually(self, value: _T | None) -> Self:
        """The same where another value holds if it is left open."""
        result = self.copy()
        result.of = self.of.copy(default=value)
        return result

    def like(self, value: Any) -> _T | None:
        """None, or a value of what it surrounds."""
        return None if value is None else self.of.like(value)

    def inside(self, value: Any) -> _T | None:
        """None, or a value of what it surrounds inside its ends."""
        return None if value is None else self.of.inside(value)

    def schema(self) -> dict[str, Any]:
        """That of what it surrounds, or null."""
        return self._or("null")


class OrDict(_Around):
    """A setting, or in its place a whole description of which it is a short form, as a dictionary."""

    def __init__(self, of: Setting[Any]) -> None:
        self._surround(of, of.default)

    def like(self, value: Any) -> Any:
        """A dictionary as it is, or a value of what it surrounds."""
        return dict(value) if isinstance(value, Mapping) else self.of.like(value)

    def schema(self) -> dict[str, Any]:
        """That of what it surrounds, or an object."""
        return self._or("object")


class OrEach(_Around):
    """A setting that several things have, or in its place a list with one value for each of them."""

    def __init__(self, of: Setting[Any]) -> None:
        self._surround(of, of.default)

    def like(self, value: Any) -> Any:
        """A tuple of values of what it surrounds, or one of them, which a list of one is too."""
        if isinstance(value, list | tuple) and len(value) == 1:
            value = value[0]
        several = isinstance(value, list | tuple)
        return tuple(self.of.like(each) for each in value) if several else self.of.like(value)

    def inside(self, value: Any) -> Any:
        """The same inside its ends."""
        several = isinstance(value, list | tuple)
        return tuple(self.of.inside(each) for each in value) if several else self.of.inside(value)

    def schema(self) -> dict[str, Any]:
        """That of what it surrounds, or an array."""
        return self._or("array")
