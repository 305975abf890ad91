"""Speed and memory as `make bench` measured them: a headline a topic, figures and tables folded below it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

import streamlit as st

from deconditioning.figures.studies.cost import cost_against_size
from deconditioning.figures.studies.speed_ratios import plain_ratio, ratio_dots
from deconditioning.studies.measurements import Measured, Measurement, all_measured
from deconditioning.wording import number
from pages.benchmarks import headlines
from pages.benchmarks.words import in_plain_words, size_in_words
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.page_layout import warnings
from pages.kit.layout.theme import is_dark

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "benchmarks" / "results"
TITLES = {
    "models": "Models of bags",
    "gram_gradients": "Bag-mean kernel, gradients",
    "full_size": "The paper's full size, exactly",
    "kernel_sums": "Bag sums and kernel values",
    "scale": "Up to a million pixels, with inducing points",
    "scale_most_bags": "The most bags of exact weights",
    "gpu": "On a GPU",
    "store": "Many time steps in a Zarr store",
    "files": "Large files",
    "two_grids": "Two files on two grids",
    "sparse_representation": "Sparse representation",
    "distribution_regression": "Distribution regression",
    "filtering": "Filtering",
    "camera": "Filtering: camera",
    "latency": "From a key press to the picture",
    "play": "While a period plays",
    "start_up": "Start-up",
    "load": "Thirty people at once",
    "lesson": "A class at once",
    "soak": "Memory after users have left",
    "period": "A period from a fine archive",
    "period_gaps": "Missing cells linked through time",
    "period_gaps_archive": "Missing cells linked through time, with an archive",
    "period_gaps_climatology": "Missing cells linked through time, with a climatology",
    "period_climatology": "A climatology as a covariate",
    "period_pooled": "Hyperparameters of all times, and of each time alone",
    "period_plan": "A long series, and its plan",
    "period_plan_archive": "A series with an archive, and its plan",
    "period_statistics": "Intervals of a period's statistics",
    "period_statistics_climatology": "Intervals of a period's statistics, with a climatology",
    "drawn_fields": "Intervals of drawn fields",
}
COLUMNS = ("Size", "Ours", "Yardstick", "Ratio", "Peak memory", "Device", "Accuracy")
NUMBERS = ("Ours", "Yardstick", "Ratio", "Peak memory")
_CSS = Path(__file__).with_name("measured.css")


@dataclass(frozen=True)
class Topic:
    """Benchmarks shown together: a title, their names, the sentence that sums them up, whether that is folded, too."""

    title: str
    names: tuple[str, ...]
    headline: Callable[[list[Measured]], str]
    folded: bool = False


PLAIN = ("models", "gram_gradients", "full_size", "kernel_sums", "sparse_representation", "distribution_regression",
         "filtering", "camera")  # fmt: skip
TOPICS = (
    Topic("Time compared with a plain implementation", PLAIN, headlines.compared_with_plain),
    Topic("Up to a million pixels", ("scale", "scale_most_bags", "gpu"), headlines.up_to_a_million),
    Topic(
        "A period instead of a single time",
        (
            "period",
            "period_climatology",
            "period_gaps",
            "period_gaps_archive",
            "period_gaps_climatology",
            "period_statistics",
            "period_statistics_climatology",
            "period_pooled",
            "period_plan",
            "period_plan_archive",
        ),
        headlines.period,
    ),
    Topic("Intervals of drawn fields", ("drawn_fields",), headlines.drawn_fields),
    Topic("Many time steps", ("store",), headlines.several_steps, folded=True),
    Topic("Files", ("files", "two_grids"), headlines.files, folded=True),
    Topic("Waiting", ("latency", "play"), headlines.waiting, folded=True),
    Topic("Start-up and memory", ("start_up",), headlines.starting, folded=True),
    Topic("A class of thirty", ("load", "lesson", "soak"), headlines.room, folded=True),
)


def show_measured(folder: Path = FOLDER) -> None:
    """All stored measurements; a sentence where there are none, and for every file that cannot be read."""
    result, refused = all_measured(folder)
    warnings(refused)
    if not result:
        st.info("No measurements yet: run `make bench`, and the results appear here.")
        return
    st.html(_CSS)
    named = {name for topic in TOPICS for name in topic.names}
    more = Topic("More", tuple(each.name for each in result if each.name not in named), lambda mine: "", folded=True)
    folded = False
    for topic in (*TOPICS, more):
        mine = [each for name in topic.names for each in result if each.name == name]
        if mine and topic.folded and not folded:
            folded = True
            st.subheader("For developers: how fast the app is", anchor=False)
        if mine:
            _topic(topic, mine)
    with st.expander("Where and how this was measured"):
        st.markdown("\n".join(_where(each) for each in result))


def _topic(topic: Topic, measurements: list[Measured]) -> None:
    """Its headline, one small figure where there are ratios, and the rest folded."""
    sentence = topic.headline(measurements)
    if not topic.folded:
        st.subheader(topic.title, anchor=False)
        st.markdown(sentence)
    plain = topic.names == PLAIN
    if plain and (ratios := _ratios(measurements, single=False)):
        plotly_live(ratio_dots(ratios, dark=is_dark()), "ratios")
    rows = sum(len(each.rows) for each in measurements)
    when = f" ({measurements[0].date})" if len(measurements) == 1 else ""
    label = f"{topic.title}: " if topic.folded else ""
    compared = f", {len(_ratios(measurements, single=True))} of them beside a plain implementation" if plain else ""
    count = "both" if rows == 2 else f"all {rows}"
    count = count if label else count.capitalize()
    with st.expander(f"{label}{count} measurements{when}{compared}, with commands"):
        if topic.folded and sentence:
            st.markdown(sentence)
        if plain and (single := _ratios(measurements, single=True)):
            plotly_live(ratio_dots(single, dark=is_dark()), "ratios-all")
            st.markdown(
                "Each dot is one problem size. It shows how many times more CPU time a plain implementation needs than "
                "this software on the same machine and in the same process. The last column of the table compares "
                "the two results."
            )
        _scale(measurements)
        _table(measurements)


def _ratios(measurements: list[Measured], *, single: bool) -> list[tuple[str, str, float]]:
    """What was done (a ``single`` task, or its whole benchmark), at which size, how many times faster."""
    return [
        (in_plain_words(row.what) if single else _title(each), row.size, row.ratio)
        for each in measurements
        for row in each.rows
        if row.ratio is not None
    ]


def _scale(measurements: list[Measured]) -> None:
    """How cost grows with pixels, where that was measured."""
    rows = [asdict(row) for each in measurements if each.name == "scale" for row in each.rows]
    if rows:
        plotly_live(cost_against_size(rows, dark=is_dark()), "scale")
        st.markdown(
            "The collapsed bound, conditioning and prediction with inducing points. Lines join sizes with the same "
            "number of bags and targets, a hollow diamond is a single size with more of them; with a slope of 1 the "
            "cost is proportional to the number of pixels."
        )


def _where(each: Measured) -> str:
    """One line of a list: day, version, machine, command."""
    return (
        f"- **{_title(each)}**: measured on {each.date} with version {each.version}, {each.machine}; `{each.command}`"
    )


def _title(each: Measured) -> str:
    return TITLES.get(each.name, each.name.replace("_", " ").capitalize())


def _table(measurements: list[Measured]) -> None:
    """All rows, without the columns that are empty in each of them."""
    cells = [[_cells(row) for row in each.rows] for each in measurements]
    shown = [name for name in COLUMNS if any(row[name] for rows in cells for row in rows)]
    head = "".join(f'<th scope="col"{_kind(name)}>{name}</th>' for name in ("Task", *shown))
    body = "".join(_group(each, rows, shown) for each, rows in zip(measurements, cells, strict=True))
    st.html(f'<div class="lab-measured"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>')


def _group(each: Measured, cells: list[dict[str, str]], shown: list[str]) -> str:
    """Its title, with the note that all of its rows share, and the rows."""
    notes = {row.note for row in each.rows}
    shared = notes.pop() if len(notes) == 1 and len(each.rows) > 1 else ""
    source = ". ".join(filter(None, (f"measured {each.date} by {each.command}", in_plain_words(shared))))
    title = f"{escape(_title(each))}<small>{escape(source)}</small>"
    lines = (
        _line(
            in_plain_words(row.what), "" if shared else in_plain_words(row.note), {name: of_row[name] for name in shown}
        )
        for row, of_row in zip(each.rows, cells, strict=True)
    )
    return f'<tr class="head"><th colspan="{len(shown) + 1}">{title}</th></tr>' + "".join(lines)


def _cells(row: Measurement) -> dict[str, str]:
    """What stands in each column; empty where nothing was measured."""
    yardstick = "" if row.yardstick is None else _small(f"{number(row.yardstick)} {row.unit}", row.against)
    return {
        "Size": escape(size_in_words(row.size)),
        "Ours": escape(f"{number(row.ours)} {row.unit}"),
        "Yardstick": yardstick,
        "Ratio": "" if row.ratio is None else plain_ratio(row.ratio),
        "Peak memory": "" if row.peak_mb is None else f"{row.peak_mb:,.0f} MB",
        "Device": "" if row.device == "cpu" else escape(row.device),
        "Accuracy": escape(in_plain_words(row.accuracy)),
    }


def _line(what: str, note: str, cells: dict[str, str]) -> str:
    shown = "".join(
        f'<td data-label="{name}"{_kind(name, empty=not text)}>{text or "–"}</td>' for name, text in cells.items()
    )
    return f'<tr><th scope="row">{_small(what, note)}</th>{shown}</tr>'


def _small(text: str, under: str) -> str:
    return escape(text) + (f"<small>{escape(under)}</small>" if under else "")


def _kind(name: str, *, empty: bool = False) -> str:
    kinds = [kind for kind, holds in (("number", name in NUMBERS), ("none", empty)) if holds]
    return f' class="{" ".join(kinds)}"' if kinds else ""
