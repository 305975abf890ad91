"""Pictures of distribution regression: subjects' densities as ridges, predictions against outcomes, risk curves."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures import descriptions
from deconditioning.figures.colours import GROUND, clear, hue, mark_scale, model_colour, model_name, series_colour
from deconditioning.figures.studies.story import band
from deconditioning.figures.style import INK, Figure, axis, compact, layout, literal, log_axis
from deconditioning.wording import number

#: How far a ridge reaches over the next one's base line.
_OVERLAP = 2.2
_DASHES = {
    "kde_narrow": "dot", "kde_cut": "dot", "landmark10": "dash", "landmark50": "dot", "landmark10_gp": "dash",
    "bdr10": "dash", "bdr50": "dot",
}  # fmt: skip


def ridge_plot(
    grid: np.ndarray, densities: np.ndarray, names: Sequence[str], outcomes: np.ndarray, *, title: str,
    labels: tuple[str, str], height: int = 380, dark: bool = False,
) -> Figure:  # fmt: skip
    """Densities (k, g) of some subjects over a common grid, stacked by outcome and coloured by it.

    Parameters
    ----------
    outcomes : (k,) of those subjects, ascending from the bottom.  labels : of the measures and of the outcome.
    """
    scale = mark_scale("sequential", dark)
    low, high = float(outcomes.min()), float(outcomes.max())
    tall = _OVERLAP / max(float(densities.max()), 1e-300)
    traces: list[dict[str, Any]] = []
    for row in reversed(range(len(densities))):  # the lowest is drawn last, in front
        share = 0.08 + 0.84 * (outcomes[row] - low) / max(high - low, 1e-12)
        colour = scale[round(share * (len(scale) - 1))][1]
        top = row + tall * densities[row]
        line = {
            "type": "scatter", "mode": "lines", "x": compact(np.r_[grid, grid[::-1]], "f8"),
            "y": compact(np.r_[top, np.full(len(grid), float(row))], "f8"), "fill": "toself",
        }  # fmt: skip
        hover = f"{literal(names[row])}: {literal(labels[1])} {number(outcomes[row])}<extra></extra>"
        traces.append(line | {"fillcolor": clear(GROUND[dark], 0.9), "line": {"width": 0}, "hoverinfo": "skip"})
        traces.append(
            line
            | {
                "fillcolor": clear(colour, 0.55), "line": {"width": 1.2, "color": colour},
                "hovertemplate": hover, "hoveron": "fills+points", "name": literal(names[row]), "text": hover,
            }
        )  # fmt: skip
    picture = layout(title, height=height, dark=dark)
    picture["margin"] = {"l": 64, "r": 8, "t": 34, "b": 42}
    picture["xaxis"] = axis(labels[0], dark, automargin=False, range=[float(grid[0]), float(grid[-1])])
    shown = np.unique(np.linspace(0, len(outcomes) - 1, 7).round().astype(int))
    ticks = {"tickvals": shown.tolist(), "ticktext": [number(outcomes[i], 2) for i in shown]}
    reach = len(densities) - 1 + tall * float(densities[-1].max()) + 0.3
    picture["yaxis"] = axis(labels[1], dark, automargin=False, range=[-0.3, max(reach, len(densities) + 0.5)], **ticks)
    picture["meta"]["alt"] = (
        f"{title}: densities of {labels[0]} of {len(densities)} subjects, {labels[1]} from {number(low)} to "
        f"{number(high)}."
    )
    return {"data": traces, "layout": picture}


def predicted_plot(
    observed: np.ndarray, predicted: np.ndarray, *, title: str, labels: tuple[str, str], model: str = "gpdr",
    of: str = "subjects", height: int = 340, dark: bool = False,
) -> Figure:  # fmt: skip
    """Predictions (n,) ``of`` outcomes left out against what was observed, over the same range; equal on the line."""
    low = float(min(observed.min(), predicted.min()))
    high = float(max(observed.max(), predicted.max()))
    pad = 0.04 * max(high - low, 1e-12)
    ends = [low - pad, high + pad]
    diagonal = {
        "type": "scatter", "mode": "lines", "x": ends, "y": ends, "hoverinfo": "skip", "showlegend": False,
        "line": {"color": hue("grey", dark), "width": 1, "dash": "dot"},
    }  # fmt: skip
    points = {
        "type": "scatter", "mode": "markers", "x": compact(observed, "f8"), "y": compact(predicted, "f8"),
        "marker": {"size": 5, "color": model_colour(model, dark)}, "name": model_name(model),
        "hovertemplate": "observed %{x:.3~r}, predicted %{y:.3~r}<extra></extra>",
    }  # fmt: skip
    picture = layout(title, height=height, dark=dark)
    picture["margin"] = {"l": 56, "r": 8, "t": 34, "b": 42}
    picture["xaxis"] = axis(labels[0], dark, automargin=False, nticks=6, range=ends)
    picture["yaxis"] = axis(labels[1], dark, automargin=False, nticks=6, range=ends)
    r = float(np.corrcoef(observed, predicted)[0, 1]) if np.ptp(predicted) > 0 else float("nan")
    picture["meta"]["alt"] = f"{title}: {len(observed)} {of}, correlation {r:.2f}."
    return {"data": [diagonal, points], "layout": picture}


def link_plot(
    index: np.ndarray, outcomes: np.ndarray, at: np.ndarray, link: np.ndarray, line: np.ndarray, *,
    labels: tuple[str, str], height: int = 340, dark: bool = False,
) -> Figure:  # fmt: skip
    """Outcomes against the index, the estimated link through them, and the straight line of the linear model."""
    traces = [
        {
            "type": "scatter", "mode": "markers", "x": compact(index, "f8"), "y": compact(outcomes, "f8"),
            "marker": {"size": 4, "color": hue("grey", dark)}, "name": "subjects",
            "hovertemplate": "%{x:.3~r}, %{y:.3~r}<extra></extra>",
        },
        _line(at, line, "linear", model_colour("kde", dark), "dash"),
        _line(at, link, "link ρ̂", model_colour("gpdr", dark), "solid"),
    ]  # fmt: skip
    picture = layout("Unknown link", height=height, dark=dark, showlegend=True)
    picture["margin"] = {"l": 56, "r": 8, "t": 58, "b": 42}
    picture["xaxis"], picture["yaxis"] = (axis(label, dark, automargin=False) for label in labels)
    far = float(np.sqrt(np.mean((link - line) ** 2)))
    picture["meta"]["alt"] = (
        f"Link from the index to the outcome of {len(index)} subjects: {descriptions.course(at, link)}; it differs "
        f"from a straight line by {number(far)} (root mean square)."
    )
    return {"data": traces, "layout": picture}


def risk_plot(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]], *, title: str, label: str,
    lines: Mapping[str, tuple[np.ndarray, np.ndarray]], now: Mapping[str, tuple[np.ndarray, np.ndarray]],
    height: int = 380, dark: bool = False,
) -> Figure:  # fmt: skip
    """Mean posterior risk against n or m on log axes.

    Parameters
    ----------
    curves : model → (sizes, means, standard errors): drawn with ±2 standard errors.
    lines : name → (sizes, values), drawn thin: slopes to compare with.
    now : model → (sizes, risks) of runs added on the page, as open marks.
    """
    traces: list[dict[str, Any]] = []
    for model, (sizes, means, errors) in curves.items():
        bars = {"type": "data", "array": (2 * errors).tolist(), "thickness": 1, "width": 2}
        traces.append(
            _line(sizes, means, model_name(model), model_colour(model, dark), _DASHES.get(model, "solid"))
            | {"mode": "lines+markers", "marker": {"size": 5}, "error_y": bars, "hovertemplate": "%{y:.4f}"}
        )
    for name, (sizes, values) in lines.items():
        traces.append(_line(sizes, values, name, INK[dark], "dot") | {"hoverinfo": "skip"})
    for model, (sizes, risks) in now.items():
        mark = {"size": 8, "symbol": "circle-open", "color": model_colour(model, dark), "line": {"width": 1.5}}
        traces.append(
            {
                "type": "scatter", "mode": "markers", "x": compact(sizes, "f8"), "y": compact(risks, "f8"),
                "marker": mark, "name": f"{model_name(model)}, your runs", "showlegend": False,
                "hovertemplate": f"{model_name(model)}, your run: %{{y:.4f}}<extra></extra>",
            }
        )  # fmt: skip
    picture = layout(title, height=height, dark=dark, showlegend=True)
    picture["margin"] = {"l": 58, "r": 10, "t": 84, "b": 42}
    every = [v for sizes, values, errors in curves.values() for v in (values - 2 * errors, values + 2 * errors)]
    every += [values for _, values in lines.values()] + [risks for _, risks in now.values()]
    across = np.concatenate([np.asarray(c[0], float) for c in (*curves.values(), *now.values())])
    ticks = {"tickvals": sorted(set(across.tolist())), "ticktext": [f"{v:.0f}" for v in sorted(set(across.tolist()))]}
    picture["xaxis"] = axis(label, dark, automargin=False, **(log_axis(across) | ticks))
    heights = np.concatenate(every)
    picture["yaxis"] = axis("posterior risk", dark, automargin=False, **log_axis(heights)) | _decimals(heights)
    summary = descriptions.ends({model: means for model, (_, means, _) in curves.items()})
    picture["meta"]["alt"] = f"{title}: {summary}."
    return {"data": traces, "layout": picture}


def _decimals(values: np.ndarray) -> dict[str, Any]:
    """Plain numbers at 1, 2 and 5 of each decade, or closer where the range is short."""
    known = values[np.isfinite(values) & (values > 0)]
    low, high = float(known.min()) * 0.9, float(known.max()) * 1.1
    ticks: list[float] = []
    for parts in ((1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)):
        ticks = [a * 10.0**b for b in range(-6, 4) for a in parts if low <= a * 10.0**b <= high]
        if len(ticks) >= 4:
            break
    return {"tickvals": ticks, "ticktext": [number(v, 6) for v in ticks]}


def _line(x: np.ndarray, y: np.ndarray, name: str, colour: str, dash: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "x": compact(x, "f8"), "y": compact(y, "f8"), "name": name,
        "line": {"color": colour, "width": 2, "dash": dash}, "hovertemplate": "%{y:.3~r}",
    }  # fmt: skip


def clusters_plot(
    curves: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], truths: Sequence[np.ndarray], *, height: int = 340,
    dark: bool = False,
) -> Figure:  # fmt: skip
    """Points, means and sds of every cluster's f, ± 2 sd shaded, and the functions they are to be, dotted."""
    bands, lines, dotted = [], [], []
    for index, ((at, mean, sd), truth) in enumerate(zip(curves, truths, strict=True)):
        colour, name = series_colour(index, dark), f"cluster {index + 1}"
        bands.append(band(at, mean - 2 * sd, mean + 2 * sd, "", colour, 0.12))
        lines.append(_line(at, mean, name, colour, "solid"))
        dotted.append(_line(at, truth, f"{name}, truth", colour, "dot") | {"showlegend": False})
    picture = layout("Clusters' functions ± 2 sd, truths dotted", height=height, dark=dark, showlegend=True)
    picture["margin"] = {"l": 56, "r": 8, "t": 76, "b": 42}
    picture["xaxis"], picture["yaxis"] = (axis(label, dark, automargin=False) for label in ("x", "f"))
    off = [float(np.sqrt(np.mean((mean - truth) ** 2))) for (_, mean, _), truth in zip(curves, truths, strict=True)]
    picture["meta"]["alt"] = (
        f"Functions of {len(curves)} clusters with their uncertainty; RMSE of the posterior means "
        f"{number(min(off), 2)} to {number(max(off), 2)}."
    )
    return {"data": [*bands, *dotted, *lines], "layout": picture}
