"""What page Runs calls a run, its state and its units."""

import time
from collections.abc import Mapping
from typing import Any

from deconditioning.engine.records import Run

STATES = {
    "queued": ("Waiting", "gray"),
    "running": ("Running", "blue"),
    "done": ("Done", "green"),
    "cancelled": ("Cancelled", "orange"),
    "failed": ("Failed", "red"),
    "interrupted": ("Interrupted", "orange"),
}


def units_of(run: Run) -> str:
    """The units of a run's field."""
    units = (run.result or {}).get("units")
    return units if isinstance(units, str) else ""


def name_of(run: Run) -> str:
    """What a person calls the run, else its title."""
    return run.label.name or run.spec.title or run.spec.task


def data_of(run: Run) -> str:
    """The data set of a run, by its key; empty where it has none."""
    source = run.spec.settings.get("source")
    result = source.get("fields") if isinstance(source, dict) else None
    return result if isinstance(result, str) else ""


def model_title(name: str) -> str:
    """A model as pages call it."""
    from deconditioning.figures.colours import model_name

    return model_name(name)


def described(run: Run) -> str:
    """A run in a list."""
    begun = time.strftime("%m-%d %H:%M:%S", time.gmtime(run.created))
    star = "★ " if run.label.star else ""
    return f"{star}{name_of(run)}, seed {run.spec.seed}, {begun}, {STATES[run.status][0].lower()} ({run.id[-8:]})"


def setting_name(name: str) -> str:
    """The name of a setting in words: ``problem.block`` is "problem, block"."""
    return name.removeprefix("settings.").replace("_", " ").replace(".", ", ")


def setting_text(value: Any) -> str:
    """A setting's value in words; what is nested more deeply is named part by part."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{setting_name(str(name))} {setting_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(setting_text, value))
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
