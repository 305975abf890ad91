"""Calling the command line in this process, with its output caught."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from deconditioning.cli.program import main


@dataclass(frozen=True)
class Answer:
    """Exit code and both outputs of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Standard output as strict JSON: nothing else may be on it, and no NaN."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} in the JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture(autouse=True)
def cluster(shared_cluster: None) -> None:
    """Every engine of these commands uses the one cluster."""


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """``command("datasets", "--json", "-")`` runs it."""

    def call(*arguments: Any) -> Answer:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
        caught = capsys.readouterr()
        return Answer(code, caught.out, caught.err)

    return call
