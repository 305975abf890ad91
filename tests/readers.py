"""Readers of uploaded files as forks of one process that has their libraries: the lock and the limits are the same.

What is not shared with a real reader is only the start of Python, as in ``tests.corpus.batch``. The sandbox's own tests
start real ones, and so does whoever asks for the fixture ``real_readers``.
"""

import multiprocessing
import os
import runpy
import sys
from multiprocessing import spawn
from pathlib import Path
from typing import Any
from unittest import mock

from deconditioning import sandbox

started = sandbox._run
#: The exit code of a reader that refuses a file with a sentence.
REFUSED = 2
#: What readers import, without what they keep from being imported.
SHARED = "tests.readers_imports"
_preparation = spawn.get_preparation_data


def run(command: list[str], said: Path, name: str, seconds: float) -> tuple[int, bytes]:
    """In place of ``sandbox._run``: the child's exit code and what it said."""
    _, option, module, *words = command
    if option != "-m" or not module.startswith("deconditioning."):
        return started(command, said, name, seconds)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([SHARED])
    said.touch()
    child: Any = context.Process(target=read, args=(module, words, str(said)))
    with mock.patch.object(spawn, "get_preparation_data", _without_main):
        child.start()
    child.join(sandbox.PATIENCE * seconds)
    if child.is_alive():
        child.kill()
        child.join()
    words, code = said.read_bytes(), child.exitcode
    if code not in (0, REFUSED) or b"memory" in words:  # a fork has less room: a real reader has the last word
        return started(command, said, name, seconds)
    return code, words


def _without_main(name: str) -> dict[str, Any]:
    """How a child is prepared, without its parent's main module: that is the whole app while AppTest runs a page."""
    return {key: value for key, value in _preparation(name).items() if not key.startswith("init_main")}


def read(module: str, words: list[str], said: str) -> None:
    """What ``python -m module WORDS`` does, in a fork."""
    os.setsid()
    os.chdir(sandbox.ROOT)
    environment = {**sandbox._environment(), sandbox.PARENT: str(os.getppid())}
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *words]
    sys.stdout, sys.stderr = open(said, "w"), open(os.devnull, "w")
    code = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.stdout.flush()
        os._exit(code)  # nothing else may be done here any more
