"""Slides of a page of a study: parsed back from HTML, PPTX and PDF, they say and draw what the page does."""

import base64
import gzip
import io
import json
import re
import zlib
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from deconditioning.figures.printed.sheet import HEIGHT, WIDTH, Sheet
from deconditioning.figures.studies.one_dimension import function_plot
from deconditioning.figures.style import uncompacted
from deconditioning.slides import report as report_module
from deconditioning.slides.exhibit import Drawn, Exhibit, exhibit_slides, presented
from deconditioning.slides.offline import offline_page
from deconditioning.slides.presented import Presented, sentence_of
from deconditioning.slides.printed import powerpoint
from deconditioning.slides.report import report

pytestmark = pytest.mark.usefixtures("coarse_print")

X = np.linspace(-2, 2, 41)
ROWS = (("", "RMSE, K", "Bias"), ("DME", "0.108", "−0.0723"), ("Im & pute", "0.279", "–"))
LEAD = "The embedding recovers f."
ADDRESS = "http://localhost:8501/line?o-lam=0.01"


def exhibit(dark: bool = False) -> Exhibit:
    """Two figures of f, a table, a setting, a method."""
    lines = {"truth": np.sin(X)}
    figures = [
        function_plot(X, shift + np.sin(X), 0.3 + 0 * X, lines, title=title, model="dme", name="DME ±2 sd", dark=dark)
        for shift, title in ((0.1, "The hidden function f"), (-0.5, "A worse one"))
    ]
    drawn = tuple(
        Drawn(one["layout"]["title"]["text"], one["layout"]["meta"]["alt"], json.dumps(one)) for one in figures
    )
    return Exhibit(
        "One dimension", "Can f be found?", drawn, (("Against f", ROWS),), (("λ", "0.01"),), "W spreads ỹ.",
        "Hsu and Ramos 2019", ADDRESS, LEAD,
    )  # fmt: skip


@pytest.fixture(scope="module")
def told() -> Presented:
    return presented(exhibit(), take_away=True)


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_the_order_of_the_slides_and_what_they_say() -> None:
    slides = exhibit_slides(exhibit())
    keys = ["question", "figure-1", "scores-0", "settings", "method", "credits"]
    assert [slide["key"] for slide in slides] == keys
    found = {slide["key"]: slide for slide in slides}
    question, other = found["question"], found["figure-1"]
    assert question["title"] == "One dimension" and question["sentence"] == "Can f be found?"
    assert question["kind"] == "figure" and question["figure"] == "figure-0" and question["lines"] == [["", LEAD]]
    assert question["caption"].startswith("The hidden function f. From −2.00 to 2.00")
    assert "RMSE 0.1" in question["caption"]
    assert other["sentence"] == "", "what a screen reader says is no sentence of a slide"
    assert "RMSE 0.5" in other["caption"], "root mean square of what was added to f"
    assert sentence_of(question) == f"Can f be found? {LEAD}"
    assert found["settings"]["lines"] == [["λ", "0.01"]] and found["method"]["sentence"] == "W spreads ỹ."
    assert ["Address", ADDRESS] in found["credits"]["lines"]


def test_there_is_no_slide_of_settings_where_none_differs() -> None:
    slides = exhibit_slides(Exhibit("T", "Q?", ()))
    assert [slide["key"] for slide in slides] == ["question", "credits"]


def test_the_page_that_works_offline_holds_the_figures_numbers(told: Presented) -> None:
    page = offline_page(told, {"page": "line", "settings": {"o-lam": ["0.01"]}})
    deck = data_of(page)
    first, second = (deck["figures"][f"figure-{at}"] for at in (0, 1))
    for figure, shift in ((first, 0.1), (second, -0.5)):
        [mean] = [trace for trace in figure["data"] if trace.get("name") == "DME ±2 sd"]
        assert np.allclose(uncompacted(mean["y"]), shift + np.sin(X), atol=1e-6)
    assert len(page) < 5e6 and not re.findall(r"""src\s*=|url\(|@import""", page)
    table = [re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
    assert table == [[cell.replace("&", "&amp;") for cell in row] for row in ROWS]
    assert "<p>Against f</p><table>" in page
    assert '"o-lam"' in page.replace("&quot;", '"') and f'<a href="{ADDRESS}"' in page


def test_the_page_brings_plotly_along(told: Presented) -> None:
    packed = re.search(r'id="plotly">([^<]+)<', offline_page(told, {}))
    text = gzip.decompress(base64.b64decode(packed[1])).decode()
    assert text.lstrip().startswith("/**\n* plotly.js v") and len(text) > 1e6


def test_what_is_taken_away_from_a_dark_page_is_light(told: Presented) -> None:
    dark = data_of(offline_page(presented(exhibit(dark=True), take_away=True), {}))
    light = data_of(offline_page(told, {}))
    assert dark["figures"] == light["figures"] and dark["light"]
    assert presented(exhibit(dark=True)).deck()["figures"] != light["figures"], "on the screen it stays dark"


def test_powerpoint_says_the_same(told: Presented) -> None:
    from pptx import Presentation

    file = Presentation(io.BytesIO(powerpoint(told)))
    assert len(file.slides) == len(told.slides)
    for page, slide in zip(file.slides, told.slides, strict=True):
        words = [shape.text_frame.text for shape in page.shapes if shape.has_text_frame]
        assert slide["title"] in words and (sentence_of(slide) in words or not sentence_of(slide))
        pictures = [shape for shape in page.shapes if shape.shape_type == 13]
        assert [shape._element.nvPicPr.cNvPr.get("descr") for shape in pictures] == (
            [slide["alt"]] if slide["kind"] == "figure" else []
        )
    [table] = [shape.table for page in file.slides for shape in page.shapes if shape.has_table]
    assert tuple(tuple(cell.text for cell in row.cells) for row in table.rows) == ROWS
    links = [
        run.hyperlink.address
        for page in file.slides
        for shape in page.shapes
        if shape.has_text_frame
        for run in shape.text_frame.paragraphs[0].runs
    ]
    assert [link for link in links if link] == [ADDRESS]


def test_what_stands_on_a_powerpoint_slide_is_inside_it_and_apart(told: Presented) -> None:
    """Nothing here draws PPTX files without an office suite: places and sizes are checked instead of pictures."""
    from pptx import Presentation

    file = Presentation(io.BytesIO(powerpoint(told)))
    for page in file.slides:
        boxes = [(s.left, s.top, s.left + s.width, s.top + s.height) for s in page.shapes]
        assert all(0 <= x0 < x1 <= file.slide_width and 0 <= y0 < y1 <= file.slide_height for x0, y0, x1, y1 in boxes)
        pictures = [box for box, s in zip(boxes, page.shapes, strict=True) if s.shape_type == 13]
        others = [box for box in boxes if box not in pictures]
        apart = [a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1] for a in pictures for b in others]
        assert all(apart)


