"""The default model beside other tools on the same cells: ratios of errors, coverage, closure and CPU time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, geometric_mean, median
from typing import Any

_Row = Mapping[str, Any]


@dataclass(frozen=True)
class PeerSummary:
    """One method over the fields on which it and the reference have scores.

    Parameters
    ----------
    model, fields : the method, and how many fields (and draws of hidden cells) it was run on.
    rmse_ratio, crps_ratio : geometric means of its errors relative to the reference's; CRPS None without an sd.
    better : fields on which its CRPS (or RMSE without an sd) is below the reference's.
    coverage : mean coverage of the 95 % intervals; None without an sd.
    reaggregated : median RMSE of the map averaged back over the visible cells, in sds of their values; None if unknown.
    cpu_s : median CPU seconds; None if not measured.
    """

    model: str
    fields: int
    rmse_ratio: float
    crps_ratio: float | None
    better: int
    coverage: float | None
    reaggregated: float | None
    cpu_s: float | None


def peer_summaries(rows: Sequence[_Row], reference: str) -> list[PeerSummary]:
    """Every method of the rows, the reference first, then by RMSE."""
    runs: dict[str, dict[tuple[str, int], _Row]] = {}
    for row in rows:
        if row["scores"]:
            runs.setdefault(row["model"], {})[row["case"], row["seed"]] = row
    base = runs.get(reference, {})
    made = [_summary(model, mine, base) for model, mine in runs.items() if mine.keys() & base.keys()]
    return sorted(made, key=lambda each: (each.model != reference, each.rmse_ratio))


def _summary(model: str, mine: Mapping[tuple[str, int], _Row], base: Mapping[tuple[str, int], _Row]) -> PeerSummary:
    shared = [(mine[key], base[key]) for key in mine if key in base]
    scores = [row["scores"] for row, _ in shared]
    rmse = [row["scores"]["rmse"] / other["scores"]["rmse"] for row, other in shared]
    sure = all("crps" in each for each in scores)
    crps = [row["scores"]["crps"] / other["scores"]["crps"] for row, other in shared] if sure else []
    closures = [row["reaggregated"] for row, _ in shared if row.get("reaggregated") is not None]
    seconds = [row["seconds"]["cpu"] for row, _ in shared if row.get("seconds")]
    return PeerSummary(
        model,
        len(shared),
        geometric_mean(rmse),
        geometric_mean(crps) if sure else None,
        sum(ratio < 1 for ratio in (crps or rmse)),
        fmean(each["coverage95"] for each in scores) if sure else None,
        median(closures) if closures else None,
        median(seconds) if seconds else None,
    )
