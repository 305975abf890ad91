"""Views and models of a page that give an equation which it does not open with: see `tests.browser.whole_page`."""

import pytest

from tests.browser.whole_page import ADDRESSES, EXPECTED, is_as_it_should_be


@pytest.mark.parametrize("address", [address for address in EXPECTED if address not in ADDRESSES])
def test_everything_in_the_view_is_as_it_should_be(new_page, address: str) -> None:
    is_as_it_should_be(new_page, address)
