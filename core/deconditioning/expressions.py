"""Functions of one variable typed by a user: parsed into a tree of allowed operations, never evaluated as code."""

import ast
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.errors import InputError

#: Names that may be called.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "abs": np.abs,
    "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "arctan": np.arctan, "sign": np.sign, "floor": np.floor,
}  # fmt: skip
_CONSTANTS = {"pi": math.pi, "e": math.e}
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power,
}  # fmt: skip
_UNARY: dict[type, Callable[[Any], Any]] = {ast.UAdd: np.positive, ast.USub: np.negative}
_LONGEST, _DEEPEST = 200, 30
#: Python 3.11 keeps one depth of syntax trees for all threads: two that parse at once can fail with a SystemError.
_PARSING = threading.Lock()


@dataclass(frozen=True)
class Expression:
    """``text``, such as ``3*sin(y)*cos(y/4) + y/4``, as a function of ``variable``.

    ``^`` and ``**`` are powers; ``FUNCTIONS``, ``pi`` and ``e`` may be named. Raises ``InputError`` for anything else.
    """

    text: str
    variable: str

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InputError(
                f"The expression is empty: write a function of {self.variable}, such as sin({self.variable})."
            )
        if len(self.text) > _LONGEST:
            raise InputError(f"The expression has {len(self.text)} characters; the limit is {_LONGEST}: shorten it.")
        self._check(self._tree(), 0)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The function at ``values``, same shape; raises ``InputError`` if it is not a finite number."""
        at = np.asarray(values, dtype=float)
        with np.errstate(all="ignore"):
            result = np.broadcast_to(np.asarray(self._value(self._tree(), at), dtype=float), at.shape).copy()
        bad = ~np.isfinite(result)
        if bad.any():
            raise InputError(
                f"'{self.text}' is not a finite number at {self.variable} = {at[bad].flat[0]:.3g}: choose a function "
                "that is defined wherever the data lie."
            )
        return result

    def _tree(self) -> ast.expr:
        try:
            with _PARSING:
                return ast.parse(self.text.strip().replace("^", "**"), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise InputError(
                f"'{self.text}' cannot be read: write a function of {self.variable} such as "
                f"sin(2*{self.variable}) + {self.variable}/4, with * between factors."
            ) from None

    def _check(self, node: ast.expr, depth: int) -> None:
        if depth > _DEEPEST:
            raise InputError(f"'{self.text}' is nested more than {_DEEPEST} deep: simplify it.")
        for child in self._children(node):
            self._check(child, depth + 1)

    def _children(self, node: ast.expr) -> list[ast.expr]:
        """What an allowed node is made of; ``InputError`` for one that is not."""
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return [node.left, node.right]
        if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            return [node.operand]
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return []
        if isinstance(node, ast.Name):
            if node.id == self.variable or node.id in _CONSTANTS:
                return []
            hint = f"write {node.id}({self.variable})" if node.id in FUNCTIONS else f"the variable is {self.variable}"
            raise InputError(
                f"'{node.id}' is unknown in '{self.text}': {hint}; {', '.join(FUNCTIONS)}, pi and e are allowed too."
            )
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in FUNCTIONS:
                raise InputError(f"'{node.func.id}' is not allowed in '{self.text}': choose {', '.join(FUNCTIONS)}.")
            if len(node.args) == 1 and not node.keywords:
                return list(node.args)
        raise InputError(
            f"'{self.text}' contains something other than numbers, {self.variable}, + - * / ^ and functions of "
            "one argument: remove it."
        )

    def _value(self, node: ast.expr, at: np.ndarray) -> Any:
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](self._value(node.left, at), self._value(node.right, at))
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](self._value(node.operand, at))
        if isinstance(node, ast.Constant):
            return np.float64(float(node.value))  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            return at if node.id == self.variable else np.float64(_CONSTANTS[node.id])
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return FUNCTIONS[node.func.id](self._value(node.args[0], at))
