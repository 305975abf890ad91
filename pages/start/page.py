"""Page Start: one's own file first, then what the Lab does, in one moving picture, and three doors."""

import streamlit as st

from pages.downscaling.own_file.request import OWN
from pages.kit.layout.page_layout import page_header
from pages.kit.pages import page_link
from pages.start.walk import CSS, walk


def main() -> None:
    """Draw the page."""
    page_header("Deconditioning Lab", "See, tune and check a fine field recovered from coarse averages.")
    _own_file()
    st.html(f"<style>{CSS.read_text(encoding='utf-8')}</style>{walk()}")
    st.caption(
        "Potential temperature at 645 m, 19 November 2009, 12 UTC (UK Met Office UKV, Crown copyright, Open Government "
        "Licence): 440 cells of 9 × 9 pixels become a map of 35,640 pixels. Computed by this app with stored "
        "hyperparameters."
    )
    learn, explore, present = st.columns(3)
    with learn, st.container(border=True, height="stretch"):
        st.subheader("Learn", anchor=False)
        st.markdown("The worked example above: move λ, σ and the lengthscales and watch the maps change.")
        page_link("downscaling", "Open the worked example", icon=":material/school:")
        page_link("story", "Deconditioning in five minutes", icon=":material/auto_stories:")
        page_link("one_dimension", "One dimension, one control at a time", icon=":material/show_chart:")
        page_link("swiss_roll", "Unroll the Swiss roll", icon=":material/cyclone:")
        page_link("sparse_representation", "Five points for a hundred", icon=":material/scatter_plot:")
        page_link("conditional_mean_embeddings", "Two estimators of an embedding", icon=":material/blur_on:")
    with explore, st.container(border=True, height="stretch"):
        st.subheader("Explore", anchor=False)
        st.markdown("A case where the covariates fail, and a synthetic planet matched only through cloud-top pressure.")
        page_link("downscaling", "Where altitude fails (75 m)", query={"data": "ukv-75m"}, icon=":material/warning:")
        page_link(
            "downscaling", "A planet without matches", query={"data": "atmosphere-small"}, icon=":material/public:"
        )
        page_link("kernel_bayes", "Bayes' rule from samples alone", icon=":material/bubble_chart:")
        page_link("filtering", "Track a hidden state", icon=":material/my_location:")
        page_link("likelihood_free", "Inference from a simulator", icon=":material/casino:")
        page_link("distribution_regression", "Distributions as predictors", icon=":material/area_chart:")
    with present, st.container(border=True, height="stretch"):
        st.subheader("Present", anchor=False)
        st.markdown(
            "Every fit with its settings, seed, trace and scores, and with NetCDF files, printed maps and links."
        )
        page_link("replicated", "Which of the papers' results hold here", icon=":material/fact_check:")
        page_link("benchmarks", "Which model wins where", icon=":material/leaderboard:")
        page_link("runs", "See the runs", icon=":material/monitoring:")


def _own_file() -> None:
    """The first door: the dialog of page Downscaling."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="lab-own-door"):
        with st.container(width=270):
            page_link("downscaling", "Downscale your own file", query={"data": OWN}, icon=":material/upload_file:")
        st.markdown(
            "NetCDF or GRIB: one fine field, or a coarse file and fine covariates such as altitude. The variables are "
            "guessed, and the map is there within a minute.",
            width=620,
        )


main()
