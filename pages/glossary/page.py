"""Page Glossary: every word that other pages underline, what it means, and where to try it."""

import streamlit as st

from pages.kit.controls import widgets
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.layout.drawings.words import beside_drawing
from pages.kit.layout.escaping import plain
from pages.kit.layout.glossary import Word, words
from pages.kit.layout.page_layout import page_header
from pages.kit.pages import GROUPS, page_in, page_link

#: Under what words stand that begin with no letter of the alphabet.
_SYMBOLS = "Symbols"
_SEARCH, _WHERE, _ANYWHERE = "g-word", "g-page", "all pages"
#: Words beside each other.
_A_ROW = 2


def main() -> None:
    """A search, and the words that it finds."""
    page_header("Glossary", "What do the words on these pages mean, and where can you see them?")
    find, where = st.columns([2, 1], vertical_alignment="bottom")
    query = widgets.text_input(
        "Find a word", key=_SEARCH, max_chars=60, place=find, placeholder="a word, or part of its explanation"
    )
    pages = [page.title for group in GROUPS.values() for page in group if page.folder in {w.page for w in words()}]
    page = widgets.selectbox("Page", [_ANYWHERE, *pages], key=_WHERE, place=where)
    result = [word for word in matching(query) if page in (_ANYWHERE, _title(word))]
    count = f"{len(words())} words" if len(result) == len(words()) else f"{len(result)} of {len(words())} words"
    st.caption(f"{count}. On other pages a dotted line marks these words: hover, focus or tap to read their meaning.")
    letters = _by_letter(result)
    if len(letters) > 1:
        with st.container(key="lab-letters"):  # stays in view
            st.markdown(" · ".join(f"[{letter}](#letter-{at})" for at, letter in enumerate(letters)))
    with st.container(key="lab-words"):  # where no word is underlined
        for at, (letter, members) in enumerate(letters.items()):
            if letter:
                st.subheader(letter, anchor=f"letter-{at}")
            for first in range(0, len(members), _A_ROW):
                row = members[first : first + _A_ROW]
                for word, column in zip(row, st.columns(len(row)), strict=True):
                    with column:
                        _entry(word)
    if not result:
        st.info("The glossary has no such word.")
        st.button("Show all words", on_click=_find, args=("",))


def matching(query: str) -> list[Word]:
    """Words of which a form or the meaning holds what is searched; those whose name it is come first."""
    text = query.strip().casefold()
    held = [word for word in words() if any(text in part.casefold() for part in (word.name, word.says, *word.forms))]
    return sorted(held, key=lambda word: text not in (word.name.casefold(), *map(str.casefold, word.forms)))


def _by_letter(matches: list[Word]) -> dict[str, list[Word]]:
    """All words by their first letter, symbols last; what a search finds stays in its order, under no letter."""
    if len(matches) < len(words()):
        return {"": matches} if matches else {}
    result: dict[str, list[Word]] = {}
    for word in matches:
        first = word.name[0].upper()
        result.setdefault(first if first.isascii() and first.isalpha() else _SYMBOLS, []).append(word)
    return dict(sorted(result.items(), key=lambda one: (one[0] == _SYMBOLS, one[0])))


def _title(word: Word) -> str:
    return page_in(word.page).title


def _find(text: str) -> None:
    """Search for this on all pages."""
    set_on_next_run({_SEARCH: text, _WHERE: _ANYWHERE})


def _entry(word: Word) -> None:
    known = {word.name.replace("’", "'"), word.name.split(" ")[0]}
    others = [form for form in word.forms if form.replace("’", "'") not in known]
    also = f" *also {', '.join(others)}*" if others else ""
    with st.container(border=True, height="stretch", gap="small"):
        st.markdown(f"**{word.name}**{also}")
        with beside_drawing(word.name):
            st.markdown(word.says)
        if word.equation:
            st.latex(word.equation)
        if word.source:
            st.caption(plain(word.source))
        if mentioned := word.mentions():
            with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                st.caption("See also", width="content")
                for other in mentioned:
                    key = f"lab-see-{word.name}-{other.name}"
                    st.button(other.name, key=key, type="tertiary", on_click=_find, args=(other.name,))
        st.markdown(f"*Try it:* {word.see}")
        page_link(word.page, f"Open page {_title(word)}", query=word.query, icon=page_in(word.page).icon)


main()
