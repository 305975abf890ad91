"""What a page of a study shows, as slides: its question, every figure with its finding, scores, settings, method."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from deconditioning import __version__
from deconditioning.figures.printed.figure import paper_figure
from deconditioning.figures.printed.light import in_light
from deconditioning.figures.style import ALONE
from deconditioning.slides.presented import Presented, Slide, caption_of

_FIGURE = "figure-"
_SOFTWARE = f"Deconditioning Lab {__version__}"
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


@dataclass(frozen=True)
class Drawn:
    """A figure of ours, written out as JSON, with its title, what it shows in words and numbers, for those who cannot
    see it, and a sentence on it for everybody, where there is one."""

    title: str
    alt: str
    text: str
    finding: str = ""


@dataclass(frozen=True)
class Exhibit:
    """A page of a study as it is on the screen.

    Parameters
    ----------
    title, question, lead : of the page; the lead is what it shows, in a sentence.
    figures : in the order in which the page has them.
    tables : of scores, each with the sentence above it and its rows as they are written, a heading first.
    settings : those that differ from where the page opens, each with its name and what it holds.
    method, source : how it is done, in a sentence, and who says so.
    address : of the page that shows the same.
    """

    title: str
    question: str
    figures: tuple[Drawn, ...]
    tables: tuple[tuple[str, Sequence[Sequence[str]]], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    method: str = ""
    source: str = ""
    address: str = ""
    lead: str = ""


def presented(shown: Exhibit, *, take_away: bool = False) -> Presented:
    """The slides in every form; what is taken away is light, as paper is."""
    slides = exhibit_slides(shown)
    texts = {f"{_FIGURE}{at}": drawn.text for at, drawn in enumerate(shown.figures)}

    def deck() -> dict[str, Any]:
        """The slides for the browser."""
        figures = {key: _alone(text) for key, text in texts.items()}
        if take_away:
            figures = {key: in_light(figure) for key, figure in figures.items()}
        return {"title": shown.title, "slides": slides, "figures": figures, "light": take_away}

    @cache
    def drawn(key: str) -> bytes:
        """A figure as it is printed."""
        return paper_figure(in_light(_alone(texts[key])))

    def picture(slide: Slide) -> bytes | None:
        """A slide's figure as it is printed; None if it has none."""
        return drawn(slide["figure"]) if slide["kind"] == "figure" else None

    return Presented(shown.title, slides, deck, picture, None, shown.source or _SOFTWARE)


def _alone(text: str) -> dict[str, Any]:
    """A figure with its legend, also where the one beside it has that on the page."""
    figure: dict[str, Any] = json.loads(text)
    if (figure["layout"].get("meta") or {}).get("legend") == ALONE:
        figure["layout"]["showlegend"] = True
    return figure


def exhibit_slides(shown: Exhibit) -> list[Slide]:
    """What each slide says; there is none of what the page has not."""
    figures = [_figure(at, drawn) for at, drawn in enumerate(shown.figures)]
    tables = [
        {"key": f"scores-{at}", "kind": "checks", "title": "Scores", "sentence": caption, "levels": [],
         "rows": [list(row) for row in rows], "lines": []}
        for at, (caption, rows) in enumerate(shown.tables)
    ]  # fmt: skip
    differ = [list(pair) for pair in shown.settings]
    sentence = "Settings that differ from the defaults of the page."
    return [
        _question(shown),
        *figures[1:],
        *tables,
        *([_words("settings", "Settings", sentence, differ)] if differ else []),
        *([_words("method", "Method", shown.method, [["Learn more", shown.source]])] if shown.method else []),
        _words("credits", "Credits", "How these slides were made, and where to find the page.", _credits(shown)),
    ]


def _question(shown: Exhibit) -> Slide:
    """The first slide: the question and what the page shows, beside its first figure."""
    words = _words("question", shown.title, shown.question, [])
    if not shown.figures:
        return words
    lines = [["", shown.lead]] if shown.lead else []
    printed = f"{shown.question} {shown.lead}".strip()
    return _figure(0, shown.figures[0]) | words | {"kind": "figure", "lines": lines, "printed": printed}


def _figure(at: int, drawn: Drawn) -> Slide:
    """A slide of one figure, with a ``caption`` in numbers for paper."""
    key, caption = f"{_FIGURE}{at}", caption_of({"title": drawn.title, "sentence": _without(drawn.title, drawn.alt)})
    return {"key": key, "kind": "figure", "title": drawn.title, "figure": key, "sentence": drawn.finding,
            "caption": caption, "alt": drawn.alt}  # fmt: skip


def _words(key: str, title: str, sentence: str, lines: list[list[str]]) -> Slide:
    return {"key": key, "kind": "words", "title": title, "sentence": sentence, "lines": lines}


def _without(title: str, finding: str) -> str:
    """A finding that begins with the figure's title, without it."""
    rest = _MINUS.sub("−", finding.removeprefix(title).lstrip(":,. "))
    return rest[:1].upper() + rest[1:]


def _credits(shown: Exhibit) -> list[list[str]]:
    lines = [["Software", _SOFTWARE], ["Address", shown.address]]
    return [line for line in lines if line[1]]
