"""The page that shows what a run is about, and the address there."""

from collections.abc import Mapping
from typing import Any

from deconditioning.engine.records import Run
from deconditioning.errors import InputError
from deconditioning.studies.run_content import readable

Query = dict[str, str]


def page_of_run(run: Run) -> tuple[str, Query] | None:
    """``(folder, query)``: the page with the run's problem, which takes what it learned; None where it has no page."""
    try:
        run = readable(run)
        settings = run.spec.settings
        words = _QUERIES[run.spec.task](settings) if run.spec.task in _QUERIES else None
    except (InputError, KeyError, TypeError, AttributeError):
        return None
    if words is None:
        return None
    folder, query = words
    return folder, {key: str(value) for key, value in query.items()} | {"run": run.id}


def _downscaling(settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return "downscaling", {}  # the page itself opens the run's data and model


def _roll(settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    from deconditioning.models.catalogue import MODELS

    roll = settings["roll"]
    query = {f"r-{name}": roll[name] for name in ("points", "bags", "noise", "seed")}
    return "swiss_roll", query | {"r-match": roll["matching"], "r-model": MODELS[settings["settings"]["model"]].title}


def _line(settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    from deconditioning.datasets.one_dimension import SIMULATIONS, TARGETS
    from deconditioning.studies.one_dimension.problem import TITLES
    from pages.one_dimension.controls import OFFERED, OWN

    line, chosen = settings["line"], settings["settings"]
    query = {"o-n": line["n"], "o-m": line["m"], "o-eta": line["input_noise"], "o-xi": line["target_noise"]}
    query |= {"o-seed": line["seed"], "o-method": TITLES[chosen["method"]]}
    for key, name, offered in (("o-r", "simulation", SIMULATIONS), ("o-f", "target", TARGETS)):
        known = line[name] in offered
        query |= {key: line[name]} if known else {key: OWN, f"{key}-own": line[name]}
    model = chosen.get("model") or {}
    for key, part in (("k", "kernel"), ("l", "mediator_kernel")):
        if model.get(part):
            query[f"o-{key}-family"] = OFFERED[model[part]["terms"][0]["factors"][0]["family"]]
    return "one_dimension", query


def _sparse(settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    toy, chosen = settings["toy"], settings["settings"]
    query = {"s-data": toy["data"], "s-made": toy["points"], "s-noise": toy["noise"], "s-seed": toy["seed"]}
    return "sparse_representation", query | {"s-points": chosen["points"]}


_QUERIES = {
    "downscale": _downscaling,
    "swiss-roll": _roll,
    "one-dimension": _line,
    "sparse-representation": _sparse,
}
