"""The command line as a whole: commands found, exit codes, sentences, the JSON shape."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from deconditioning.cli import document, program
from deconditioning.cli.document import Result, units_of
from deconditioning.cli.talk import Progress
from deconditioning.engine.engine import Engine
from deconditioning.engine.records import RunSpec
from deconditioning.engine.store import Store
from deconditioning.errors import InputError
from deconditioning.wording import rough_duration

ROOT = Path(__file__).resolve().parents[3]
TOP = {"schema", "command", "version", "device", "settings", "results", "summary"}


def test_commands_are_the_files_of_the_folder() -> None:
    files = {path.stem.replace("_", "-") for path in (ROOT / "core/deconditioning/cli/commands").rglob("*.py")} - {
        "--init--"
    }
    assert set(program.command_modules()) == files
    assert {"downscale", "runs", "datasets"} <= files


def test_help_and_version(command) -> None:
    answer = command("--help")
    assert answer.code == 0 and all(name in answer.out for name in program.command_modules())
    assert command("--version").code == 0
    assert command().code == 2 and command("nonsense").code == 2
    assert all(command(name, "--help").code == 0 for name in program.command_modules())


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("A sentence."), 2, "A sentence.\n"),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
        (MemoryError(), 1, "There is not enough memory"),
        (ZeroDivisionError("by\nzero"), 1, "The computation stopped with ZeroDivisionError: by zero"),
    ],
)
def test_failures_become_a_sentence(command, monkeypatch, error, code, said) -> None:
    from deconditioning.cli.commands import datasets

    def fail(options) -> None:
        raise error

    monkeypatch.setattr(datasets, "run", fail)
    answer = command("datasets")
    assert (answer.code, answer.out) == (code, "") and answer.err.startswith(said)
    assert "Traceback" not in answer.err and "Traceback" in command("datasets", "--traceback").err


def test_datasets(command, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "mine.nc").write_bytes(b"")
    monkeypatch.setenv("DECONDITIONING_DATA", str(tmp_path))
    table = command("datasets")
    assert table.code == 0 and "ukv-645m" in table.out and "folder:mine.nc" in table.out
    found = command("datasets", "--json", "-").document
    assert set(found) == TOP | {"datasets"} and found["command"] == "datasets"
    assert {"ukv-645m", "folder:mine.nc"} <= {entry["key"] for entry in found["datasets"]}
    monkeypatch.setenv("DECONDITIONING_DATA", str(tmp_path / "none"))
    assert "not a readable folder" in command("datasets").err


def test_runs(command, runs_folder: Path) -> None:
    assert command("runs", "--json", "-").document["results"] == []
    store = Store(runs_folder)
    run_id = store.create(RunSpec("downscale", {"model": "cmp"}, seed=4, title="A title"))
    status = {"status": "done", "created": 10.0, "started": 11.0, "ended": 13.5, "progress": 1.0}
    store.write_status(run_id, status)
    store.write_result(run_id, {"scores": {"cmp": {"rmse": 0.5}, "bilinear": {"rmse": None}}, "units": "K"})
    store.add_trace(run_id, [{"step": 1}])
    table = command("runs")
    assert run_id in table.out and "A title" in table.out and "100 %" in table.out
    found = command("runs", "--run", run_id, "--json", "-").document
    assert set(found) == TOP | {"trace"} and found["trace"] == [{"step": 1}]
    first, second = found["results"]
    assert (first["model"], first["seed"], first["status"], first["run"]) == ("cmp", 4, "ok", run_id)
    assert first["scores"] == {"rmse": 0.5} and first["units"] == {"rmse": "K"}
    assert first["seconds"]["wall"] == 2.5 and second["seconds"]["wall"] is None
    missing = command("runs", "--run", "../../etc")
    assert missing.code == 2 and "There is no run" in missing.err and missing.out == ""


def test_looking_at_runs_starts_no_cluster(command, runs_folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(
        "deconditioning.engine.cluster.Cluster.client", lambda self: pytest.fail("a cluster was started")
    )
    assert command("runs").code == 0
    with Engine(runs_folder, address="") as engine:
        assert engine.runs() == ()


def test_json_goes_to_a_file(command, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    answer = command("datasets", "--json", path)
    assert (answer.code, answer.out) == (0, "") and json.loads(path.read_text())["schema"] == 1
    assert command("datasets", "--json", tmp_path / "none" / "out.json").code == 2
    assert "is a folder" in command("datasets", "--json", tmp_path).err


def test_document_has_the_one_shape() -> None:
    scores = {"rmse": 0.12, "coverage95": 0.94, "mse_area": float("nan")}
    results = [Result("cmp", seed, scores, units="K", seconds={"cpu": 1.2, "wall": 1.3}) for seed in (1, 2)]
    results.append(Result("cmp", 3, status="failed", message="A sentence."))
    found = document.document("downscale", {"block": (7, 7)}, results, device="cuda")
    assert set(found) == TOP and found["schema"] == 1 and found["device"] == "cuda"
    names = {"model", "seed", "status", "message", "scores", "units", "seconds", "peak_mb"}
    assert all(set(entry) == names for entry in found["results"])
    assert found["results"][0]["units"] == {"rmse": "K", "coverage95": "1", "mse_area": "K2"}
    assert found["results"][0]["scores"]["mse_area"] is None
    json.dumps(found, allow_nan=False)
    row = next(row for row in found["summary"] if row["score"] == "rmse")
    assert row == {"model": "cmp", "score": "rmse", "mean": 0.12, "sd": 0.0, "n": 2}


def test_units_of_scores() -> None:
    names = ["rmse_area", "ssim", "mse", "posterior_risk", "ms_per_step"]
    found = units_of(names, "K")
    assert found == dict(zip(names, ("K", "1", "K2", "K2", "ms"), strict=True))


def test_progress_speaks_at_most_once_a_second(capsys, monkeypatch) -> None:
    now = SimpleNamespace(value=100.0)
    monkeypatch.setattr("deconditioning.cli.talk.time.monotonic", lambda: now.value)
    progress = Progress()
    for step in range(25):
        now.value += 0.1
        progress({"step": step, "total": 25, "message": "evidence", "evidence": -1.5, "time": 1.0})
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) in (2, 3) and lines[0] == "0 of 25  evidence  evidence -1.5"
    progress({"message": "Predicting"})  # a new phase is said at once
    assert capsys.readouterr().err == "Predicting\n"
    Progress(quiet=True)({"step": 1})
    assert capsys.readouterr().err == ""


def test_what_is_left_is_said_after_some_steps(monkeypatch, capsys) -> None:
    now = SimpleNamespace(value=10.0)
    monkeypatch.setattr("deconditioning.cli.talk.time", SimpleNamespace(monotonic=lambda: now.value))
    progress = Progress()
    for step in range(4):
        progress({"step": step, "total": 103})
        now.value += 3.0
    assert capsys.readouterr().err.splitlines() == [
        "0 of 103", "1 of 103", "2 of 103  at most 5 min left", "3 of 103  at most 5 min left",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (59, "59 s"), (100, "1.7 min"), (1200, "20 min"), (9000, "2.5 h")]
)
def test_durations_in_words(seconds, words) -> None:
    assert rough_duration(seconds) == words


def test_as_a_program() -> None:
    """The real thing: exit codes and separated outputs."""
    call = [sys.executable, "-m", "deconditioning"]
    good = subprocess.run([*call, "datasets", "--json", "-"], cwd=ROOT, capture_output=True, text=True)
    assert good.returncode == 0 and json.loads(good.stdout)["schema"] == 1 and good.stderr == ""
    bad = subprocess.run([*call, "downscale", "none.nc", "--target", "t"], cwd=ROOT, capture_output=True, text=True)
    assert (bad.returncode, bad.stdout) == (2, "") and bad.stderr.count("\n") == 1 and "none.nc" in bad.stderr
