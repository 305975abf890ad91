"""Pictures of scores: bars beside each other, calibration, histograms of the error and of the PIT."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures.colours import hue, model_colour, model_name
from deconditioning.figures.style import INK, Figure, axis, compact, hover_numbers, layout, literal, log_axis
from deconditioning.wording import number

#: Half a central 95 % interval of the normal distribution, in sds.
_Z95 = 1.959964


def calibration_plot(
    levels: Sequence[float], empirical: Mapping[str, Sequence[float]], *, height: int = 320, dark: bool = False
) -> Figure:
    """Share of pixels inside the central interval against the interval's probability; the diagonal is ideal.

    Below the diagonal the uncertainty is too small, above it too large.

    Parameters
    ----------
    levels : (L,) probabilities of central intervals in (0, 1).  empirical : model → (L,) shares observed.
    """
    x = 100 * np.asarray(levels, dtype=float)
    ideal = {"x": [0, 100], "y": [0, 100], "mode": "lines", "hoverinfo": "skip", "showlegend": False}
    traces: list[dict[str, Any]] = [
        {"type": "scatter", **ideal, "line": {"color": hue("grey", dark), "width": 1, "dash": "dot"}}
    ]
    for model, shares in empirical.items():
        y = 100 * np.asarray(shares, dtype=float)
        line = {"color": model_colour(model, dark), "width": 1.8}
        hover = "%{x:.0f} % interval contains %{y:.1f} %"
        traces.append(_curve(x, y, model_name(model), "lines+markers", line, hover) | {"marker": {"size": 5}})
    picture = layout("Calibration", height=height, dark=dark, showlegend=len(empirical) > 1)
    picture["margin"] = {"l": 52, "r": 10, "t": 54 if len(empirical) > 1 else 34, "b": 42}
    picture["xaxis"] = axis("Interval's probability (%)", dark, range=[0, 100], automargin=False, dtick=25)
    picture["yaxis"] = axis("Pixels inside (%)", dark, range=[0, 100], automargin=False, dtick=25)
    at = int(np.argmin(np.abs(x - 95)))
    summary = ", ".join(f"{model_name(m)} {100 * s[at]:.0f} %" for m, s in empirical.items())
    picture["meta"]["alt"] = (
        f"Calibration: share of pixels with the truth in the central {x[at]:.0f} % interval: {summary}."
    )
    return {"data": traces, "layout": picture}


def error_histogram(
    errors: Mapping[str, np.ndarray], *, units: str = "", bins: int = 60, height: int = 260, dark: bool = False
) -> Figure:
    """Densities of prediction − truth on common bins, symmetric about 0; the outermost bins hold the tails.

    Parameters
    ----------
    errors : model → errors of any shape, in `units`; missing values are left out.
    """
    finite = {model: e[np.isfinite(e)] for model, e in ((m, np.asarray(v, dtype=float)) for m, v in errors.items())}
    spread = max((float(np.quantile(np.abs(e), 0.995)) for e in finite.values() if e.size), default=1.0) or 1.0
    edges = np.linspace(-spread, spread, bins + 1)
    centres, traces = (edges[:-1] + edges[1:]) / 2, []
    for model, values in finite.items():
        counts = np.histogram(np.clip(values, -spread, spread), edges)[0]
        density = counts / max(values.size, 1) / (edges[1] - edges[0])
        line = {"color": model_colour(model, dark), "width": 1.6, "shape": "hvh"}
        traces.append(_curve(centres, density, model_name(model), "lines", line, "%{x:.3~r} " + literal(units)))
    picture = layout("Error", height=height, dark=dark, showlegend=len(finite) > 1)
    picture["margin"] = {"l": 52, "r": 10, "t": 54 if len(finite) > 1 else 34, "b": 42}
    title = f"Prediction − truth ({units})" if units else "Prediction − truth"
    picture["xaxis"] = axis(title, dark, automargin=False, range=[-spread, spread], zeroline=True)
    picture["yaxis"] = axis("Density", dark, automargin=False, rangemode="tozero", nticks=4)
    summary = ", ".join(
        f"{model_name(m)} {number(np.mean(e))} ± {number(np.std(e))} {units}" for m, e in finite.items() if e.size
    )
    picture["meta"]["alt"] = f"Histogram of prediction − truth: {summary}."
    return {"data": traces, "layout": picture}


def predicted_against_observed(
    observed: np.ndarray, mean: np.ndarray, sd: np.ndarray, *, model: str = "", units: str = "", height: int = 320,
    dark: bool = False,
) -> Figure:  # fmt: skip
    """Predictions with their 95 % intervals against what was measured, all (n,); the diagonal is perfect."""
    low, high = (float(end(np.concatenate([observed, mean]))) for end in (np.nanmin, np.nanmax))
    room = 0.05 * (high - low or 1.0)
    ends = [low - room, high + room]
    ideal = {"x": ends, "y": ends, "mode": "lines", "hoverinfo": "skip", "showlegend": False}
    line = {"color": hue("grey", dark), "width": 1, "dash": "dot"}
    colour = model_colour(model, dark)
    bars = {"type": "data", "array": compact(_Z95 * sd, "f8"), "thickness": 1, "width": 0, "color": colour}
    points = _curve(observed, mean, "stations", "markers", {}, f"measured %{{x:.4~r}}, predicted %{{y:.4~r}} {units}")
    points |= {"marker": {"size": 6, "color": colour}, "error_y": bars}
    picture = layout("Leave-one-out prediction of each station", height=height, dark=dark)
    picture["margin"] = {"l": 62, "r": 10, "t": 34, "b": 42}
    unit = f" ({units})" if units else ""
    picture["xaxis"] = axis(f"Measured{unit}", dark, automargin=False, range=ends)
    picture["yaxis"] = axis(f"Predicted{unit}", dark, automargin=False)
    rmse = float(np.sqrt(np.nanmean((mean - observed) ** 2)))
    picture["meta"]["alt"] = f"Predicted against measured value of {len(mean)} stations: RMSE {number(rmse)} {units}."
    return {"data": [{"type": "scatter", **ideal, "line": line}, points], "layout": picture}


def pit_histogram(
    counts: Sequence[float], *, model: str = "", height: int = 220, dark: bool = False, of: str = "pixels"
) -> Figure:
    """Histogram of the probability integral transform F(truth); flat is calibrated, U too sure, ∩ too unsure."""
    share = np.asarray(counts, dtype=float) / max(float(np.sum(counts)), 1.0)
    width = 1 / max(len(share), 1)
    picture = layout("Position of the truth in the prediction (PIT)", height=height, dark=dark, bargap=0.04)
    picture["margin"] = {"l": 52, "r": 10, "t": 34, "b": 42}
    picture["xaxis"] = axis("Predicted probability below the truth", dark, automargin=False, range=[0, 1], dtick=0.25)
    picture["yaxis"] = axis(f"Share of {of}", dark, automargin=False, rangemode="tozero", nticks=4)
    level = {"type": "line", "x0": 0, "x1": 1, "y0": width, "y1": width}
    picture["shapes"] = [level | {"line": {"color": INK[dark], "width": 1, "dash": "dot"}}]
    picture["meta"]["alt"] = (
        f"PIT histogram of {len(share)} bins: shares {number(share.min())} to {number(share.max())}."
    )
    centres = [width * (i + 0.5) for i in range(len(share))]
    bars = {"type": "bar", "x": centres, "y": share.tolist(), "width": [0.96 * width] * len(share)}
    hover = "%{y:.3~r}<extra></extra>"
    return {
        "data": [bars | {"marker": {"color": model_colour(model, dark)}, "hovertemplate": hover}],
        "layout": picture,
    }


def power_spectra(
    wavenumber: Sequence[float] | np.ndarray, power: Mapping[str, Sequence[float] | np.ndarray], *, units: str = "",
    length: str = "km", height: int = 300, dark: bool = False,
) -> Figure:  # fmt: skip
    """Power densities of fields against wavenumber on logarithmic axes, with the wavelength where one points.

    Parameters
    ----------
    wavenumber : (K,) cycles per ``length``.  power : "mean", "draws", "bilinear" or "truth" → (K,) power densities.
    """
    names = {"mean": ("Posterior mean", "teal"), "draws": ("Draws", "rust"), "bilinear": ("Bilinear", "ochre"),
             "truth": ("Truth", "grey")}  # fmt: skip
    x = np.asarray(wavenumber, dtype=float)
    every = {name: np.maximum(np.asarray(values, dtype=float), 1e-300) for name, values in power.items()}
    picture = layout("Power spectra", height=height, dark=dark, showlegend=True)
    picture["margin"] = {"l": 62, "r": 10, "t": 54, "b": 42}
    squared = f"({units})² {length}²" if units else f"{length}²"
    picture["xaxis"] = axis(f"Wavenumber (cycles per {length})", dark, automargin=False) | log_axis(x)
    picture["yaxis"] = axis(f"Power density ({squared})", dark, automargin=False) | log_axis(
        np.concatenate(list(every.values()))
    )
    traces = []
    for name, values in every.items():
        title, colour = names[name]
        line = {"color": hue(colour, dark), "width": 1.8, "dash": "dot" if name == "truth" else "solid"}
        wavelengths = [number(each) for each in 1 / x]
        curve = _curve(x, values, title, "lines", line, "") | {"customdata": wavelengths}
        traces.append(curve | hover_numbers(values, f"%{{customdata}} {length}: "))
    ends = ", ".join(f"{names[name][0].lower()} {number(values[-1], 2)}" for name, values in every.items())
    picture["meta"]["alt"] = (
        f"Power spectra; power density at the finest wavelength, {number(1 / x[-1])} {length}: {ends}."
    )
    return {"data": traces, "layout": picture}


def _curve(x: np.ndarray, y: np.ndarray, name: str, mode: str, line: dict[str, Any], hover: str) -> dict[str, Any]:
    data = {"x": compact(x, "f8"), "y": compact(y, "f8"), "name": name, "line": line}
    return {"type": "scatter", "mode": mode, "hovertemplate": hover, **data}
