"""Tables of scores: one row a model, the best of each column in bold."""

import math
from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from deconditioning.abbreviations import legend
from deconditioning.wording import rounded, signed
from pages.kit.record import record_scores
from pages.kit.runs.score_names import HIGHER_IS_BETTER, LOWER_IS_BETTER, SCORE_NAMES, WITH_UNITS

_WEIGHTED = "<small>area-weighted</small>"
#: The least number that is written without a power of ten.
_PLAIN = 1e-4
#: Scores that are shares of the truth or of parameters, written in per cent.
_SHARES = ("coverage", "contains")
#: Scores that are counts, written without decimals.
_COUNTS = ("runs",)
#: Scores that a phone leaves out of a table with more columns than it shows.
_WIDE, _MOST_ON_PHONE = ("mae", "bias"), 4
#: Headings of columns that are no scores.
_HEADINGS = SCORE_NAMES | {
    "mean": "Mean", "from": "From", "to": "To", "width / exact": "Width / exact", "sum of weights": "Sum of weights",
}  # fmt: skip
#: The scores of a field that are shown at first, those of all pixels by area where the pixels differ in size.
MAIN_SCORES = ("rmse", "crps", "coverage95", "ssim", "pearson", "bias")


def score_table(
    scores: Mapping[str, Mapping[str, float | None]],
    *,
    units: str = "",
    columns: Sequence[str] = tuple(SCORE_NAMES),
    main: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    caption: str = "",
    digits: int = 3,
    of: str = "",
) -> None:
    """Scores of several models, one row a model; the best of each column in bold, area-weighted values beside.

    Parameters
    ----------
    scores : model → score name → value (None or missing is shown as a dash). Keys ending in ``_area``
        are the area-weighted ones and stand in a column of their own.
    main : the scores that are shown at first, each once, weighted by area where that is known; all others stand behind
        "All scores". Empty: all are shown.
    units : units of the field, written at the scores that carry them.
    digits : significant ones of numbers below 100.
    of : what the scores are of, where "All scores" alone could be those of another table of the page.
    """
    from deconditioning.figures.colours import model_name

    in_order = [f"{name}{end}" for name in columns for end in ("", "_area")]
    shown = [name for name in in_order if any(row.get(name) is not None for row in scores.values())]
    texts = {name: _column(scores, name, digits) for name in shown}
    shown = [name for name in shown if not (_by_area(name) and texts[name] == texts.get(name.removesuffix("_area")))]
    shown = _coverage_early(shown)
    labels = {model: (names or {}).get(model, model_name(model)) for model in scores}
    rows = [["", *(_heading(name, units) + (" by area" if _by_area(name) else "") for name in shown)]]
    rows += [[labels[model], *(texts[name][model] for name in shown)] for model in scores]
    record_scores(caption, scores, names or {}, units, rows)
    wanted = [f"{name}_area" if f"{name}_area" in shown else name for name in main if name in shown]
    first = _coverage_early(wanted) or shown
    weighted = " Scores are weighted by area." if any(map(_by_area, first)) and first is not shown else ""
    _html_table(scores, first, labels, units, caption + weighted, digits, with_weights=not weighted)
    if len(first) < len(shown):
        name = f"All scores of {of}" if of else "All scores"
        with st.expander(name):
            _html_table(scores, shown, labels, units, f"{name}. {caption}", digits)


def _coverage_early(names: Sequence[str]) -> list[str]:
    """Coverages after the first score: a phone shows few columns, and an error without its interval says little."""
    first = [name for name in names if name.removesuffix("_area") == names[0].removesuffix("_area")]
    others = [name for name in names if name not in first]
    return first + sorted(others, key=lambda name: not name.startswith("coverage"))


