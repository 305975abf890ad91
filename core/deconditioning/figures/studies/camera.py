"""Pictures of a camera that is followed: frames beside each other, where it looks in the room, errors by angle."""

import base64
import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.figures.colours import clear, model_colour, model_name
from deconditioning.figures.studies.filtering import over_steps
from deconditioning.figures.style import DARK, INK, LIGHT, Figure, axis, compact, layout, log_axis
from deconditioning.wording import number

#: Screen pixels of a frame's pixel, so that a browser's smoothing does not blur it.
ENLARGE = 12
#: Steps of the trail behind the truth.
TRAIL = 15
_GAP = 0.06


def frames_plot(frames: Mapping[str, np.ndarray], *, title: str = "", height: int = 250, dark: bool = False) -> Figure:
    """RGB frames (p, p, 3) beside each other, each under its name; values outside [0, 1] are clipped, pixels square."""
    count = len(frames)
    if not count:
        raise InputError("There is no frame to draw: give at least one.")
    picture = layout(title, height=height, dark=dark)
    picture["margin"] = {"l": 4, "r": 4, "t": 62 if title else 30, "b": 4}
    picture["images"], picture["annotations"] = [], []
    for index, (name, frame) in enumerate(frames.items()):
        at = index * (1 + _GAP)
        picture["images"].append(_image(np.kron(frame, np.ones((ENLARGE, ENLARGE, 1))), at, 1, 1, 1))
        label = {"text": name, "x": at + 0.5, "y": 1, "yanchor": "bottom", "showarrow": False, "font": {"size": 12}}
        picture["annotations"].append(label)
    width = count + _GAP * (count - 1)
    bare = {"visible": False, "fixedrange": True}
    picture["xaxis"] = bare | {"range": [0, width], "constrain": "domain"}
    picture["yaxis"] = bare | {"range": [0, 1], "scaleanchor": "x", "constrain": "domain"}
    first, *rest = frames.items()
    off = {name: float(((frame - first[1]) ** 2).sum()) for name, frame in rest if frame.shape == first[1].shape}
    sentence = f"; squared distance from {first[0]}: {', '.join(f'{name} {number(far)}' for name, far in off.items())}"
    picture["meta"]["alt"] = f"Frames of the camera: {', '.join(frames)}{sentence if off else ''}."
    corners = {"x": [0, width], "y": [0, 1], "marker": {"opacity": 0}, "hoverinfo": "skip"}
    return {"data": [{"type": "scatter", "mode": "markers", **corners}], "layout": picture}


def attitude_plot(
    panorama: np.ndarray, trail: tuple[np.ndarray, np.ndarray],
    outlines: Mapping[str, tuple[np.ndarray, np.ndarray]], *, title: str = "Where the camera looks", height: int = 330,
    dark: bool = False,
) -> Figure:  # fmt: skip
    """The whole room around the camera, with the edges of frames on it.

    Parameters
    ----------
    panorama : (h, 2h, 3) RGB, longitude from 180° at the left edge to −180°, latitude from 90° down to −90°.
    trail : longitudes and latitudes in degrees of the true view's middle, up to now.
    outlines : longitudes and latitudes once around a frame's edge, by name; "truth" is drawn in white.
    """
    traces = [_path(*trail, "true path", {"color": LIGHT, "width": 1.6, "dash": "dot"})]
    for name, (longitude, latitude) in outlines.items():
        line = {"color": LIGHT if name == "truth" else model_colour(name, True), "width": 3}
        rim = _path(longitude, latitude, name, {"color": DARK, "width": 6})  # readable on any wall
        traces.append(rim | {"showlegend": False, "hoverinfo": "skip"})
        traces.append(_path(longitude, latitude, model_name(name), line))
    picture = layout(title, height=height, dark=dark, showlegend=True)
    picture["margin"] = {"l": 40, "r": 8, "t": 66, "b": 30}
    picture["legend"] |= {"bgcolor": clear(DARK, 0.85), "font": {"size": 12, "color": LIGHT}}
    picture["images"] = [_image(panorama, -180, 90, 360, 180)]
    words = {"tickvals": [-180, -90, 0, 90, 180], "ticktext": ["behind", "left", "ahead", "right", "behind"]}
    bounds = {"showgrid": False, "zeroline": False, "constrain": "domain"}
    picture["xaxis"] = axis("", dark, automargin=False, range=[-180, 180]) | words | bounds
    degrees = {"tickvals": [-90, -45, 0, 45, 90], "ticktext": ["−90°", "−45°", "0°", "45°", "90°"], "scaleanchor": "x"}
    picture["yaxis"] = axis("", dark, automargin=False, range=[-90, 90]) | degrees | bounds
    middles = {
        name: (_middle(longitude), float(np.nanmean(latitude))) for name, (longitude, latitude) in outlines.items()
    }
    summary = "; ".join(f"{model_name(name)} at {x:.0f}°, {y:.0f}°" for name, (x, y) in middles.items())
    picture["meta"]["over_picture"] = True
    picture["meta"]["alt"] = f"Panorama of the room with the centres of the frames, in degrees left and up: {summary}."
    return {"data": traces, "layout": picture}


