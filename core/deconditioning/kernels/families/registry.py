"""All kernel families by name: every class of this folder that has a title."""

import importlib
import inspect
import pkgutil
from pathlib import Path

from deconditioning.errors import InputError
from deconditioning.kernels.families.family import Family


def _find_families() -> dict[str, Family]:
    families: dict[str, Family] = {}
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name == "registry":
            continue
        for kind in vars(importlib.import_module(f"{package}.{module.name}")).values():
            if inspect.isclass(kind) and issubclass(kind, Family) and hasattr(kind, "title"):
                families[kind.name] = kind()
    return dict(sorted(families.items(), key=lambda pair: pair[1].title))


#: Every family by its name, in the order of their titles.
FAMILIES = _find_families()


def family_of(name: str) -> Family:
    """The family with that name. Raises ``InputError`` for an unknown name."""
    if name not in FAMILIES:
        raise InputError(f"The kernel family '{name}' is unknown: choose one of {', '.join(FAMILIES)}.")
    return FAMILIES[name]
