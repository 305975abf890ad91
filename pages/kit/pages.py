"""The pages of the app, named once: the router lists them and links lead to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import streamlit as st

from pages.kit.streamlit_private import api_error

T = TypeVar("T")
FOLDER = Path(__file__).resolve().parents[1]
FAVICON = FOLDER.parent / "static" / "favicon.png"


@dataclass(frozen=True)
class Listed:
    """A page: its folder in ``pages/``, its title and its address.

    ``study``: whether it shows a study, with two levels of controls and with presets. ``renamed``: keys
    that its controls had in the address in earlier versions, and the keys they have now.
    """

    folder: str
    title: str
    icon: str
    url_path: str
    study: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def path(self) -> Path:
        """The file that shows it."""
        return FOLDER / self.folder / "page.py"


#: The groups of the navigation, and their pages.
GROUPS: Mapping[str, tuple[Listed, ...]] = {
    "Learn": (
        Listed("start", "Start", ":material/explore:", "welcome"),
        Listed("story", "Story", ":material/auto_stories:", "story"),
        Listed("exercises", "Exercises", ":material/checklist:", "exercises"),
        Listed("glossary", "Glossary", ":material/dictionary:", "glossary"),
    ),
    "Downscale": (
        Listed("downscaling", "Downscaling", ":material/grid_on:", "downscale", study=True),
        Listed("period", "Period", ":material/calendar_month:", "period"),
        Listed("runs", "Runs", ":material/monitoring:", "all-runs"),
    ),
    "Methods": (
        Listed("one_dimension", "One dimension", ":material/show_chart:", "line", study=True),
        Listed("sparse_representation", "Sparse representation", ":material/scatter_plot:", "sparse", study=True),
        Listed("swiss_roll", "Swiss roll", ":material/cyclone:", "roll", study=True),
        Listed(
            "conditional_mean_embeddings", "Conditional mean embeddings", ":material/blur_on:", "embeddings", study=True
        ),
        Listed("kernel_bayes", "Kernel Bayes' rule", ":material/bubble_chart:", "bayes", study=True),
        Listed("likelihood_free", "Likelihood-free inference", ":material/casino:", "simulate", study=True),
        Listed("filtering", "Filtering", ":material/my_location:", "follow", study=True),
        Listed(
            "distribution_regression", "Distribution regression", ":material/area_chart:", "distributions", study=True
        ),
    ),
    "Evidence": (
        Listed("replicated", "Replicated?", ":material/fact_check:", "replicated"),
        Listed("benchmarks", "Benchmarks", ":material/leaderboard:", "tables"),
    ),
}
PAGES = tuple(page for pages in GROUPS.values() for page in pages)

#: Reached by a link alone: one run, to look at.
SNAPSHOT = Listed("snapshot", "Snapshot", ":material/photo_camera:", "snapshot")


def page_in(folder: str) -> Listed:
    """The page of a folder in ``pages/``."""
    return next(page for page in PAGES if page.folder == folder)


def renamed_keys(url_path: str) -> Mapping[str, str]:
    """Earlier keys of the controls of the page at that address, and their keys now."""
    return next((page.renamed for page in PAGES if page.url_path == url_path), {})


def with_current_keys(url_path: str, address: Mapping[str, T]) -> dict[str, T]:
    """A page's address with the keys of this version; where it has a control's old and new key, the new one counts."""
    renamed = renamed_keys(url_path)
    old = {renamed[key]: value for key, value in address.items() if key in renamed}
    return old | {key: value for key, value in address.items() if key not in renamed}


def navigation() -> dict[str, list[st.Page]]:
    """Streamlit pages by group, for ``st.navigation``; the first is the front page, missing files are left out."""
    result = {name: _streamlit_pages(pages) for name, pages in GROUPS.items()}
    result[next(reversed(result))] += _streamlit_pages((SNAPSHOT,))
    return result


def _streamlit_pages(pages: tuple[Listed, ...]) -> list[st.Page]:
    return [
        st.Page(
            page.path, title=page.title, icon=page.icon, url_path=page.url_path, default=page is PAGES[0],
            visibility="hidden" if page is SNAPSHOT else "visible",
        )
        for page in pages
        if page.path.is_file()
    ]  # fmt: skip


def page_door(
    folder: str, label: str, *, query: Mapping[str, str | list[str]] | None = None, icon: str | None = None
) -> None:
    """A link to a page that looks like the main button; one at most on a page."""
    with st.container(key=f"lab-door-{folder}", width="content"):
        page_link(folder, label, query=query, icon=icon)


def page_link(
    folder: str, label: str, *, query: Mapping[str, str | list[str]] | None = None, icon: str | None = None
) -> None:
    """A link to a page by its folder; plain text where that page is not there (or the router did not run)."""
    try:
        st.page_link(FOLDER / folder / "page.py", label=label, query_params=query, icon=icon, width="stretch")
    except (api_error(), KeyError):
        st.markdown(label)
