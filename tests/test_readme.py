"""What README and docs tell people to type exists; its Python runs in `tests/test_wheel.py`."""

import argparse
import re
import shlex
from pathlib import Path

from deconditioning.cli.program import make_parser

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
ALL = "\n".join(path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))))


def test_targets_and_files_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"(?m)(?:^    |`)make ([a-z][\w-]*)", ALL))
    assert {"run", "test", "format", "bench", "clean"} <= targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    named = re.findall(r"(?:core|data|tests|docs|pages)/[\w./]+", README)
    assert named
    assert [path for path in named if not (ROOT / path.rstrip(".")).exists()] == []


def test_options_of_its_command_exist() -> None:
    command = re.search(r"deconditioning (downscale INPUT(?:.*\\\n)*.*)", ALL)
    assert command
    options = {word for word in shlex.split(command[1].replace("\\\n", " ")) if word.startswith("--")}
    (commands,) = (action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction))
    told = commands.choices["downscale"].format_help()
    assert [option for option in options | {"--coarse", "--mediator"} if option not in told] == []
