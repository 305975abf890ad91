"""The claims of the five sources, and how far our stored numbers support them.

``data/replicated.toml`` contains each table and figure with its claim in a sentence, the queries of our numbers, and
comparisons of these. Verdicts are computed.
"""

import operator
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from deconditioning.bundled import bundled
from deconditioning.errors import InputError
from deconditioning.studies.replicated.numbers import FOLDER, Query, stored_number

FILE = bundled("replicated.toml")
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Verdict(StrEnum):
    """How far a claim is supported."""

    HOLDS = "holds"
    PARTLY = "holds partly"
    FAILS = "does not hold"
    ELSEWHERE = "tested on other data only"
    DRAWING = "drawing, nothing to test"


@dataclass(frozen=True)
class Comparison:
    """A comparison of our numbers, such as ``cmp < bag`` (names, numbers, one division a side, ``and``), in words."""

    comparison: str
    sentence: str

    def holds(self, numbers: Mapping[str, float]) -> bool:
        """Whether our numbers bear it out; ``InputError`` if it is not a comparison of them."""
        return all(self._one(part.split(), numbers) for part in self.comparison.split(" and "))

    def _one(self, words: list[str], numbers: Mapping[str, float]) -> bool:
        places = [index for index, word in enumerate(words) if word in _COMPARE]
        if len(places) != 1:
            raise InputError(
                f"'{self.comparison}' does not have exactly one of <, <=, > and >=: write one comparison per part."
            )
        left, right = (self._side(part, numbers) for part in (words[: places[0]], words[places[0] + 1 :]))
        return bool(_COMPARE[words[places[0]]](left, right))

    def _side(self, words: list[str], numbers: Mapping[str, float]) -> float:
        try:
            values = [numbers[word] if word in numbers else float(word) for word in words[::2]]
        except ValueError:
            raise InputError(f"'{self.comparison}' uses a number that its claim does not have.") from None
        if len(values) == 2 and words[1] == "/":
            return values[0] / values[1]
        if len(values) != 1:
            raise InputError(f"A side of '{self.comparison}' is neither a number nor a ratio of two.")
        return values[0]


@dataclass(frozen=True)
class Claim:
    """A table or figure: whose (``text``) and which (``item``), its ``claim``, ``ours`` with ``{name}`` for numbers
    (``short`` where these are many, ``printed`` a table of them beside the printed ones, heads first), what was
    ``comparisons`` of them, what is ``missing``, ``why``; ``page`` and ``query`` lead to where it is shown,
    ``sources`` are the files of its numbers with the commands that make them. ``data`` names the data that the claim is
    about and that are not available: it is then neither borne out nor refuted by what others say. ``drawing``: nothing
    is claimed that could be measured."""

    text: str
    item: str
    claim: str
    ours_template: str
    page: str
    data: str = ""
    drawing: bool = False
    why_template: str = ""
    missing_template: str = ""
    short_template: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    queries: tuple[tuple[str, Query], ...] = ()
    folder: Path = FOLDER
    printed_templates: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Our numbers by name."""
        return {name: stored_number(query, self.folder) for name, query in self.queries}

    @cached_property
    def ours(self) -> str:
        """What we found, with its numbers."""
        return self._filled(self.ours_template)

    @cached_property
    def short(self) -> str:
        """What we found in one sentence, where all numbers are many; else empty."""
        return self._filled(self.short_template)

    @cached_property
    def printed(self) -> tuple[tuple[str, ...], ...]:
        """Printed numbers beside ours: a row of heads, then one of a name and both numbers for each."""
        return tuple(tuple(map(self._filled, row)) for row in self.printed_templates)

    @cached_property
    def why(self) -> str:
        """Why it holds or not, with its numbers."""
        return self._filled(self.why_template)

    @cached_property
    def missing(self) -> str:
        """What of the claim was not tried, with its numbers."""
        return self._filled(self.missing_template)

    def _filled(self, template: str) -> str:
        values = {name: _formatted(self.numbers[name], query.format) for name, query in self.queries}
        return template.format(**values)

    @cached_property
    def answers(self) -> tuple[tuple[str, bool], ...]:
        """What was asked, in words, and whether our numbers bear it out."""
        return tuple((each.sentence, each.holds(self.numbers)) for each in self.comparisons)

    @cached_property
    def verdict(self) -> Verdict:
        """How far our numbers support the claim."""
        if self.drawing:
            return Verdict.DRAWING
        if self.data:
            return Verdict.ELSEWHERE
        held = [holds for _, holds in self.answers]
        if all(held):
            return Verdict.PARTLY if self.missing else Verdict.HOLDS
        return Verdict.PARTLY if any(held) else Verdict.FAILS


def _formatted(number: float, form: str) -> str:
    return format(number, form).replace("-", "−").replace("%", " %")


@dataclass(frozen=True)
class Replicated:
    """All claims, and the texts' full names by their keys, both in the order of the file."""

    texts: dict[str, str]
    claims: tuple[Claim, ...]

    def counts(self, text: str | None = None) -> dict[Verdict, int]:
        """How many claims (of one text) have each verdict."""
        mine = [claim.verdict for claim in self.claims if text in (None, claim.text)]
        return {verdict: mine.count(verdict) for verdict in Verdict}


def load(path: Path = FILE, folder: Path = FOLDER) -> Replicated:
    """The claims of a file; ``InputError`` if it does not fit together."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    commands = content["commands"]
    return Replicated(content["texts"], tuple(_claim(entry, content, commands, folder) for entry in content["claim"]))


def _claim(entry: dict[str, Any], content: dict[str, Any], commands: dict[str, str], folder: Path) -> Claim:
    item, file = entry["item"], entry.get("file", "")
    data, drawing = entry.get("data", ""), entry.get("drawing", False)
    if entry["text"] not in content["texts"]:
        raise InputError(f"'{item}' belongs to an unknown publication.")
    queries = tuple((name, Query(**{"file": file, **given, "models": tuple(given.get("models", ()))}))
                    for name, given in entry.get("numbers", {}).items())  # fmt: skip
    requested = tuple(Comparison(each["is"], each["says"]) for each in entry.get("asked", ()))
    files = dict.fromkeys(query.file for _, query in queries)
    measured = bool(requested or queries or not (data or drawing))
    if measured and not (requested and queries and files.keys() <= commands.keys()):
        raise InputError(f"'{item}' lacks numbers, comparisons of them, or the command of a file.")
    return Claim(
        entry["text"], item, entry["claim"], entry["ours"], entry["page"], data, drawing, entry.get("why", ""),
        entry.get("missing", ""), entry.get("short", ""), tuple((name, commands[name]) for name in files), requested,
        tuple(entry.get("query", {}).items()), queries, folder, tuple(map(tuple, entry.get("printed", ()))),
    )  # fmt: skip
