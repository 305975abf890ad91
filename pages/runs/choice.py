"""Which run is looked at, and whose runs these are."""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from deconditioning.engine.records import Run
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.errors import InputError
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.session import Key
from pages.kit.state import forget
from pages.kit.visitor import become_administrator, cookie, is_shared, sees_everything
from pages.runs.library import MOST
from pages.runs.names import described


def rights() -> None:
    """On a shared server: whose runs these are, and the way in for who looks after all of them."""
    if not is_shared():
        return
    if sees_everything():
        st.info("You see the runs and uploads of all visitors until you reload this page.")
        return
    sentence = (
        ""
        if cookie()
        else (
            " Your browser accepts no cookies: the runs are yours only until you reload this page, and you cannot "
            "start new ones."
        )
    )
    st.caption(
        f"These are the runs of your browser. Anybody with a link to a run can view it but not change it.{sentence}"
    )
    if "DECONDITIONING_ADMIN" in os.environ:
        with st.expander("Administrator"):
            secret = st.text_input("Secret", type="password", key="administrator")
            if secret:
                _try(secret)


def _try(secret: str) -> None:
    """Look at a guess once, however often the page is drawn with it."""
    try:
        right = st.session_state.get(Key.WRONG_SECRET) != secret and become_administrator(secret)
    except InputError as error:
        refusal(error)
        return
    if right:
        st.rerun()
    st.session_state[Key.WRONG_SECRET] = secret
    st.error("This is not the secret in DECONDITIONING_ADMIN.")


def linked(engine: Visitor, visitor_runs: Sequence[Run]) -> list[Run]:
    """Runs that the address names and that are somebody else's."""
    known, result = {run.id for run in visitor_runs}, []
    for requested in dict.fromkeys([st.query_params.get("run"), *st.query_params.get_all("with")]):
        if requested and requested not in known:
            with suppress(InputError):  # `chosen` says so
                result.append(engine.get(requested))
    return result


def chosen(place: Any, runs: Sequence[Run]) -> Run | None:
    """The run that is looked at, kept in the address as ``?run=ID``."""
    by_id = {run.id: run for run in runs}
    requested = st.query_params.get("run")
    if requested and requested not in by_id and "box-run" not in st.session_state:
        place.warning(f"There is no run {plain(requested[:40])} here: it was deleted, or it is in another runs folder.")
    if st.session_state.get("box-run", requested) not in by_id:
        forget("box-run")
    ids = list(by_id)
    index = ids.index(requested) if requested in by_id else 0
    pick = place.selectbox("Run", ids, index, lambda i: described(by_id[i]), key="box-run")
    if pick is None:
        return None
    st.query_params["run"] = pick
    return by_id[pick]


def choose_compared(place: Any, runs: Sequence[Run]) -> list[Run]:
    """Runs that it is compared with, kept in the address as ``?with=ID&with=ID``."""
    by_id = {run.id: run for run in runs}
    requested = st.query_params.get_all("with")
    missing = [run_id for run_id in requested if run_id not in by_id]
    if missing and "box-with" not in st.session_state:
        place.warning(f"There is no run {plain(missing[0][:40])} to compare with: it was deleted.")
    if "box-with" in st.session_state:
        st.session_state["box-with"] = [run_id for run_id in st.session_state["box-with"] if run_id in by_id]
    usual = [run_id for run_id in requested if run_id in by_id][: MOST - 1]
    picked = place.multiselect(
        "Compare with",
        list(by_id),
        None if "box-with" in st.session_state else usual,
        format_func=lambda i: described(by_id[i]),
        key="box-with",
        max_selections=MOST - 1,
        placeholder="up to five other runs",
    )
    if picked:
        st.query_params["with"] = picked
    else:
        st.query_params.pop("with", None)
    return [by_id[run_id] for run_id in picked]
