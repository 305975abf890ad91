"""Whose run comes next where several people wait for the same workers: each visitor in turn, not who asked first."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence


def in_turn(
    waiting: Sequence[tuple[str, str]], running: Sequence[str] = (), served: Mapping[str, int] | None = None
) -> list[str]:
    """Runs in the order in which they begin.

    Parameters
    ----------
    waiting : (run, its owner) in order of arrival.
    running : owners of the runs that go on, one entry a run.
    served : owner → a number that grows with each start, of their last one.

    The next is of a visitor with the fewest runs begun, among these of the one served longest ago, then of who came
    first. Runs of one visitor keep their order.
    """
    queues: dict[str, deque[str]] = {}
    for run, owner in waiting:
        queues.setdefault(owner, deque()).append(run)
    begun, last, order = Counter(running), dict(served or {}), list[str]()
    while queues:
        owner = min(queues, key=lambda one: (begun[one], last.get(one, 0)))  # the first of equals came first
        order.append(queues[owner].popleft())
        begun[owner] += 1
        last[owner] = max(last.values(), default=0) + 1
        if not queues[owner]:
            del queues[owner]
    return order
