"""A library's words inside a sentence of ours: one printable line, no Python in it."""

import pytest

from core.errors import short


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
