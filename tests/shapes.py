"""Shapes as annotations say them, checked at calls of the library in the tests that compute with tensors.

Only what is an array is checked: for the rest a type checker reads the code, and tests give wrong types on purpose. A
call is checked while its arguments' shapes and kinds are new, or nearly so: the check itself takes longer than most
functions.
"""

import dataclasses
import functools
import inspect
from collections import Counter, defaultdict
from collections.abc import Callable
from types import CodeType
from typing import Any

import jaxtyping
from beartype import beartype
from jaxtyping import Bool, Float, Int, Num, Shaped

_ARRAYS = tuple(f"{kind.__name__}[" for kind in (Bool, Float, Int, Num, Shaped))
_jaxtyped = jaxtyping.jaxtyped
#: How many calls with arguments of the same shapes and kinds are checked: what they return may differ all the same.
CHECKED = 4
_calls: defaultdict[CodeType, Counter[Any]] = defaultdict(Counter)


def install(package: str) -> None:
    """Check the calls of a package, of which nothing may have been imported yet."""
    jaxtyping.jaxtyped = sparing
    jaxtyping.install_import_hook(package, f"{__name__}.checked")


def checked(function: Any) -> Any:
    """The function with its arrays checked; as it is where it has none."""
    said = function.__annotations__
    function.__annotations__ = {name: hint for name, hint in said.items() if _is_of_arrays(hint)}
    return beartype(function) if function.__annotations__ else function


def sparing(*, typechecker: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """In place of ``jaxtyped``, which the import hook puts on every function and class."""

    def decorated(what: Any) -> Any:
        if inspect.isclass(what):
            if dataclasses.is_dataclass(what) and "__init__" in vars(what):
                what.__init__ = decorated(what.__init__)
            return what
        if not inspect.isfunction(what) or not any(map(_is_of_arrays, what.__annotations__.values())):
            return what
        return _while_new(what, typechecker)

    return decorated


def _while_new(function: Callable[..., Any], typechecker: Callable[[Any], Any]) -> Callable[..., Any]:
    whole, calls = None, _calls[function.__code__]

    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        nonlocal whole
        key = (*map(_kind, arguments), *((name, _kind(value)) for name, value in named.items()))
        if calls[key] >= CHECKED or jaxtyping.config.jaxtyping_disable:
            return function(*arguments, **named)
        calls[key] += 1
        whole = whole or _jaxtyped(function, typechecker=typechecker)
        return whole(*arguments, **named)

    return called


def _kind(value: Any) -> Any:
    """What the check sees of an argument: shape and kind of an array, its size of a whole number, else its class."""
    if isinstance(shape := getattr(value, "shape", None), tuple):
        return shape, getattr(value, "dtype", None)
    if isinstance(value, tuple | list):
        return tuple(map(_kind, value[:9])), len(value)
    return value if isinstance(value, int) else type(value)


def _is_of_arrays(hint: Any) -> bool:
    text = hint if isinstance(hint, str) else f"{getattr(hint, '__name__', '')} {hint}"
    return any(kind in text for kind in _ARRAYS)
