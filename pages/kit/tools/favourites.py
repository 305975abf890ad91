"""A page's settings kept under a name, and those kept before: one click takes them, and Undo goes back."""

import base64
import json
from collections.abc import Mapping

import streamlit as st

from deconditioning.engine.visitors.favourites import LONGEST_NAME, Favourite
from deconditioning.errors import InputError
from deconditioning.figures.printed.thumbnail import figure_sketch
from pages.kit.controls.essential import name_of
from pages.kit.layout.escaping import plain, sentence_of
from pages.kit.layout.unfold import fold, unfold
from pages.kit.pages import page_link
from pages.kit.record import Control, PageRecord, page_record, same
from pages.kit.state import get_engine
from pages.kit.tools import history
from pages.kit.visitor import UPLOADS

_STAR = "lab-star"
#: Settings that a name made by itself tells.
_IN_A_NAME = 3


def star() -> None:
    """The button in the line of tools, with what it unfolds."""
    about = "Save these settings under a name or restore saved settings"
    unfold("Star", _of_this_page, key=_STAR, icon=":material/star:", help=about)


def query_of(favourite: Favourite) -> dict[str, list[str]]:
    """The address of a favourite, key by key."""
    result: dict[str, list[str]] = {}
    for key, word in favourite.query:
        result.setdefault(key, []).append(word)
    return result


def summary_of(favourite: Favourite) -> str:
    """What differs from the worked example, as Markdown."""
    return ", ".join(f"{plain(key)} {plain(value)}" for key, value in favourite.told) or "the worked example"


def picture_of(favourite: Favourite) -> str | None:
    """The small picture as a data address."""
    return f"data:image/png;base64,{base64.b64encode(favourite.picture).decode()}" if favourite.picture else None


def _of_this_page() -> None:
    """A name for the settings that are shown; below it those that are kept."""
    try:
        with st.form("lab-favourite", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input("Save these settings as", _usual_name(page_record()), max_chars=LONGEST_NAME)
            if st.form_submit_button("Save", type="primary"):
                get_engine().favourites.keep(_favourite(page_record(), name))
                st.caption("Kept.")
        favourites, damaged = get_engine().favourites.all()
    except InputError as error:
        st.error(sentence_of(error))
        return
    for one in favourites:
        if one.page == page_record().page:
            _row(one)
    if damaged:
        st.caption(f"{len(damaged)} more cannot be read; page Runs lists them.")
    page_link(
        "runs", ("Rename or delete favourites on page Runs"), query={"favourites": "open"}, icon=":material/monitoring:"
    )


def _row(favourite: Favourite) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if picture := picture_of(favourite):
            st.image(picture, width=72, alt=f"The picture saved as {plain(favourite.name)}")
        more = "" if summary_of(favourite) == plain(favourite.name) else f"  \n{summary_of(favourite)}"
        st.markdown(f"**{plain(favourite.name)}**{more}")
        shown = _is_shown(query_of(favourite))
        name = plain(favourite.name)
        if st.button("Take", key=f"lab-take-{favourite.id}", disabled=shown, help=f"The settings of {name}",
                     on_click=_take, args=(favourite,)):  # fmt: skip
            st.rerun()


def _take(favourite: Favourite) -> None:
    """Ask for its settings on the page that is shown; the run after this one has them."""
    fold(_STAR)
    query = query_of(favourite)
    if uploads := query.get(UPLOADS):
        st.query_params[UPLOADS] = uploads
    history.request_address(query)


def _is_shown(query: Mapping[str, list[str]]) -> bool:
    """Whether the page stands there already."""
    return all(same(each.from_words(query.get(key)), each.value) for key, each in page_record().controls.items())


def _differing(page: PageRecord) -> list[Control]:
    """Every control that does not hold what it would by itself."""
    return [each for each in page.controls.values() if each.differs]


def _usual_name(page: PageRecord) -> str:
    words = [f"{name_of(each)} {each.text}" for each in _differing(page)]
    more = " …" if len(words) > _IN_A_NAME else ""
    return (", ".join(words[:_IN_A_NAME]) or "Worked example")[: LONGEST_NAME - len(more)] + more


def _favourite(page: PageRecord, name: str) -> Favourite:
    differing = _differing(page)
    query = [(each.key, word) for each in differing for word in each.words]
    query += [(UPLOADS, word) for word in st.query_params.get_all(UPLOADS)]
    return Favourite(
        page.page, tuple(query), name, tuple((name_of(each), each.text) for each in differing), _sketch(page)
    )


def _sketch(page: PageRecord) -> bytes:
    """The page's mean map, else the first of its pictures that can be drawn small; empty where none can."""
    first = {key: figure for key, figure in page.figures.items() if key == "map-mean"}
    for figure in (first | page.figures).values():
        try:
            return figure_sketch(json.loads(figure.text))
        except InputError:
            continue
    return b""
