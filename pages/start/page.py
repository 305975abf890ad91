"""Page Start: one's own file first, then what the Lab does, in one moving picture, and four doors."""

import streamlit as st

from pages.downscaling.own_file.request import OWN
from pages.kit.layout.page_layout import page_header
from pages.kit.layout.walk import scores, walk
from pages.kit.pages import page_door, page_in, page_link
from pages.kit.tools.present import ASKED as PRESENT

#: Below the pictures.
_WALK = (
    "Potential temperature at 645 m, 19 November 2009, 12 UTC (UK Met Office UKV, Crown copyright, Open Government "
    "Licence): 440 cells of 9 × 9 pixels become a map of 35,640 pixels. Computed by this app with stored "
    "hyperparameters."
)


def main() -> None:
    """Draw the page."""
    page_header("Deconditioning Lab", "From coarse averages to a fine field, with its uncertainty.")
    _own_file()
    st.html(walk())
    st.markdown(scores())
    st.caption(_WALK)
    learn, explore, present, evidence = st.columns(4)
    with learn, st.container(border=True, height="stretch"):
        st.subheader("Learn", anchor=False)
        st.markdown("From the idea to the methods, one control at a time.")
        page_link("story", "Deconditioning in five minutes", icon=":material/auto_stories:")
        page_link("downscaling", "The worked example above", icon=":material/school:")
        page_link("one_dimension", "One dimension", icon=":material/show_chart:")
        page_link("swiss_roll", "Unroll the Swiss roll", icon=":material/cyclone:")
        page_link("exercises", "Twelve exercises", icon=":material/checklist:")
        page_link("glossary", "What the words mean", icon=":material/dictionary:")
    with explore, st.container(border=True, height="stretch"):
        st.subheader("Explore", anchor=False)
        st.markdown("Harder fields, and other problems that the same mathematics solves.")
        page_link("downscaling", "Where altitude fails (75 m)", query={"data": "ukv-75m"}, icon=":material/warning:")
        page_link(
            "downscaling",
            "Cells matched indirectly",
            query={"data": "atmosphere-small"},
            icon=":material/public:",
        )
        page_link("period", "A whole series", icon=page_in("period").icon)
        page_link("kernel_bayes", "Bayes' rule from samples", icon=":material/bubble_chart:")
        page_link("filtering", "Track a hidden state", icon=":material/my_location:")
        page_link("likelihood_free", "Inference from a simulator", icon=":material/casino:")
    with present, st.container(border=True, height="stretch"):
        st.subheader("Present", anchor=False)
        st.markdown("Pages with controls become slides: press Present or P. PowerPoint and PDF are under Download.")
        page_link("downscaling", "Slides of the example", query={PRESENT: "1"}, icon=":material/slideshow:")
        page_link("sparse_representation", "Slides of a method", query={PRESENT: "1"}, icon=":material/slideshow:")
    with evidence, st.container(border=True, height="stretch"):
        st.subheader("Check", anchor=False)
        st.markdown("Which published results hold, and how accurate each model is on real fields.")
        page_link("replicated", "Published results, recomputed", icon=":material/fact_check:")
        page_link("benchmarks", "Accuracy of every model", icon=":material/leaderboard:")
        page_link("runs", "Your own runs", icon=page_in("runs").icon)


def _own_file() -> None:
    """The first door: the dialog of page Downscaling."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        page_door("downscaling", "Downscale your own file", query={"data": OWN}, icon=":material/upload_file:")
        st.markdown(
            "NetCDF, GeoTIFF or GRIB: one fine field, or a coarse file and fine covariates such as altitude. The app "
            "guesses the variables, you can correct them, and the map is ready within a minute.",
            width=620,
        )


main()
