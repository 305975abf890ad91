"""Page Story in AppTest: every step of every story, before and after a guess; what lasts long stands in prepared."""

from urllib.parse import quote

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.datasets.one_dimension import LineSpec, make_line
from deconditioning.downscaling.checks.scale_up_result import VALUES, OneScaleUp
from deconditioning.fields.problem.baselines import bilinear, constant
from deconditioning.figures.difference import numbers
from deconditioning.metrics.predictive import Predictive
from deconditioning.studies.story import mediated
from deconditioning.studies.story.checked import SECRETS, Checked
from deconditioning.studies.story.whole_map import Solved
from deconditioning.teaching.lesson import ANSWERS
from deconditioning.wording import slider_text
from pages.story import fields, guesses, maps, mediator, simulators
from pages.story.step import Guess, Question, number, percent, verdict, within
from pages.story.stories import FIRST, STORIES, step_key

PLACES = [(about, at) for about, steps in STORIES.items() for at in range(1, len(steps) + 1)]


@pytest.fixture(scope="module", autouse=True)
def prepared(own_caches: None) -> None:
    """What the background would compute: maps between cells, a check one scale up, intervals of secrets."""
    for key in maps.LEVELS.values():
        problem = fields.problem_of(key)
        between = bilinear(problem)
        solved = Solved(problem, Predictive(between, np.full(problem.grid.shape, 0.15)), constant(problem), between)
        maps._results("map", key)["found"] = solved
        values = {name: (0.0,) for name in VALUES}
        rmse = {"area_to_point_gp": 0.2, "bilinear": 0.4}
        checked = OneScaleUp("area_to_point_gp", 9, 30, "K", 1.0, rmse, {}, 0.1, (0.5, 0.9, 0.95), (3.0,), 0.5, values)
        maps._results("up", key)["found"] = checked
    theta = np.linspace(0.05, 0.5, SECRETS)
    for count in simulators.FEW:
        intervals = np.stack([0.8 * theta, np.where(np.arange(SECRETS) < 3, 0.9, 1.2) * theta], axis=1)
        simulators._results(count)["found"] = Checked(theta, intervals)


def opened(open_page, about: str, at: int) -> AppTest:
    page = open_page("story", about=about, step=str(at))
    assert not page.exception and not page.error
    return page


def revealed(page: AppTest, about: str, at: int) -> AppTest:
    key, question = f"{about if about != FIRST else 's'}{at}", STORIES[about][at - 1].question
    if question.choices:
        assert page.button(key=f"{key}-reveal").disabled
        page.segmented_control(key=f"{key}-choice").set_value(question.choices[0]).run()
    return page.button(key=f"{key}-reveal").click().run()


@pytest.mark.parametrize(("about", "at"), PLACES)
def test_every_step_asks_and_then_answers(open_page, about: str, at: int) -> None:
    step, page = STORIES[about][at - 1], opened(open_page, about, at)
    assert [head.value for head in page.header] == [step.sentence] and page.title[0].value == "Story"
    assert not any("Guess again" in button.label for button in page.button)
    assert not any("mathematics" in folded.label for folded in page.expander)  # it has the answer in it
    page = revealed(page, about, at)
    assert not page.exception and not page.error
    told = " ".join(text.value for text in page.markdown)
    assert "you guessed" in told.lower() or "Right:" in told
    page.button(key=f"{about if about != FIRST else 's'}{at}-again").click().run()
    assert not any("Guess again" in button.label for button in page.button)


def test_which_curve_is_real_is_asked_along_a_line_that_no_step_has_shown() -> None:
    first, second = fields.through(fields.SIZE, Guess(1.0, fields.SIZE), False), fields.fit(1, None, False)
    assert "Snowdonia at 53° N" in first.sentence and "another line, at 54.6° N" in second.sentence
    real = fields.transect(fields._RIVALS_ROW).values
    shown = [numbers(trace["y"]) for trace in second.figures[0]["data"] if trace["name"] in fields.NAMES]
    off = [np.abs(values - real).max() for values in shown]
    assert len(shown) == 3 and sum(each <= 0.0625 + 1e-9 for each in off) == 1  # half a step of the stored field
    assert all(np.abs(values - fields.transect().values).max() > 1 for values in shown)


def test_the_step_is_turned_by_buttons_and_stays_inside_its_story(open_page) -> None:
    page = opened(open_page, "bayes", 9)  # beyond the last
    assert page.header[0].value == STORIES["bayes"][-1].sentence and page.button(key="story-next").disabled
    page.button(key="story-back").click().run()
    assert page.header[0].value == STORIES["bayes"][2].sentence
    page.button(key="story-dot-1").click().run()
    assert page.header[0].value == STORIES["bayes"][0].sentence and page.button(key="story-back").disabled
    page.segmented_control(key="about").set_value("distributions").run()
    assert page.header[0].value == STORIES["distributions"][0].sentence


