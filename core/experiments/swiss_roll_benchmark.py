"""Table 1 of the deconditional downscaling paper with our own numbers: models × matchings × seeds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

import core
from core.datasets.swiss_roll import MATCHINGS, RollSpec, make_swiss_roll
from core.errors import Cancelled, InputError
from core.experiments.many import each
from core.experiments.swiss_roll import RollSettings, fit_roll
from core.models.catalogue import named

MODELS = ("cmp", "shrinkage_cmp", "variational_cmp", "bag_gp", "vbagg", "centroid_gp")
#: RMSE over 20 seeds as printed by Chau et al. 2021, Table 1: mean and sd.
PAPER: dict[str, dict[str, tuple[float, float]]] = {
    "direct": {
        "cmp": (0.33, 0.06), "shrinkage_cmp": (0.25, 0.04), "variational_cmp": (0.18, 0.04), "bag_gp": (0.60, 0.01),
        "vbagg": (0.22, 0.04), "centroid_gp": (0.70, 0.05),
    },
    "indirect": {
        "cmp": (0.80, 0.14), "shrinkage_cmp": (1.05, 0.04), "variational_cmp": (0.87, 0.07), "bag_gp": (1.13, 0.11),
        "vbagg": (1.46, 0.34), "centroid_gp": (1.04, 0.05),
    },
}  # fmt: skip


@dataclass(frozen=True)
class BenchmarkSpec:
    """What to run: names of models, matchings and seeds; ``roll`` and ``settings`` change the defaults of both."""

    models: tuple[str, ...] = MODELS
    matchings: tuple[str, ...] = MATCHINGS
    seeds: tuple[int, ...] = tuple(range(20))
    roll: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for model in self.models:
            named(model)
        if not (self.models and self.matchings and self.seeds):
            raise InputError("A benchmark needs at least one model, one matching and one seed.")
        RollSpec(**self.roll)
        RollSettings.from_dict(self.settings)

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "BenchmarkSpec":
        """From plain data."""
        lists: dict[str, Any] = {key: tuple(value[key]) for key in ("models", "matchings", "seeds") if key in value}
        return BenchmarkSpec(**{**value, **lists})

    def items(self) -> list[dict[str, Any]]:
        """One entry a fit: its roll and its settings, seeds outermost so that a partial table compares all models."""
        return [
            {
                "roll": RollSpec(**{**self.roll, "matching": matching, "seed": seed}).to_dict(),
                "settings": asdict(RollSettings.from_dict({**self.settings, "model": model, "seed": seed})),
            }
            for seed in self.seeds
            for matching in self.matchings
            for model in self.models
        ]


def one_fit(item: dict[str, Any]) -> dict[str, Any]:
    """One row: model, matching, seed, scores, seconds; a refusal becomes a row that says why."""
    torch.set_num_threads(1)
    roll, settings = RollSpec(**item["roll"]), RollSettings.from_dict(item["settings"])
    row: dict[str, Any] = {"model": settings.model, "matching": roll.matching, "seed": roll.seed}
    try:
        found = fit_roll(make_swiss_roll(roll), settings)
    except InputError as error:
        return {**row, "status": "failed", "message": str(error), "scores": {}, "seconds": None, "peak_mb": None}
    said = " ".join(found.warnings) or None
    return {
        **row, "status": "ok", "message": said, "scores": found.scores, "seconds": found.seconds,
        "peak_mb": found.peak_mb,
    }  # fmt: skip


def benchmark_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: every fit of a ``BenchmarkSpec``, each row reported as it is done (``row``)."""
    given = {key: value for key, value in settings.items() if key != "seed"}
    spec = BenchmarkSpec.from_dict(given)
    items = spec.items()
    rows: list[dict[str, Any]] = []
    cancelled = False
    try:
        for row in each(one_fit, items, context):
            rows.append(row)
            score = row["scores"].get("rmse")
            said = f"{row['model']}, {row['matching']}, seed {row['seed']}: " + (
                row["message"] or "" if score is None else f"RMSE {score:.3f}"
            )
            context.report(step=len(rows), total=len(items), message=said, row=row)
            context.best(_kept(spec, rows, cancelled=True))
    except Cancelled:
        cancelled = True
    return _kept(spec, rows, cancelled=cancelled)


def _kept(spec: BenchmarkSpec, rows: Sequence[dict[str, Any]], *, cancelled: bool) -> dict[str, Any]:
    return {"cancelled": cancelled, "version": core.__version__, "settings": asdict(spec), "rows": list(rows)}


def table_rows(rows: Sequence[dict[str, Any]], matching: str) -> list[dict[str, Any]]:
    """One row a model: ``{"model", "mean", "sd", "n", "coverage95", "seconds", "paper"}`` of RMSE under a matching."""
    from core.metrics import summarise

    chosen = [row for row in rows if row["matching"] == matching]
    means: dict[tuple[str, str], dict[str, Any]] = {(s["model"], s["score"]): s for s in summarise(chosen)}
    out = []
    for model in dict.fromkeys(row["model"] for row in chosen):
        rmse = means.get((model, "rmse"), {})
        spent = [row["seconds"]["cpu"] for row in chosen if row["model"] == model and row["seconds"]]
        out.append(
            {
                "model": model, "mean": rmse.get("mean"), "sd": rmse.get("sd"), "n": rmse.get("n", 0),
                "coverage95": means.get((model, "coverage95"), {}).get("mean"),
                "seconds": sum(spent) / len(spent) if spent else None,
                "paper": PAPER.get(matching, {}).get(model),
            }
        )  # fmt: skip
    return out
