"""What the map of uncertainty shows: the sd, an end of the 95 % interval, or the probability of exceeding a value."""

from dataclasses import dataclass

import numpy as np

from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import UNCERTAINTIES, MapKey, uncertainty_panel
from deconditioning.figures.map_panel import MapScale, Panel
from pages.downscaling.distribution.view import View
from pages.kit.controls import widgets
from pages.kit.controls.essential import group
from pages.kit.layout.escaping import plain

#: Share of the visible cells below the value that is offered first.
_USUAL = 0.9


@dataclass(frozen=True)
class Shown:
    """One of `UNCERTAINTIES`, and the value of "above"."""

    kind: str = "sd"
    threshold: float = 0.0

    @property
    def is_sd(self) -> bool:
        """Whether the map shows the sd."""
        return self.kind == "sd"

    def panels(self, panels: list[Panel], problem: DownscalingProblem, scale: MapScale, view: View) -> list[Panel]:
        """The maps with this one in place of the sd's."""
        if self.is_sd:
            return panels
        spread_panel = uncertainty_panel(problem, scale, view.predictive, self.kind, self.threshold)
        return [spread_panel if panel.key == MapKey.SPREAD else panel for panel in panels]


def choose(problem: DownscalingProblem) -> Shown:
    """The control, and the value that is exceeded where it is asked for."""
    with group("Map of uncertainty"):
        kind = widgets.selectbox(
            "The map of uncertainty shows", list(UNCERTAINTIES), key="uncertainty",
            format_func=UNCERTAINTIES.__getitem__,
            help="For each pixel separately, in the units of the target. The ends of the interval use the colour "
            "scale of the mean; the true value lies between them with a probability of 95 %.",
        )  # fmt: skip
        if kind != "above":
            return Shown(str(kind))
        known = problem.coarse[problem.observed]
        low, high, usual = float(known.min()), float(known.max()), float(np.quantile(known, _USUAL))
        span = high - low
        value = widgets.number_input(
            f"Threshold ({plain(problem.units)})" if problem.units else "Threshold",
            float(f"{low - span:.3g}"), float(f"{high + 2 * span:.3g}"), float(f"{usual:.3g}"), key="exceeded",
            step=float(f"{span / 50:.1g}"),
        )  # fmt: skip
        return Shown(str(kind), float(value))
