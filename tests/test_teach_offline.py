"""What `make teach-offline` writes, piece by piece; tests/browser/test_teach_offline.py opens the pages."""

import time
from collections.abc import Callable

import numpy as np
import pytest

from deconditioning.datasets.line_settings import SIMULATIONS, TARGETS
from deconditioning.figures.studies import story as draw
from pages.kit.chart import background
from pages.kit.chart.background import Background
from pages.story import maps
from scripts.teach_offline import story
from scripts.teach_offline.line import javascript
from scripts.teach_offline.mathematics import html
from scripts.teach_offline.plain_chart import colour, plain
from scripts.teach_offline.tables import Pool, merged


def test_a_tree_holds_tables_of_what_changes() -> None:
    pool = Pool()
    values = [{"a": 1, "b": [float(at)], "c": ["x", str(at % 2)]} for at in range(4)]
    assert merged(values, [], pool) == {
        "a": 1, "b": {"$": "value", "at": [0, 1, 2, 3]}, "c": ["x", {"$": "value", "at": [4, 5, 4, 5]}],
    }  # fmt: skip
    guesses = [values[0] | {"a": at} for at in (1, 2)]
    assert merged(values, guesses, pool)["a"] == {"$": "guess", "at": [6, 7]}


def test_what_changes_with_both_is_refused() -> None:
    with pytest.raises(ValueError, match="with the control and with the guess"):
        merged([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 3}], Pool())


def test_a_picture_names_the_colours_of_the_palette() -> None:
    x = np.array([0.0, 1.0, np.nan, 2.0])
    figure = draw.picture(
        [draw.band(x, x, x + 1, "band", "#0a7a8c", 0.25), draw.line(x, x, "line", "#1e2a32", dash="dot"),
         draw.dots(x, x, "dots", "#c9622f", symbol="diamond")],
        ("across", "up"), "alt", dark=False, rules=[draw.rule(1.0, "#7456c9")],
    )  # fmt: skip
    shown = plain(figure)
    band, line, dots = shown["marks"]
    assert (band["colour"], band["fill"], band["alpha"]) == ("teal", "self", 0.25)
    assert (line["colour"], line["dash"], line["x"]) == ("ink", "dot", [0.0, 1.0, None, 2.0])
    assert (dots["colour"], dots["dots"]) == ("rust", "diamond")
    assert shown["rules"] == [{"upright": True, "at": 1.0, "colour": "violet"}]
    assert [shown["across"][0]["title"], shown["up"]["title"]] == ["across", "up"]
    with pytest.raises(KeyError):
        colour("#123456")


@pytest.mark.parametrize("expression", [*SIMULATIONS, *TARGETS, "2*exp(-x^2)/pi - arctan(x)"])
def test_expressions_in_javascript(expression: str) -> None:
    """Read back as Python, whose ``math`` has the same names but for the capital M."""
    import math
    from types import SimpleNamespace

    from deconditioning.expressions import Expression

    variable = "y" if "y" in expression else "x"
    names = {name: getattr(math, name) for name in ("sin", "cos", "exp", "tanh", "atan", "pow")}
    js = SimpleNamespace(**names, abs=abs, sign=np.sign, PI=math.pi, E=math.e)
    for at in (-1.7, 0.3, 2.9):
        mine = eval(javascript(expression), {"Math": js, variable: at})
        assert mine == pytest.approx(float(Expression(expression, variable)(np.array([at]))[0]), rel=1e-14)


def test_mathematics_is_displayed_or_in_line() -> None:
    told = html("$$a = b,\\qquad c = d$$\n\nWith $x < 1e-05$ it is **so** & so.")
    assert told.count('display="block"') == 2 and "$" not in told and "xmlns" not in told
    assert "<b>so</b> &amp; so.</p>" in told and told.count('display="inline"') == 1


def test_work_that_takes_longer_than_anybody_waits_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = Background()

    def work(check: Callable[[], None]) -> int:
        for _ in range(20):
            time.sleep(0.02)
            check()
        return 7

    monkeypatch.setattr(background, "PATIENCE_S", 0.1)
    monkeypatch.setattr(maps, "begin", lambda kind, key: jobs.request(kind + key, "lane", work))
    assert story._result("map", "key") == 7
