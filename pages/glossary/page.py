"""Page Glossary: every word that other pages underline, its equation, and where it is seen."""

import streamlit as st

from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.kit.layout.glossary import Word, words
from pages.kit.layout.page_layout import page_header
from pages.kit.pages import PAGES, page_link


def main() -> None:
    """A search, and the words that it finds."""
    page_header("Glossary", "What do the words on these pages mean?")
    wanted = widgets.text_input("Search", key="g-word", max_chars=60, help="A word, or part of its explanation")
    result = matching(wanted)
    count = f"{len(result)} of {len(words())} words" if wanted.strip() else f"{len(words())} words"
    st.caption(f"{count}. On other pages a dotted line marks these words: hover, focus or tap to read their meaning.")
    with st.container(key="lab-words"):  # where no word is underlined
        for word in result:
            _entry(word)
    if not result:
        st.info("The glossary has no such word.")


def matching(wanted: str) -> list[Word]:
    """Words of which a form or the meaning holds what is searched; those whose name it is come first."""
    text = wanted.strip().casefold()
    held = [word for word in words() if any(text in part.casefold() for part in (word.name, word.says, *word.forms))]
    return sorted(held, key=lambda word: text not in (word.name.casefold(), *map(str.casefold, word.forms)))


def _entry(word: Word) -> None:
    titles = {page.folder: page for page in PAGES}
    others = [form for form in word.forms if form not in (word.name, word.name.split(" ")[0])]
    also = f" *also {', '.join(others)}*" if others else ""
    with st.container(border=True):
        st.markdown(f"**{word.name}**{also}")
        st.markdown(word.says)
        if word.equation:
            st.latex(word.equation)
        if word.source:
            st.caption(plain(word.source))
        page = titles[word.page]
        page_link(word.page, f"Used on page {page.title}", icon=page.icon)


main()
