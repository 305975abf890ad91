"""The glossary: words that a first-year student would not know, each one hover, focus or tap away on every page."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

FILE = Path(__file__).with_name("glossary.toml")
_JS = Path(__file__).with_name("glossary.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Word:
    """A word, what is looked for in texts, its meaning, its equation in TeX with its source.

    ``see`` is what to try on a ``page``, which opens with the settings of ``query``.
    """

    name: str
    says: str
    page: str
    see: str
    query: Mapping[str, str] = field(default_factory=dict, hash=False)
    forms: tuple[str, ...] = ()
    unmarked: tuple[str, ...] = ()
    equation: str = ""
    source: str = ""

    @property
    def pattern(self) -> str:
        """Its forms as a regular expression: a small first letter is a capital one too, a plural s may follow."""
        return "|".join(map(_form, self.forms or (self.name,)))

    @property
    def marked(self) -> str:
        """Its forms that texts mark, as a regular expression: without those that mean something else on other pages."""
        return "|".join(_form(form) for form in self.forms or (self.name,) if form not in self.unmarked)

    def mentions(self) -> list["Word"]:
        """Other words that its meaning uses."""
        return [word for word in words() if word is not self and re.search(rf"\b(?:{word.pattern})\b", self.says)]


@cache
def words() -> tuple[Word, ...]:
    """All of them, in the order of the alphabet."""
    listed = tomllib.loads(FILE.read_text(encoding="utf-8"))["word"]
    result = [Word(**one | {name: tuple(one.get(name, ())) for name in ("forms", "unmarked")}) for one in listed]
    return tuple(sorted(result, key=lambda word: word.name.casefold()))


def _form(form: str) -> str:
    first = form[0]
    begin = f"[{first.upper()}{first}]" if first.isascii() and first.islower() else re.escape(first)
    rest = re.sub(r"\\?[ -]", "[ -]", re.escape(form[1:]))
    return f"{begin}{rest}s?" if form[-1].isascii() and form[-1].isalpha() else f"{begin}{rest}"


@cache
def _component() -> Any:
    """Registered once; what it holds is the same on every page and is sent to a browser once."""
    sent = [{"name": word.name, "says": word.says, "forms": word.marked} for word in words()]
    return st.components.v2.component(
        "lab_glossary",
        html="<span hidden></span>",
        js=_JS.replace("[/* words */]", json.dumps(sent, ensure_ascii=False)),
    )


def explain_words() -> None:
    """Underline the glossary's words in the texts of this page, and tell them; call it once on every page."""
    _component()(key="lab-glossary")
