"""Typed functions: right values, and a sentence for everything that is not one."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from deconditioning.errors import InputError
from deconditioning.expressions import FUNCTIONS, Expression

AT = np.linspace(-2, 3, 11)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("3*sin(y)*cos(y/4) + y/4", 3 * np.sin(AT) * np.cos(AT / 4) + AT / 4),
        ("-y^2 + 2**3", -(AT**2) + 8),
        ("sin(2*y) + 0.5*y*cos(y)", np.sin(2 * AT) + 0.5 * AT * np.cos(AT)),
        ("pi*e", np.full(11, math.pi * math.e)),
        (" exp(-abs(y)) ", np.exp(-np.abs(AT))),
        ("+1e-3 - +y", 1e-3 - AT),
    ],
)
def test_values_are_those_of_numpy(text, expected):
    assert np.allclose(Expression(text, "y")(AT), expected, atol=1e-14)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_callable(name):
    assert np.isfinite(Expression(f"{name}(y)", "y")(np.array([0.5, 1.5]))).all()


@pytest.mark.parametrize(
    "text, word",
    [
        ("", "empty"), ("   ", "empty"), ("2y", "cannot be read"), ("sin(y", "cannot be read"),
        ("y+*2", "cannot be read"),
        ("x+1", "variable is y"), ("sin", "write sin"), ("__import__('os')", "not allowed"), ("open(y)", "not allowed"),
        ("y.real", "other than"), ("sin(y, 2)", "other than"), ("[1,2]", "other than"), ("lambda: 0", "other than"),
        ("y if y else 1", "other than"), ("'a'", "other than"), ("True", "other than"), ("y and 1", "other than"),
        ("(y:=2)", "other than"), ("y[0]", "other than"), ("sin(y)(y)", "other than"), ("1j*y", "other than"),
        ("y//2", "other than"), ("~y", "other than"), ("y" + "+1" * 100, "characters"),
        ("-" * 60 + "y", "nested"), ("y\0", "cannot be read"), ("sin(*y)", "other than"),
    ],
)  # fmt: skip
def test_anything_else_gets_a_sentence(text, word):
    with pytest.raises(InputError, match=word):
        Expression(text, "y")


@pytest.mark.parametrize("text", ["log(y)", "1/y", "sqrt(y)", "9^9^9^9", "exp(exp(y*9))", "0/0"])
def test_values_that_are_no_numbers_are_refused_when_asked_for(text):
    with pytest.raises(InputError, match="not a finite number"):
        Expression(text, "y")(np.array([-1.0, 0.0, 2.0]))


def test_brackets_alone_make_no_depth():
    assert np.array_equal(Expression("(" * 80 + "y" + ")" * 80, "y")(AT), AT)


@given(some.text(max_size=40))
def test_no_text_does_anything_but_give_numbers_or_a_sentence(text):
    try:
        assert Expression(text, "y")(AT).shape == AT.shape
    except InputError as error:
        assert len(str(error)) > 20


def test_expressions_are_read_in_many_threads_at_once() -> None:
    """As visitors do who move sliders at the same moment."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            texts = [f"{n} * x + sin(x ** 2) / (1 + exp(-x * {n}))" for n in range(3000)]
            found = list(threads.map(lambda text: float(Expression(text, "x")(np.zeros(1))[0]), texts))
    finally:
        sys.setswitchinterval(before)
    assert found == [0.0] * len(texts)
