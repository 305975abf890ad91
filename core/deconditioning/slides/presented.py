"""What every form of slides takes: the app's own, the page that works offline, PowerPoint, PDF."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_ADDRESS = re.compile(r"https?://\S+")
#: One slide as plain data: its "key", "kind" ("map", "figure", "checks" or "words"), "title" and "sentence", and by
#: its kind "left", "right", "hatch", "labels"; "figure"; "levels" and "rows"; "lines"; "given" where it shows data that
#: the result was made from.
Slide = dict[str, Any]


@dataclass(frozen=True)
class Presented:
    """Slides of a result.

    Parameters
    ----------
    title : of all of them.
    slides : in order; the last one says where it all comes from.
    deck : they and what they draw, as plain JSON data for deck.js.
    picture : what a slide draws as a PNG for paper, None for one of words.
    badge : a verdict with its mark, on every slide that shows a result; None if there is none.
    references : what to cite.
    """

    title: str
    slides: list[Slide]
    deck: Callable[[], dict[str, Any]]
    picture: Callable[[Slide], bytes | None]
    badge: Mapping[str, str] | None
    references: str


def sentence_of(slide: Slide) -> str:
    """What a slide says where nothing moves."""
    return str(slide.get("printed") or slide["sentence"])


def caption_of(slide: Slide) -> str:
    """What stands below a slide's figure on paper: its caption, else its title and sentence."""
    title = slide["title"]
    ended = title if title.endswith((".", "?", "!")) else f"{title}."
    return str(slide.get("caption") or f"{ended} {sentence_of(slide)}".strip())


def facts_of(slide: Slide) -> list[tuple[str, str]]:
    """Lines of a slide, each with the address that it leads to, or ""."""
    coverage = [f"{promised} % intervals contain {share} %" for promised, share in slide.get("levels", [])]
    facts = [(f"{name}: {text}", text if is_address(text) else "") for name, text in slide.get("lines", [])]
    return [*([("; ".join(coverage), "")] if coverage else []), *facts]


def is_address(text: str) -> bool:
    """Whether a text is one address and nothing else, to be shown as a link."""
    return _ADDRESS.fullmatch(text) is not None
