"""Pictures of a verification: skill, reliability, spread beside error, scores through time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures import descriptions
from deconditioning.figures.colours import hue, model_colour, model_name, series_colour
from deconditioning.figures.studies.one_dimension import frame, line
from deconditioning.figures.style import INK, Figure, compact
from deconditioning.wording import number

#: Skill and both ends of its interval, None where times are too few.
SkillRow = tuple[float, float | None, float | None]


def skill_plot(skills: Mapping[str, Mapping[str, SkillRow]], *, height: int = 260, dark: bool = False) -> Figure:
    """Skill scores ``1 − score / reference's score`` in per cent with their intervals, by score and by reference."""
    picture = frame("Skill: how much smaller the error is", ("Skill (%)", ""), height, dark)
    picture["margin"] |= {"l": 12}
    picture["yaxis"] |= {"automargin": True, "type": "category", "autorange": "reversed"}
    picture["xaxis"] |= {"zeroline": True, "zerolinecolor": INK[dark], "zerolinewidth": 1.4}
    traces, words = [], []
    for n, (score, rows) in enumerate(skills.items()):
        value, low, high = (
            np.array([np.nan if row[k] is None else row[k] for row in rows.values()], dtype=float) for k in range(3)
        )
        ends = {"type": "data", "symmetric": False, "thickness": 1.6, "width": 5}
        both = {"array": compact(100 * (high - value), "f8"), "arrayminus": compact(100 * (value - low), "f8")}
        traces.append(
            {
                "type": "scatter", "mode": "markers", "x": compact(100 * value, "f8"),
                "y": [model_name(name) for name in rows], "name": score, "error_x": ends | both,
                "marker": {"size": 9, "color": series_colour(n, dark), "symbol": ("circle", "diamond")[n % 2]},
                "hovertemplate": f"{score} smaller by %{{x:.0f}} %<extra></extra>",
            }
        )  # fmt: skip
        words += [f"{score} against {model_name(name)} {100 * row[0]:.0f} %" for name, row in rows.items()]
    picture["meta"]["alt"] = f"Skill scores: {', '.join(words)}."
    return {"data": traces, "layout": picture}


def reliability_plot(
    tables: Mapping[str, np.ndarray], observed: float, *, names: Mapping[str, str], height: int = 320,
    dark: bool = False,
) -> Figure:  # fmt: skip
    """Observed frequency of an event against its predicted probability, by prediction: (b, 3) of share, mean
    probability and observed share; the size of a mark is its share. The rule is the frequency of the event.
    """
    picture = frame("Reliability", ("Predicted probability (%)", "Observed frequency (%)"), height, dark)
    picture["xaxis"] |= {"range": [-4, 104], "dtick": 25}
    picture["yaxis"] |= {"range": [-4, 104], "dtick": 25}
    traces: list[dict[str, Any]] = [_diagonal(100.0, dark)]
    for key, table in tables.items():
        share, chance, hits = table[table[:, 0] > 0].T
        curve = line(100 * chance, 100 * hits, names.get(key, model_name(key)), model_colour(key, dark), "solid", 1.8)
        size = 5 + 22 * np.sqrt(share)
        mark = {"size": size.round(1).tolist(), "color": model_colour(key, dark), "opacity": 0.8}
        hover = "predicted %{x:.0f} %, happened %{y:.0f} %"
        traces.append(curve | {"mode": "lines+markers", "marker": mark, "hovertemplate": hover})
    rule = {"width": 1, "dash": "dot", "color": hue("grey", dark)}
    picture["shapes"] = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 100 * observed, "y1": 100 * observed, "line": rule}
    ]
    picture["meta"]["alt"] = (
        f"Reliability of an event that occurs in {100 * observed:.0f} % of the cases: observed frequency against "
        "predicted probability, the diagonal is ideal."
    )
    return {"data": traces, "layout": picture}


