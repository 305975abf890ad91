"""A library's words inside a sentence of ours: one printable line, no Python in it."""

import pytest

from deconditioning.errors import one_line, short


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("one\n  two"), "one two"),
        (KeyError(b"\x00\x01'"), "some bytes"),
        (OSError("read b'a\\'b' and b\"c\", not b or 'd'"), "read some bytes and some bytes, not b or 'd'"),
        (ValueError("a\x00b\x1b\tc\u202e"), "a?b? c?"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_words_of_others_in_short(error, words):
    assert short(error) == words


def test_long_words_are_cut():
    assert short(ValueError("x" * 500)) == "x" * 119 + "…"


def test_a_long_sentence_stays_one():
    assert one_line(f"It has {'x' * 5000}: rename it.") == f"It has {'x' * 120}…"[: 7 + 121] + " rename it."
    line = one_line("It has " + ", ".join(f"column{i}" for i in range(500)) + ": keep fewer.")
    assert len(line) < 510 and line.endswith(" ….") and one_line("All is well.") == "All is well."
