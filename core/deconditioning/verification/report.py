"""Everything that a verification finds, as tables, maps and plain data."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.verification.comparison import Skill, skill
from deconditioning.verification.drawn import DrawnScores, drawn_scores
from deconditioning.verification.events import Event, events
from deconditioning.verification.fractions import Fractions, fractions
from deconditioning.verification.objects import Objects, rain_objects
from deconditioning.verification.parts import PartScore, scores_by_part
from deconditioning.verification.scores import SeriesScores, series_scores
from deconditioning.verification.series import Verified

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Verification:
    """Scores of a prediction and its references, how much better it is, how well it foresees events, and what its joint
    draws are like, if it has any.
    """

    verified: Verified
    scores: dict[str, SeriesScores]
    skills: tuple[Skill, ...]
    events: dict[str, tuple[Event, ...]]
    drawn: DrawnScores | None = None
    parts: tuple[PartScore, ...] = ()
    fractions: tuple[Fractions, ...] = ()
    objects: dict[str, Objects] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Tidy: one row for each prediction, score, threshold, window and part of times or pixels, with its value."""
        result = [
            _row(name, score, value) for name, each in self.scores.items() for score, value in each.pooled.items()
        ]
        if self.drawn is not None:
            draws = self.verified.draws_name
            result += [_row(draws, score, value) for score, value in self.drawn.pooled.items()]
        for name, scores in self.events.items():
            for event in scores:
                named = {"brier": event.brier, "brier_skill": event.skill, "roc_area": event.roc_area,
                         "observed": event.observed, "predicted": event.predicted}  # fmt: skip
                result += [_row(name, score, value, threshold=event.threshold) for score, value in named.items()]
        for share in self.fractions:
            named = {"fss": share.of_mean, "fss_probability": share.of_probability, "fss_useful": share.useful}
            result += [_row(share.prediction, score, value, threshold=share.threshold, window=share.window)
                       for score, value in named.items()]  # fmt: skip
        for name, objects in self.objects.items():
            result += [_row(name, score, value) for score, value in objects.pooled.items()]
        for each in self.parts:
            result += [_row(each.prediction, score, value, by=each.by, part=each.part)
                       for score, value in (("rmse", each.rmse), ("crps", each.crps))]  # fmt: skip
        return result

    def to_dict(self) -> dict[str, Any]:
        """Plain data without the maps."""
        return {
            "times": len(self.verified),
            "units": self.verified.units,
            "notes": list(self.verified.notes),
            "skill": [asdict(each) for each in self.skills],
            "events": {name: [each.to_dict() for each in scores] for name, scores in self.events.items()},
            "pit": {name: each.pit.tolist() for name, each in self.scores.items() if each.pit is not None},
            "fractions": [asdict(each) for each in self.fractions],
            "sal": {name: {**each.pooled, **each.to_dict()} for name, each in self.objects.items()},
            "parts": [asdict(each) for each in self.parts],
            "draws": None if self.drawn is None else {**self.drawn.pooled, "ranks": self.drawn.ranks.tolist()},
            "spread": {name: each.spread.tolist() for name, each in self.scores.items() if each.spread is not None},
        }

    def maps(self) -> "xr.Dataset":
        """(H, W) bias, rmse, crps and coverage95 of the prediction, means over the times."""
        import xarray as xr

        first, units = next(iter(self.scores.values())), {"coverage95": "1"}
        about = self.verified
        template = xr.DataArray(about.area, dims=("y", "x")) if about.place is None else about.place
        fields = {name: template.copy(data=values).assign_attrs(units=units.get(name, about.units), long_name=name)
                  for name, values in first.maps.items()}  # fmt: skip
        return xr.Dataset(
            fields, attrs={"Conventions": "CF-1.11", "title": f"verification over {len(self.verified)} times"}
        )


def _row(
    prediction: str, score: str, value: float | None, *, threshold: float | None = None, window: int | None = None,
    by: str = "", part: str = "",
) -> dict[str, Any]:  # fmt: skip
    """A row of the table; ``by`` and ``part`` are empty for all times and pixels."""
    return {"prediction": prediction, "score": score, "threshold": threshold, "value": value, "window": window,
            "by": by, "part": part}  # fmt: skip


def verify(
    series: Verified, thresholds: Sequence[float] = (), *, windows: Sequence[int] = (), sal: bool = False
) -> Verification:
    """Scores of all predictions, skills of the first beside each other one, and the events of each threshold, with
    fractions skill scores of ``windows`` of so many pixels; structure, amplitude and location of rain if ``sal``.
    """
    scores, weight = series_scores(series)
    prediction, *_ = scores.values()
    skills = [
        skill(getattr(prediction, column), getattr(each, column), weight, reference=other, score=score)
        for other, each in list(scores.items())[1:]
        for score, column in (("rmse", "mse"), ("crps", "crps"))
    ]
    exceedances = events(series, thresholds) if thresholds else {}
    skills = [each for each in skills if np.isfinite(each.skill)]
    parts = scores_by_part(series, scores, weight)
    shares = fractions(series, thresholds, windows) if thresholds else ()
    objects = rain_objects(series) if sal else {}
    return Verification(series, scores, tuple(skills), exceedances, drawn_scores(series), parts, shares, objects)
