"""Runs whose JSON is valid and wrong: every page that shows runs stays, and says what is damaged."""

import copy
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.datasets.entries import catalogue
from deconditioning.datasets.one_dimension import LineSpec
from deconditioning.datasets.sparse_toy import ToySpec
from deconditioning.datasets.swiss_roll import RollSpec
from deconditioning.downscaling.checks.scale_up_result import VALUES, OneScaleUp
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.one_dimension.settings import LineSettings
from deconditioning.studies.sparse_representation.study import SparseSettings
from deconditioning.studies.swiss_roll.study import RollSettings
from tests.core.engine.made import write_run

ROOT = Path(__file__).resolve().parents[2]
#: What takes the place of a value somewhere in a run.
STRANGE: tuple[Any, ...] = (
    None, True, 0, -1, 0.5, 1e308, 1e-308, 2**63, 10**400, "", "x", "\ud800", "![p](http://203.0.113.1/)", [], {},
    [[]], [None], ["x", 1], {"": None}, {"a": {"b": []}}, [[1, "x"], {}],
)  # fmt: skip
MUTATIONS = 12


def learned(name: str, columns: tuple[str, ...], mediators: tuple[str, ...]) -> dict[str, Any]:
    """A model as the result of a run keeps it."""
    kernel, ell = (KernelSpec((Term((Factor("rbf", names, (1.0,) * len(names)),)),)) for names in (columns, mediators))
    return ModelSpec(name, kernel, ell).to_dict()


def downscale() -> dict[str, Any]:
    entry = next(entry for entry in catalogue() if entry.key == "ukv-645m")
    problem = DownscalingSpec.from_dict({**entry.default, "block": [36, 36]})
    found = learned("bag_gp", ("surface_altitude",), ("surface_altitude",))
    settings = DownscaleSettings("bag_gp").to_dict()
    source = {"fields": entry.key, "coarse": None, "mediator": None}
    kept = {**settings, **{name: found[name] for name in settings if name in found}}
    return {
        "settings": {"model": "bag_gp", "source": source, "problem": problem.to_dict(), "settings": settings},
        "result": {
            "learned": kept,
            "diagnostics": {"log_evidence": -170.5, "one_scale_up": one_scale_up()},
            "units": "K",
            "model": "bag_gp",
        },
    }


def one_scale_up() -> dict[str, Any]:
    """What a check found on four cells."""
    values = {name: (280.0, 281.0, 282.0, 283.0) for name in VALUES} | {"cell": (0.0, 1.0, 5.0, 6.0)}
    rmse = {"bag_gp": 0.5, "constant": 1.0, "bilinear": 0.8, "start": 0.6}
    return OneScaleUp(
        "bag_gp",
        2,
        4,
        "K",
        1.0,
        rmse,
        {"bilinear": -3.0, "start": 0.0},
        0.3,
        (0.5, 0.75, 1.0),
        (0.4,) * 10,
        0.9,
        values,
    ).to_dict()


def swiss_roll() -> dict[str, Any]:
    settings = {"roll": vars(RollSpec(points=2000)), "settings": vars(RollSettings()), "model": "cmp"}
    return {"settings": settings, "result": {"learned": learned("cmp", ("x", "width", "height"), ("height",))}}


def one_dimension() -> dict[str, Any]:
    settings = {"line": LineSpec().to_dict(), "settings": vars(LineSettings()), "model": "task_transformed_gp"}
    return {"settings": settings, "result": {"learned": learned("task_transformed_gp", ("x",), ("y",))}}


def sparse_representation() -> dict[str, Any]:
    settings = {"toy": ToySpec().to_dict(), "settings": vars(SparseSettings()), "model": "learned"}
    found = learned("task_transformed_gp", ("x",), ("y",))
    points = {"locations": [[-1.0], [0.0], [1.0], [2.0], [3.0]], "columns": ["x"], "noise": 0.1}
    return {"settings": settings, "result": {"learned": points | {"kernel": found["kernel"]}}}


def benchmark() -> dict[str, Any]:
    rows = [
        {"matching": matching, "model": name, "seed": seed, "scores": {"rmse": 0.5 + seed, "coverage95": 0.9},
         "seconds": {"cpu": 1.0, "wall": 1.0}}
        for matching in ("direct", "indirect") for name in ("cmp", "bag_gp") for seed in range(3)
    ]  # fmt: skip
    return {"settings": {"seeds": [0, 1, 2]}, "result": {"rows": rows}}


#: Task → the page that shows its runs, and a whole run of it.
TASKS = {
    "downscale": ("downscaling", downscale),
    "swiss-roll": ("swiss_roll", swiss_roll),
    "swiss-roll-benchmark": ("swiss_roll", benchmark),
    "one-dimension": ("one_dimension", one_dimension),
    "sparse-representation": ("sparse_representation", sparse_representation),
}
ROWS = [
    {"time": 0.1 * step, "step": step, "total": 9, "message": f"step {step}", "stage": "evidence", "quantity": "loss",
     "value": -9.0 / step, "best": -9.0 / step, "evaluation": step, "locations": [0.0, 1.0],
     "hyperparameters": {"k1 variance": 1.0 + step, "noise σ²": 0.1, "k1 lengthscale [x]": 0.5}}
    for step in range(1, 5)
]  # fmt: skip


