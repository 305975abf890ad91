"""The router: page config and navigation, nothing else."""

import streamlit as st

from deconditioning.sandbox import ADDRESS, WHOSE
from pages.kit.chart.warm_up import wait_for_arrays, warm_up
from pages.kit.controls.address import show_address_notes
from pages.kit.controls.program_values import count_requests
from pages.kit.layout.page_layout import foot
from pages.kit.pages import FAVICON, navigation
from pages.kit.record import begin
from pages.kit.tools.toolbar import finish
from pages.kit.visitor import address, visitor_mark

st.set_page_config(layout="wide", page_icon=str(FAVICON))
warm_up()
WHOSE.set(visitor_mark())
ADDRESS.set(address())
page = st.navigation(navigation(), position="top", expanded=True)
if page.url_path:
    wait_for_arrays()
begin(page.url_path)
with show_address_notes(page.url_path):
    page.run()
    finish()
    foot()
    count_requests()
