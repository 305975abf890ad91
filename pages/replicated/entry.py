"""One claim on page Replicated?, and the table of counts."""

import re
from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from deconditioning.abbreviations import spelt_out
from deconditioning.studies.replicated.claims import Claim, Replicated, Verdict
from deconditioning.wording import readable
from pages.kit.layout.escaping import plain
from pages.kit.pages import page_in, page_link

#: Verdict → its class in the style sheet and its sign, which says the same without colour.
MARKS = {
    Verdict.HOLDS: ("good", "✓"),
    Verdict.PARTLY: ("partly", "◐"),
    Verdict.FAILS: ("bad", "✗"),
    Verdict.ELSEWHERE: ("none", "◇"),
    Verdict.DRAWING: ("none", "▫"),
}
#: Verdict → the colour of its sign in a title.
_COLOURS = {Verdict.HOLDS: "green", Verdict.PARTLY: "orange", Verdict.FAILS: "red", Verdict.ELSEWHERE: "gray"}
_CODE = re.compile(r"`([^`]+)`")


def counted(replicated: Replicated, short: Mapping[str, str]) -> str:
    """How many claims of each text have each verdict, as a table."""
    head = "".join(f'<th scope="col">{_sign(verdict, 1)}{verdict}</th>' for verdict in Verdict)
    rows = ""
    for text in (*replicated.texts, None):
        counts = replicated.counts(text)
        cells = "".join(f'<td class="{_class(verdict, counts[verdict])}">{_cell(verdict, counts[verdict], text)}</td>'
                        for verdict in Verdict)  # fmt: skip
        name = "All five" if text is None else short[text]
        rows += f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'
    return (
        '<div class="lab-counts"><table aria-label="Results by text"><thead><tr><td></td>'
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(verdict: Verdict, count: int, text: str | None) -> str:
    """The count, and in the row of a text a sign for each of its claims."""
    return "–" if not count else f"{count}" if text is None else f"{_sign(verdict, count)} {count}"


def _sign(verdict: Verdict, times: int) -> str:
    kind, sign = MARKS[verdict]
    return f'<i class="lab-{kind}" aria-hidden="true">{sign * times}</i>'


def _class(verdict: Verdict, count: int) -> str:
    return f"lab-{MARKS[verdict][0]}" if count else "lab-none"


def show(claim: Claim, known: set[str], *, expanded: bool = False) -> None:
    """The claim with the sign of its verdict; below it our numbers, what was asked of them, why, and a link to the page
    that shows them. A drawing is a line.

    Abbreviations that are not ``known`` are spelt out, and known from then on.
    """
    if claim.verdict == Verdict.DRAWING:
        sentence = escape(_read(f"{claim.claim} {claim.ours}", known))
        st.html(f'<p class="lab-drawing"><b>{escape(claim.item)}</b> {sentence}</p>')
        return
    with st.expander(title(claim, known), expanded=expanded):
        st.html(block(claim, known))
        words, query = f"Open page {page_in(claim.page).title}", dict(claim.query) or None
        page_link(claim.page, words, query=query, icon=":material/arrow_forward:")


def title(claim: Claim, known: set[str]) -> str:
    """Sign, item and claim in Markdown, with abbreviations as `show` has them."""
    sign = f":{_COLOURS[claim.verdict]}[{MARKS[claim.verdict][1]}]"
    return f"{sign} **{plain(claim.item)}**: {plain(_capital(_read(claim.claim, known)))}"


def block(claim: Claim, known: set[str]) -> str:
    """Verdict, our numbers and reasons in HTML, with abbreviations as `show` has them."""
    kind, sign = MARKS[claim.verdict]
    verdict = f'<span class="lab-verdict lab-{kind}"><i aria-hidden="true">{sign}</i> {claim.verdict}</span>'
    ours = _beside(claim.printed) or _line("Ours", claim.short or claim.ours, known)
    if claim.answers:
        requested = "".join(
            f'<li class="lab-{"yes" if holds else "no"}">'
            f'<b role="img" aria-label="{"holds" if holds else "does not hold"}:">{"✓" if holds else "✗"}</b> '
            f"{escape(_capital(_read(says, known)))}</li>"
            for says, holds in claim.answers
        )
        ours += f"<ul>{requested}</ul>"
    if claim.short or claim.printed:
        ours += f"<details><summary>All our numbers</summary>{_line('', claim.ours, known)}</details>"
    reasons = ("Not available", _stopped(claim.data)), ("Not tested", _stopped(claim.missing)), ("Why", claim.why)
    why = "".join(_line(label, text, known) for label, text in reasons if text)
    columns = "".join(f"<div>{column}</div>" for column in (ours, why) if column)
    parts = [f"<p>{verdict}</p>", f'<div class="lab-columns">{columns}</div>']
    if claim.sources:
        made = "".join(f"<li>data/benchmarks/{escape(file)}.json<code>{_unbroken(command)}</code></li>"
                       for file, command in claim.sources)  # fmt: skip
        parts.append(f"<details><summary>Source of the numbers</summary><ul>{made}</ul></details>")
    return f'<div class="lab-claim">{"".join(parts)}</div>'


def _beside(rows: Sequence[Sequence[str]]) -> str:
    """Printed numbers beside ours as a table, the first row its heads; nothing where there are none."""
    if not rows:
        return ""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in rows[0])
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(value)}</td>" for value in values)}</tr>'
        for name, *values in rows[1:]
    )
    return f'<table class="lab-printed"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'


def _unbroken(command: str) -> str:
    """A command in HTML whose lines break between its words only, never at the hyphens of an option."""
    return " ".join(f"<span>{escape(word)}</span>" for word in command.split())


def _stopped(text: str) -> str:
    """A text with its full stop; nothing of nothing."""
    return f"{text}." if text else ""


def _capital(text: str) -> str:
    """A text with a capital letter at its beginning, where an abbreviation may just have been spelt out; a symbol such
    as "q̄" stays as it is."""
    return f"{text[:1].upper()}{text[1:]}" if text[:2].isascii() and text[:2].isalpha() else text


def _read(text: str, known: set[str]) -> str:
    return spelt_out(readable(text), known)


def _line(label: str, text: str, known: set[str]) -> str:
    marked = _CODE.sub(r"<code>\1</code>", escape(_capital(_read(text, known))))
    return f"<p><b>{label}</b> {marked}</p>" if label else f"<p>{marked}</p>"
