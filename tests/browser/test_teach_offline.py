"""The folder that `make teach-offline` writes: it opens from disk, asks for nothing else, and its numbers are right."""

import base64
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from deconditioning.datasets.one_dimension import Line, LineSpec, make_line
from deconditioning.kernels.spec import gaussian
from deconditioning.models.catalogue import TASK_TRANSFORMED_GP
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.one_dimension.problem import COLUMNS, NAIVE, cascade, condition_line, impute, on_grid
from deconditioning.studies.one_dimension.settings import RecoverSettings
from pages.story.step import Guess, verdict
from scripts.teach_offline.line import SLIDERS, STOPS, first_pairs
from scripts.teach_offline.story import STEPS, guesses_of, values_of
from tests.browser.accessible import barriers
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
MOST_BYTES = 3_000_000
USUAL = {name: RecoverSettings.declaration(name).default for name in SLIDERS}
#: Settings of page One dimension, over the range of each slider.
SETTINGS = (
    {},
    {"n": 100},
    {"n": 10, "k_scale": 0.15},
    {"n": 80, "k_scale": 4.0, "k_size": 40.0, "noise": 0.01},
    {"n": 50, "l_scale": 2.5, "l_size": 0.05, "regularisation": 0.3, "noise": 5.0},
    {"n": 150, "l_scale": 0.1, "regularisation": 1e-5},
    {"n": 30, "k_scale": 0.02, "k_size": 0.01, "l_scale": 0.02, "noise": 1e-4},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, written once by the command."""
    result = tmp_path_factory.mktemp("teach") / "pages"
    subprocess.run([sys.executable, "-m", "scripts.teach_offline", str(result)], cwd=ROOT, check=True,
                   env={**os.environ, "PYTHONPATH": f"{ROOT / 'core'}:{ROOT}"})  # fmt: skip
    return result


@pytest.fixture
def opened(browser: Browser, folder: Path) -> Iterator[Callable[..., Page]]:
    """Open one of its pages from disk; nothing may fail, nor be asked of a network."""
    contexts, wrong = [], []

    def make(name: str, width: int = 1280) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 800}, bypass_csp=True)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: None if request.url[:5] in ("file:", "data:") else wrong.append(request.url))
        file, _, place = name.partition("#")
        page.goto((folder / file).as_uri() + (f"#{place}" if place else ""))
        return page

    yield make
    for context in contexts:
        context.close()
    assert not wrong


def test_it_is_small_and_names_no_address(folder: Path) -> None:
    files = sorted(folder.iterdir())
    assert sum(file.stat().st_size for file in files) <= MOST_BYTES
    for file in files:
        text = file.read_text(encoding="utf-8")
        for packed in re.findall(r'teachData.*= "(.+)";', text):
            text += gzip.decompress(base64.b64decode(packed)).decode()
        assert not re.search(r"""https?:|["'(]//""", text), file.name
        named = re.findall(r'(?:src|href)="(?!data:)([^"#]+)', text)
        assert not [name for name in named if not (folder / name).is_file()]


def drawn(line: Line, values: dict[str, float]) -> dict[str, Any]:
    """The same numbers from the library."""
    spec = ModelSpec(
        TASK_TRANSFORMED_GP, gaussian(COLUMNS.inputs, (values["k_scale"],), values["k_size"]),
        gaussian(COLUMNS.mediators, (values["l_scale"],), values["l_size"]), values["regularisation"], values["noise"],
    )  # fmt: skip
    fits = {"task_transformed_gp": on_grid(line, condition_line(line, spec), spec), "impute": impute(line, NAIVE),
            "cascade": cascade(line, NAIVE)}  # fmt: skip
    return {name: (fit.mean, fit.sd, fit.evidence, fit.scores(line)) for name, fit in fits.items()}


def test_the_numbers_are_those_of_the_library(opened: Callable[..., Page]) -> None:
    page = opened("line.html")
    for chosen in SETTINGS:
        numbers_are_those_of_the_library(page, chosen)


def numbers_are_those_of_the_library(page: Page, chosen: dict[str, float]) -> None:
    count, values = int(chosen.get("n", STOPS[-1])), USUAL | {k: v for k, v in chosen.items() if k != "n"}
    shown = page.evaluate(
        """values => {
             line.set(values);
             const { grid, truth, result, others, scores } = line.compute(), plain = each => Array.from(each);
             const rows = Object.fromEntries(Object.entries({ task_transformed_gp: result, ...others }).map(
               ([name, { mean, sd }]) => [name, { mean: plain(mean), sd: plain(sd) }]));
             return { grid: plain(grid), truth: plain(truth), rows, scores, evidence: result.evidence };
           }""",
        values | {"n": count},
    )
    line = first_pairs(make_line(LineSpec()), count)
    np.testing.assert_allclose(shown["grid"], line.grid.numpy(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(shown["truth"], line.truth.numpy(), rtol=0, atol=1e-12)
    for name, (mean, sd, evidence, scores) in drawn(line, values).items():
        row = shown["rows"][name]
        np.testing.assert_allclose(row["mean"], mean.numpy(), rtol=0, atol=1e-6)
        np.testing.assert_allclose(row["sd"], sd.numpy(), rtol=0, atol=1e-6)
        assert shown["scores"][name]["rmse"] == pytest.approx(scores["rmse"], abs=1e-6)
        assert shown["scores"][name]["coverage"] == pytest.approx(scores["coverage_2sd"], abs=1e-6)
        if name == "task_transformed_gp":
            assert shown["evidence"] == pytest.approx(evidence, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_slider_redraws_while_it_is_dragged_and_by_keys(opened: Callable[..., Page], width: int) -> None:
    page = opened("line.html", width)
    slider = page.get_by_role("slider", name="How smooth the function is")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    before, path = page.evaluate("teach.frames"), page.locator("#function svg.chart").inner_html()
    page.mouse.move(box["x"] + box["width"] * 0.55, box["y"] + box["height"] / 2)
    page.mouse.down()
    seen = set()
    for share in np.linspace(0.55, 0.8, 8):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seen.add(page.locator("#function svg.chart").inner_html())
    assert len(seen - {path}) >= 6, "it follows before the pointer is let go"
    page.mouse.up()
    assert page.evaluate("teach.frames") >= before + 6
    now = float(slider.get_attribute("aria-valuetext"))
    slider.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", f"{now:g}")
    page.get_by_role("button", name="Too smooth").click()
    expect(slider).to_have_attribute("aria-valuetext", "4")
    page.get_by_role("button", name="Reset").click()
    expect(slider).to_have_attribute("aria-valuetext", "1")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def at_step(page: Page, number: int, value: int, guess: int) -> dict[str, Any]:
    """Put the controls of a step somewhere, reveal, and read what the page says then."""
    section = page.locator(f"#step-{number}")
    for name, at in (("control", value), ("guess", guess)):
        slider = section.locator(f".{name} input[type=range]")
        slider.fill(str(at)) if slider.count() else section.locator(f".{name} input").nth(at).check()
    section.locator(".reveal").click()
    expect(section.locator(".verdict")).not_to_be_empty()
    return page.evaluate("teach.told") | {"verdict": section.locator(".verdict").text_content()}


def test_a_step_says_what_the_app_says(opened: Callable[..., Page]) -> None:
    page = opened("story.html#1")
    for number in range(1, 7):
        page.evaluate("number => { location.hash = `#${number}`; }", number)
        expect(page.locator(f"#step-{number}")).to_be_visible()
        says_what_the_app_says(page, number)


def says_what_the_app_says(page: Page, number: int) -> None:
    step = STEPS[number - 1]
    values, guesses = values_of(step.control), guesses_of(step.question)
    for value, guess in ((0, 0), (len(values) - 1, len(guesses) // 2), (len(values) // 2, len(guesses) - 1)):
        told = at_step(page, number, value, guess)
        shown = step.show(values[value], Guess(guesses[guess], values[value]), False)
        assert told["said"] == shown.sentence and told["lesson"] == shown.lesson
        assert [text for _, text in told["checks"]] == [*shown.good, *shown.bad]
        answer = step.show(values[value], None, False).answer
        assert told["verdict"] == verdict(step.question, guesses[guess], answer)
        assert len(told["figures"]) == len(shown.figures)
        page.locator(f"#step-{number} .again").click()


def test_the_story_is_walked_by_keys(opened: Callable[..., Page]) -> None:
    page = opened("story.html")
    for number, step in enumerate(STEPS, 1):
        section = page.locator(f"#step-{number}")
        expect(section.get_by_role("heading")).to_have_text(step.sentence)
        expect(section.get_by_role("img").first).to_be_visible()
        assert section.get_by_role("img").first.get_attribute("aria-label")
        page.keyboard.press("PageDown")
    last = page.locator(f"#step-{len(STEPS)}")
    expect(last).to_be_visible()
    expect(last.locator(".closing")).to_be_hidden()
    at_step(page, len(STEPS), 1, 20)
    expect(last.locator(".closing")).to_be_visible()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("section.step:visible")).to_have_attribute("id", f"step-{len(STEPS) - 1}")


def test_a_map_shows_its_values(opened: Callable[..., Page]) -> None:
    page = opened("story.html#7")
    told = page.locator(".map").first
    expect(told).to_be_visible()
    told.hover()
    expect(page.locator(".map output").first).to_contain_text(" K · ")
    before = told.evaluate("node => node.querySelector('canvas').toDataURL()")
    page.locator("#step-7 .control input").press("End")
    page.wait_for_function("before => document.querySelector('.map canvas').toDataURL() !== before", arg=before)


@pytest.mark.parametrize("name", ["index.html", "story.html#5", "story.html#9", "line.html"])
def test_it_keeps_nobody_out(opened: Callable[..., Page], name: str) -> None:
    page = opened(name)
    for width, theme in ((1280, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=theme)
        if name != "index.html":
            expect(page.get_by_role("img").first).to_be_visible()
        wait_for(lambda width=width: page.evaluate("document.documentElement.scrollWidth") <= width, "a page that fits")
        assert not barriers(page)


def test_the_first_step_needs_only_its_own_data(folder: Path) -> None:
    """What is read before the first interaction is small: pages, scripts and the data of one step."""
    needed = ("story.html", "teach.css", "chart.js", "map_canvas.js", "field.js", "story.js", "step-1.js")
    assert sum((folder / name).stat().st_size for name in needed) < 100_000
    assert json.loads((folder / "line-data.js").read_text().split("\n")[0].partition(" = ")[2].rstrip(";"))["x"]
