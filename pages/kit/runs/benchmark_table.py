"""A benchmark on a page: stored results, a run from here with its partial table, dots, scores, signed-rank tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from deconditioning.engine.records import RunSpec
from deconditioning.errors import InputError
from deconditioning.figures.colours import model_name
from deconditioning.figures.studies.swiss_roll import model_dots
from deconditioning.metrics.significance import Comparison, pairwise_wilcoxon
from deconditioning.studies.benchmark_table import mediated_compared_with_plain, table_rows
from deconditioning.studies.downscaling.benchmark import expanded
from deconditioning.studies.run_content import benchmark_rows
from deconditioning.wording import percentages, rounded
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.table import show_table
from pages.kit.layout.theme import is_dark
from pages.kit.runs.run_panel import begin_run, follow, is_busy, outcome, run_of, show_duration
from pages.kit.runs.score_names import WITH_UNITS
from pages.kit.runs.stored_results import FOLDER, stored

SHORT = {"rmse": "RMSE", "mae": "MAE", "pearson": "r", "ssim": "SSIM", "crps": "CRPS", "coverage95": "Coverage of 95 %"}
#: What the columns of some of them mean.
_MEANINGS = {
    "pearson": "r: Pearson correlation.",
    "coverage95": "Coverage of 95 %: share of the truth inside the central 95 % interval.",
}
#: What interpolates the coarse values and looks at no covariate.
PLAIN = ("constant", "bilinear", "bicubic")
#: Tables of more scores than this stand beside their dots instead of below.
_MOST_BESIDE = 2
#: The level of the tests, and how many models a sentence names.
SIGNIFICANT, _FEW = 0.05, 3


@dataclass(frozen=True)
class BenchmarkTable:
    """One benchmark: the engine's task, its stored file, what groups its rows (value → title), the paper's RMSE by
    group, the units of its scores, which scores stand beside RMSE, and by group the model that all others are
    compared with."""

    task: str
    file: str
    group: str
    groups: Mapping[str, str]
    paper: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    units: str = ""
    scores: tuple[str, ...] = ("coverage95",)
    references: Mapping[str, str] = field(default_factory=dict)


def start_controls(table: BenchmarkTable, settings: dict[str, Any]) -> None:
    """How many seeds, and the button that runs the benchmark on the engine."""
    run = run_of(table.task)
    left, middle, _ = st.columns([2, 2, 3], vertical_alignment="bottom")
    seeds = int(left.number_input("Seeds", 1, 50, 2, key=f"seeds-{table.task}"))
    one = _seed_seconds(_stored_rows(table)[0], settings)
    if one is not None:
        show_duration("The benchmark", seeds * one)
    if middle.button("Run the benchmark here", disabled=is_busy(run), key=f"begin-{table.task}", width="stretch"):
        run_settings = {**settings, "seeds": list(range(seeds))}
        begin_run(
            RunSpec(table.task, run_settings, title=f"{table.task.replace('-', ' ').capitalize()}, {seeds} seeds")
        )


def _seed_seconds(rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Sequence[str]]) -> float | None:
    """CPU seconds of one seed, all fits of it, by the stored ones; None where none is stored.

    ``settings`` are the benchmark's: ``cases`` and ``models`` keep to these.
    """
    requested = {kind.removesuffix("s"): names for kind, names in settings.items()}
    matching = [row for row in rows if row["seconds"] and all(row[kind] in names for kind, names in requested.items())]
    seeds = {row["seed"] for row in matching}
    return sum(row["seconds"]["cpu"] for row in matching) / len(seeds) if seeds else None


def _best(table: BenchmarkTable) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """By the value of each stored group, its most accurate model and the best interpolation."""
    rows, _ = _stored_rows(table)
    groups = _cached_sums(table.task, _mark(table), table, rows) if rows else {}

    def nearest(group: Any, *, plain: bool) -> Mapping[str, Any]:
        return min((each for each in group.models if (each["model"] in PLAIN) == plain), key=lambda each: each["mean"])

    return [(value, nearest(group, plain=False), nearest(group, plain=True)) for value, group in groups.items()]


def headline(table: BenchmarkTable) -> None:
    """The stored result in one sentence and one line a group: the nearest model beside the best interpolation."""
    chosen = _best(table)
    if not chosen:
        return
    lines = [
        {
            "Data": table.groups[value],
            "Most accurate model": model_name(best["model"]),
            _with_units(table, "rmse"): spread(best["mean"], best["sd"]),
            "Best interpolation": model_name(plain["model"]),
            f"Its {_with_units(table, 'rmse')}": spread(plain["mean"], plain["sd"]),
            "Coverage of 95 %": f"{100 * best['means']['coverage95']:.0f} %",
            "Seeds": best["n"],
        }
        for value, best, plain in chosen
    ]
    held = [best["means"]["coverage95"] for _, best, _ in chosen]
    narrow = " (too narrow everywhere)" if max(held) < 0.9 else ""
    share, inside = percentages(best["mean"] / plain["mean"] for _, best, plain in chosen), percentages(held)
    st.markdown(
        f"The RMSE of the best of all models, chosen with the truth, is {share} of that of the best "
        f"interpolation; its 95 % intervals contain {inside} of the truth{narrow}."
    )
    show_table(lines)


def mediation(table: BenchmarkTable) -> str:
    """Whether mediation pays, in one sentence from the stored rows; nothing where there are none."""
    sentence = mediated_compared_with_plain(
        _stored_rows(table)[0], table.group, table.groups, "shrinkage_cmp", "bag_gp"
    )
    if not sentence:
        return ""
    return (
        "Seeds for which the mediated model (shrinkage CMP) has a larger RMSE than its unmediated counterpart (bag "
        f"GP on pseudo-targets): {sentence}. The paper's Table 2 reports the opposite."
    )


def _mark(table: BenchmarkTable) -> str:
    return f"{table.file} {(FOLDER / table.file).stat().st_mtime}"


def show(table: BenchmarkTable) -> None:
    """The stored rows, or those of a run of this page: partial while it goes on."""
    run = run_of(table.task)
    rows, source = _stored_rows(table)
    mark = _mark(table) if rows else ""
    if run is not None and run.active:

        def so_far(trace: list[dict[str, Any]]) -> None:
            _tables(table, benchmark_rows([row.get("row") for row in trace], table.group), "so far", "")

        follow(run, so_far, doing="Benchmark")
        return
    if run is not None:
        outcome(run, "The benchmark is done", "the finished fits are shown")
        if result := benchmark_rows((run.result or {}).get("rows"), table.group):
            rows, source, mark = result, f"from run {run.id}", run.id
    _tables(table, rows, source, mark)


def _stored_rows(table: BenchmarkTable) -> tuple[list[dict[str, Any]], str]:
    if not (FOLDER / table.file).is_file():
        return [], ""
    document = stored(table.file)
    return document["rows"], f"stored; made by `{document['command']}`, measured with version {document['version']}"


@dataclass(frozen=True)
class Group:
    """A group's rows summed up: number of seeds, one entry a model, signed-rank tests of RMSE against the group's
    reference or why there are none; ``others`` are those of the table's other scores, by score and model."""

    seeds: int
    models: list[dict[str, Any]]
    pairs: tuple[Comparison, ...]
    refused: str = ""
    others: dict[str, dict[str, Comparison]] = field(default_factory=dict)


