"""The static pages as text: the cover, the story with its ten steps, and page One dimension."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from deconditioning import __version__
from deconditioning.figures.colours import GROUND, HUES, VERDICTS
from deconditioning.teaching.lesson import ANSWERS
from pages.one_dimension.words import FIRST, QUESTIONS, SECOND
from pages.story.step import Step
from scripts.teach_offline import line
from scripts.teach_offline.story import STEPS, guesses_of, text_of

HERE = Path(__file__).with_name("page")
STORY, LINE = "The story in ten steps", "One dimension"
QUESTION = QUESTIONS["Find the function"]
_FOOT = f"Deconditioning Lab {__version__}. These pages compute in the browser and need neither a server nor a network."


def palette() -> str:
    """The colours of the app as CSS variables."""
    pairs = {**HUES, **VERDICTS, "ground": GROUND}
    return ":root{" + "".join(f"--lab-{name}:light-dark({a},{b});" for name, (a, b) in pairs.items()) + "}\n"


def cover() -> str:
    """Where to begin."""
    steps = "".join(
        f'<li><a href="story.html#{number}">{escape(step.title)}</a><br>{escape(step.sentence)}</li>'
        for number, step in enumerate(STEPS, 1)
    )
    main = f"""<div class="cover"><h1>Deconditioning</h1><p>{escape(ANSWERS[0][1])}</p>
<h2><a href="story.html">{STORY}</a></h2><p>Guess first, then reveal the answer.</p><ol>{steps}</ol>
<h2><a href="line.html">{LINE}</a></h2><p>{escape(QUESTION)} Move the sliders: the posterior is computed while they
move.</p></div>"""
    return _page("Deconditioning", main, (), _links())


def story(data: Mapping[int, Mapping[str, Any]]) -> str:
    """All steps; the data of each are in a script of its own."""
    sections = "".join(_step(number, step, data[number]) for number, step in enumerate(STEPS, 1))
    dots = "".join(f'<a href="#{n}" title="{escape(step.title)}" aria-label="Step {n}: {escape(step.title)}"></a>'
                   for n, step in enumerate(STEPS, 1))  # fmt: skip
    walk = (
        '<nav aria-label="Steps"><a class="back" href="#1">← <span>Back</span></a>'
        f'<span class="dots">{dots}</span><a class="next" href="#2"><span>Next</span> →</a></nav>'
    )
    noscript = "<noscript><p>The pictures are drawn in the browser: switch JavaScript on.</p></noscript>"
    return _page(STORY, noscript + sections, ("chart.js", "map_canvas.js", "field.js", "story.js"), walk)


def one_dimension(data: Mapping[str, Any]) -> str:
    """The page with its sliders."""
    sliders = "".join(
        _slider(each["name"], each["plain"], each["title"], each["help"], 400) for each in data["sliders"]
    )
    sliders += _slider("n", "Number of pairs in each data set", "", "", len(data["stops"]) - 1)
    presets = "".join(f'<button id="preset-{at}" title="{escape(each["about"])}">{escape(each["name"])}</button> '
                      for at, each in enumerate(data["presets"]))  # fmt: skip
    main = _filled("line.html", question=escape(QUESTION), sliders=sliders, presets=presets,
                   first=escape(FIRST.caption), second=escape(SECOND.caption),
                   mathematics=line.mathematics())  # fmt: skip
    scripts = ("matrix.js", "posterior.js", "chart.js", "line-data.js", "line.js")
    return _page(LINE, main, scripts, _links())


def _links() -> str:
    return f'<nav aria-label="Pages"><a href="story.html">Story</a><a href="line.html">{LINE}</a></nav>'


def _page(title: str, main: str, scripts: tuple[str, ...], navigation: str) -> str:
    tags = "".join(f'<script src="{name}"></script>\n' for name in scripts)
    return _filled("frame.html", title=escape(title), main=main, navigation=navigation, scripts=tags, foot=_FOOT)


def _filled(name: str, **values: str) -> str:
    return Template((HERE / name).read_text(encoding="utf-8")).substitute(values)


def _slider(name: str, label: str, symbol: str, about: str, last: int) -> str:
    """A slider with its name in plain words, its name in the equations, and a tooltip."""
    hint = f' title="{escape(about)}"' if about else ""
    named = f"{escape(label)} <small>{escape(symbol)}</small>" if label and symbol else escape(label or symbol)
    return (
        f'<div{hint}><label for="{name}">{named}</label><output for="{name}"></output>'
        f'<input type="range" id="{name}" min="0" max="{last}" step="1"></div>'
    )


def _step(number: int, step: Step, data: Mapping[str, Any]) -> str:
    question = step.question
    guesses, units = [text_of(guess) for guess in guesses_of(question)], question.units
    asked = f"Your guess, {units}" if units and not question.choices else "Your guess"
    answers = "".join(f"<li><b>{escape(title)}.</b> {escape(text)}</li>" for title, text in step.closing)
    control = _choice(f"control-{number}", data["values"], data["begin"], step.control.label, step.control.options)
    guess = _choice(f"guess-{number}", guesses, None if question.choices else round((len(guesses) - 1) / 2), asked,
                    question.choices)  # fmt: skip
    link = f'<p><a href="line.html">{LINE}</a></p>' if data["line"] else ""
    return _filled(
        "step.html", number=str(number), count=str(len(STEPS)), title=escape(step.title),
        sentence=escape(step.sentence), said=escape(data["opening"]), control=control,
        question=escape(question.text), guess=guess, waits=" disabled" if question.choices else "",
        link=link, closing=f'<ul class="closing" hidden>{answers}</ul>' if answers else "",
    )  # fmt: skip


def _choice(name: str, texts: list[str], begin: int | None, label: str, options: tuple[Any, ...]) -> str:
    """A legend with radio buttons for words, or with a slider for numbers."""
    if options and isinstance(options[0], str):
        buttons = "".join(
            f'<label><input type="radio" name="{name}" value="{at}"{" checked" if at == begin else ""}>{escape(text)}'
            "</label>"
            for at, text in enumerate(texts)
        )
        return f'<legend>{escape(label)}</legend><div class="radios">{buttons}</div>'
    return (
        f"<legend>{escape(label)}<output>{escape(texts[begin or 0])}</output></legend>"
        f'<input type="range" aria-label="{escape(label)}" min="0" max="{len(texts) - 1}" step="1" value="{begin}">'
    )
