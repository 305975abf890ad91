"""Page Replicated?: every table and figure of the five sources, its claim, our number, the verdict."""

from pathlib import Path

import streamlit as st

from deconditioning.studies.replicated.claims import FILE, Claim, Replicated, Verdict, load
from deconditioning.studies.replicated.numbers import FOLDER
from pages.kit.controls import widgets
from pages.kit.layout.page_layout import page_header, refusals
from pages.replicated.entry import counted, show

SHORT = {"chau": "Chau et al. 2021", "slides": "Talk on the paper", "hsu": "Hsu, Ramos 2019",
         "fukumizu": "Fukumizu et al. 2013", "tang": "Tang et al., preprint"}  # fmt: skip
EVERY = "all"
_CSS = Path(__file__).with_name("replicated.css")


@st.cache_resource(show_spinner="Reading the stored numbers …", max_entries=2)
def _claims(changed: float) -> Replicated:
    result = load()
    for claim in result.claims:
        _ = claim.verdict, claim.ours, claim.why  # read once, for all sessions
    return result


def main() -> None:
    """How many claims hold, and each that the filters let through."""
    page_header(
        "Replicated?",
        "Which published results do we reproduce? Every table and figure of five sources, with our own numbers.",
    )
    st.html(_CSS)
    with refusals():
        body(_claims(max(path.stat().st_mtime for path in (FILE, *FOLDER.glob("*.json")))))


def body(replicated: Replicated) -> None:
    """Sentence, counts, filters, claims."""
    st.markdown(summary(replicated))
    st.html(counted(replicated, SHORT))
    text = widgets.segmented_control("Source", [EVERY, *SHORT], default=EVERY, key="rp-text",
                                   format_func=lambda key: SHORT.get(key, EVERY))  # fmt: skip
    verdict = widgets.segmented_control("Result", [EVERY, *map(str, Verdict)], default=EVERY, key="rp-verdict")
    shown = [claim for claim in replicated.claims
             if (text or EVERY) in (EVERY, claim.text) and (verdict or EVERY) in (EVERY, claim.verdict)]  # fmt: skip
    if not shown:
        st.info("No table or figure of this text has this result.")
    known: set[str] = set()
    chosen = (text or EVERY, verdict or EVERY) != (EVERY, EVERY)
    for key, title in replicated.texts.items():
        mine = [claim for claim in shown if claim.text == key]
        if mine:
            st.subheader(title, anchor=False)
        for claim in mine:
            if claim.verdict != Verdict.DRAWING:
                show(claim, known, expanded=chosen)
        _drawings([claim for claim in mine if claim.verdict == Verdict.DRAWING], known)
    st.caption(
        "All numbers come from stored results. A claim holds if all comparisons below it hold; it holds partly if only "
        "some hold or if a part was not tested. If the data of a text are not available, results on other data do not "
        "decide its claims. `deconditioning replicated` prints the same in a terminal; `docs/replicated.md` is the "
        "same as a file."
    )


def _drawings(claims: list[Claim], known: set[str]) -> None:
    """Figures that claim nothing, folded."""
    if claims:
        many = "1 drawing" if len(claims) == 1 else f"{len(claims)} drawings"
        with st.expander(f"{many}, nothing to test"):
            for claim in claims:
                show(claim, known)


def summary(replicated: Replicated) -> str:
    """The counts in a sentence."""
    counts = replicated.counts()
    answers = [holds for each in replicated.claims if each.verdict == Verdict.ELSEWHERE for _, holds in each.answers]
    holds, partly, fails, elsewhere, drawings = (counts[verdict] for verdict in Verdict)
    return (
        f"Of {holds + partly + fails} tables, figures and parts of them that we could test, **{holds}** hold, "
        f"**{partly}** hold partly and **{fails}** do not hold here. {elsewhere} are about data that are not available "
        f"and were tested only on other data, where {sum(answers)} of {len(answers)} comparisons hold; {drawings} are "
        "drawings."
    )


main()
