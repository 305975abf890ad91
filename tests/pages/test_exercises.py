"""Exercises on their pages: as opened none is done, as docs/teaching.md solves it each is; ticks stay."""

import json
import re
from html import escape
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.engine.visitors.exercise_progress import Done
from deconditioning.teaching.exercises import ASKED, Address, Exercise
from deconditioning.teaching.solved import verdict_at
from deconditioning.teaching.tasks import EXERCISES, exercise_of
from pages.kit.controls.level import KEY, LEVELS
from pages.kit.pages import PAGES
from pages.kit.state import get_engine
from pages.kit.tools import history
from tests.pages.conftest import ROOT, until
from tests.pages.sliders import moved

pytestmark = pytest.mark.usefixtures("own_caches")

RESULTS = ROOT / "tests" / "benchmarks" / "results"
DOCS = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
ADDRESSES = {page.url_path: page.folder for page in PAGES}


def address(exercise: Exercise, settings: str) -> str:
    """An address of the exercise that the documentation gives under that heading."""
    found = re.search(rf"{settings}: `/([a-z-]+)\?(\S*{ASKED}={exercise.key}(?:&\S*)?)`", DOCS)
    assert found and ADDRESSES[found[1]] == exercise.page, (exercise.key, settings)
    return found[2]


def verdict(page: AppTest) -> str:
    """What stands in the exercise's place."""
    assert not page.exception and not page.error
    return next((block.proto.body for block in page.get("html") if 'class="lab-verdict"' in block.proto.body), "")


def printed(exercise: Exercise, settings: Address) -> str:
    """What the handout prints, which opens no page."""
    return escape(verdict_at(exercise, settings).sentence)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.key)
def test_an_exercise_opens_undone_and_its_documented_solution_does_it(open_page, exercise: Exercise) -> None:
    opening, solution = (dict(parse_qsl(address(exercise, name))) for name in ("Opens", "Solution"))
    assert opening == {ASKED: exercise.key} | dict(exercise.opening)
    assert solution == {ASKED: exercise.key} | dict(exercise.solution)
    page = open_page(exercise.page, **opening)
    until(page, lambda: "computing" not in verdict(page))
    assert 'data-state="open"' in verdict(page) and "Not yet." in verdict(page)
    assert printed(exercise, exercise.opening) in verdict(page)
    named_as_asked(page, exercise)
    assert get_engine().progress.done() == {}
    move(page, exercise.solution)
    until(page, lambda: "computing" not in verdict(page))
    assert 'data-state="good"' in verdict(page) and "Done." in verdict(page), verdict(page)
    assert printed(exercise, exercise.solution) in verdict(page)
    (done,) = get_engine().progress.done().values()
    wanted = {key: text for key, text in exercise.solution.items() if key != KEY}
    assert list(get_engine().progress.done()) == [exercise.key] and done.settings and done.when.endswith("UTC")
    assert done.address.startswith("/") and wanted.items() <= dict(parse_qsl(done.address.partition("?")[2])).items()


def move(page: AppTest, settings: Address) -> None:
    """Move the page's controls to these settings."""
    words = {key: [word] for key, word in settings.items()}
    page.session_state["_wish"] = history.Request(
        page.session_state["_seen"].page,
        lambda controls: {key: each.from_words(words[key]) for key, each in controls.items() if key in words},
    )
    page.run()


def test_opening_the_address_of_a_solution_gives_no_tick(open_page) -> None:
    exercise = exercise_of("one")
    assert exercise is not None
    page = open_page(exercise.page, **{ASKED: exercise.key}, **exercise.solution)
    until(page, lambda: "computing" not in verdict(page))
    assert 'data-state="open"' in verdict(page) and "move a control" in verdict(page)
    assert get_engine().progress.done() == {}
    page.run()
    assert 'data-state="open"' in verdict(page)
    moved(page, "e-k", 1.5)
    until(page, lambda: "computing" not in verdict(page))
    assert 'data-state="good"' in verdict(page) and list(get_engine().progress.done()) == [exercise.key]


def named_as_asked(page: AppTest, exercise: Exercise) -> None:
    """Where the task asks to move one control, it calls it as the page does, at either level."""
    if "Move *" not in exercise.task:
        return
    (key,) = (key for key, text in exercise.solution.items() if exercise.opening.get(key) != text)
    for level in reversed(LEVELS):
        page.segmented_control(key=KEY).set_value(level).run()
        sliders = (*page.slider, *page.select_slider, *page.number_input)
        label = next(each.label for each in sliders if each.key == key)
        assert label.split(",")[0].lower() in exercise.task.lower().replace("*", ""), label


