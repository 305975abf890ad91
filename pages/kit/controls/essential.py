"""The essential controls of a page: which these are, and how they are called in words that a first-year student knows.

A page declares them beside its controls and gives them to `page_header`. At the level All the same words are followed
by the field's term: "How smooth the field is (lengthscale)".
"""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase

import streamlit as st

from pages.kit.record import Control, page_record


@dataclass(frozen=True)
class Essential:
    """How an essential control is called, without a symbol, and its help, which names the symbol."""

    label: str
    help: str


#: By the controls' keys, in which ``*`` stands for anything.
Essentials = Mapping[str, Essential]


def essential(key: str) -> Essential | None:
    """What the page that is shown declares of a control; None where it is not an essential one."""
    declared: Essentials = page_record().essentials
    return declared.get(key) or next((one for name, one in declared.items() if fnmatchcase(key, name)), None)


def labelled(key: str, label: str, help: str | None = None) -> tuple[str, str | None]:
    """The label and help of a control at the level that is shown; its own ``help`` comes first at All."""
    declared = essential(key)
    if declared is None:
        return label, help
    if page_record().shows_all:
        return with_term(declared.label, label), help or declared.help
    return declared.label, declared.help


def with_term(words: str, term: str) -> str:
    """Plain words and, in parentheses, those parts of the field's term that say more: "Which field" stands alone where
    the term is "Field"."""
    known = _words(words)
    parts = [term] if "(" in term else term.split(", ")
    more = ", ".join(part for part in parts if not _words(part) <= known)
    if re.match("[A-Z][a-z]", more):
        more = more[0].lower() + more[1:]
    return f"{words} ({more})" if more else words


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def name_of(control: Control) -> str:
    """The control's label at the level that is shown."""
    return labelled(control.key, control.label)[0]


def group(label: str, *, expanded: bool = False) -> AbstractContextManager[object]:
    """An expander for controls that belong together; at the level Essential those of them that are left stand alone."""
    return st.expander(label, expanded) if page_record().shows_all else nullcontext()


def aside(text: str) -> None:
    """A caption beside controls that only those who see all of them need."""
    if page_record().shows_all:
        st.caption(text)
