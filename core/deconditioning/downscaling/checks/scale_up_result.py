"""The result of the test one scale up: errors of a model and of other methods, claims, and both in words."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from deconditioning.metrics.intervals import LEVELS
from deconditioning.wording import number

#: Standard errors by which another way has to be nearer to be named: fewer come by chance in more than one of twenty.
CLEARLY = 1.645
#: The ways a model is compared with, as a sentence has them.
OTHERS = {
    "bilinear": "bilinear interpolation",
    "start": "the same model with its starting hyperparameters",
    "regression_kriging": "area-to-point regression kriging",
    "partial_cmp": "the partially mediated process",
    "area_to_point_gp": "the area-to-point Gaussian process on pseudo-targets",
}
#: The name of an average of models among the methods.
AVERAGE = "average"
#: By what share of its RMSE another method must be more accurate for a warning.
_NOTABLE = 0.02
#: Probability from which a claim is made.
_SURE = 0.975
#: The methods that the model is claimed to be better or worse than.
_CLAIMED = ("bilinear", "regression_kriging")
#: What is kept of every scored cell: its place in the coarse grid, the value to be found, that of its larger cell, and
#: the prediction.
VALUES = ("cell", "known", "joined", "mean", "sd")


@dataclass(frozen=True)
class OneScaleUp:
    """Performance of a model, and of other methods, in downscaling merged cells to the known means of their members.

    Parameters
    ----------
    model : name of the model.
    groups, cells : number of merged cells, and of scored cells in them.
    units : units of the target.
    cpu_s : CPU seconds of the test.
    rmse : RMSE by method: the model, "constant" (the merged cell's mean), and those of ``OTHERS`` that were tried.
    t : by method of ``OTHERS``, the difference of squared errors from the model's in standard errors over merged cells.
    crps : CRPS of the model, in the target's units.
    held : shares of the known means within its 50, 90 and 95 % intervals (`deconditioning.metrics.intervals.LEVELS`).
    pit : counts of the probability integral transform in ten bins.
    within : variance of the predicted means inside the merged cells relative to that of the known ones, None if these
        do not vary.
    values : of every scored cell, by the names of ``VALUES``.
    chosen_over : the requested or alternative model that was less accurate; None if there was no choice.
    weights : weights of the models in the average that was scored; empty if one model was scored.
    stage_one : the procedure of stage one that was more accurate, in a sentence; "" if there was no choice.
    """

    model: str
    groups: int
    cells: int
    units: str
    cpu_s: float
    rmse: dict[str, float]
    t: dict[str, float]
    crps: float
    held: tuple[float, ...]
    pit: tuple[float, ...]
    within: float | None
    values: dict[str, tuple[float, ...]]
    chosen_over: str | None = None
    stage_one: str = ""
    weights: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> "OneScaleUp":
        """From plain data; ``TypeError``, ``ValueError``, ``KeyError`` or ``AttributeError`` if they are invalid."""
        each = {name: tuple(float(v) for v in value["values"][name]) for name in VALUES}
        within = value["within"]
        one_scale_up = OneScaleUp(
            str(value["model"]),
            int(value["groups"]),
            int(value["cells"]),
            str(value["units"]),
            float(value["cpu_s"]),
            {str(name): float(v) for name, v in value["rmse"].items()},
            {str(name): float(v) for name, v in value["t"].items()},
            float(value["crps"]),
            tuple(float(v) for v in value["held"]),
            tuple(float(v) for v in value["pit"]),
            None if within is None else float(within),
            each,
            None if value.get("chosen_over") is None else str(value["chosen_over"]),
            str(value.get("stage_one") or ""),
            {str(name): float(weight) for name, weight in (value.get("weights") or {}).items()},
        )
        whole = {len(row) for row in each.values()} == {one_scale_up.cells}
        if (
            not whole
            or len(one_scale_up.held) != len(LEVELS)
            or not {one_scale_up.method, "bilinear"} <= one_scale_up.rmse.keys()
        ):
            raise ValueError("parts of the result one scale up are missing")
        return one_scale_up

    @property
    def method(self) -> str:
        """The method that was scored, as ``rmse`` names it: the model, or the average of several."""
        return AVERAGE if len([weight for weight in self.weights.values() if weight]) > 1 else self.model

    @property
    def better(self) -> str | None:
        """The most accurate of the other methods that are significantly better than the model."""
        clearly = [name for name in OTHERS if self.t.get(name, 0.0) > CLEARLY and name in self.rmse]
        return min(clearly, key=self.rmse.__getitem__, default=None)

    @property
    def beaten(self) -> bool:
        """Whether another method is significantly better than the model, by more than 2 % of its RMSE."""
        other = self.better
        return other is not None and self.rmse[self.method] > (1 + _NOTABLE) * self.rmse[other]

    @property
    def claims(self) -> dict[str, bool | None]:
        """Whether the model is claimed to be more accurate than each of the other methods; None: one cannot tell."""
        chances = {name: self.probability(name) for name in _CLAIMED if name in self.t}
        sure = {name: chance for name, chance in chances.items() if not 1 - _SURE < chance < _SURE}
        return {name: sure[name] > 0.5 if name in sure else None for name in chances}

    def probability(self, other: str) -> float:
        """The posterior probability that the model is more accurate than another method, from one scale up.

        ``P(μ < 0)`` for the mean μ of the difference d of their squared errors, summed over each merged cell: given the
        data, ``(μ − d̄)/se`` has Student's t distribution with G − 1 degrees of freedom (flat prior). Errors of cells
        with one merged cell depend on each other; those of different ones are taken as independent.
        """
        from scipy.stats import t

        return float(t.sf(self.t[other], self.groups - 1))

    def farther(self, other: "OneScaleUp", area: Float[np.ndarray, "..."]) -> float:
        """By how many standard errors its squared error is larger than another's of the same cells, from larger cell to
        larger cell, whose mean tells them apart; ``area`` of the coarse cells weighs them."""
        known, group = np.array(self.values["known"]), np.unique(self.values["joined"], return_inverse=True)[1]
        mine, theirs = ((np.array(each.values["mean"]) - known) ** 2 for each in (self, other))
        return standard_errors(area.flat[np.array(self.values["cell"], dtype=int)] * (mine - theirs), group)

    @property
    def sentence(self) -> str:
        """The test and its result in words, with numbers."""
        rmse, bilinear = self.rmse[self.method], self.rmse["bilinear"]
        ratio = f", {100 * rmse / bilinear:.0f} % of bilinear interpolation's" if bilinear > 0 else ""
        return (
            f"One scale up, {self.groups} cells, each merged from two to four neighbours, were downscaled to the "
            f"{self.cells} known cells inside them: RMSE {self._size(rmse)}{ratio}; {100 * self.held[-1]:.0f} % of "
            "the 95 % intervals contain the known mean."
        )

    @property
    def choice(self) -> str | None:
        """Why this model, average or procedure of learning was chosen, if there was a choice."""
        if self.weights:
            return self._averaged()
        other = self.chosen_over
        if other is None or other not in OTHERS or other not in self.rmse:
            return self.stage_one or None
        return (
            f"Chosen one scale up: {OTHERS[self.model]} predicts the known cells better than {OTHERS[other]}, RMSE "
            f"{self._size(self.rmse[self.model])} against {self._size(self.rmse[other])}."
        )

    def _averaged(self) -> str:
        """The weights in words; one near 1 is a choice."""
        if self.method == self.model:
            others = " and ".join(OTHERS[name] for name in self.weights if name != self.model)
            return (
                f"Chosen one scale up: {OTHERS[self.model]}, because the known cells are far more likely under it "
                f"than under {others}."
            )
        ordered = sorted(self.weights, key=lambda name: -self.weights[name])
        sentences = [
            f"{OTHERS[name]} ({100 * self.weights[name]:.0f} %, RMSE {self._size(self.rmse[name])})" for name in ordered
        ]
        return (
            f"The map is an average of {', '.join(sentences[:-1])} and {sentences[-1]}, weighted by the likelihood of "
            f"the known cells one scale up, where the average has RMSE {self._size(self.rmse[self.method])}."
        )

    @property
    def comparison(self) -> str:
        """Whether the map is more accurate than bilinear interpolation and regression kriging, in words."""
        comparisons = []
        for name, claim in self.claims.items():
            chance = self.probability(name)
            words = {True: "yes", False: "no", None: "cannot tell"}[claim]
            comparisons.append(f"than {OTHERS[name]}: {words} (probability {_share_words(chance)})")
        return f"More accurate {'; '.join(comparisons)}." if comparisons else ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Warnings: none if no other method is notably better and the model is better than bilinear interpolation."""
        doubt = () if self.better == "bilinear" else self._doubt()
        if self.better is None or not self.beaten:
            return doubt
        return (
            f"One scale up, {OTHERS[self.better]} predicts the known cells better than this model: RMSE "
            f"{self._size(self.rmse[self.better])} and {self._size(self.rmse[self.method])}. It is probably better at "
            "the pixels too.",
            *doubt,
        )

    def _doubt(self) -> tuple[str, ...]:
        if self.claims.get("bilinear", True) is not None:
            return ()
        return (
            "The test one scale up cannot tell whether this map is more accurate than bilinear interpolation: the "
            f"probability is {_share_words(self.probability('bilinear'))}.",
        )

    def _size(self, value: float) -> str:
        return f"{number(value)} {self.units}".strip()


def _share_words(chance: float) -> str:
    """A probability in whole per cent, which is neither 0 nor 100."""
    return "over 99 %" if chance > 0.99 else "under 1 %" if chance < 0.01 else f"{100 * chance:.0f} %"


def standard_errors(differences: Float[np.ndarray, " C"], group: np.ndarray) -> float:
    """Mean over standard error of the sums of each group; 0 where they do not differ."""
    sums = np.bincount(group, differences)[np.unique(group)]
    error = sums.std(ddof=1) / np.sqrt(len(sums))
    return float(sums.mean() / error) if error > 0 else 0.0
