"""Favourites: settings of pages kept under a name; opened, named anew, deleted and brought back."""

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from deconditioning.engine.visitors.favourites import LONGEST_NAME, Favourite
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.errors import InputError
from pages.kit.controls.program_values import set_values
from pages.kit.layout.escaping import MISSING, cells, plain
from pages.kit.layout.page_layout import refusal
from pages.kit.layout.unfold import unfold
from pages.kit.pages import PAGES, Listed
from pages.kit.session import Key
from pages.kit.state import forget
from pages.kit.tools import history
from pages.kit.tools.favourites import picture_of, query_of
from pages.kit.tools.link import address_of, show_link
from pages.runs.deleted import offer_back

_PICKED, _RENAME = "favourite", "favourite-rename"
_ROWS, _HEIGHT = 4, 62
_ABOUT = "Anybody who opens it gets these settings. It works even after the favourite is deleted."


def favourites(engine: Visitor, expanded: bool) -> None:
    """The list, and what can be done with the one that is chosen; nothing where there are none."""
    saved, damaged = engine.favourites.all()
    if saved or damaged:
        with st.expander(f"Favourites: {len(saved)} saved settings", expanded=expanded):
            _damaged(engine, damaged)
            if saved:
                _listed(saved)
                _chosen(engine, saved)
    _bring_back(engine)


def _listed(saved: Sequence[Favourite]) -> None:
    rows: list[dict[str, Any]] = [
        {
            "Picture": picture_of(one),
            "Name": one.name,
            "Page": page.title if (page := _page_of(one)) else one.page,
            "Differs from the worked example": ", ".join(" ".join(pair) for pair in one.told) or "no difference",
            "Saved (UTC)": time.strftime("%Y-%m-%d %H:%M", time.gmtime(one.created)),
        }
        for one in saved
    ]
    pictures = {"Picture": st.column_config.ImageColumn(width="small")}
    height = 40 + _HEIGHT * min(len(rows), _ROWS)
    st.dataframe(
        cells(rows),
        hide_index=True,
        width="stretch",
        placeholder=MISSING,
        row_height=_HEIGHT,
        height=height,
        column_config=pictures,
    )


def _chosen(engine: Visitor, saved: Sequence[Favourite]) -> None:
    """One of them, by its name, with its buttons."""
    by_id = {one.id: one for one in saved}
    if _PICKED in st.session_state and st.session_state.get(_PICKED) not in by_id:
        forget(_PICKED)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pick = st.selectbox("Favourite", list(by_id), format_func=lambda one: _described(by_id[one]), key=_PICKED)
        chosen = by_id[pick]
        page = _page_of(chosen)
        if st.button("Open", key="favourite-open", type="primary", disabled=page is None) and page is not None:
            _open(chosen, page)
        unfold("Rename", lambda: _rename(engine, chosen), key=_RENAME)
        link = address_of(chosen.page, query_of(chosen))
        unfold("Link", lambda: show_link(link, _ABOUT), key="favourite-link", icon=":material/link:")
        if st.button("Delete", key="favourite-delete", help="You can restore it within a day"):
            _delete(engine, chosen)
    if page is None:
        st.caption(f"This version has no page {plain(chosen.page)}: the settings cannot be opened.")


def _described(favourite: Favourite) -> str:
    page = _page_of(favourite)
    created = time.strftime("%m-%d %H:%M", time.gmtime(favourite.created))
    return f"{favourite.name} ({page.title if page else favourite.page}, {created})"


def _page_of(favourite: Favourite) -> Listed | None:
    return next((page for page in PAGES if page.url_path == favourite.page), None)


def _open(favourite: Favourite, page: Listed) -> None:
    """Go to its page, which then takes its settings as those of an address; Undo there goes back."""
    query = query_of(favourite)
    history.request_address(query, page.url_path)
    st.switch_page(page.path, query_params=query)


def _rename(engine: Visitor, favourite: Favourite) -> None:
    with st.form(f"favourite-name-{favourite.id}", border=False):
        name = st.text_input("Name", favourite.name, max_chars=LONGEST_NAME)
        if st.form_submit_button("Save", type="primary") and _done(engine.favourites.rename, favourite.id, name):
            set_values({_PICKED: favourite.id, _RENAME: False})


def _delete(engine: Visitor, favourite: Favourite) -> None:
    if _done(engine.favourites.delete, favourite.id):
        st.session_state[Key.DELETED_FAVOURITE] = (favourite.id, favourite.name)
        st.rerun()


def _damaged(engine: Visitor, ids: Sequence[str]) -> None:
    """A sentence on files that cannot be read, and a way to be rid of them."""
    if not ids:
        return
    where = f" in {engine.favourites.folder}" if engine.everything else ""
    files = ", ".join(f"{one}.json" for one in ids[:3]) + (" …" if len(ids) > 3 else "")
    st.warning(f"{len(ids)} favourites cannot be read because their files{plain(where)} are damaged: {plain(files)}.")
    if st.button("Delete the damaged ones", key="favourite-damaged"):
        for one in ids:
            _done(engine.favourites.delete, one)
        st.rerun()


def _bring_back(engine: Visitor) -> None:
    keys = "favourite-back", "favourite-gone"
    if back := offer_back(Key.DELETED_FAVOURITE, engine.favourites.restore, keys, "The favourite "):
        set_values({_PICKED: back})


def _done(action: Any, *arguments: str) -> bool:
    """Whether it could be done; a refusal is a sentence."""
    try:
        action(*arguments)
    except InputError as error:
        refusal(error)
        return False
    return True
