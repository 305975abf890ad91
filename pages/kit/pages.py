"""The pages of the app, named once: the router lists them and links lead to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

FOLDER = Path(__file__).resolve().parents[1]
FAVICON = FOLDER.parent / "static" / "favicon.png"


@dataclass(frozen=True)
class Listed:
    """A page: its folder in ``pages/``, its title and its address."""

    folder: str
    title: str
    icon: str
    url_path: str

    @property
    def path(self) -> Path:
        """The file that shows it."""
        return FOLDER / self.folder / "page.py"


PAGES = (
    Listed("start", "Start", ":material/explore:", "welcome"),
    Listed("story", "Story", ":material/auto_stories:", "story"),
    Listed("downscaling", "Downscaling", ":material/grid_on:", "downscale"),
    Listed("one_dimension", "One dimension", ":material/show_chart:", "line"),
    Listed("sparse_representation", "Sparse representation", ":material/scatter_plot:", "sparse"),
    Listed("swiss_roll", "Swiss roll", ":material/cyclone:", "roll"),
    Listed("conditional_mean_embeddings", "Conditional mean embeddings", ":material/blur_on:", "embeddings"),
    Listed("kernel_bayes", "Kernel Bayes' rule", ":material/bubble_chart:", "bayes"),
    Listed("likelihood_free", "Likelihood-free inference", ":material/casino:", "simulate"),
    Listed("filtering", "Filtering", ":material/my_location:", "follow"),
    Listed("distribution_regression", "Distribution regression", ":material/area_chart:", "distributions"),
    Listed("exercises", "Exercises", ":material/checklist:", "exercises"),
    Listed("replicated", "Replicated?", ":material/fact_check:", "replicated"),
    Listed("benchmarks", "Benchmarks", ":material/leaderboard:", "tables"),
    Listed("runs", "Runs", ":material/monitoring:", "all-runs"),
    Listed("glossary", "Glossary", ":material/dictionary:", "glossary"),
)

#: Reached by a link alone: one run, to look at.
SNAPSHOT = Listed("snapshot", "Snapshot", ":material/photo_camera:", "snapshot")


def listed_pages() -> list[Page]:
    """Streamlit pages for ``st.navigation``; the first is the front page, missing files are left out."""
    there = [page for page in (*PAGES, SNAPSHOT) if page.path.is_file()]
    return [
        st.Page(
            page.path, title=page.title, icon=page.icon, url_path=page.url_path, default=index == 0,
            visibility="hidden" if page is SNAPSHOT else "visible",
        )
        for index, page in enumerate(there)
    ]  # fmt: skip


def page_link(
    folder: str, label: str, *, query: Mapping[str, str | list[str]] | None = None, icon: str | None = None
) -> None:
    """A link to a page by its folder; plain text where that page is not there (or the router did not run)."""
    from streamlit.errors import StreamlitAPIException

    try:
        st.page_link(FOLDER / folder / "page.py", label=label, query_params=query, icon=icon, width="stretch")
    except (StreamlitAPIException, KeyError):
        st.markdown(label)
