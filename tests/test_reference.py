"""The API reference that `make docs` writes: every public name with what it means."""

import inspect
import runpy
import sys
from pathlib import Path

import pytest

import deconditioning


def test_the_reference_shows_every_public_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["reference", str(tmp_path)])
    for name in deconditioning.__all__:  # it gives the library all its names at once
        monkeypatch.setattr(deconditioning, name, getattr(deconditioning, name), raising=False)
    runpy.run_module("scripts.reference", run_name="__main__")
    page = (tmp_path / "deconditioning.html").read_text()
    assert [name for name in deconditioning.__all__ if f'id="{name}"' not in page and name != "__version__"] == []
    assert "Fukumizu, Song and Gretton 2013" in page and (tmp_path / "deconditioning" / "accessor.html").exists()


def test_every_public_name_and_method_is_documented() -> None:
    for name in deconditioning.__all__:
        given = getattr(deconditioning, name)
        members = [given, *vars(given).values()] if inspect.isclass(given) else [given]
        bare = [m for m in members if inspect.isfunction(m) and m.__name__[0] != "_" and not inspect.getdoc(m)]
        assert not bare and (isinstance(given, str) or inspect.getdoc(given)), name
