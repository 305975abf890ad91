"""The router: page config and navigation, nothing else."""

import streamlit as st

from pages.shared.pages import FAVICON, listed_pages
from pages.shared.warm_up import warm_up

st.set_page_config(layout="wide", page_icon=str(FAVICON))
warm_up()
st.navigation(listed_pages()).run()
