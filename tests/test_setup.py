"""What `make run` and `make test` say and do on machines that lack something."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import browser

ROOT = Path(__file__).resolve().parents[1]


def environment_says(tmp_path: Path, python: str) -> str:
    """Standard error of scripts/environment.sh in an empty project, when only this `python3` exists."""
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts" / "environment.sh"
    script.write_text((ROOT / "scripts" / "environment.sh").read_text())
    program = tmp_path / "python3"
    program.write_text(python)
    program.chmod(0o755)
    variables = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHON": str(program)}
    run = subprocess.run(["/bin/sh", str(script)], env=variables, capture_output=True, text=True)
    assert run.returncode == 1
    assert not (tmp_path / ".venv").exists()
    return run.stderr


def test_an_old_python_is_a_sentence(tmp_path: Path) -> None:
    assert "no Python 3.11 to 3.14" in environment_says(tmp_path, "#!/bin/sh\nexit 1\n")


def test_a_python_without_venv_is_a_sentence(tmp_path: Path) -> None:
    no_venv = '#!/bin/sh\ncase "$*" in *ensurepip*) exit 1;; esac\n'
    assert "install its venv module" in environment_says(tmp_path, no_venv)


def test_what_does_not_start_is_no_browser(tmp_path: Path) -> None:
    stub = tmp_path / "chromium"
    stub.write_text("#!/bin/sh\necho 'install the snap' >&2\nexit 1\n")
    stub.chmod(0o755)
    assert not browser.works(str(stub))
    assert not browser.works(str(tmp_path / "absent"))


def test_a_chrome_that_does_not_start_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHROME", str(tmp_path / "absent"))
    with pytest.raises(SystemExit, match="does not start: install Chromium"):
        browser.find_browser()


@pytest.mark.parametrize(("line", "expected"), [("ID=debian", True), ("ID=ubuntu\nID_LIKE=debian", False)])
def test_only_debian_has_a_chromium_package_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, expected: bool
) -> None:
    release = tmp_path / "os-release"
    release.write_text(f"NAME=x\n{line}\n")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert browser.debian_root(release) is expected
    assert not browser.debian_root(tmp_path / "absent")


@pytest.mark.parametrize(
    ("debian", "appears_after", "called"),
    [
        (True, 0, []),
        (True, 1, ["apt"]),
        (True, 2, ["apt", "playwright"]),
        (False, 1, ["playwright"]),
    ],
)
def test_a_browser_is_looked_for_before_one_is_installed(
    monkeypatch: pytest.MonkeyPatch, debian: bool, appears_after: int, called: list[str]
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(browser, "debian_root", lambda: debian)
    monkeypatch.setattr(browser, "apt_install", lambda: calls.append("apt"))
    monkeypatch.setattr(browser, "playwright_install", lambda: calls.append("playwright"))
    monkeypatch.setattr(browser, "find_browser", lambda: "/chromium" if len(calls) >= appears_after else None)
    monkeypatch.setattr(browser, "works", lambda *program: True)
    assert browser.provide_browser() == "/chromium"
    assert calls == called


@pytest.mark.parametrize(
    ("found", "driver", "sentence"),
    [
        (None, True, "none was found: install Chromium or Chrome, or set CHROME"),
        ("/chromium", False, "driver does not start: install the library libatomic"),
    ],
)
def test_what_cannot_be_had_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, found: str | None, driver: bool, sentence: str
) -> None:
    for way in ("apt_install", "playwright_install"):
        monkeypatch.setattr(browser, way, lambda: None)
    monkeypatch.setattr(browser, "find_browser", lambda: found)
    monkeypatch.setattr(browser, "works", lambda *program: driver)
    with pytest.raises(SystemExit, match=sentence):
        browser.provide_browser()


@pytest.mark.parametrize(
    "codes", [(0, 0, 0), (5, 0, 0), (0, 5, 5), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 5, 5), (5, 5, 5)]
)
def test_make_test_runs_every_part_whatever_becomes_of_the_others(tmp_path: Path, codes: tuple[int, ...]) -> None:
    """With an interpreter that only says how each part ended; 5 is pytest's word for no test chosen."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "environment.sh").touch()
    parts = ("tensors", "computing", "browser")
    cases = "".join(f'*pytest*{part}*) echo "$*"; exit {code};; ' for part, code in zip(parts, codes, strict=True))
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ncase "$*" in {cases}esac\n')
    python.chmod(0o755)
    run = subprocess.run(
        ["make", "test", f"VENV={python}", "ARGS=-k some", "WORKERS=1"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (run.returncode == 0) == (set(codes) in ({0}, {0, 5}))
    ran = [line for line in run.stdout.splitlines() if line.startswith("-m pytest")]
    shared_out = "--numprocesses=1 --dist=loadfile --no-loadscope-reorder"
    again = ["-m pytest --part browser --last-failed --last-failed-no-failures=none -k some"] if codes[2] == 1 else []
    assert ran == [f"-m pytest --part {part} {shared_out} -k some" for part in parts] + again


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("browser", "tests/test_setup.py"),
        ("computing", "tests/browser"),
        ("computing", "tests/core/kernels"),
        ("tensors", "tests/test_setup.py"),
    ],
)
def test_a_part_leaves_the_others_out_also_where_it_is_named(part: str, other: str) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "--part", part, other]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 5, run.stdout
