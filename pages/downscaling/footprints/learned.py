"""What was learned of stations, and the scores at stations that nothing saw."""

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.datasets.network import TRUE_OFFSETS
from deconditioning.downscaling.further_sources.report import left_out_values, source_report
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.warping.physical_map import physical_map
from deconditioning.fields.footprints.station_data import SourceTargets
from deconditioning.fields.grids.place import place_words
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import source_kind
from deconditioning.figures.scores import predicted_against_observed
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import number, plus_minus, rounded, signed
from pages.downscaling.distribution.view import View
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.controls.level import at_both_levels
from pages.kit.layout.escaping import plain
from pages.kit.layout.table import show_table
from pages.kit.layout.theme import is_dark
from pages.kit.record import page_record
from pages.kit.runs.station_scores import FROM_CELLS, station_scores, with_offset

#: Numbers of cells times pixels up to which the map from the cells alone takes no noticeable time.
_FEW = 20_000_000


def show(
    key: str, problem: DownscalingProblem, spec: ModelSpec, view: View, baselines: Mapping[str, np.ndarray]
) -> None:
    """Offset, noise, shares and scores of the stations and of further sources; nothing where there are none."""
    if not problem.sources and problem.scored is None:
        return
    others = any(not each.stations for each in problem.sources)
    st.subheader("Sources" if others else "Stations", anchor=False)
    if not view.exact:
        st.caption(
            f"The learned offset{'s' if others else ''} and the scores of the {'sources' if others else 'stations'} "
            "appear with the exact maps."
        )
        return
    fields = {spec.model.name: view.mean, **_from_the_cells(key, problem, spec), **baselines}
    report = source_report(problem, view.sources, fields, view.predictive)
    offset = report["targets"]["offset"] if "targets" in report and problem.warp is None else None
    if offset is not None and "scored" in report:
        st.markdown(_verdict(report, offset, plain(problem.units)))
    if report.get("sources"):
        _sources(problem, report)
    if "targets" in report:
        _targets(problem, spec, view, report["targets"], alone=not others)
    if "scored" in report:
        station_scores(spec.model.name, report["scored"], problem.units, offset)
        if offset is not None and (known := _true_offset(problem)) is not None:
            st.caption(
                f"The synthetic stations were made with an offset of {number(known, 2)} {plain(problem.units)}; the "
                f"model has learned {number(offset, 2)}. The difference is part of the bias of every row."
            )


def _true_offset(problem: DownscalingProblem) -> float | None:
    """By what the stations differ from the cells, where they are synthetic."""
    return None if problem.stations is None else TRUE_OFFSETS.get(problem.stations.measured.source)


def _from_the_cells(key: str, problem: DownscalingProblem, spec: ModelSpec) -> dict[str, np.ndarray]:
    """The map of the same model from the cells alone, where stations score it and it is cheap."""
    few = problem.data.bags.count * len(problem.pixel) <= _FEW
    if problem.scored is None or not problem.sources or not few or not spec.model.reads(problem.data):
        return {}
    text = json.dumps(spec.to_dict(), sort_keys=True)
    return {FROM_CELLS: _mean_from_the_cells(key + text, problem, replace(spec, others=()))}


@st.cache_resource(show_spinner=False, max_entries=4)
def _mean_from_the_cells(key: str, _problem: DownscalingProblem, _spec: ModelSpec) -> np.ndarray:
    alone = replace(_problem, sources=())
    found = predict(_spec, matched_data(alone, _spec), alone)
    return physical_map(alone, found.parts, found.cells).mean


def _verdict(report: Mapping[str, Any], offset: float, units: str) -> str:
    """The error at stations that no method used, beside those of the cells alone and of bilinear interpolation."""
    scored, used = report["scored"], f"the {report['targets']['count']} stations"
    others = {FROM_CELLS: "of the same model from the cells alone", "bilinear": "of bilinear interpolation"}
    beside = " and ".join(
        f"{rounded(with_offset(scored, name, offset)['rmse'] or 0.0)} {units} {words}"
        for name, words in others.items()
        if name in scored["rmse_of"]
    )
    sources = " and ".join([*(each["name"] for each in report.get("sources", [])), used])
    return (
        f"With {sources}, the RMSE at the {scored['count']} stations that no method used is "
        f"**{rounded(scored['rmse'])} {units}**" + (f", beside {beside}, each with the same offset." if beside else ".")
    )


def marks(problem: DownscalingProblem) -> frozenset[int]:
    """The legend of the marks on the maps, with a switch for each source; nothing where there are none.

    Returns the places of the sources whose marks are shown; the stations kept for testing, hidden at first, are behind
    all of them.
    """
    names = [*problem.names_of_sources, *(["stations kept for testing"] if problem.scored is not None else [])]
    counts = [len(each.row) for each in (*problem.sources, *filter(None, [problem.scored]))]
    shown = set()
    with st.container():  # a legend that comes and goes moves no chart
        with at_both_levels("marks"), st.container(horizontal=True):
            for place, (name, count) in enumerate(zip(names, counts, strict=True)):
                last = place == len(problem.sources)
                key = "marks-tested" if last else f"marks-{place}"
                page_record().reachable.add(key)
                if widgets.toggle(f"Show {count} {name}" if last else f"Show {name}", not last, key=key):
                    shown.add(place)
        _legend(problem, shown)
    return frozenset(shown)


