"""What a button unfolds: drawn while it is open, without a run of the page, and left open by runs that come by."""

from collections.abc import Callable

import streamlit as st


def unfold(label: str, draw: Callable[[], None], *, key: str, icon: str | None = None, help: str | None = None) -> None:
    """A popover as wide as its label; `fold` closes it."""

    @st.fragment
    def part() -> None:
        popover = st.popover(label, key=key, icon=icon, help=help, on_change="rerun")
        if popover.open:
            with popover:
                draw()

    with st.container(width="content"):  # a fragment alone takes all the width it finds
        part()


def fold(key: str) -> None:
    """Close it with the run that comes now; call it in a button's callback."""
    st.session_state.update({key: False})
