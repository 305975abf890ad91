"""Pages of tests' own, served by Streamlit without our server."""

import streamlit as st

st.navigation(
    [st.Page("words_page.py", default=True), st.Page("marks_page.py", url_path="marks")], position="top"
).run()