def spread_skill_plot(
    groups: Mapping[str, np.ndarray], *, units: str, names: Mapping[str, str], height: int = 320, dark: bool = False
) -> Figure:
    """RMSE against the predicted sd, by prediction: (g, 3) of share, rms of the sd and RMSE; the diagonal is ideal."""
    labels = tuple(f"{words} ({units})" if units else words for words in ("Predicted sd", "RMSE"))
    picture = frame("Spread and skill", (labels[0], labels[1]), height, dark)
    top = 1.06 * max(float(table[:, 1:].max()) for table in groups.values())
    for side in ("xaxis", "yaxis"):
        picture[side] |= {"range": [0, top]}
    traces = [_diagonal(top, dark)]
    for key, table in groups.items():
        curve = line(table[:, 1], table[:, 2], names.get(key, model_name(key)), model_colour(key, dark), "solid", 1.8)
        traces.append(curve | {"mode": "lines+markers", "marker": {"size": 7}})
    words = ", ".join(
        f"{names.get(key, model_name(key))} sd {number(table[0, 1])} to {number(table[-1, 1])}, RMSE "
        f"{number(table[0, 2])} to {number(table[-1, 2])}" for key, table in groups.items()
    )  # fmt: skip
    picture["meta"]["alt"] = f"RMSE against the predicted sd: {words}."
    return {"data": traces, "layout": picture}


def quantile_plot(
    tables: Mapping[str, np.ndarray], *, units: str, names: Mapping[str, str], height: int = 320, dark: bool = False
) -> Figure:
    """Quantiles of all predicted values against those of the truth, by prediction: (q, 3) of level, quantile of the
    truth and of the prediction. Tails, the lowest and highest twentieth, have marks; the diagonal is ideal.
    """
    labels = tuple(
        f"{words} ({units})" if units else words for words in ("Quantile of the truth", "Quantile of the prediction")
    )
    picture = frame("Quantiles of all values", (labels[0], labels[1]), height, dark)
    values = np.concatenate([table[:, 1:].ravel() for table in tables.values()])
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low or 1.0)
    for side in ("xaxis", "yaxis"):
        picture[side] |= {"range": [low - room, high + room]}
    traces = [_diagonal(high + room, dark, low - room)]
    for key, (level, truth, predicted) in ((key, table.T) for key, table in tables.items()):
        colour = model_colour(key, dark)
        curve = line(truth, predicted, names.get(key, model_name(key)), colour, "solid", 1.6)
        sizes = np.where((level < 0.05) | (level > 0.95), 6, 0).tolist()
        words = [f"{number(100 * each)} %" for each in level]
        hover = "%{customdata}: truth %{x:.4~r}, predicted %{y:.4~r}"
        traces.append(curve | {"mode": "lines+markers", "marker": {"size": sizes, "color": colour},
                               "customdata": words, "hovertemplate": hover})  # fmt: skip
    ends = ", ".join(
        f"{names.get(key, model_name(key))} {number(table[0, 2])} to {number(table[-1, 2])}"
        for key, table in tables.items()
    )
    truth = next(iter(tables.values()))
    picture["meta"]["alt"] = (
        f"Quantiles from {number(100 * truth[0, 0])} % to {number(100 * truth[-1, 0])} %: truth {number(truth[0, 1])} "
        f"to {number(truth[-1, 1])}, {ends}."
    )
    return {"data": traces, "layout": picture}


def scores_in_time(
    at: np.ndarray | Sequence[str], scores: Mapping[str, np.ndarray], *, title: str, labels: tuple[str, str],
    names: Mapping[str, str], height: int = 300, dark: bool = False,
) -> Figure:  # fmt: skip
    """A score of every prediction at each time (numbers), or as points for each part of the day or year (words)."""
    picture = frame(title, labels, height, dark)
    picture["yaxis"] |= {"rangemode": "tozero"}
    picture["margin"] |= {"t": 78}  # the legend may take two lines
    grouped = not isinstance(at, np.ndarray)
    position = np.arange(len(at), dtype=float) if grouped else np.asarray(at, dtype=float)
    if grouped:
        picture["xaxis"] |= {"tickvals": position.tolist(), "ticktext": list(at)}
    traces = []
    for key, values in scores.items():
        curve = line(position, values, names.get(key, model_name(key)), model_colour(key, dark), "solid", 1.8)
        traces.append(curve | ({"mode": "lines+markers", "marker": {"size": 7}} if grouped else {}))
    picture["meta"]["alt"] = (
        f"{title}: {descriptions.ends(scores, {key: model_name(key) for key in scores} | dict(names))}."
    )
    return {"data": traces, "layout": picture}


def _diagonal(top: float, dark: bool, foot: float = 0.0) -> dict[str, Any]:
    rule = {"color": hue("grey", dark), "width": 1, "dash": "dot"}
    return {"type": "scatter", "mode": "lines", "x": [foot, top], "y": [foot, top], "line": rule, "hoverinfo": "skip",
            "showlegend": False, "name": "ideal"}  # fmt: skip
