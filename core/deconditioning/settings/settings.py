"""All settings of a study: a class of declarations, an instance of values."""

from collections.abc import Mapping
from dataclasses import Field, field, make_dataclass
from typing import Any, ClassVar, NoReturn, Self

from deconditioning.errors import InputError
from deconditioning.settings.setting import Setting


class Settings:
    """Values of the settings that a subclass declares, the defaults where none is given; they do not change.

    ``prefix`` begins their keys in the address. A subclass has the settings of its base too. Raises ``InputError`` for
    unknown names and for values that are none.
    """

    prefix: ClassVar[str] = ""
    _declared: ClassVar[Mapping[str, Setting[Any]]] = {}
    #: So that `dataclasses.replace`, `asdict` and `fields` take settings as they take other records.
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._declared = {
            **{name: each for base in cls.__bases__ for name, each in getattr(base, "_declared", {}).items()},
            **{name: each for name, each in vars(cls).items() if isinstance(each, Setting)}
        }  # fmt: skip
        values = [(name, object, field(default=each.default)) for name, each in cls._declared.items()]
        cls.__dataclass_fields__ = make_dataclass(cls.__name__, values).__dataclass_fields__  # type: ignore[attr-defined]

    def __init__(self, **values: Any) -> None:
        converted = {name: self.declaration(name).like(value) for name, value in values.items()}
        self.__dict__.update(filled(self._declared, converted))

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"Settings are immutable: make {type(self).__name__}({name}={value!r}, …).")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"

    def to_dict(self) -> dict[str, Any]:
        """All values by name."""
        return dict(self.__dict__)

    def changed(self) -> dict[str, Any]:
        """The values that are not the defaults: a setting that a later version adds leaves it as it is."""
        return {name: value for name, value in self.__dict__.items() if value != self._declared[name].default}

    def replace(self, **values: Any) -> Self:
        """The settings with other values."""
        return type(self)(**self.__dict__ | values)

    @classmethod
    def declared(cls) -> dict[str, Setting[Any]]:
        """The declarations by name, in their order."""
        return dict(cls._declared)

    @classmethod
    def declaration(cls, name: str) -> Setting[Any]:
        """That of a name; raises ``InputError`` with the names that there are."""
        if name not in cls._declared:
            raise InputError(f"There is no setting `{name}`: choose one of {', '.join(cls._declared)}.")
        return cls._declared[name]

    @classmethod
    def by_key(cls) -> dict[str, Setting[Any]]:
        """The declarations of what stands in the address, by their keys."""
        every = [variant for each in cls._declared.values() for variant in each.variants()]
        return {each.address: each for each in reversed(every) if each.address is not None}

    @classmethod
    def from_address(cls, words: Mapping[str, str]) -> Self:
        """The settings that an address says, inside their ends; its other keys are left alone."""
        known = cls.by_key()
        return cls(**{known[key].name: known[key].inside(known[key].read(text)) for key, text in words.items()
                      if key in known})  # fmt: skip

    @classmethod
    def on_controls(cls, **values: Any) -> dict[str, Any]:
        """Key in the address → value, for a preset; ``InputError`` for what no control can hold."""
        now = {name: cls.declaration(name).at(values) for name in values}
        return {each.key: each.inside(values[name]) for name, each in now.items()}

    @classmethod
    def address(cls, **values: Any) -> dict[str, str]:
        """The address that says these values; ``InputError`` for what no control can hold."""
        known = cls.by_key()
        return {key: known[key].text(value) for key, value in cls.on_controls(**values).items()}


def filled(declarations: Mapping[str, Setting[Any]], given: Mapping[str, Any]) -> dict[str, Any]:
    """All values: those ``given``, and else the defaults that hold beside them."""
    result: dict[str, Any] = {}
    for name, setting in declarations.items():
        result[name] = given[name] if name in given else setting.at(result | dict(given)).default
    return result


def schema(title: str, declarations: Mapping[str, Setting[Any]]) -> dict[str, Any]:
    """JSON schema (draft 2020-12) of the values of these settings."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": {name: setting.schema() for name, setting in declarations.items()},
        "additionalProperties": False,
    }