def test_the_report_fills_upright_pages_and_numbers_its_figures(told: Presented) -> None:
    found = report(told)
    assert len(re.findall(rb"/Type /Page\b", found)) == 2 and b"/URI (" + ADDRESS.encode() in found
    assert len(re.findall(rb"/Subtype /Image\b", found)) >= 2
    captions = [line for line in words_of(found) if line.startswith("Figure ")]
    assert [line.partition(".")[0] for line in captions] == ["Figure 1", "Figure 2"]
    assert "The hidden function f" in captions[0] and "A worse one" in captions[1]
    assert len(set(re.findall(rb"/BaseFont /(?:\w+\+)?([\w-]+)", found)) - {b"DejaVuSans", b"DejaVuSans-Bold"}) == 0


def test_nothing_of_a_report_is_cut_off(told: Presented, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a table is long, names are wide and an address has no space."""
    made: list[Sheet] = []
    monkeypatch.setattr(report_module, "Sheet", lambda *given: made.append(Sheet(*given)) or made[0])
    rows = [list(map(str, ("", *range(9)))), *([["name of a model " * 3, *["123.456 (95 %)"] * 9]] * 40)]
    words = {"key": "w", "kind": "words", "title": "T", "sentence": "word " * 400, "rows": rows,
             "lines": [("Address", "http://a.example/" + 600 * "x")]}  # fmt: skip
    report(replace(told, slides=[*told.slides, words]))
    assert len(made[0]._pages) > 3
    for figure in made[0]._pages:
        figure.set_dpi(600)
        renderer = FigureCanvasAgg(figure).get_renderer()
        boxes = [text.get_window_extent(renderer) for text in figure.texts]
        assert min(box.x0 for box in boxes) > 36 * 600 / 72 and max(box.x1 for box in boxes) < (WIDTH - 36) * 600 / 72
        assert min(box.y0 for box in boxes) > 10 * 600 / 72 and max(box.y1 for box in boxes) < (HEIGHT - 20) * 600 / 72


def test_the_words_and_numbers_of_the_report_are_those_of_the_slides(told: Presented) -> None:
    words = words_of(report(told))
    for cell in ("One dimension", "The hidden function f", "Settings", "RMSE, K", "DME", "0.108", "0.279"):
        assert any(cell in line for line in words), cell
    assert any(f"Address: {ADDRESS}" in line for line in words)
    finding = " ".join(words)
    assert "±2 sd contain" in finding and "Hsu and Ramos 2019" in finding


def words_of(pdf: bytes) -> list[str]:
    """What a PDF writes of Latin letters, in one byte or two each, piece by piece, read from its page streams."""
    found = []
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S):
        try:
            text = zlib.decompress(packed)
        except zlib.error:
            continue
        for piece in re.findall(rb"\bBT\b(.*?)\bET\b", text, re.S):
            letters = re.findall(rb"\(((?:\\.|[^\\()])*)\)", piece)
            found.append(re.sub(rb"\\(.)", rb"\1", b"".join(letters)).replace(b"\0", b"").decode("latin-1"))
    return found


def test_a_picture_for_paper_is_that_of_its_figure(told: Presented) -> None:
    pictures = [told.picture(slide) for slide in told.slides if slide["kind"] == "figure"]
    images = [np.asarray(Image.open(io.BytesIO(one)).convert("RGB"), dtype=float) for one in pictures]
    assert images[0].shape == images[1].shape and np.abs(images[0] - images[1]).max() > 100
    assert told.picture(told.slides[-1]) is None


def test_hostile_words_stay_words() -> None:
    evil = "</script><script>alert(1)</script>"
    page = offline_page(presented(Exhibit(evil, evil, (), (), ((evil, evil),), evil, evil)), {"a": evil})
    assert page.count("<script") == page.count("</script>") == 3 and "alert(1)</script>" not in page