def _legend(problem: DownscalingProblem, shown: Collection[int]) -> None:
    sources = enumerate(zip(problem.sources, problem.names_of_sources, strict=True))
    entries = [_mark(source, name) for place, (source, name) in sources if place in shown]
    if problem.scored is not None and len(problem.sources) in shown:
        entries.append(("small", f"{len(problem.scored.row)} stations kept for testing"))
    if problem.stations is not None:
        entries.append(("star", "on the uncertainty: where one more station would help most"))
    if entries:
        words = "".join(f'<span><i class="lab-mark-{mark}"></i> {escape(text)}</span>' for mark, text in entries)
        st.html(f'<p class="lab-legend">{words}</p>')


def _mark(source: SourceTargets, name: str) -> tuple[str, str]:
    """The mark of a source (page_layout.css) and what it stands for."""
    count = len(source.row)
    if source.stations:
        return "stations", f"{count} stations used as targets; marks show measured values, offset included"
    kind = source_kind(source)
    return kind, f"{name}: {count} {'areas' if kind == 'areas' else 'values'}" + (
        "; their footprints are outlined on the map Observations" if kind == "soundings" else ""
    )


def _sources(problem: DownscalingProblem, report: Mapping[str, Any]) -> None:
    """Every source in a row: its values, offset, noise, and the share of the map's certainty that it explains."""
    units, every, cells_alone = problem.units or "1", list(report["sources"]), report["explained"]["cells"]
    true = [TRUE_OFFSETS.get(each["name"]) for each in every]
    if "targets" in report:
        every.append({**report["targets"], "name": "stations", "kind": "stations",
                      "explained": report["explained"]["stations"]})  # fmt: skip
        true.append(_true_offset(problem))
    rows: list[dict[str, Any]] = [
        {
            "Source": each["name"],
            "Kind": each["kind"],
            "Values": each["count"],
            f"Offset from the cells ({units})": f"{plus_minus(each['offset'], each['offset_sd'])}",
            **({} if known is None else {f"True offset ({units})": number(known, 2)}),
            f"sd τ ({units})": number(each["representativeness"], 2),
            "Variance removed (%)": number(100 * each["explained"] / max(1 - cells_alone, 1e-12), 2),
            f"RMSE, left out ({units})": number(each["left_out"]["rmse"], 3) if "left_out" in each else None,
        }
        for each, known in zip(every, true, strict=True)
    ]  # fmt: skip
    show_table(rows)
    st.caption(
        "Offset: mean ± 1 sd. Variance removed: of the variance that the cells leave, the share that a source removes "
        "once those above it are known. τ is the sd by which a value differs from its pixel or from the mean over its "
        "footprint. Left out: each value predicted from all other targets." + _near_the_middle(problem)
    )


def _learned(problem: DownscalingProblem, summary: Mapping[str, Any], units: str) -> list[str]:
    """Offset, noise and shares of the stations, a sentence each."""
    assert problem.stations is not None
    cells, stations = summary["explained"]["cells"], summary["explained"]["stations"]
    what = "its pixel" if problem.stations.footprints is None else "the mean over its footprint"
    offset, than = summary["offset"], "higher" if summary["offset"] >= 0 else "lower"
    rows = [
        f"The stations read **{plus_minus(abs(offset), summary['offset_sd'])} {units}** {than} than the cells (learned "
        "offset and its sd).",
        f"A station, at one point, differs from {what} by **{number(summary['representativeness'], 2)} {units}** "
        "(learned sd τ).",
        f"Of the variance that the cells leave unexplained, the stations explain "
        f"**{number(100 * stations / max(1 - cells, 1e-12), 2)} %**.",
    ]
    if "per_100_m" in summary:
        change = f"{plus_minus(summary['per_100_m'], summary['per_100_m_sd'])} {units}"
        rows.insert(1, f"They change by **{change}** per 100 m above their pixel.")
    return rows


def _targets(
    problem: DownscalingProblem, spec: ModelSpec, view: View, summary: Mapping[str, Any], *, alone: bool
) -> None:  # fmt: skip
    """What was learned of the stations, unless a table of all sources has it, and how each is predicted."""
    units = plain(problem.units or "1")
    assert problem.stations is not None
    left = None if view.sources is None else left_out_values(problem, view.sources)[-1]  # stations are last
    words, picture = st.columns([2, 3], gap="medium") if alone else reversed(st.columns([3, 2], gap="medium"))
    with words:
        if alone:
            st.markdown("\n".join(f"- {row}" for row in _learned(problem, summary, units)))
        there = place_words(summary["next"]["latitude"], summary["next"]["longitude"])
        st.markdown(
            f"One more station would reduce the remaining variance most at {there} (the star on the map of "
            f"uncertainty): by {number(100 * summary['next']['share'], 2)} %."
        )
    if left is None:
        return
    observed, scores = problem.stations.measured.value, summary["left_out"]
    with picture:
        figure = predicted_against_observed(observed, *left, model=spec.model.name, units=problem.units, dark=is_dark())
        plotly_live(figure, "stations-left-out", later=True)
        st.caption(
            f"Each of the {summary['count']} stations predicted from all other targets: RMSE "
            f"{rounded(scores['rmse'])} {units}, bias {signed(scores['bias'], 2)} {units}; "
            f"{number(100 * scores['inside_95'], 2)} % of the 95 % intervals contain the measured value."
            + _near_the_middle(problem)
        )


def _near_the_middle(problem: DownscalingProblem) -> str:
    """What offsets and noises in the units of a warped target mean; empty without a warp."""
    if problem.warp is None:
        return ""
    return f" Offsets and τ are learned on {problem.warp.scale} and given for values near the middle."
