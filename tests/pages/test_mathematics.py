"""Every formula of the pages reaches Streamlit in the form that it displays."""

import ast
import re
from pathlib import Path

import pytest
import streamlit as st

from pages.kit.layout.mathematics import in_parts

PAGES = Path(__file__).resolve().parents[2] / "pages"
MODULES = {path: ast.parse(path.read_text()) for path in sorted(PAGES.rglob("*.py")) if path.name != "mathematics.py"}


def text_of(node: ast.AST) -> str | None:
    """A literal as the page would say it, with x for every value that is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return None


def written(tree: ast.AST) -> list[str]:
    """Literals with mathematics in them; the pieces of an f-string are not counted again."""
    found, inside = [], set()
    for node in ast.walk(tree):
        inside |= {id(part) for part in ast.walk(node)} - {id(node)} if isinstance(node, ast.JoinedStr) else set()
        text = None if id(node) in inside else text_of(node)
        found += [text] if text is not None and text.count("$") > 1 else []
    return found


EQUATIONS = [
    pytest.param(text, id=f"{path.parent.name}-{path.stem}-{i}")
    for path, t in MODULES.items()
    for i, text in enumerate(written(t))
]


@pytest.mark.parametrize("text", EQUATIONS)
def test_every_equation_of_the_pages_is_displayed(text: str) -> None:
    parts = in_parts(text)
    displayed = [part for part in parts if part.startswith("$$")]
    assert len(displayed) == text.count("$$") / 2
    for part in displayed:
        assert [line for line in part.split("\n") if "$" in line] == ["$$"] * part.count("$$")
        for formula in part.split("$$")[1::2]:
            assert formula.strip() and "\n\n" not in formula
            assert formula.replace(r"\{", "").count("{") == formula.replace(r"\}", "").count("}")
            assert formula.count(r"\left") == formula.count(r"\right"), formula
            assert formula.count(r"\begin") == formula.count(r"\end"), formula
    for part in parts:
        if not part.startswith("$$"):
            assert "$$" not in part and part.count("$") % 2 == 0
            assert not re.search(r"\\[a-z]", re.sub(r"\$.+?\$", "", part, flags=re.DOTALL)), "TeX outside of dollars"


def test_the_pages_have_equations() -> None:
    assert len(EQUATIONS) >= 14


def test_no_page_hands_mathematics_to_streamlit_itself() -> None:
    wrong = [
        f"{path.name}:{call.lineno}"
        for path, tree in MODULES.items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and hasattr(st, getattr(call.func, "attr", ""))
        and any("$" in (text_of(node) or "") for node in ast.walk(call))
    ]
    assert not wrong, f"give equations to layout.explain: {wrong}"


def test_prose_and_formulas_alternate_in_their_order() -> None:
    text = "Before $a$\n\n$$b,\\qquad c =\n d,\\quad e$$\n\nbetween\n\n$$f$$ after"
    assert in_parts(text) == [
        "Before $a$",
        "$$\nb,\n$$\n$$\nc =\n d,\n$$\n$$\ne\n$$",
        "between",
        "$$\nf\n$$",
        "after",
    ]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1e-05, "10^{-5}"),
        (3.2e-05, r"3.2 \cdot 10^{-5}"),
        (1e21, "10^{21}"),
        (0.02, "0.02"),
        (-2.5e-07, r"-2.5 \cdot 10^{-7}"),
    ],
)
def test_small_numbers_are_powers_of_ten_in_formulas_only(number: float, expected: str) -> None:
    assert in_parts(f"$$x = {number:.3g}$$") == [f"$$\nx = {expected}\n$$"]
    assert in_parts(f"at {number:.3g}, $x = {number:.3g}$") == [f"at {number:.3g}, $x = {expected}$"]


def test_letters_are_no_powers_of_ten() -> None:
    assert in_parts(r"$x_{e5} = 2e + e2 + 3ex$") == [r"$x_{e5} = 2e + e2 + 3ex$"]


@pytest.mark.parametrize("text", ["", "  \n ", "costs 5 $", r"costs \$5 and \$$6", "$$ unclosed"])
def test_lone_dollars_are_left_as_they_are(text: str) -> None:
    assert in_parts(text) == ([text.strip()] if text.strip() else [])