def test_ticks_stand_on_the_page_of_exercises_until_they_are_taken_away(open_page) -> None:
    page = open_page("exercises")
    assert f"0 of {len(EXERCISES)} done" in page.markdown[1].value
    get_engine().progress.keep("band", Done("The band holds *95* %.", "λ: 0.002", "/line?o-lam=0.002", "now"))
    page.run()
    assert f"1 of {len(EXERCISES)} done" in page.markdown[1].value
    texts = [text.value for text in page.markdown]
    (ticked,) = [at for at, text in enumerate(texts) if "check" in text]
    assert texts[ticked - 1] == "**1. A band of the right width**"
    assert any("4 minutes, easy" in caption.value for caption in page.caption)
    assert any(caption.value == "The band holds \\*95\\* %." for caption in page.caption)
    page.text_input(key="x-answer-band").set_value("Certainty makes it narrow.").run()
    assert get_engine().progress.done()["band"].answer == "Certainty makes it narrow."
    page.toggle(key="x-hide").set_value(True).run()
    assert not page.exception and not [each for each in page.caption if "95" in each.value]
    assert not [each for each in page.text_input if each.key == "x-answer-band"]
    page.toggle(key="x-hide").set_value(False).run()
    page.button(key="x-reset").click().run()
    assert get_engine().progress.done() == {}
    assert not page.exception and f"0 of {len(EXERCISES)} done" in page.markdown[1].value


@pytest.mark.parametrize("number", [3, 6])
def test_a_short_link_opens_the_exercise_of_that_number(open_page, number: int) -> None:
    page = open_page("exercises", open=str(number))
    exercise = EXERCISES[number - 1]
    told = next(text.value for text in page.markdown if "Exercise " in text.value)
    assert f"Exercise {number} of" in told and exercise.task in told
    assert "Not yet." in verdict(page)


@pytest.mark.parametrize("number", ["0", "13", "x", ""])
def test_a_short_link_to_no_exercise_shows_them_all(open_page, number: str) -> None:
    page = open_page("exercises", open=number)
    assert not page.exception and f"of {len(EXERCISES)} done" in page.markdown[1].value


def test_the_handout_is_offered_for_the_address_of_the_page(open_page, monkeypatch) -> None:
    monkeypatch.setattr("deconditioning.teaching.handout.checked", lambda: {})
    monkeypatch.setattr("deconditioning.teaching.handout.handout", lambda address, found: f"{address} {found}".encode())
    page = open_page("exercises")
    (button,) = [each for each in page.get("download_button") if "Handout" in each.proto.label]
    assert button.proto.label == "Handout, PDF" and not page.exception


def test_an_address_with_no_exercise_of_the_page_shows_none(open_page) -> None:
    for key in ("nosuch", "noise"):
        page = open_page("one_dimension", **{ASKED: key})
        assert not page.exception and not verdict(page) and not page.info


def test_leaving_takes_the_task_away(open_page) -> None:
    page = open_page("conditional_mean_embeddings", **{ASKED: "one"})
    assert "Not yet." in verdict(page)
    page.button(key="lab-leave").click().run()
    assert not verdict(page)


def test_what_a_class_waits_for_is_what_was_measured() -> None:
    rows = [row for name in ("lesson", "load") for row in json.loads((RESULTS / f"{name}.json").read_text())["rows"]]
    told = [
        ("a step of the story", "Step of the story, until its picture", ""),
        ("its answer", "Step of the story, until its answer", ""),
        ("an exercise, until", "Exercise as asked, until its verdict", ""),
        ("an exercise, solved", "Exercise as solved, until its verdict", ""),
        ("everybody moves a slider", "Moved slider, until the picture", "all 30 sessions move at once, no fit"),
    ]
    for words, what, size in told:
        (row,) = [row for row in rows if row["what"] == what and size in row["size"]]
        late = float(re.search(r"p95 ([\d,]+) ms", row["accuracy"])[1].replace(",", "")) / 1000
        median, most = re.search(rf"\| {words}[^|]*\| ([\d.]+) s \| ([\d.]+) s \|", DOCS).groups()
        assert float(median) == float(f"{row['ours']:.2g}") and abs(float(most) - late) <= 0.05 * late
