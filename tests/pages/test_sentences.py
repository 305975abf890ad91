"""Sentences of pages that depend on what is on the screen: each says the other thing where the numbers do."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pages.kit.layout.weight_words import weights_sentence
from pages.one_dimension import bayes, trip


def sample(*weights: float) -> Any:
    return SimpleNamespace(total=sum(weights), negative=-sum(w for w in weights if w < 0))


def test_weights_are_probabilities_only_where_they_are() -> None:
    assert weights_sentence(sample(0.6, 0.6, -0.2)).endswith(
        "the negative ones to −0.2, so they are not probabilities."
    )
    assert "sum to 0.800, and none is negative: divided" in weights_sentence(sample(0.5, 0.3))
    assert "they are probabilities" in weights_sentence(sample(0.5, 0.5))


def test_hills_of_a_density() -> None:
    y = np.linspace(-3, 3, 400)
    two = np.exp(-8 * (y - 1) ** 2) + np.exp(-8 * (y + 1) ** 2)
    found = [
        bayes.modes(density) for density in (np.ones(400), np.exp(-(y**2)), np.exp(y), two, two + 3e-3 * (y > 2.9))
    ]
    assert found == [1, 1, 1, 2, 2]


@pytest.mark.parametrize(("lost", "words"), [(0.01, "f is recovered:"), (0.5, "partly"), (1.0, "is not recovered")])
def test_what_comes_back_is_said_by_the_share_that_does(lost: float, words: str) -> None:
    f = np.sqrt(2) * np.sin(np.linspace(0, 2 * np.pi, 401))
    assert words in trip.there_and_back(SimpleNamespace(function=f, lost=lost, lost_again=0.1))


def test_a_limit_is_reached_or_not() -> None:
    assert "The limit is reached" in trip.reverse_limit(1e-6, 0.02, 1e-4)
    assert "is not reached" in trip.reverse_limit(1e-6, 1.2, 0.9)
