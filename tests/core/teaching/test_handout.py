"""The handout: what its sheets hold, that nothing on them is cut off, and that its answers are checked ones."""

import re
from pathlib import Path

import numpy as np
import pytest
import segno
from matplotlib.backends.backend_agg import FigureCanvasAgg

import deconditioning.teaching.handout as printed
from deconditioning.cli.program import main
from deconditioning.figures.printed.sheet import HEIGHT, WIDTH, Sheet, wrapped
from deconditioning.teaching.handout import Checked, checked, handout, short_link
from deconditioning.teaching.lesson import ANSWERS, LESSON
from deconditioning.teaching.tasks import EXERCISES

DOCS = (Path(__file__).resolve().parents[3] / "docs" / "teaching.md").read_text(encoding="utf-8")
ADDRESS = "https://a-rather-long-name-of-a-machine.physics.example.org:8501/lab"


@pytest.fixture(scope="module")
def found() -> dict[str, Checked]:
    return checked()


@pytest.fixture
def sheets(found: dict[str, Checked], monkeypatch: pytest.MonkeyPatch) -> list:
    """The pages of a handout as figures."""
    made: list[Sheet] = []
    monkeypatch.setattr(printed, "Sheet", lambda title: made.append(Sheet(title)) or made[0])
    assert handout(ADDRESS, found).startswith(b"%PDF")
    return made[0]._pages


def test_no_exercise_opens_done_and_every_solution_does_it(found: dict[str, Checked]) -> None:
    assert list(found) == [exercise.key for exercise in EXERCISES]
    assert not any(each.opened.done for each in found.values())
    assert all(each.solved.done for each in found.values())


def test_everything_stands_on_four_pages_inside_their_edges(sheets: list, found: dict[str, Checked]) -> None:
    assert len(sheets) <= 4
    for figure in sheets:
        figure.set_dpi(300)  # letters on a screen are hinted to whole pixels, those of a PDF are not
        renderer = FigureCanvasAgg(figure).get_renderer()
        boxes = [text.get_window_extent(renderer) for text in figure.texts]
        scale = figure.dpi / 72
        assert min(box.x0 for box in boxes) > 36 * scale and max(box.x1 for box in boxes) < (WIDTH - 36) * scale
        assert min(box.y0 for box in boxes) > 14 * scale and max(box.y1 for box in boxes) < (HEIGHT - 30) * scale
        body = sorted(boxes[:-1], key=lambda box: -box.y1)  # the last is the page's number, below all others
        assert body[-1].y0 > boxes[-1].y1


def test_the_class_has_every_task_with_its_address_and_only_the_last_page_has_answers(
    sheets: list, found: dict[str, Checked]
) -> None:
    *class_pages, teacher = (" ".join(text.get_text() for text in figure.texts) for figure in sheets)
    given = " ".join(class_pages)
    for exercise in EXERCISES:
        assert exercise.title in given and exercise.title in teacher
        assert short_link(ADDRESS, exercise) in given
        assert " ".join(wrapped(exercise.task, 1, 1e6)) in given
        said = found[exercise.key].solved.sentence
        assert said in teacher and said not in given
        assert exercise.answer in teacher and exercise.answer not in given
    assert all(part.ask in given and part.expect in teacher for part in LESSON[:-1])
    assert all(title in given and answer in teacher and answer not in given for title, answer in ANSWERS)


def test_a_handout_for_the_class_has_no_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Sheet] = []
    monkeypatch.setattr(printed, "Sheet", lambda title: made.append(Sheet(title)) or made[0])
    assert handout(ADDRESS, None).startswith(b"%PDF") and made[0].count == 3
    words = " ".join(text.get_text() for figure in made[0]._pages for text in figure.texts)
    assert not [exercise.key for exercise in EXERCISES if exercise.answer in words]
    assert all(f"{exercise.minutes} minutes, {exercise.difficulty}" in words for exercise in EXERCISES)


def test_a_qr_code_is_the_address_in_print() -> None:
    sheet = Sheet("t")
    sheet.page()
    sheet.qr(100, 100, 60, ADDRESS)
    ((image,),) = [axes.images for axes in sheet._pages[0].axes]
    dark = np.array(image.get_array())[4::8, 4::8] == 0
    whole = np.array(list(segno.make(ADDRESS, error="l", micro=False).matrix_iter(border=0)))
    assert (dark == (whole > 0)).all()
    sheet.qr(100, 100, 60, "x" * 5000)
    assert len(sheet._pages[0].axes) == 1


def test_words_wrap_where_their_line_ends() -> None:
    lines = wrapped("one two three four 5 %", 10, 60)
    assert " ".join(lines) == "one two three four 5\u00a0%" and len(lines) > 1
    assert wrapped("unbreakableword next", 10, 5) == ["unbreakableword", "next"]


def test_the_lesson_is_that_of_the_documentation() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \|$", DOCS, re.MULTILINE)
    plain = [tuple(re.sub(r"[`*]", "", cell) for cell in row) for row in rows]
    assert plain[: len(LESSON)] == [(str(part.minute), part.opened, part.ask, part.expect) for part in LESSON]
    words = " ".join(DOCS.split())
    assert all(f"**{title}.** {answer}" in words for title, answer in ANSWERS)


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr(printed, "checked", lambda: "checked")
    monkeypatch.setattr(printed, "handout", lambda address, found: f"{address} {found}".encode())
    file = tmp_path / "h.pdf"
    assert main(["handout", str(file), "--address", "http://10.0.0.1:8501/"]) == 0
    assert file.read_bytes() == b"http://10.0.0.1:8501 checked" and capsys.readouterr().out == ""
    assert main(["handout", str(file), "--address", "http://10.0.0.1:8501/", "--no-answers"]) == 0
    assert file.read_bytes() == b"http://10.0.0.1:8501 None"
    assert main(["handout", str(file), "--address", "10.0.0.1"]) == 2
    assert "begins with http" in capsys.readouterr().err