def test_the_story_ends_with_the_three_answers_of_the_lesson(open_page) -> None:
    page = opened(open_page, FIRST, 10)
    assert not any(ANSWERS[0][1] in text.value for text in page.markdown)
    page = revealed(page, FIRST, 10)
    (closing,) = [text.value for text in page.markdown if ANSWERS[0][1] in text.value]
    assert all(f"**{title}.** {answer}" in closing for title, answer in ANSWERS)


def test_numbers_on_the_page_are_those_of_the_computation(open_page) -> None:
    page = revealed(opened(open_page, FIRST, 3), FIRST, 3)
    top = fields.recovered(fields.best(False), False)
    told = " ".join(text.value for text in page.markdown)
    assert f"With {number(top.length)} km" in told and percent(top.held) in told and number(top.rmse) in told


def test_rows_moved_by_hand_are_what_the_mediator_step_tells_of(open_page) -> None:
    page = open_page("story", step="5", **{"s5-first": "d1a-5_3a-5.2_2", "s5-second": "a-4.9_7"})
    assert not page.exception and not page.error
    line, told = make_line(LineSpec()), " ".join(text.value for text in page.markdown)
    y, x = np.delete(line.mediators.numpy(), 0), np.delete(line.inputs.numpy(), 0)
    y, x = np.append(y, [-5, -5.2]), np.append(x, [3, 2])
    near = np.abs(y + 5) <= mediated.NEAR
    assert f"the first table has {near.sum()} rows, mean input {number(x[near].mean())}" in told
    y, z = np.append(line.query.numpy(), -4.9), np.append(line.targets.numpy(), 7)
    near = np.abs(y + 5) <= mediated.NEAR
    assert f"the second has {near.sum()} rows, mean outcome {number(z[near].mean())}" in told
    assert "By hand, first table: 2 added, 1 deleted; second table: 1 added." in told
    page.button(key="s5-reveal").click().run()
    (edited,) = [text.value for text in page.markdown if "all points but yours" in text.value]
    page.button(key="s5-as-generated").click().run()
    assert not any("By hand" in text.value for text in page.markdown)
    (plain,) = [text.value for text in page.markdown if "which generated the data" in text.value]
    assert plain.partition("deconditioning estimates")[2] != edited.partition("deconditioning estimates")[2]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("<b>m1</b>", "not an edit of a point"),
        ("a1_1001", "between"),
        ("d1d1", "twice"),
        ("m900_1_1", "beyond n = 200"),
    ],
)
def test_hostile_edits_of_its_rows_are_left_aside_with_a_sentence(open_page, text: str, word: str) -> None:
    page = open_page("story", step="5", **{"s5-first": text, "s5-second": "d1"})
    assert not page.exception and not page.error
    told = " ".join(block.value for block in (*page.markdown, *page.warning, *page.caption))
    assert word in told and "By hand, second table: 1 deleted." in told


def test_a_mediator_without_rows_is_said_to_have_none() -> None:
    assert mediator._sentence(mediated.Link(float("nan"), 1.5, (0, 1)), 2.0) == (
        "Near the mediator's 2 (in colour) the first table has no row; the second has 1 row, mean outcome 1.5."
    )


@pytest.mark.parametrize(
    ("guess", "said"),
    [(50.0, "Spot on"), (44.0, "Near"), (30.0, "Too low"), (72.0, "Too high"), (0.0, "Much too low")],
)
def test_a_guess_is_measured_against_the_range_of_guesses(guess: float, said: str) -> None:
    question = Question("How much?", 0, 100)
    assert verdict(question, guess, 52.0).startswith(said) and percent(0.52) in verdict(question, guess, 52.0)


@pytest.mark.parametrize(
    ("guess", "answer", "said"),
    [(51.0, 25.6, "Twice too long: you guessed 51\xa0km; it is 25.6\xa0km."), (10.0, 50.0, "5 times too short"),
     (40.0, 60.0, "Too short"), (0.0, 70.0, "Much too short")],
)  # fmt: skip
def test_a_guess_of_a_length_is_too_long_or_too_short_by_a_factor(guess: float, answer: float, said: str) -> None:
    assert verdict(Question("How long?", 0, 100, 1, "km"), guess, answer).startswith(said)


def test_a_guess_without_units_is_too_high_or_too_low() -> None:
    assert verdict(Question("How much?", -3, 3, 0.1, ""), 0.0, -1.17) == "Too high: you guessed 0; it is −1.17."