def _sums(table: BenchmarkTable, rows: list[dict[str, Any]]) -> dict[str, Group]:
    """The groups that have rows, in the table's order."""
    result, rows = {}, expanded(rows)
    for value in table.groups:
        mine = [row for row in rows if row[table.group] == value]
        if not mine:
            continue
        seeds = len({row["seed"] for row in mine})
        models = table_rows(mine, table.group, value, paper=table.paper.get(value))
        try:
            reference = table.references.get(value)
            pairs = pairwise_wilcoxon(mine, "rmse", reference)
            result[value] = Group(seeds, models, pairs, others=_others(table, mine, reference))
        except InputError as error:
            result[value] = Group(seeds, models, (), str(error))
    return result


def _others(
    table: BenchmarkTable, rows: list[dict[str, Any]], reference: str | None
) -> dict[str, dict[str, Comparison]]:
    """The tests of all scores but coverage, which is no better for being larger."""
    scores = [score for score in table.scores if not score.startswith("coverage")]
    return {score: {p.second: p for p in pairwise_wilcoxon(rows, score, reference)} for score in scores}


@st.cache_resource(show_spinner=False, max_entries=16)
def _cached_sums(task: str, mark: str, _table: BenchmarkTable, _rows: list[dict[str, Any]]) -> dict[str, Group]:
    return _sums(_table, _rows)


def _tables(table: BenchmarkTable, rows: list[dict[str, Any]], source: str, mark: str) -> None:
    """``mark`` names rows that do not change; their sums are kept."""
    if not rows:
        st.caption("No fit has finished yet.")
        return
    result = _cached_sums(table.task, mark, table, rows) if mark else _sums(table, rows)
    if len(table.scores) > _MOST_BESIDE:
        for value, group in result.items():
            _one(table, group, value, *st.columns([2, 3]))
    else:
        places = (column for _ in range(0, len(result), 2) for column in st.columns(2))
        for column, (value, group) in zip(places, result.items(), strict=False):
            _one(table, group, value, column, column)
    st.caption(
        " ".join(
            (
                f"Mean ± sd over the seeds ({source}).",
                *(_MEANINGS[name] for name in table.scores if name in _MEANINGS),
                "CPU seconds for one fit on one thread.",
            )
        )
    )
    _significance(table, result)


