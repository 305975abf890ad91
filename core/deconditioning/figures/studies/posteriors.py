"""Pictures of a posterior that is made of samples: densities, embeddings, signed weights."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from deconditioning.figures import descriptions
from deconditioning.figures.colours import hue, model_colour, series_colour
from deconditioning.figures.studies.one_dimension import frame, line
from deconditioning.figures.style import INK, Figure, compact, filled, histogram_bins, legend_on_the_right
from deconditioning.wording import number


def posterior_plot(
    y: np.ndarray, density: np.ndarray, prior: np.ndarray, herded: np.ndarray, *, variable: str = "y",
    title: str = "", height: int = 320, dark: bool = False,
) -> Figure:  # fmt: skip
    """Exact posterior and prior densities of a variable, and herded samples as a histogram."""
    traces: list[dict[str, Any]] = []
    if len(herded):
        counts, edges = np.histogram(
            herded, bins=histogram_bins(herded, (y[0], y[-1])), range=(y[0], y[-1]), density=True
        )
        traces.append(
            {
                "type": "bar", "x": compact(0.5 * (edges[1:] + edges[:-1]), "f8"), "y": compact(counts, "f8"),
                "width": float(edges[1] - edges[0]), "marker": filled(model_colour("dme", dark)),
                "name": f"{len(herded)} herded samples<br>of this rule", "hovertemplate": "%{y:.3f}",
            }
        )  # fmt: skip
    traces.append(line(y, prior, "prior: before<br>the observation", hue("grey", dark), "dash", 1.6))
    traces.append(line(y, density, "exact posterior", INK[dark], "solid", 2))
    picture = frame(title or f"Posterior of {variable}", (variable, "density"), height, dark, legend=False)
    legend_on_the_right(picture)
    width = np.gradient(y)
    means = [float((y * values * width).sum() / (values * width).sum()) for values in (density, prior)]
    means = [0.0 if abs(mean) < 1e-9 * np.ptp(y) else mean for mean in means]
    drawn = f"; {len(herded)} samples have mean {number(np.mean(herded))}" if len(herded) else ""
    picture["meta"]["alt"] = (
        f"Posterior of {variable}: mean {number(means[0])}; mean of the prior {number(means[1])}{drawn}."
    )
    return {"data": traces, "layout": picture}


def embeddings_plot(
    y: np.ndarray, lines: Mapping[str, np.ndarray], *, title: str, variable: str = "y", height: int = 320,
    dark: bool = False,
) -> Figure:  # fmt: skip
    """Embeddings over a variable, by name; the exact one is drawn in ink."""
    traces = [
        line(y, values, name, INK[dark], "dot", 2)
        if "exact" in name
        else line(y, values, name, series_colour(index, dark), ("solid", "dash")[index % 2], 2)
        for index, (name, values) in enumerate(lines.items())
    ]
    picture = frame(title, (variable, f"μ({variable})"), height, dark)
    summary = "; ".join(f"{name} {descriptions.course(y, values)}" for name, values in lines.items())
    picture["meta"]["alt"] = f"{title} over {variable}: {summary}."
    return {"data": traces, "layout": picture}


def signed_weights_plot(
    at: np.ndarray, weights: np.ndarray, *, title: str = "Weights of the prior's draws", variable: str = "ỹ",
    height: int = 300, dark: bool = False,
) -> Figure:  # fmt: skip
    """A weighted sample as stems, negative weights in a colour of their own."""
    traces = []
    for name, chosen, colour in (
        ("positive", weights >= 0, series_colour(0, dark)),
        ("negative", weights < 0, series_colour(1, dark)),
    ):
        x, w = at[chosen], weights[chosen]
        stems = np.column_stack([x, x, np.full(len(x), np.nan)]).ravel()
        tips = np.column_stack([np.zeros(len(w)), w, np.full(len(w), np.nan)]).ravel()
        traces.append(line(stems, tips, name, colour, "solid", 1.4) | {"hoverinfo": "skip"})
    picture = frame(title, (variable, "weight"), height, dark)
    negative = float(-weights[weights < 0].sum())
    picture["meta"]["alt"] = f"{len(weights)} weights; sum {weights.sum():.3f}, negative weights −{negative:.3f}."
    return {"data": traces, "layout": picture}