def test_a_choice_is_right_or_wrong() -> None:
    question = Question("Which?", choices=("A", "B"))
    assert verdict(question, "A", "A") == "Right: A." and verdict(question, "B", "A") == "You guessed B; it is A."
    assert within(3e-4, "K") == "0.0003 K" and within(1e-9, "K") == "less than 0.0001 K"


def test_a_sign_is_green_or_amber_by_the_rules_of_the_app() -> None:
    solved = maps._results("map", fields.KEY)["found"]
    checked = maps._results("up", fields.KEY)["found"]
    good, bad = maps.signs(solved, 0.83, checked)
    assert any("One scale up" in words for words in good) and any("83" in words for words in good)
    worse, amber = maps.signs(solved, 0.27, None)
    assert any("27" in words for words in amber) and len(good) + len(bad) == 3 and len(worse) + len(amber) == 2


def test_a_guess_remembers_its_own_control() -> None:
    shown = fields.through(30, Guess(2.0, 9), False)
    assert shown.answer == pytest.approx(fields.through(9, None, False).answer) and shown.answer < 2.4
    assert slider_text(shown.answer) != slider_text(fields.through(30, None, False).answer)


def test_a_guess_is_there_after_other_steps_and_in_the_next_session(open_page, monkeypatch) -> None:
    page = revealed(opened(open_page, FIRST, 2), FIRST, 2)
    page.button(key="story-next").click().run()
    assert not any("Guess again" in button.label for button in page.button)
    page = revealed(page, FIRST, 3)
    page.button(key="story-back").click().run()
    told = [text.value for text in page.markdown if "You guessed A" in text.value or "Right: A" in text.value]
    assert told and page.button(key="s2-again")
    kept = guesses.to_text(page.session_state["_guesses"])
    monkeypatch.setattr(guesses.st.context.__class__, "cookies", {guesses.COOKIE: quote(kept)})
    page = opened(open_page, FIRST, 2)
    assert told == [text.value for text in page.markdown if "You guessed A" in text.value or "Right: A" in text.value]
    page.button(key="story-forget").click().run()
    assert not any("Guess again" in button.label for button in page.button)
    page.button(key="story-next").click().run()
    assert not page.exception and not any("Guess again" in button.label for button in page.button)


def test_every_guess_comes_back_from_its_text_and_fits_into_a_cookie() -> None:
    every = {
        step_key(about, at): Guess([step.question.high, *step.question.choices][-1], step.control.value)
        for about, steps in STORIES.items()
        for at, step in enumerate(steps, 1)
    }
    text = guesses.to_text(every)
    assert guesses.from_text(quote(text)) == every and len(quote(text)) < 4000
    assert guesses.to_text({}) == "" and guesses.from_text("") == {}


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "7", "[" * 5000, "[" * 3000, '{"s1": 2}', '{"s1": [2]}', '{"s1": ["<b>", 9]}', '{"s1": [NaN, 9]}',
     '{"s1": [2, 1e99]}', '{"s1": [99, 9]}', '{"s2": ["D", 1]}', '{"s2": [["A"], 1]}', '{"s4": [30, "within"]}',
     '{"s1": [true, 9]}', '{"s11": [2, 9]}', '{"s3": [2, [5]]}', None],
)  # fmt: skip
def test_what_is_no_guess_is_left_out(text: str) -> None:
    assert guesses.from_text(text) == {}


def links() -> dict[str, dict[str, str | list[str]]]:
    """For every full page the last address that a step leads to with settings of its own, a step off its default."""
    changed = {"s1": 30, "s6": 5, "bayes1": 2.0, "bayes3": 80, "simulators3": 50, "distributions2": 80}
    found = {}
    for about, at in PLACES:
        step, key = STORIES[about][at - 1], f"{about if about != FIRST else 's'}{at}"
        link = step.show(changed.get(key, step.control.value), None, False).link
        if link is not None and link.query:
            found[link.folder] = dict(link.query)
    return found


def test_every_link_opens_its_page_with_the_same_state(open_page) -> None:
    opened = links()
    assert len(opened) == 7
    for folder, query in opened.items():
        page = open_page(folder, **query)
        assert not page.exception and not page.error, folder
        assert not [box.value for box in page.info if "The address contains" in box.value], folder
        controls = page.session_state["_seen"].controls
        for key, value in query.items():
            now = controls[key]
            if isinstance(value, list):
                assert list(map(str, now.value)) == value, (folder, key)
                continue
            shown = str(now.value).lower() == value.lower() or now.text == value
            assert shown or float(now.value) == pytest.approx(float(value)), (folder, key)
