"""What page Runs calls a run, its state and its units."""

import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from deconditioning.engine.records import Run
from deconditioning.figures.colours import MODEL_NAMES
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.studies.run_content import learned_downscaling
from deconditioning.wording import number

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


def data_title(run: Run) -> str:
    """The data set of a run as page Downscaling calls it, its key where it is none of ours."""
    from deconditioning.datasets.entries import title_of

    key = data_of(run)
    return title_of(key) if key else ""


def short_name(run: Run) -> str:
    """What the run is called where its data set stands beside it."""
    return run.label.name or name_of(run).removesuffix(f", {data_title(run)}")


def cells_of(run: Run) -> str:
    """Size of a coarse cell in fine pixels, such as "9 × 9 pixels"; empty where the run has none."""
    problem = run.spec.settings.get("problem")
    block = problem.get("block") if isinstance(problem, Mapping) else None
    if not (isinstance(block, list) and len(block) == 2 and all(isinstance(each, int) for each in block)):
        return ""
    return f"{block[0]} × {block[1]} pixels"


def model_title(name: str) -> str:
    """A model as pages call it."""
    from deconditioning.figures.colours import model_name

    return model_name(name)


def averaged(run: Run) -> str:
    """Which models the map of a run is an average of, in a sentence; empty where it is one model's."""
    learned = (run.result or {}).get("learned") or {}
    if not learned.get("average"):
        return ""
    components = sorted(learned_downscaling(learned).components, key=lambda part: -part[0])
    parts = [f"{100 * share:.0f} % {each.model.phrase}" for share, each in components]
    return f"The average of models is {', '.join(parts[:-1])} and {parts[-1]}, weighted by their errors one scale up."


def described(run: Run) -> str:
    """A run in a list of runs. Its state is not part of it: a browser keeps the words of what was chosen, also when
    the run has ended since."""
    begun = time.strftime("%d %b %H:%M:%S", time.gmtime(run.created)).lstrip("0")
    star = "★ " if run.label.star else ""
    return f"{star}{short_name(run)}, {begun}, seed {run.spec.seed} ({run.id[-4:]})"


#: Settings whose own names say too little, in words.
_WORDS = {
    "source.fields": "Data set", "source.coarse": "Coarse file", "source.mediator": "File of mediators",
    "source.regions": "Regions that are the target", "source.units": "Units of the regions' values",
    "source.table": "Table of the regions' values", "source.key": "Key that joins it to the regions",
    "source.region_time": "Time of the regions' values",
    "source.also": "Further sources of the target",
    "source.stations": "Stations as targets", "source.scored": "Stations that only score the map",
    "source.station_value": "Column of the stations' values", "source.station_time": "Time of the stations' values",
    "source.station_footprint": "Footprint of the stations (km)",
    "source.hide_values": "Values of sources hidden by hand",
    "problem.weights": "Weights of a cell's pixels", "problem.error": "Errors of the cells' values (sd)",
    "problem.target": "Target", "problem.covariates": "Covariates", "problem.mediators": "Mediators",
    "problem.block": "Pixels of a cell, rows and columns", "problem.withhold": "Share of cells hidden",
    "problem.seed": "Seed of hidden cells", "problem.matching": "Cells matched by",
    "problem.coordinates": "Uses location",
    "model": "Model", "seed": "Seed", "kernel.terms": "Kernel k", "mediator_kernel.terms": "Kernel ℓ of the mediators",
    "regularisation": "Regularisation λ", "noise": "Noise variance σ²",
    "point_noise": "Noise variance ς² of a pixel",
    "representativeness": "Variance τ² between a station and its pixel", "locations": "Locations of the points",
    "local_scale": "Local scale of the uncertainty", "average": "Averages the models by their likelihood",
    "structure": "Kernels are combined as a", "linear_mean": "Prior mean linear in the covariates",
    "spatial": "Kernel family of the location", "choose": "Chooses the model one scale up",
    "centroid_gp": "Compares with a GP on centroids",
    "gradient_boosting": "Compares with gradient boosting", "learn": "Learns hyperparameters",
    "stage_one": "Stages of learning", "method": "Optimiser", "steps": "Steps per start", "restarts": "Starts",
    "prior_sd": "Width of priors", "hold": "Noises held", "bound": "Bound",
    "every_pixel": "Sums over every pixel while learning", "placement": "Placement of inducing points",
    "inducing.count": "Inducing points", "device": "Device", "lam": "Regularisation λ",
}  # fmt: skip


def setting_name(name: str) -> str:
    """The name of a setting in words; one that has none of its own reads ``problem.block`` as "Problem, block"."""
    short = name.removeprefix("settings.")
    plain_name = short.replace("_", " ").replace(".", ", ")
    return _WORDS.get(short) or plain_name[:1].upper() + plain_name[1:]


def setting_text(value: Any, name: str = "") -> str:
    """A setting's value in words: terms of a kernel as their sum, models by their titles, a choice as its control has
    it, what is nested part by part. ``name`` is that of the setting."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{name.replace('_', ' ')} {setting_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        terms = [_term(part) for part in value if isinstance(part, Mapping) and {"scale", "factors"} <= part.keys()]
        return " + ".join(terms) if terms else ", ".join(map(setting_text, value))
    if isinstance(value, str):
        return _choices().get(name.rpartition(".")[2], {}).get(value) or MODEL_NAMES.get(value, value)
    return "" if value is None else number(value, 4) if isinstance(value, float) else str(value)


@cache
def _choices() -> dict[str, Mapping[str, str]]:
    """What the controls of a downscaling call the options of each choice."""
    from deconditioning.downscaling.settings import DownscaleSettings

    return {name: getattr(one, "options", {}) for name, one in DownscaleSettings.declared().items()}


def _term(term: Mapping[str, Any]) -> str:
    """A term of a kernel such as "0.86 × Matérn 3/2 (latitude, longitude; lengthscale 4.5)"."""
    return f"{setting_text(term['scale'])} × " + " × ".join(map(_factor, term["factors"]))


def _factor(factor: Mapping[str, Any]) -> str:
    numbers = {name: part for name, part in factor.items() if name not in ("family", "columns", "lengthscales")}
    parts = [", ".join(str(column).replace("_", " ") for column in factor.get("columns", ()))]
    if scales := factor.get("lengthscales"):
        parts.append(f"lengthscale {setting_text(scales)}")
    parts += [f"{name.replace('_', ' ')} {setting_text(part)}" for name, part in numbers.items()]
    family = FAMILIES.get(str(factor.get("family")))
    return f"{'' if family is None else family.title} ({'; '.join(parts)})".strip()


def is_given(value: Any) -> bool:
    """Whether a setting holds something: neither nothing nor an empty list, text or table."""
    return value is not None and value != "" and value not in ([], (), {})
