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
    from deconditioning.studies.one_dimension.settings import TITLES, RecoverSettings
    from pages.one_dimension.controls import OFFERED, OWN, typed_key

    line, chosen, page = settings["line"], settings["settings"], RecoverSettings
    names = ("n", "m", "input_noise", "target_noise", "seed")
    query: dict[str, Any] = {page.declaration(name).key: line[name] for name in names}
    query[page.method.key] = TITLES[chosen["method"]]
    for each in (page.simulation, page.target):
        text = line[each.name]
        query |= {each.key: text} if text in each.offered else {each.key: OWN, typed_key(each): text}
    model = chosen.get("model") or {}
    for family, part in ((page.k_family, "kernel"), (page.l_family, "mediator_kernel")):
        if model.get(part):
            query[family.key] = OFFERED[model[part]["terms"][0]["factors"][0]["family"]]
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
