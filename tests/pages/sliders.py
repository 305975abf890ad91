"""Log sliders in AppTest, by the keys that the pages give them."""

import math

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import SelectSlider


def log_slider(page: AppTest, key: str) -> SelectSlider:
    """The control; its value is the value itself, its options are what the handle can read."""
    return page.select_slider(key=key)


def moved(page: AppTest, key: str, factor: float) -> AppTest:
    """Put it to the stop that is nearest to so many times its value, and run the page."""
    slider = log_slider(page, key)
    wanted = math.log(slider.value * factor)
    nearest = min(map(float, slider.options), key=lambda value: abs(math.log(value) - wanted))
    return slider.set_value(nearest).run()
