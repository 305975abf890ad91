"""`make check` runs the tests of what changed."""

import pytest

from scripts.changed_tests import ALWAYS, concerned, imported_modules


def test_names_that_a_module_imports() -> None:
    source = "import a.b\nfrom c import d\ndef late():\n    from e.f import g"
    assert imported_modules(source, "") == {
        "a.b", "c", "c.d", "e.f", "e.f.g",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "expected", "absent"),
    [
        ("core/deconditioning/linalg.py", "tests/core/test_linalg.py", "tests/core/fields/test_zoo.py"),
        (
            "core/deconditioning/fields/reading/grib/dataset.py",
            "tests/core/fields/test_zoo.py",
            "tests/core/test_linalg.py",
        ),
        ("pages/swiss_roll/words.py", "tests/pages/test_swiss_roll.py", "tests/pages/test_filtering.py"),
        ("tests/core/test_errors.py", "tests/core/test_errors.py", "tests/core/test_linalg.py"),
    ],
)
def test_a_change_runs_its_own_tests_and_few_others(changed: str, expected: str, absent: str) -> None:
    found = concerned({changed})
    assert expected in found and absent not in found and set(ALWAYS) <= set(found)
    assert len(found) < 60
