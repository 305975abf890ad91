"""Page Replicated? in AppTest: the counts, the filters, every claim."""

import json
import re
from collections.abc import Callable, Sequence

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.abbreviations import spelt_out
from deconditioning.studies.replicated.claims import Claim, Verdict, load
from deconditioning.studies.replicated.numbers import FOLDER
from pages.kit.runs.mediated import lost
from pages.replicated.entry import block, title

FOUND = load()
CARDS = [claim for claim in FOUND.claims if claim.verdict != Verdict.DRAWING]


@pytest.fixture
def page(open_page: Callable[..., AppTest]) -> AppTest:
    return open_page("replicated")


def claims(page: AppTest) -> list[str]:
    assert not page.exception and [error.value for error in page.error] == []
    return [part.proto.body for part in page.get("html") if 'class="lab-claim"' in part.proto.body]


def titles(page: AppTest) -> list[str]:
    """The titles of the claims' boxes."""
    return [box.label for box in page.expander if "drawing" not in box.label]


def blocks(shown: Sequence[Claim]) -> list[str]:
    """The cards of these claims in the page's order: abbreviations are spelt out where they come first."""
    known: set[str] = set()
    result = []
    for text in FOUND.texts:
        mine = [claim for claim in shown if claim.text == text]
        for claim in mine:
            if claim.verdict != Verdict.DRAWING:
                title(claim, known)
                result.append(block(claim, known))
        for claim in mine:
            if claim.verdict == Verdict.DRAWING:
                spelt_out(f"{claim.claim} {claim.ours}", known)
    return result


def test_it_opens_with_every_claim_and_says_how_many_hold(page: AppTest) -> None:
    assert claims(page) == blocks(FOUND.claims)
    drawn = [part.proto.body for part in page.get("html") if 'lab-drawing"' in part.proto.body]
    assert len(drawn) + len(CARDS) == len(FOUND.claims)
    counts = FOUND.counts()
    said = " ".join(part.value for part in page.markdown)
    assert all(f"**{counts[verdict]}**" in said for verdict in (Verdict.HOLDS, Verdict.PARTLY, Verdict.FAILS))
    text = "".join(claims(page))
    assert "deconditioning benchmark swiss-roll" in re.sub("<[^>]+>", "", text) and "{" not in text


def test_filters_choose_by_text_and_by_verdict(page: AppTest) -> None:
    page.segmented_control(key="rp-text").set_value("hsu").run()
    assert claims(page) == blocks([claim for claim in FOUND.claims if claim.text == "hsu"])
    page.segmented_control(key="rp-verdict").set_value(Verdict.HOLDS).run()
    assert claims(page) == blocks(
        [each for each in FOUND.claims if (each.text, each.verdict) == ("hsu", Verdict.HOLDS)]
    )
    page.segmented_control(key="rp-text").set_value("slides").run()
    assert claims(page) == [] and "No table or figure" in page.info[0].value


def test_every_mediated_model_is_counted_against_its_counterpart() -> None:
    path = FOLDER / "downscaling.json"
    kept = {(row["case"], row["seed"], row["model"]): row["scores"] for row in json.loads(path.read_text())["rows"]}
    draws = [key[:2] for key, scores in kept.items() if key[2] == "variational_cmp" and scores]
    more = sum(kept[*draw, "variational_cmp"]["rmse"] > kept[*draw, "vbagg"]["rmse"] for draw in draws)
    assert f"on {more} of {len(draws)} draws" in lost("variational_cmp")
    assert lost("bag_gp") == "" and "Shrinkage CMP" in lost()


def test_a_claim_of_many_numbers_shows_one_sentence_and_folds_the_rest() -> None:
    short = [claim for claim in FOUND.claims if claim.short]
    assert len(short) == 6 and all(len(claim.short) < 120 < len(claim.ours) for claim in short)
    for claim in short:
        shown, _, folded = block(claim, set()).partition("<summary>All our numbers</summary>")
        assert "{" not in shown and folded
        numbers = re.findall(r"\d[\d.,]*\d", claim.short)
        assert numbers and all(number in claim.ours and number in shown for number in numbers)


def test_a_result_is_called_the_same_in_the_filter_and_above_the_counts(page: AppTest) -> None:
    options = page.segmented_control(key="rp-verdict").options
    (table,) = [part.proto.body for part in page.get("html") if "<table aria-label" in part.proto.body]
    assert options[1:] == [str(verdict) for verdict in Verdict] and all(f"</i>{name}</th>" in table for name in Verdict)


def test_every_sentence_begins_with_a_capital_and_several_claims_have_their_verb(page: AppTest) -> None:
    """Also where an abbreviation at the beginning is spelt out: "Conditional mean process (CMP) …"."""
    for card in claims(page):
        for text in re.findall(r"<p>(?!<span)(?:<b>[^<]*</b> )?(..)|</b> ([^<]*)</li>", card):
            first = "".join(text)[:2]
            assert not re.match("[a-z]{2}", first), card
    assert any("</b> q̄ is nearly flat" in card for card in claims(page))  # a symbol
    assert all(re.search(r"\*\*: [^a-z]", each) for each in titles(page))


def test_every_box_is_titled_with_its_claim_and_the_sign_of_its_verdict(page: AppTest) -> None:
    signs = {Verdict.HOLDS: "✓", Verdict.PARTLY: "◐", Verdict.FAILS: "✗", Verdict.ELSEWHERE: "◇"}
    assert len(titles(page)) == len(CARDS)
    for shown, claim in zip(titles(page), CARDS, strict=True):
        assert f"[{signs[claim.verdict]}] **{claim.item}**" in shown
        assert claim.claim.split()[-1].rstrip(".") in shown


def test_ours_and_why_are_columns(page: AppTest) -> None:
    for card in claims(page):
        columns = re.findall(r"<div>(.*?)</div>", card)
        labels = [re.findall(r"<p><b>([^<]*)</b>", column) for column in columns]
        assert labels[0] == ([] if 'class="lab-printed"' in columns[0] else ["Ours"]) and len(columns) in (1, 2), card
        assert {label for column in labels[1:] for label in column} <= {"Not available", "Not tested", "Why"}


def test_the_limit_of_a_small_difference_is_said_to_be_ours() -> None:
    mine = [claim for claim in CARDS if any("apart < 0.1" in each.comparison for each in claim.comparisons)]
    assert [claim.item for claim in mine] == ["Figure 4", "Figure 5", "Figure 6", "Figure 7"]
    assert "0.1 is ours" in mine[0].why and "a tenth of the largest value of an embedding" in str(mine[0].answers)
    assert all("as for figure 4" in str(claim.answers) for claim in mine[1:])
