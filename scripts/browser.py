"""Finds a Chromium for the browser tests, and gets one where that is easy.

In this order: the one named in CHROME, one on the machine, Debian's package (Debian, as root),
Playwright's own. `python -m scripts.browser` prints its path, or says in a sentence what to do.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
PACKAGES = ("chromium", "fonts-liberation", "libatomic1")  # the last for Playwright's driver
ADVICE = "install Chromium or Chrome, or set CHROME to the path of one"
_DRIVER = (sys.executable, "-m", "playwright")


def works(*program: str) -> bool:
    """Whether the program starts (a snap stub in a container, for one, does not)."""
    try:
        run = subprocess.run([*program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


def find_browser() -> str | None:
    """Path of a Chromium that is already here, or None. A CHROME that does not start is an error."""
    named = os.environ.get("CHROME")
    if named:
        if not works(named):
            raise SystemExit(f"CHROME is set to {named}, which does not start: {ADVICE}.")
        return named
    paths = filter(None, map(shutil.which, NAMES))
    return next(filter(works, paths), None) or _playwright_browser()


def _playwright_browser() -> str | None:
    """Path of the Chromium that Playwright downloaded earlier, or None."""
    if not works(*_DRIVER):
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if path and Path(path).exists() and works(path) else None


def debian_root(os_release: Path = Path("/etc/os-release")) -> bool:
    """Whether Debian's own package can be installed. Ubuntu's is only a pointer to a snap."""
    lines = os_release.read_text().splitlines() if os_release.exists() else []
    return "ID=debian" in lines and os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install() -> None:
    """Install Debian's Chromium. Lists that cannot be refreshed may still do."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    wait = ("-o", "DPkg::Lock::Timeout=300")
    for command in (
        ("apt-get", *wait, "-q", "update"),
        ("apt-get", *wait, "-q", "-y", "--no-install-recommends", "install", *PACKAGES),
    ):
        print("Browser:", *command, flush=True)
        subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=False)


def playwright_install() -> None:
    """Let Playwright download its Chromium."""
    print("Browser: playwright install chromium", flush=True)
    subprocess.run((*_DRIVER, "install", "chromium"), stdin=subprocess.DEVNULL, check=False)


def provide_browser() -> str:
    """Path of a Chromium that Playwright can drive, installed first where there is none."""
    ways = [apt_install] if debian_root() else []
    for get in (None, *ways, playwright_install):
        if get is not None:
            get()
        if (found := find_browser()) and works(*_DRIVER):
            return found
    if not works(*_DRIVER):
        raise SystemExit("Playwright's driver does not start: install the library libatomic (Debian: libatomic1).")
    raise SystemExit(f"The browser tests need Chromium and none was found: {ADVICE}.")


if __name__ == "__main__":
    print("Browser:", provide_browser())