def _html_table(
    scores: Mapping[str, Mapping[str, float | None]],
    shown: Sequence[str],
    labels: Mapping[str, str],
    units: str,
    caption: str,
    digits: int,
    *,
    with_weights: bool = True,
) -> None:
    from deconditioning.figures.colours import hue_name

    columns = {name: _column(scores, name, digits) for name in shown}
    wide = [name for name in shown if name.removesuffix("_area") in _WIDE] if len(shown) > _MOST_ON_PHONE else []
    marks = {name: ' class="lab-wide"' if name in wide else "" for name in shown}
    best = {name: _best(scores, name, columns[name]) for name in shown}
    head = "".join(
        f'<th scope="col"{marks[name]}>{escape(_heading(name, units))}'
        f"{_WEIGHTED if with_weights and _by_area(name) else ''}</th>"
        for name in shown
    )
    body = ""
    for model in scores:
        texts = {name: columns[name][model] for name in shown}
        cells = "".join(f"<td{marks[name]}>{f'<b>{t}</b>' if t == best[name] else t}</td>" for name, t in texts.items())
        swatch = f'<i style="background:var(--lab-{hue_name(model)})"></i>'
        body += f'<tr><th scope="row">{swatch}{escape(labels[model])}</th>{cells}</tr>'
    sentence = f"<p>{escape(caption)}</p>" if caption else ""
    table = f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"
    named = f'data-name="{escape(caption or "Scores")}" tabindex="0"'
    short = legend(*(_heading(name, "") for name in shown), *labels.values())
    below = f"<p><small>{escape(short)}.</small></p>" if short else ""
    if wide:
        hidden = " and ".join(_heading(name, "") for name in wide)
        below += f'<p class="lab-narrow"><small>On a wider screen: {escape(hidden)}.</small></p>'
    st.html(f'<div class="lab-table">{sentence}<div class="lab-scroll" {named}>{table}</div>{below}</div>')


def _heading(name: str, units: str) -> str:
    plain = name.removesuffix("_area")
    text = _HEADINGS.get(plain, plain)
    return text + (f", {units}" if units and plain in WITH_UNITS else "")


def _by_area(name: str) -> bool:
    return name.endswith("_area")


def _column(scores: Mapping[str, Mapping[str, float | None]], name: str, digits: int) -> dict[str, str]:
    """A score of every model as text; biases with as many decimals as the largest of them needs."""
    sizes = [abs(value) for row in scores.values() if (value := row.get(name)) is not None and value == value]
    if not name.startswith("bias") or not _PLAIN <= max(sizes, default=0.0) < 100:
        return {model: _cell(row, name, digits) for model, row in scores.items()}
    decimals = max(0, digits - 1 - math.floor(math.log10(max(sizes))))
    return {
        model: text if (text := _cell(row, name, digits)) in ("–", "0") else signed(row[name], decimals)
        for model, row in scores.items()
    }


def _best(scores: Mapping[str, Mapping[str, float | None]], name: str, texts: Mapping[str, str]) -> str | None:
    """The best of a column as it is written; None where nothing is best or several have the same to these digits."""
    plain = name.removesuffix("_area")
    choose = min if plain in LOWER_IS_BETTER else max if plain in HIGHER_IS_BETTER else None
    known = [
        (value, texts[model])
        for model, row in scores.items()
        if (value := row.get(name)) is not None and value == value
    ]
    if choose is None or len(known) < 2:
        return None
    _, best = choose(known)
    return best if [text for _, text in known].count(best) == 1 else None


def _cell(row: Mapping[str, float | None], name: str, digits: int) -> str:
    """A score as text, with the zeros at its end; coverage in per cent; counts whole; a bias that is rounding error
    beside the RMSE is 0."""
    value = row.get(name)
    if value is None or value != value:
        return "–"
    if name.startswith(_SHARES):
        return f"{100 * value:.0f} %"
    if name in _COUNTS:
        return f"{value:,.0f}"
    if name.startswith("bias") and abs(value) < 1e-5 * (row.get("rmse") or 0.0):
        return "0"
    return rounded(value, digits) if abs(value) < 100 else signed(value, 1)
