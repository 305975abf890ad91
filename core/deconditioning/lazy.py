"""Packages that hand out the names of their modules, and import a module when one of its names is first used.

A package whose ``__init__`` imported its modules would break under two visitors of a fresh server: one imports the
package, which waits for the module, the other the module, which waits for its package, and Python ends one of the two
with an error. It also keeps what does not need it (the process that reads uploads) light.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for the package: ``modules`` tells which of its modules holds each name.

    No name may be that of a module: once imported, the module would stand in its place.
    """

    def look_up(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return look_up
