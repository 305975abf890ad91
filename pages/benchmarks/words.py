"""Stored words of a measurement as the page says them: names of scores and models, waiting times, bounds."""

import math
import re

from deconditioning.figures.colours import MODEL_NAMES
from deconditioning.wording import duration, readable
from pages.kit.runs.score_names import SCORE_NAMES

_COVERAGE = re.compile(r"\b(coverage\d+) ([\d.]+)(?: \(([\d.]+)\))?")
_SCORE = re.compile(r"\b(rmse|mae|crps|ssim|pearson) (?=\d)")
_MODEL = re.compile(r"\b(?:shrinkage_cmp|variational_cmp|cmp)\b")
_BAGS = re.compile(r"bags × (\d+(?:,\d{3})*)")
_LATE = re.compile(r"p95 ([\d,]+) ms of ([\d,]+)")
_BOUND = re.compile(r"bound (-?[\d.]+) ± ([\d.]+)")


def in_plain_words(text: str) -> str:
    """A stored note or accuracy in words: "rmse 8.407" is "RMSE 8.407", "p95 6,503 ms of 120" is "19 of 20 within
    6.5 s (120 measured)", "bound 63113.9 ± 333.0" is "bound 63,100 ± 300"."""
    text = _COVERAGE.sub(lambda match: f"{SCORE_NAMES[match[1]]} {_shares(match[2], match[3])}", text)
    text = _SCORE.sub(lambda match: f"{SCORE_NAMES[match[1]]} ", text)
    text = _MODEL.sub(lambda match: MODEL_NAMES[match[0]], text)
    text = _LATE.sub(lambda match: f"19 of 20 within {duration(_seconds(match[1]))} ({match[2]} measured)", text)
    text = _BOUND.sub(lambda match: _bound(float(match[1]), float(match[2])), text)
    text = text.replace("asked for: ", "at most ").replace("of the trace left out", "of the trace omitted")
    text = text.replace("a worker's nanny", "the process that watches a worker")
    return readable(text)


def size_in_words(text: str) -> str:
    """A stored size such as "441 bags × 289": "441 bags of 289 points"."""
    return _BAGS.sub(r"bags of \1 points", text)


def late(text: str) -> float | None:
    """The seconds within which 19 of 20 were served, from a stored accuracy; None where it has none."""
    match = _LATE.search(text)
    return _seconds(match[1]) if match else None


def _seconds(text: str) -> float:
    """Seconds of a stored number of milliseconds such as "6,503"."""
    return float(text.replace(",", "")) / 1000


def _shares(ours: str, other: str | None) -> str:
    beside = f" ({100 * float(other):.0f} %)" if other else ""
    return f"{100 * float(ours):.0f} %{beside}"


def _bound(value: float, error: float) -> str:
    """Both to the first digit of the error; the value alone where the error is below the stored decimal."""
    if not error:
        return f"bound {value:,.1f}"
    places = -math.floor(math.log10(error))
    shown = [f"{round(each, places):,.{max(0, places)}f}" for each in (value, error)]
    return f"bound {' ± '.join(shown)}"
