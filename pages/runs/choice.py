"""Which run is looked at, and whose runs these are."""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from core.engine import Run, Visitor
from core.errors import InputError
from pages.kit.state import forget, is_known, recall
from pages.kit.visitor import become_administrator, cookie, is_shared, sees_everything
from pages.kit.words import plain
from pages.runs.names import described


def rights() -> None:
    """On a shared server: whose runs these are, and the way in for who looks after all of them."""
    if not is_shared():
        return
    if sees_everything():
        st.info("You see everybody's runs and uploads, until this page is reloaded.")
        return
    kept = "" if cookie() else " Your browser keeps no cookies: they are yours only until you reload this page."
    st.caption(f"These are the runs of your browser; whoever has a link to one can look at it, not change it.{kept}")
    if "DECONDITIONING_ADMIN" in os.environ:
        with st.expander("Administrator"):
            secret = st.text_input("Secret", type="password", key="administrator")
            if secret and become_administrator(secret):
                st.rerun()
            elif secret:
                st.error("That is not the secret of DECONDITIONING_ADMIN.")


def linked(engine: Visitor, own: Sequence[Run]) -> list[Run]:
    """Runs that the address names and that are somebody else's."""
    known, found = {run.id for run in own}, []
    for asked in dict.fromkeys(st.query_params.get(query) for query in ("run", "with")):
        if asked and asked not in known:
            with suppress(InputError):  # `chosen` says so
                found.append(engine.get(asked))
    return found


def chosen(place: Any, label: str, query: str, runs: Sequence[Run], *, optional: bool = False) -> Run | None:
    """A run chosen in a list, kept in the address as ``?query=ID``."""
    by_id = {run.id: run for run in runs}
    ids: list[str | None] = [None, *by_id] if optional else list(by_id)
    asked = st.query_params.get(query)
    if asked and asked not in by_id and not is_known(f"box-{query}"):
        place.warning(f"There is no run {plain(asked[:40])} here: it was deleted, or belongs to another runs folder.")
    if recall(f"box-{query}", asked) not in ids:
        forget(f"box-{query}")
    index = ids.index(asked) if asked in ids else 0
    pick = place.selectbox(
        label, ids, index, lambda i: described(by_id[i]) if i else "no other run", key=f"box-{query}"
    )
    if pick is None:
        st.query_params.pop(query, None)
        return None
    st.query_params[query] = pick
    return by_id[pick]
