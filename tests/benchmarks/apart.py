"""Python programs in a process of their own, so that what they take is theirs alone."""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: In a smoke run, which asks nobody what a program takes: programs are forks of one process that imports this once.
SHARED = ["torch", "xarray", "scipy.linalg", "deconditioning.downscaling.run", "deconditioning.fields.reading.opening"]
shares_imports = False


def output_of(*words: str) -> str:
    """What ``python WORDS`` prints, ``-c CODE …`` or ``-m MODULE …``; it computes with one thread."""
    if shares_imports:
        return _forked(words)
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **threads})
    assert done.returncode == 0, done.stderr
    return done.stdout


def _forked(words: tuple[str, ...]) -> str:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(SHARED)
    with tempfile.NamedTemporaryFile("r") as said, tempfile.NamedTemporaryFile("r") as trouble:
        process = context.Process(target=_run, args=(words, said.name, trouble.name))
        process.start()
        process.join()
        assert process.exitcode == 0, trouble.read()
        return said.read()


def _run(words: tuple[str, ...], said: str, trouble: str) -> None:
    """Do what the interpreter does with these words; what it prints goes to two files."""
    os.chdir(ROOT)
    for number, path in ((1, said), (2, trouble)):
        os.dup2(os.open(path, os.O_WRONLY), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    kind, what, *rest = words
    sys.argv = [kind, *rest]
    try:
        if kind == "-c":
            exec(compile(what, "-c", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_module(what, run_name="__main__", alter_sys=True)
    finally:
        sys.stdout.flush()
