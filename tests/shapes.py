"""Shapes as annotations say them, checked at every call of `core` in the tests that compute with tensors.

Only what is an array is checked: for the rest a type checker reads the code, and tests give wrong types on purpose.
"""

from typing import Any

from beartype import beartype
from jaxtyping import Bool, Float, Int, Num, Shaped

_ARRAYS = tuple(f"{kind.__name__}[" for kind in (Bool, Float, Int, Num, Shaped))


def checked(function: Any) -> Any:
    """The function with its arrays checked; as it is where it has none."""
    said = function.__annotations__
    function.__annotations__ = {name: hint for name, hint in said.items() if _is_of_arrays(hint)}
    return beartype(function) if function.__annotations__ else function


def _is_of_arrays(hint: Any) -> bool:
    text = hint if isinstance(hint, str) else f"{getattr(hint, '__name__', '')} {hint}"
    return any(kind in text for kind in _ARRAYS)
