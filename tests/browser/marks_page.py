"""One of everything that our style sheets, scripts and browser tests select on a page of Streamlit's."""

import pandas
import streamlit as st

st.title("Marks")
st.sidebar.markdown("Sidebar")
st.toast("A toast", duration="infinite")
st.markdown("Text")
st.latex("x^2")
st.caption("A caption")
st.html("<b>HTML</b>")
st.error("An error")
st.exception(ValueError("an exception"))
st.dataframe(pandas.DataFrame({"number": range(3)}))
left, right = st.columns(2)
left.button("Button")
right.page_link("words_page.py", label="Link")
with st.expander("Expander"):
    st.write("inside")
with st.popover("Popover"):
    st.write("inside")
if st.button("Dialog"):
    st.dialog("A dialog")(st.write)("inside")
st.slider("Slider", 0, 5)
st.toggle("Toggle")
st.selectbox("Selectbox", ["one"])
st.multiselect("Multiselect", ["one"], ["one"])
st.number_input("Number")
st.text_input("Text")
st.segmented_control("Segments", ["one"])
st.file_uploader("File")
