"""Abbreviations are spelt out once, where they come first, and never inside words or commands."""

from deconditioning.abbreviations import legend, spelt_out


def test_the_first_use_is_spelt_out_and_no_later_one() -> None:
    known: set[str] = set()
    assert spelt_out("The CMP and the bag GP; the CMP again", known) == (
        "The conditional mean process (CMP) and the bag Gaussian process (GP); the CMP again"
    )
    assert spelt_out("Another CMP", known) == "Another CMP" and known == {"CMP", "GP"}


def test_words_commands_and_what_is_spelt_out_already_stay() -> None:
    for text in ("`--methods KBR GP`", "GPU, GPDRs, K2-ABC", "extended Kalman filter (EKF)"):
        assert spelt_out(text, set()) == text


def test_a_legend_names_each_abbreviation_once_in_order() -> None:
    assert legend("RMSE, K", "Bag GP", "Bias") == "RMSE: root mean square error; GP: Gaussian process"
    assert legend("Bias") == ""
