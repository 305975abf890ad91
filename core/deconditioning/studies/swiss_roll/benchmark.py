"""Table 1 of the deconditional downscaling paper with our own numbers: models × matchings × seeds."""

from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from deconditioning.datasets.swiss_roll import MATCHINGS, RollSpec, make_swiss_roll
from deconditioning.engine.parallel import run_all
from deconditioning.errors import InputError
from deconditioning.studies.swiss_roll.study import RollSettings, fit_roll

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
            RollSettings.from_dict({**self.settings, "model": model})
        if not (self.models and self.matchings and self.seeds):
            raise InputError("A benchmark needs at least one model, one matching and one seed.")
        RollSpec(**self.roll)

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
        roll_fit = fit_roll(make_swiss_roll(roll), settings)
    except InputError as error:
        return {**row, "status": "failed", "message": str(error), "scores": {}, "seconds": None, "peak_mb": None}
    message = " ".join(roll_fit.warnings) or None
    return {
        **row, "status": "ok", "message": message, "scores": roll_fit.scores, "seconds": roll_fit.seconds,
        "peak_mb": roll_fit.peak_mb,
    }  # fmt: skip


def benchmark_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: every fit of a ``BenchmarkSpec``, each row reported when done; ``done``: rows kept."""
    spec = BenchmarkSpec.from_dict({key: value for key, value in settings.items() if key not in ("seed", "done")})
    return run_all(one_fit, spec.items(), asdict(spec), context, settings.get("done", ()))