def whole(task: str) -> dict[str, Any]:
    """Everything that lies in the folder of a run of that task."""
    made = TASKS[task][1]()
    said = {"warnings": ["The prior ran away."], "notes": ["cut"], "scores": {"cmp": {"rmse": 0.5, "crps": 0.1}},
            "coarse_scores": {"seen": {"rmse": 0.2}}, "seconds": {"cpu": 1.0}, "peak_mb": 9.0}  # fmt: skip
    status = {"status": "done", "created": 1.7e9, "started": 1.7e9, "ended": 1.7e9 + 5, "progress": 1.0, "message": ""}
    return {
        "spec.json": {"task": task, "settings": made["settings"], "seed": 3, "title": f"Run of {task}"},
        "status.json": status, "result.json": said | made["result"], "trace.jsonl": copy.deepcopy(ROWS),
    }  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to everything inside JSON data."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in inside:
        yield (*path, name)
        yield from places(inner, (*path, name))


def mutated(run: dict[str, Any], draw: random.Random) -> tuple[dict[str, Any], str]:
    """A copy with one place changed or left out, and which that was; ``task`` and ``status`` stay."""
    changed = copy.deepcopy(run)
    keep = {("spec.json", "task"), ("status.json", "status")}
    path = draw.choice([place for place in places(changed) if len(place) > 1 and place not in keep])
    *way, last = path
    holder = changed
    for name in way:
        holder = holder[name]
    strange = draw.choice([*STRANGE, KeyError])
    if strange is KeyError:
        del holder[last]
    else:
        holder[last] = strange
    return changed, f"{path}: {str(strange)[:40]!a}"


def put(folder: Path, number: int, run: dict[str, Any]) -> str:
    """Write a run; returns its id."""
    trace = "".join(json.dumps(row) + "\n" for row in run["trace.jsonl"])
    run_id = f"20260101-000000-{number:08x}"
    where = write_run(folder, run_id, spec=None, status=None, result=run["result.json"], trace=trace)
    for name in ("spec.json", "status.json"):
        (where / name).write_text(json.dumps(run[name]), encoding="utf-8")
    return run_id


def broken(page: AppTest) -> list[str]:
    return [box.value for box in page.exception]


@pytest.mark.parametrize("task", TASKS)
def test_a_whole_run_is_shown_on_its_page(task: str, runs_folder: Path, open_page) -> None:
    run_id = put(runs_folder, 0, whole(task))
    page = open_page(TASKS[task][0], run=run_id)
    assert broken(page) == [] and not page.error
    assert any(run_id in box.value for box in (*page.info, *page.caption)), "what is damaged below is used here"


def test_what_a_run_found_one_scale_up_stands_beside_the_maps(runs_folder: Path, open_page) -> None:
    page = open_page("downscaling", run=put(runs_folder, 0, whole("downscale")))
    (said,) = [box.value for box in page.success if "one scale up" in box.value]
    assert "2 cells, each merged from two to four neighbours, were downscaled to the 4 known cells" in said
    assert (
        "RMSE 0.5 K, 62 % of bilinear interpolation's" in said
        and "100 % of the 95 % intervals contain the known mean" in said
    )
    (folded,) = [found for found in page.expander if found.label.startswith("One scale up")]
    assert list(folded.dataframe[0].value["RMSE"]) == ["0.5", "1", "0.8", "0.6"]
    page.selectbox(key="model").set_value("cmp").run()
    assert broken(page) == [] and not [box for box in (*page.success, *page.warning) if "one scale up" in box.value]


@pytest.mark.parametrize("task", TASKS)
def test_a_damaged_run_breaks_no_page(task: str, runs_folder: Path, open_page) -> None:
    draw = random.Random(task)
    for number in range(MUTATIONS):
        run, what = mutated(whole(task), draw)
        run_id = put(runs_folder, number, run)
        assert broken(open_page(TASKS[task][0], run=run_id)) == [], what
        shutil.rmtree(runs_folder / run_id)


def test_damaged_runs_break_no_list(runs_folder: Path, open_page) -> None:
    draw, said = random.Random(0), {}
    for number in range(5 * MUTATIONS):
        run, what = mutated(whole(list(TASKS)[number % len(TASKS)]), draw)
        said[put(runs_folder, number, run)] = what
    page = open_page("runs")
    assert broken(page) == []
    ids = list(said)
    for run_id, other in zip(ids[::2], ids[1::2], strict=True):
        page = open_page("runs", run=run_id, **{"with": other})
        assert broken(page) == [], (said[run_id], said[other])


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("spec.json", {"settings": {"model": 5}}, "settings"),
        ("spec.json", [], "settings"),
        ("status.json", {"status": "asleep"}, "status"),
        ("result.json", {"learned": {"model": "bag_gp"}}, "result of this run is damaged"),
    ],
)
def test_what_is_damaged_is_said(name: str, data: Any, words: str, runs_folder: Path, open_page) -> None:
    run = whole("downscale")
    run[name] = run[name] | data if name == "spec.json" and isinstance(data, dict) else data
    run_id = put(runs_folder, 0, run)
    page = open_page("runs" if name == "status.json" or data == [] else "downscaling", run=run_id)
    told = [box.value for box in (*page.error, *page.warning, *page.info, *page.markdown)]
    assert broken(page) == [] and any("damaged" in text and words in text for text in told), told
