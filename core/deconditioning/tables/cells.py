"""Columns of text as numbers: decimal points and commas, thousands, percent signs, marks for missing cells."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: Words for a missing cell, in small letters; the last ones are Excel's, in English and German.
MISSING = ("", "na", "n/a", "n.a.", "nan", "-nan", "null", "none", "nil", "<na>", "-", "--", "---", ".", "?", "*", "nv",
           "k.a.", "missing", "#n/a", "#na", "#nv", "#value!", "#wert!", "#div/0!", "#ref!", "#bezug!", "#num!",
           "#zahl!", "#name?", "#null!", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan")  # fmt: skip
_GAP = "[\u0020\u00a0\u202f\u2009'\u2019]"
#: One or more groups of three digits after a group of one to three; alone, ``1.234`` may also be a decimal number.
_GROUPS = {mark: rf"[+-]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+" for mark in ".,"}
_DECIMAL = {mark: rf"[+-]?(?:\d+{re.escape(mark)}?\d*|{re.escape(mark)}\d+)(?:[eE][+-]?\d+)?" for mark in ".,"}
#: A number and a code, such as +0105,1 in files of ISD: no number has a comma behind padded digits.
_PADDED = r"[+-]?0\d+,"
_OTHER = {".": ",", ",": "."}


@dataclass
class Column:
    """What the pieces of one column hold so far, with a decimal point and with a decimal comma.

    ``values`` under each mark, NaN where a cell is missing or no number; ``words`` how many cells are no number under
    it; ``only`` how many are numbers under this mark alone; ``either`` how many under both, with other values;
    ``filled`` cells that are not missing, ``percent`` those with a percent sign.
    """

    values: dict[str, list[np.ndarray]] = field(default_factory=lambda: {".": [], ",": []})
    words: dict[str, int] = field(default_factory=lambda: {".": 0, ",": 0})
    only: dict[str, int] = field(default_factory=lambda: {".": 0, ",": 0})
    either: int = 0
    filled: int = 0
    percent: int = 0

    def add(self, text: Any) -> None:
        """Take in the next cells of the column: ``text`` is a pandas Series of strings."""
        text, missing = tidy(text)
        percent = text.str.endswith("%")
        self.percent += int(percent.sum())
        if percent.any():
            text = text.str.replace(r"\s*%$", "", regex=True)
        self.filled += int((~missing).sum())
        both = {mark: _numbers(text, mark) for mark in ".,"}
        for mark, values in both.items():
            this, other = ~np.isnan(values), ~np.isnan(both[_OTHER[mark]])
            self.values[mark].append(values)
            self.words[mark] += int((~missing & ~this).sum())
            self.only[mark] += int((this & ~other).sum())
        self.either += int((np.isfinite(both["."]) & np.isfinite(both[","]) & (both["."] != both[","])).sum())

    @property
    def evidence(self) -> str:
        """The decimal mark that the column shows; both where it shows both, nothing if it shows none."""
        return "".join(mark for mark in ".," if self.only[mark])

    def numbers(self, usual: str) -> np.ndarray | None:
        """All values with the column's own mark, or the ``usual`` one; None if a cell is not a number."""
        mark = self.evidence or usual
        if len(mark) != 1 or self.words[mark] or (self.percent and self.percent < self.filled):
            return None
        return np.concatenate(self.values[mark]) if self.values[mark] else np.empty(0)


def tidy(text: Any) -> tuple[Any, np.ndarray]:
    """Cells without outer spaces, gaps between thousands and long minus signs, and which of them are missing."""
    text = text.fillna("").str.strip().str.replace("\u2212", "-", regex=False)
    if text.str.contains(_GAP).any():
        grouped = text.str.fullmatch(rf"[+-]?\d{{1,3}}(?:{_GAP}\d{{3}})+(?:[.,]\d*)?")
        text = text.where(~grouped, text.str.replace(_GAP, "", regex=True))
    return text, text.str.lower().isin(MISSING).to_numpy()


def _numbers(text: Any, mark: str) -> np.ndarray:
    """Values of tidy cells with this decimal mark and the other one between thousands; NaN where they are none."""
    import pandas as pd

    other = _OTHER[mark]
    plain = text
    if mark == "," or text.str.contains(other, regex=False).any():
        thousands = text.str.fullmatch(rf"{_GROUPS[other]}(?:{re.escape(mark)}\d*)?")
        plain = text.where(~thousands, text.str.replace(other, "", regex=False))
        if mark == ",":
            plain = plain.where(plain.str.fullmatch(_DECIMAL[","] + "|[+-]?(?:inf|infinity)"), "")
            plain = plain.where(~plain.str.match(_PADDED), "")
            plain = plain.str.replace(",", ".", regex=False)
    return pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
