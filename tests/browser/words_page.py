"""Words of others in every kind of text that Streamlit has; `test_words` serves it from a folder of its own."""

import random

import streamlit as st

from pages.kit.layout.escaping import plain, sentence_of

HOSTILE = (
    "![p](http://203.0.113.1/x.png)",
    '<img src="http://203.0.113.1/y.png"> <b>fat</b> <!-- -->',
    "[l](http://203.0.113.1/) <http://203.0.113.1/> http://203.0.113.1/z www.example.org a.b@example.org",
    "$x^2$ and $$y$$ cost $5, $6",
    ":red[x] :material/star: :smile: :streamlit: :small[x] :shimmer[y] :100: 12:30:00 a:b ::c :::d",
    "**b** __u__ *i* _e_ ~~s~~ ~t~ `code` ``co`de``",
    "# heading",
    "- item",
    "1. one",
    "2) two",
    "> quote",
    "+ plus",
    "=== ---",
    "| a | b | |---|---| | 1 | 2 |",
    "&lt;tag&gt; &amp; &#58;smile&#58; \\*x\\* C:\\new\\_folder \\",
    "[^1] [^1]: note [a]: http://203.0.113.1/",
    "[p]: <http://203.0.113.1/> 'x'",
    "{a} :red[x]{b=c} :help[d]",
    "javascript:alert(1) mailto:a@b.org xmpp:a@b.org",
    "air_potential_temperature (K) at 1.5 m: 5° × 9 %",
)
LETTERS = "ab1 ``:*_[]()<>!$`~#&\\/-+=.@|{}'\"^%hw"
_random = random.Random(0)
MIXED = tuple("".join(_random.choices(LETTERS, k=24)).strip() or "x" for _ in range(150))

for index, text in enumerate((*HOSTILE, *MIXED)):
    with st.container(key=f"text-{index}"):
        st.markdown(plain(text))
    with st.container(key=f"sentence-{index}"):
        st.markdown(sentence_of(text))
for index, text in enumerate(HOSTILE):
    words = plain(text)
    with st.container(key=f"label-{index}"):
        st.subheader(words, anchor=False)
        st.caption(words)
        st.error(words)
        st.button(words, key=f"button-{index}", help=words)
        st.progress(0.5, text=words)
        st.metric(words, words, help=words)
        st.slider(words, 0, 5, key=f"slider-{index}")
        st.toggle(words, key=f"toggle-{index}")
        st.expander(words, expanded=True).markdown(f"- {words}\n- **{words}**: {words}")
        st.selectbox("one", [text], key=f"one-{index}")
        st.multiselect("some", [text], [text], key=f"some-{index}")
st.toast(plain(HOSTILE[0]))
