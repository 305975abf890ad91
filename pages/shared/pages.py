"""The pages of the app, named once: the router lists them and links lead to them."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

FOLDER = Path(__file__).resolve().parents[1]
FAVICON = FOLDER.parent / "static" / "favicon.png"


@dataclass(frozen=True)
class Listed:
    """A page: its file in ``pages/``, its title and its address, which must differ from the file's stem.

    On a fresh server Streamlit answers an address equal to a file's stem with the bare file, without the router.
    """

    file: str
    title: str
    icon: str
    url_path: str

    @property
    def path(self) -> Path:
        """Where the file lies."""
        return FOLDER / self.file


PAGES = (
    Listed("start.py", "Start", ":material/explore:", "welcome"),
    Listed("downscaling.py", "Downscaling", ":material/grid_on:", "downscale"),
    Listed("one_dimension.py", "One dimension", ":material/show_chart:", "line"),
    Listed("sparse_representation.py", "Sparse representation", ":material/scatter_plot:", "sparse"),
    Listed("swiss_roll.py", "Swiss roll", ":material/cyclone:", "roll"),
    Listed("conditional_mean_embeddings.py", "Conditional mean embeddings", ":material/blur_on:", "embeddings"),
    Listed("kernel_bayes.py", "Kernel Bayes' rule", ":material/bubble_chart:", "bayes"),
    Listed("likelihood_free.py", "Likelihood-free inference", ":material/casino:", "simulate"),
    Listed("filtering.py", "Filtering", ":material/my_location:", "follow"),
    Listed("distribution_regression.py", "Distribution regression", ":material/area_chart:", "distributions"),
    Listed("benchmarks.py", "Benchmarks", ":material/leaderboard:", "tables"),
    Listed("runs.py", "Runs", ":material/monitoring:", "all-runs"),
)


def listed_pages() -> list[Page]:
    """Streamlit pages for ``st.navigation``; the first is the front page, missing files are left out."""
    there = [page for page in PAGES if page.path.is_file()]
    return [
        st.Page(page.path, title=page.title, icon=page.icon, url_path=page.url_path, default=index == 0)
        for index, page in enumerate(there)
    ]


def page_link(file: str, label: str, *, query: dict[str, str] | None = None, icon: str | None = None) -> None:
    """A link to a page by its file name; plain text where that page is not there (or the router did not run)."""
    from streamlit.errors import StreamlitAPIException

    try:
        st.page_link(FOLDER / file, label=label, query_params=query, icon=icon, width="stretch")
    except (StreamlitAPIException, KeyError):
        st.markdown(label)
