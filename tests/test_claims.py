"""Every number that README and docs claim to be measured is that of a stored row, and no other looks measured."""

import re
from collections.abc import Callable

import pytest

from tests.claims import ALLOWED, ROOT, SENTENCES, TABLES, Sentence, Table

#: Written by a command from stored rows: `tests/core/studies/test_replicated.py` holds it to them.
WRITTEN = "docs/replicated.md"
DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
DOCUMENTS.remove(WRITTEN)
DOCUMENTS.remove("docs/teaching.md")  # solutions of exercises, which `tests/pages/test_exercises.py` gives to the app
DOCUMENTS.remove("docs/files.md")  # written from the zoo of files: `tests/core/fields/test_zoo.py` holds it to them
#: A decimal, or a number with a unit of time, memory, ratio or share.
MEASURED = re.compile(
    r"(?<![\w.^])(?:\d[\d,]*\.\d+|\.\d+)(?!\w*\.\w)"
    r"|(?<![\w.])\d[\d.,]* ?(?:×(?! ?\d)|%|CPU\b|s\b|ms\b|µs\b|min\b|MB\b|GB\b|times\b)"
)

#: Where a paper says something, and versions.
CITED = re.compile(r"(?:§|Algorithm |theorem |Table |Python |Linux |eq\. )\d[\d.]*(?:(?:–| to )\d[\d.]*)?")


def flat(text: str) -> str:
    """In one line, so that line breaks do not matter."""
    return " ".join(text.split())


def read(document: str) -> str:
    return (ROOT / document).read_text()


def lines_of(table: Table, text: str) -> list[str]:
    """The lines of a table, its header first."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(table.head)]
    assert len(starts) == 1, f"{table.document} has {len(starts)} tables that begin with {table.head!r}"
    end = next((n for n in range(starts[0], len(lines)) if not lines[n].startswith("|")), len(lines))
    return lines[starts[0] : end]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def looks_measured(document: str, text: str) -> list[str]:
    """What looks measured outside claimed sentences and tables, code and what is allowed."""
    for table in TABLES:
        if table.document == document:
            for line in lines_of(table, text):
                text = text.replace(line + "\n", "", 1)
    text = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^ {4,}\S.*$", "", text, flags=re.MULTILINE)
    text = flat(CITED.sub("", re.sub(r"\]\([^)]*\)|`[^`\n]*`", "", text)))
    claimed = [filled(sentence) for sentence in SENTENCES if sentence.document == document]
    for part in (
        *(flat(CITED.sub("", re.sub(r"`[^`\n]*`", "", each))) for each in claimed),
        *ALLOWED.get(document, {}),
    ):
        text = text.replace(part, "")
    return [text[max(0, found.start() - 30) : found.end() + 20] for found in MEASURED.finditer(text)]


def filled(sentence: Sentence) -> str:
    numbers = list(sentence.numbers())
    assert len(numbers) == sentence.text.count("{}"), f"{numbers} do not fit {sentence.text!r}"
    return sentence.text.format(*numbers)


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda each: each.text[:40])
def test_a_sentence_says_what_its_rows_say(sentence: Sentence) -> None:
    assert filled(sentence) in flat(read(sentence.document))


@pytest.mark.parametrize("table", TABLES, ids=lambda each: f"{each.document} {each.head}")
def test_a_table_holds_what_its_rows_hold(table: Table) -> None:
    head, _, *body = (cells(line) for line in lines_of(table, read(table.document)))
    assert body
    told = [
        [(column, cell, table.cell(line, column)) for column, cell in zip(head, line, strict=True)] for line in body
    ]
    wrong = [
        (line[0][1], column, cell, wanted)
        for line in told
        for column, cell, wanted in line
        if wanted not in (None, cell)
    ]
    assert wrong == []
    assert sum(wanted is not None for line in told for *_, wanted in line) >= len(body)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_other_number_looks_measured(document: str) -> None:
    assert looks_measured(document, read(document)) == []


@pytest.mark.parametrize("document", sorted(ALLOWED))
def test_what_is_allowed_stands_there_for_a_reason(document: str) -> None:
    text = flat(re.sub(r"`[^`\n]*`", "", read(document)))
    assert [part for part in ALLOWED[document] if part not in text] == []
    assert all(len(reason) > 10 for reason in ALLOWED[document].values())


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (lambda text: text + "\nIt takes 0.9 s.\n", "0.9 s"),
        (lambda text: text + "\nIt takes 12 s, 3 GB, 20× less.\n", "12 s"),
        (lambda text: text + "\nIts RMSE is .57.\n", ".57"),
        (lambda text: text.replace("99 CPU", "98 CPU"), "98 CPU"),
    ],
)
def test_a_number_from_nowhere_is_seen(change: Callable[[str], str], seen: str) -> None:
    found = looks_measured("docs/limits.md", change(read("docs/limits.md")))
    assert any(seen in part for part in found)
