"""Who a visitor is to the server: a cookie of its shape, and the administrator's secret, guessed ever more slowly."""

import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from deconditioning.errors import InputError
from pages.kit import visitor

SECRET = "sixteen letters!"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A shared server without guesses so far, at the second that the list holds."""
    now = [1000.0]
    monkeypatch.setenv("DECONDITIONING_SHARED", "true")
    monkeypatch.setenv("DECONDITIONING_ADMIN", SECRET)
    monkeypatch.setattr(visitor, "_guesses", defaultdict(visitor.Guesses))
    monkeypatch.setattr(visitor.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(visitor.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    from_here(monkeypatch)
    return now


def from_here(monkeypatch: pytest.MonkeyPatch, address: str = "10.0.0.1", cookie: str = "a" * 64) -> dict:
    """A session at this address with this cookie; its state."""
    context = SimpleNamespace(ip_address=address, cookies={visitor.COOKIE: cookie})
    streamlit = SimpleNamespace(context=context, session_state={})
    monkeypatch.setattr(visitor, "st", streamlit)
    return streamlit.session_state


@pytest.mark.parametrize("cookie", ["", "a" * 63, "a" * 65, "A" * 64, "a" * 63 + "\n", "me"])
def test_only_a_cookie_of_the_servers_shape_is_one(cookie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert visitor.keeps_cookie()
    from_here(monkeypatch, cookie=cookie)
    assert not visitor.keeps_cookie()
    monkeypatch.setenv("DECONDITIONING_SHARED", "false")
    assert visitor.keeps_cookie()


def test_each_wrong_guess_costs_twice_as_long_in_every_session_of_an_address(clock, monkeypatch) -> None:
    for _ in range(3):  # short waits are waited for
        assert not visitor.become_administrator("a guess")
        from_here(monkeypatch)  # another session
    assert clock[0] == 1000 + 1 + 2
    for wait in (4, 8, 16, 32, 60, 60):
        with pytest.raises(InputError, match=f"try again in {wait} s"):
            visitor.become_administrator(SECRET)
        clock[0] += wait
        assert not visitor.become_administrator("a guess")
        from_here(monkeypatch)
    clock[0] += 60
    assert visitor.become_administrator(SECRET) and visitor.sees_everything()


def test_guesses_from_elsewhere_do_not_keep_the_administrator_out(monkeypatch) -> None:
    assert not visitor.become_administrator("a guess")
    from_here(monkeypatch, "10.0.0.2")
    assert visitor.become_administrator(SECRET)


def test_many_guesses_at_once_are_few_and_each_has_waited(clock, monkeypatch) -> None:
    begin = threading.Barrier(8)

    def guess(number: int) -> str:
        begin.wait()
        try:
            return str(visitor.become_administrator(f"guess {number}"))
        except InputError:
            return "slowed"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(guess, range(8)))
    looked_at = answers.count("False")
    assert 1 <= looked_at <= 3 and answers.count("slowed") == 8 - looked_at
    assert clock[0] == 1000 + 2 ** (looked_at - 1) - 1


@pytest.mark.parametrize("short", ["", "x", "fifteen letters"])
def test_a_short_secret_makes_nobody_the_administrator(short: str, monkeypatch) -> None:
    monkeypatch.setenv("DECONDITIONING_ADMIN", short)
    with pytest.raises(InputError, match="fewer than 16 characters"):
        visitor.become_administrator(short)
    assert not visitor.sees_everything()
