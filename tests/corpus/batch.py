"""Many files through the lock by one process: each is read in a fork of its own, under the limits of an upload.

``python -m tests.corpus.batch FOLDER`` reads FOLDER/list.json, a list of [file, reader, name], and writes one line of
JSON a file: what the reader said, how it ended, what it took, and what came of its result where the application would
load it. Libraries are loaded once; what is not shared with ``sandbox.read_apart`` is only the start of Python.
"""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deconditioning.errors import InputError
from deconditioning.sandbox import PARENT, ROOT, _environment, serve

MEMORY, CPU_S, WALL_S, MOST_MB = 1_500_000_000, 20, 300, 1000
#: How a table of simulations is read on its page: no row of its own, usual marks of missing values.
PLAIN = json.dumps({"row": False, "missing": None})
ROLES = {"subject": "subject", "values": ["value"], "outcome": "outcome", "covariates": [], "drop_missing": False}


@dataclass(frozen=True)
class Outcome:
    """What became of one file: a ``sentence``, or what was ``read``; or a ``fault``, which must not be.

    ``stopped``: by the limit of computing time, of which the application makes a sentence.
    """

    sentence: str = ""
    read: str = ""
    notes: tuple[str, ...] = ()
    fault: str = ""
    stopped: bool = False


def run_batch(folder: Path, files: list[tuple[str, str, str]]) -> list[Outcome]:
    """The outcomes of files in a folder: (file, reader, name as uploaded)."""
    (folder / "list.json").write_text(json.dumps(files))
    command = [sys.executable, "-m", "tests.corpus.batch", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=_environment(), stdout=subprocess.PIPE, check=False)
    found = [_outcome(json.loads(line)) for line in done.stdout.decode().splitlines()]
    lost = Outcome(fault=f"the batch ended with code {done.returncode}")
    return found + [lost] * (len(files) - len(found))


def _outcome(told: dict[str, Any]) -> Outcome:
    answer, signalled = told["answer"], told["signal"]
    sentence = str(answer.get("error", ""))
    if signalled == signal.SIGXCPU:
        return Outcome(f"Stopped at the limit of {CPU_S} s.", stopped=True)
    if signalled:
        return Outcome(fault=f"it ends with signal {signal.Signals(signalled).name}")
    if answer.get("open"):
        return Outcome(fault=f"not locked in: {answer['open']}")
    if told["mb"] > MOST_MB:
        return Outcome(fault=f"it takes {told['mb']:.0f} MB")
    if told["loading"]:
        return Outcome(fault=f"its result cannot be loaded: {told['loading']}")
    if sentence:
        return Outcome(sentence, fault="" if _is_sentence(sentence) else f"no sentence: {sentence}")
    if not answer.get("ok"):
        return Outcome(fault=f"no answer, code {told['code']}")
    return Outcome(read=told["read"], notes=tuple(told["notes"]))


def _is_sentence(text: str) -> bool:
    plain = text.isprintable() and "Traceback" not in text and "b'" not in text and 'b"' not in text
    return plain and text.endswith(".") and 20 < len(text) < 600


def _readers() -> dict[str, tuple[Callable[..., None], Callable[[Path], Any], Callable[[Any], tuple], str]]:
    """Reader → what the child does, how the parent loads it, what it then looks at, and the child's settings."""
    from deconditioning.distribution_regression import reader as subjects
    from deconditioning.distribution_regression import table as long
    from deconditioning.fields.footprints import region_process as regions
    from deconditioning.fields.footprints.region_files import load_outlines
    from deconditioning.fields.reading import upload_process as fields
    from deconditioning.fields.store import load_fields
    from deconditioning.likelihood_free import reader as simulations
    from deconditioning.likelihood_free import table as runs
    from deconditioning.tables import reader as tables
    from deconditioning.tables import table

    return {
        "fields": (fields.read, load_fields, _fields, ""),
        "regions": (regions.read, load_outlines, lambda found: (" ".join(found.numeric), found.notes), ""),
        "table": (tables.read, table.load_table, lambda found: (" ".join(found.columns), ()), ""),
        "simulations": (simulations.read, runs.load_table, lambda found: (" ".join(found.columns), ()), PLAIN),
        "subjects": (subjects.read, long.load_gathered, lambda found: (" ".join(found.names), ()), json.dumps(ROLES)),
    }


def _fields(found: Any) -> tuple[str, tuple[str, ...]]:
    """The names of its fields; each is asked for its values and labels, as the page does."""
    for name in found.variables():
        try:
            found.values(name)
            found.time_label(name)
            found.selection_notes(name)
        except InputError as error:
            if not _is_sentence(str(error)):
                raise
    return " ".join(found.variables()), found.notes


def main(folder: Path) -> None:
    """Read every file of the list, one fork each."""
    os.environ[PARENT] = str(os.getpid())
    import tests.readers_imports  # noqa: F401

    readers = _readers()
    for file, reader, name in json.loads((folder / "list.json").read_text()):
        print(json.dumps(_one(folder, file, readers[reader], name)), flush=True)


def _one(folder: Path, file: str, parts: tuple, name: str) -> dict[str, Any]:
    read, load, look, settings = parts
    target, said = folder / "read.npz", folder / "said"
    target.write_bytes(b"")
    child = os.fork()
    if child == 0:
        signal.alarm(WALL_S)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open(said, "w") as words:
            code = serve(read, [str(folder / file), str(target), name, str(MEMORY), str(CPU_S), settings], words)
        os._exit(code)
    _, status, used = os.wait4(child, 0)
    lines = said.read_text().splitlines()
    told: dict[str, Any] = {
        "answer": json.loads(lines[-1]) if lines else {}, "code": os.waitstatus_to_exitcode(status),
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, "mb": used.ru_maxrss / 1024,
        "loading": "", "read": "", "notes": [],
    }  # fmt: skip
    said.write_text("")
    if told["answer"].get("ok"):
        try:
            told["read"], told["notes"] = look(load(target))
        except Exception as error:
            told["loading"] = f"{type(error).__name__}: {error}"[:300]
    return told


def framed(reader: str, data: bytes) -> bytes:
    """A file as the application hands it to the reader."""
    return len(data).to_bytes(8, "little") + data if reader == "simulations" else data


def write_all(folder: Path, files: Iterator[tuple[str, str, bytes]]) -> list[tuple[str, str, str]]:
    """Write (reader, name, bytes) into a folder under numbers; the list for ``run_batch``."""
    listed = []
    for number, (reader, name, data) in enumerate(files):
        file = f"{number:05d}{Path(name).suffix}"
        (folder / file).write_bytes(framed(reader, data))
        listed.append((file, reader, name))
    return listed


if __name__ == "__main__":
    main(Path(sys.argv[1]))