def _one(table: BenchmarkTable, group: Group, value: str, left: Any, right: Any) -> None:
    """A group's dots on the left, its numbers on the right."""
    units = f", {table.units}" if table.units else ""
    score = f"RMSE{units}, {group.seeds} seeds"
    figure = model_dots(group.models, title=table.groups[value], score=score, dark=is_dark())
    with left:
        plotly_live(figure, f"dots-{table.task}-{value}")
    with right:
        show_table([_line(table, row) for row in group.models])


def _line(table: BenchmarkTable, row: dict[str, Any]) -> dict[str, Any]:
    rmse = _with_units(table, "rmse")
    line: dict[str, Any] = {"Model": model_name(row["model"]), rmse: spread(row["mean"], row["sd"])}
    if table.paper:
        line[f"{rmse}, paper"] = "–" if not row["paper"] else spread(*row["paper"])
    for name in table.scores:
        result = row["means"].get(name)
        shown = "–" if result is None else f"{100 * result:.0f} %" if name.startswith("coverage") else rounded(result)
        line[_with_units(table, name)] = shown
    line["CPU s"] = "–" if row["seconds"] is None else f"{row['seconds']:.1f}"
    return line


def _with_units(table: BenchmarkTable, score: str) -> str:
    """A score as the head of a column, with its units."""
    units = f", {table.units}" if table.units and score in WITH_UNITS else ""
    return f"{SHORT[score]}{units}"


def spread(mean: float | None, sd: float | None) -> str:
    """A mean and its sd over seeds as a cell of a table."""
    if mean is None:
        return "–"
    return rounded(mean) + (f" ± {rounded(sd, 2)}" if sd else "")


def _significance(table: BenchmarkTable, groups: Mapping[str, Group]) -> None:
    """A sentence a group on what differs from its reference; the tests themselves folded in one table."""
    lines = [f"- **{table.groups[value]}**: {_difference(group)}" for value, group in groups.items()]
    st.markdown("**Significant differences in RMSE**\n\n" + "\n".join(lines))
    tests = [_test(table, group, value, pair) for value, group in groups.items() for pair in group.pairs]
    with st.expander("All significance tests"):
        show_table(tests)
    st.caption(
        "Wilcoxon's signed-rank test over the seeds, two-sided, of each model against one: the default where it is a "
        "candidate. A difference is significant if p is below 0.05 after Holm's correction for these tests."
    )


def _difference(group: Group) -> str:
    """How many models are significantly less and more accurate than the reference, and which do not differ."""
    if group.refused:
        return sentence_of(group.refused)
    tested = [pair for pair in group.pairs if not pair.note]
    if not tested:
        return f"{group.seeds} seeds are too few for a test."
    clear = [pair for pair in tested if pair.p_holm < SIGNIFICANT]
    less = [model_name(pair.second) for pair in clear if pair.difference < 0]
    more = [model_name(pair.second) for pair in clear if pair.difference > 0]
    rest = [model_name(pair.second) for pair in group.pairs if pair not in clear]
    reference = model_name(tested[0].first)
    parts: list[str] = []
    for names, how in ((less, "less"), (more, "more")):
        if names:
            than = "" if parts else f" than {reference}"
            verb = "is" if len(names) == 1 else "are"
            parts.append(f"{_named(names, 0 if parts else len(group.pairs))} {verb} {how} accurate{than}")
    if not parts:
        return f"none of {len(group.pairs)} differs significantly from {reference}."
    if rest:
        parts.append(f"{_named(rest)} {'shows' if len(rest) == 1 else 'show'} no significant difference")
    return f"{'; '.join(parts)}."


def _named(names: Sequence[str], of: int = 0) -> str:
    """How many models, of how many, and which if they are few: "1 of 5 (Partial CMP)"."""
    count = f"{len(names)} of {of}" if of else str(len(names))
    return f"{count} ({', '.join(names)})" if len(names) <= _FEW else count


def _test(table: BenchmarkTable, group: Group, value: str, pair: Comparison) -> dict[str, Any]:
    """One test as a line: the model's RMSE minus that of the reference, and p of all scores, corrected."""
    return {
        "Data": table.groups[value],
        "Model": model_name(pair.second),
        "Compared with": model_name(pair.first),
        "Median difference": rounded(-pair.difference).replace("nan", "–"),
        "p, RMSE": pair.note or _p(pair),
        **{f"p, {SHORT[score]}": _p(tests.get(pair.second)) for score, tests in group.others.items()},
        "Seeds": pair.n,
    }


def _p(test: Comparison | None) -> str:
    """A corrected p value as a cell of a table; empty where there is none."""
    return "" if test is None or test.note else rounded(test.p_holm, 2)
