"""Kernel families, one class each; every module of this folder that holds one adds it to ``FAMILIES``."""

import importlib
import inspect
import pkgutil

from core.errors import InputError
from core.kernels.families.family import Family


def _found() -> dict[str, Family]:
    families: dict[str, Family] = {}
    for module in pkgutil.iter_modules(__path__):
        for kind in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if inspect.isclass(kind) and issubclass(kind, Family) and hasattr(kind, "title"):
                families[kind.name] = kind()
    return dict(sorted(families.items(), key=lambda pair: pair[1].title))


#: Every family by its name, in the order of their titles.
FAMILIES = _found()


def family_of(name: str) -> Family:
    """The family of that name. Raises ``InputError`` where there is none."""
    if name not in FAMILIES:
        raise InputError(f"The kernel family '{name}' is unknown: choose one of {', '.join(FAMILIES)}.")
    return FAMILIES[name]