def _middle(longitude: np.ndarray) -> float:
    """The middle of longitudes in degrees, also across the seam behind."""
    turn = np.radians(longitude[np.isfinite(longitude)])
    return float(np.degrees(np.arctan2(np.sin(turn).mean(), np.cos(turn).mean())))


def angles_plot(angles: Mapping[str, np.ndarray], step: int, *, height: int = 280, dark: bool = False) -> Figure:
    """Angle in degrees (n,) between truth and estimate at each step, one line a filter, a rule at the present step."""
    traces = [
        {
            "type": "scatter", "mode": "lines", "x": compact(np.arange(1, len(values) + 1), "f8"),
            "y": compact(values, "f8"), "name": model_name(name), "hovertemplate": "%{y:.1f}°",
            "line": {"color": model_colour(name, dark), "width": 1.8},
        }
        for name, values in angles.items()
    ]  # fmt: skip
    picture = over_steps("Angle from the truth", "degrees", step, height, dark)
    picture["yaxis"] |= {"rangemode": "tozero"}
    summary = ", ".join(
        f"{model_name(name)} {number(values.mean())}°, now {number(values[step])}°" for name, values in angles.items()
    )
    picture["meta"]["alt"] = f"Angle from the truth at each step, on average: {summary}."
    return {"data": traces, "layout": picture}


def noises_plot(
    ours: Mapping[str, tuple[float, float]], paper: Mapping[str, tuple[float, float]], *, title: str, height: int = 260,
    dark: bool = False,
) -> Figure:  # fmt: skip
    """Our error of each method as a dot, the paper's as a diamond, with their standard errors, on a log axis."""
    names = list(ours)
    dots = {
        "type": "scatter", "mode": "markers", "x": [ours[n][0] for n in names], "y": [model_name(n) for n in names],
        "marker": {"size": 13, "color": [model_colour(name, dark) for name in names]}, "name": "ours, our room",
        "error_x": {"type": "data", "array": [ours[name][1] for name in names], "color": INK[dark]},
        "hovertemplate": "%{x:.4f}<extra></extra>",
    }  # fmt: skip
    known = [name for name in names if name in paper]
    marks = {
        "type": "scatter", "mode": "markers", "x": [paper[n][0] for n in known], "y": [model_name(n) for n in known],
        "error_x": {"type": "data", "array": [paper[n][1] for n in known], "color": INK[dark]},
        "marker": {"symbol": "diamond", "size": 9, "color": INK[dark]}, "name": "paper, its room",
        "hovertemplate": "%{x:.3f}<extra></extra>",
    }  # fmt: skip
    picture = layout(title, height=height, dark=dark, showlegend=True)
    picture["margin"] = {"l": 112, "r": 8, "t": 66, "b": 42}
    picture["xaxis"] = axis("MSE, squared Frobenius distance", dark, automargin=False)
    picture["xaxis"] |= log_axis(np.array([*(mean for mean, _ in ours.values()), *(paper[name][0] for name in known)]))
    picture["yaxis"] = axis("", dark, automargin=False, autorange="reversed")
    summary = ", ".join(f"{model_name(name)} {number(ours[name][0])}" for name in names)
    picture["meta"]["alt"] = f"{title}: {summary}; with the values of the paper."
    return {"data": [dots, marks], "layout": picture}


def _image(values: np.ndarray, x: float, y: float, width: float, height: float) -> dict[str, Any]:
    """RGB values in [0, 1] as an image whose upper left corner is at (x, y) of the axes."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(np.round(255 * np.clip(values, 0, 1)).astype(np.uint8)).save(stream, "PNG")
    source = "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
    return {
        "source": source, "xref": "x", "yref": "y", "x": x, "y": y, "sizex": width, "sizey": height,
        "sizing": "stretch", "layer": "below",
    }  # fmt: skip


def _path(longitude: np.ndarray, latitude: np.ndarray, name: str, line: dict[str, Any]) -> dict[str, Any]:
    """A line on the panorama, broken where it leaves at one edge and comes back at the other."""
    across = -np.asarray(longitude, dtype=float)  # to the right, as the eye inside sees it
    jumps = np.flatnonzero(np.abs(np.diff(across)) > 180) + 1
    x, y = np.insert(across, jumps, np.nan), np.insert(np.asarray(latitude, dtype=float), jumps, np.nan)
    return {
        "type": "scatter", "mode": "lines", "x": compact(x, "f8"), "y": compact(y, "f8"), "name": name, "line": line,
        "hovertemplate": f"{name}<extra></extra>",
    }  # fmt: skip
