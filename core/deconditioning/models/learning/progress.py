"""Progress of learning: every evaluation as a row of a run's trace, and as a sentence."""

from collections.abc import Callable
from typing import Any

from deconditioning.models.learning.learning import LearningOptions
from deconditioning.models.named_model import NamedModel
from deconditioning.wording import signed


def learning_reporter(
    context: Any, model: NamedModel, options: LearningOptions, approximation: str = ""
) -> Callable[[dict[str, Any]], None]:
    """Report every evaluation of learning to a run's context, with its step and the best so far.

    ``approximation`` describes how the data used for learning differ from those used for prediction.
    """
    stages = 2 if model.learns_mediation_first(options.stage_one) else 1
    labels: list[str] = []

    def report(event: dict[str, Any]) -> None:
        """Report one evaluation; ``context.check`` may raise ``Cancelled``."""
        if approximation:
            event = {**event, "quantity": f"{event['quantity']} ({approximation})"}
        if event["stage"] not in labels:
            labels.append(event["stage"])
        context.check()
        per_stage = event["total"]
        done = (len(labels) - 1) * per_stage + min(event["evaluation"], per_stage)
        values = {
            "model": model.name,
            "stage": event["stage"],
            "restart": event["restart"],
            "quantity": event["quantity"],
            "value": event["value"],
            "best": event["best"],
            "hyperparameters": event["hyperparameters"],
        }
        context.report(step=done, total=stages * per_stage, message=_sentence(event, stages), **values)
        if event["loss"] <= event["best_loss"]:
            context.best({"stage": event["stage"], "best_hyperparameters": event["hyperparameters"]})

    return report


def _sentence(event: dict[str, Any], stages: int) -> str:
    stage = f"{event['stage']}, " if stages > 1 else ""
    return f"{stage}start {event['restart'] + 1}: {evaluation_sentence(event)}"


def evaluation_sentence(event: dict[str, Any]) -> str:
    """An evaluation's quantity with its value and the best so far, such as "log evidence −170.12 (best −169.87)"."""
    value, best = (signed(event[name], 4 if abs(event[name]) < 1 else 2) for name in ("value", "best"))
    return f"{event['quantity']} {value} (best {best})"
