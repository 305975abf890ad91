#!/bin/sh
# Makes .venv and installs the pinned requirements (with `test`: the test extras too).
# A second call finds the stamp of the same requirements and returns at once.
set -eu
cd "$(dirname "$0")/.."

fail() {
    printf '%s\n' "$1" >&2
    exit 1
}

suitable() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        suitable "$PYTHON" || fail "PYTHON is set to $PYTHON, which is no Python 3.11 to 3.14: name one that is."
        printf '%s\n' "$PYTHON"
        return
    fi
    for candidate in python3 python3.13 python3.12 python3.11 python3.14 python; do
        if suitable "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    found=$(python3 --version 2>/dev/null || true)
    fail "No Python 3.11 to 3.14 on the path (python3 says: ${found:-nothing}): install one, or call make with PYTHON=/path/to/python3."
}

make_venv() {
    python=$(find_python)
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        fail "$python cannot make virtual environments: install its venv module (on Debian and Ubuntu: apt-get install python3-venv)."
    echo "Making .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv || fail "The virtual environment .venv could not be made: see the message above."
}

PIP=".venv/bin/python -m pip install --no-input --disable-pip-version-check"

# once NAME FUNCTION FILE…: calls the function with the files unless .venv has a stamp NAME of the same files.
once() {
    stamp=".venv/installed-$1" todo=$2
    shift 2
    wanted=$(cat "$@" | cksum)
    if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
        "$todo" "$@"
        printf '%s\n' "$wanted" >"$stamp"
    fi
}

requirements() {
    echo "Installing $* (the first time: some minutes and about 2 GB)"
    for file in "$@"; do
        set -- "$@" -r "$file"
        shift
    done
    $PIP "$@" || fail "The packages could not be installed: see pip's message above; a package index must be within reach."
}

# Where their wheels exist; the reader says what they are for when they are needed.
optional() {
    $PIP --quiet --only-binary :all: -r "$1" || echo "$1 could not be installed, so that such files are not read: everything else works."
}

# The package of this folder as it stands here, changes and all, and its command.
package() {
    $PIP --quiet --no-deps --editable . || fail "The package of this folder could not be installed: see pip's message above."
}

suitable .venv/bin/python && .venv/bin/python -c 'import pip' 2>/dev/null || make_venv
once run requirements requirements.txt
once package package pyproject.toml
once grib optional requirements-grib.txt
once geotiff optional requirements-geotiff.txt
if [ "${1:-run}" = test ]; then
    once test requirements requirements.txt requirements-test.txt
fi
