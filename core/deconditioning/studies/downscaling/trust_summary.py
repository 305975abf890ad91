"""How far the default model can be trusted: coverage, losses against interpolation, claims of the test one scale up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from deconditioning.metrics.intervals import AIM

#: By what share an RMSE may be above that of the best interpolation.
TOLERATED = 0.02
_Row = Mapping[str, Any]


@dataclass(frozen=True)
class TrustSummary:
    """Counts over the runs of one model; a run is one field with one choice of withheld cells.

    Parameters
    ----------
    runs, inside : runs, and those whose 95 % intervals contain the share `AIM` of the truth.
    coverage : mean coverage of the 95 % intervals.
    lost_warned, lost_silent : runs whose RMSE is more than `TOLERATED` above the best interpolation's, with and
        without a warning that names interpolation.
    right, claimed, asked : by the method that the model is compared with, claims one scale up ("better", "worse") that
        hold at the pixels, claims that were made, and comparisons that were possible.
    crps_ratio, worst_ratio : mean and maximum over runs of the CRPS relative to the most accurate single candidate's;
        None without candidates.
    cpu_s : mean CPU seconds of a run.
    """

    runs: int
    inside: int
    coverage: float
    lost_warned: int
    lost_silent: int
    right: dict[str, int]
    claimed: dict[str, int]
    asked: dict[str, int]
    crps_ratio: float | None
    worst_ratio: float | None
    cpu_s: float

    @property
    def lost(self) -> int:
        """Runs that are less accurate than the best interpolation."""
        return self.lost_warned + self.lost_silent


def trust_summary(rows: Sequence[_Row], model: str, candidates: Sequence[str] = ()) -> TrustSummary | None:
    """The summary of ``model``; ``candidates`` are the models that it is an average of. None without its rows."""
    mine = [row for row in rows if row["model"] == model and row["scores"]]
    if not mine:
        return None
    at_pixels = _at_pixels(rows)
    lost = [row for row in mine if row["scores"]["rmse"] > (1 + TOLERATED) * row["best_interpolation"]["rmse"]]
    warned = sum(any("interpolation" in sentence for sentence in row["warnings"]) for row in lost)
    claims = [claim for row in mine for claim in _claims(row, at_pixels)]
    ratios = [ratio for row in mine if (ratio := _compared_with_best(row, at_pixels, candidates)) is not None]
    others = sorted({other for other, _, _ in claims})

    def count(chosen: Sequence[str]) -> dict[str, int]:
        """How often each peer is among the ``chosen``."""
        return {other: sum(each == other for each in chosen) for other in others}

    return TrustSummary(
        len(mine),
        sum(AIM[0] <= row["scores"]["coverage95"] <= AIM[1] for row in mine),
        fmean(row["scores"]["coverage95"] for row in mine),
        warned,
        len(lost) - warned,
        count([other for other, claim, better in claims if claim is better]),
        count([other for other, claim, _ in claims if claim is not None]),
        count([other for other, _, _ in claims]),
        fmean(ratios) if ratios else None,
        max(ratios, default=None),
        fmean(row["seconds"]["cpu"] for row in mine),
    )


def _at_pixels(rows: Sequence[_Row]) -> dict[tuple[str, int, str], Mapping[str, float]]:
    """Scores at the pixels by case, seed and method."""
    known = {}
    for row in rows:
        if row["scores"]:
            known[row["case"], row["seed"], row["model"]] = row["scores"]
            known |= {(row["case"], row["seed"], name): scores for name, scores in row.get("more", {}).items()}
    return known


def _claims(row: _Row, at_pixels: Mapping[tuple[str, int, str], Mapping[str, float]]) -> list[tuple[str, Any, bool]]:
    """The other method, the claim (better: True, worse: False, cannot tell: None), and whether the model is better."""
    result = []
    for other, claim in row.get("claims", {}).items():
        scores = at_pixels.get((row["case"], row["seed"], other))
        if scores is not None and other != row["model"]:
            result.append((other, claim, row["scores"]["rmse"] < scores["rmse"]))
    return result


def _compared_with_best(
    row: _Row, at_pixels: Mapping[tuple[str, int, str], Mapping[str, float]], candidates: Sequence[str]
) -> float | None:
    """CRPS of a run relative to that of its most accurate candidate."""
    known = [at_pixels.get((row["case"], row["seed"], name)) for name in candidates]
    values = [scores["crps"] for scores in known if scores]
    return row["scores"]["crps"] / min(values) if values else None
