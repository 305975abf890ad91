"""Two levels of every page with controls: Essential, at most four controls in plain words, and All.

Controls are drawn at both levels, so that each keeps its value and its place in the address, undo, pins and links; at
Essential the style sheet hides those that the page does not declare essential. The level is no setting of the page: the
visitor's browser keeps it, and an address may carry it.
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.kit.controls.address import correct
from pages.kit.controls.essential import Essentials, essential
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.record import Control, page_record
from pages.kit.session import Key
from pages.kit.streamlit_parts import CONTROL_CLASSES

ESSENTIAL, ALL = LEVELS = ("Essential", "All")
#: Key of the switch, and its name in an address.
KEY = "level"
#: The cookie in which a browser keeps the level (frame.js).
COOKIE = "deconditioning-level"
#: Keys of controls that are no setting of a page.
_TOOLS = ("lab-", "sweep")
#: Controls in a container whose key begins so are shown at both levels.
_SHOWN = "lab-shown-"


def choose(essentials: Essentials) -> None:
    """The switch at the head of the controls; call it before the page's first control."""
    now = page_record()
    _begin(now.page)
    with st.sidebar:
        result = st.segmented_control(
            "Controls", LEVELS, default=ESSENTIAL, required=True, key=KEY, bind="query-params", width="stretch",
            help=(
                "Essential: at most four controls, in plain words. All: every control, with the field's terms. Hidden "
                "controls keep their values."
            ),
        )  # fmt: skip
    now.essentials, now.shows_all = essentials, result == ALL
    st.session_state[Key.LEVEL] = shown()


def _begin(page: str) -> None:
    """A page that is opened has the level of its address, or the one that was shown last, here or by this browser."""
    before = st.session_state.get(Key.LEVEL_PAGE)
    if before == page:
        return
    st.session_state[Key.LEVEL_PAGE] = page
    words, earlier = st.query_params.get(KEY), st.session_state.get(Key.LEVEL) or st.context.cookies.get(COOKIE)
    level = next((one for one in (str(words).capitalize(), earlier) if one in LEVELS), ESSENTIAL)
    if before is None and level != (ESSENTIAL if words is None else words):
        correct(KEY, [level])  # on later pages Streamlit tells the browser, on the first it believes what that says
    st.session_state.update({KEY: level})


def at_both_levels(name: str) -> DeltaGenerator:
    """A container whose controls are shown at either level, such as those that one's own file needs."""
    return st.container(key=f"{_SHOWN}{name}")


def shown() -> str:
    """The level that the page has; empty where it has none."""
    now = page_record()
    return "" if not now.essentials else ALL if now.shows_all else ESSENTIAL


def in_address() -> dict[str, str]:
    """The level as an address says it."""
    return {KEY: shown()} if shown() else {}


def style() -> str:
    """CSS that hides what is not essential, where the level is Essential."""
    if shown() != ESSENTIAL:
        return ""
    inputs = ", ".join(f".{name}" for name in CONTROL_CLASSES)
    shown_ones = [
        f".st-key-{KEY}",
        *(f'[class*="st-key-{name}"]' for name in _TOOLS),
        f'[class*="st-key-{_SHOWN}"] *',
        *map(_selector, page_record().essentials),
    ]
    return (
        f'[data-testid="stElementContainer"][class*="st-key-"]:has({inputs}):not({", ".join(shown_ones)})'
        "{ display: none; }"
    )


def _selector(key: str) -> str:
    """Elements of a control's key, in which ``*`` stands for anything."""
    first, *more = key.split("*")
    begin = f".st-key-{first}" if not more else f'[class*="st-key-{first}"]'
    return begin + "".join(f'[class*="{part}"]' for part in more if part)


def beyond() -> list[Control]:
    """Controls that the level hides, no dialog sets, and that do not hold what the worked example has."""
    now = page_record()
    hidden = [] if now.shows_all else [each for key, each in now.controls.items() if essential(key) is None]
    return [each for each in hidden if not each.in_picture and each.differs and each.key not in now.reachable]


def show_count_of_hidden() -> None:
    """How many hidden settings are not those of the worked example, as a button that shows them."""
    count = len(beyond())
    if count:
        differ = "1 more setting differs" if count == 1 else f"{count} more settings differ"
        st.button(
            f"{differ} from the worked example: show all", key="lab-show-all", type="tertiary", on_click=_show_all
        )


def _show_all() -> None:
    set_on_next_run({KEY: ALL})
