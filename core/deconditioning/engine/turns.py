"""The order of runs when several people share the workers: visitors take turns."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence

from deconditioning.wording import duration


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


def waiting_sentences(waiting: int, left: Sequence[float | None], mean: float | None, workers: int) -> list[str]:
    """What to say to each of the ``waiting`` runs, in the order in which they begin: how many come first, how long.

    Parameters
    ----------
    left : seconds that each run under way still takes, None if that is not known.
    mean : seconds that a run took lately, None if none has ended.
    workers : how many runs go on at once.
    """
    known = [seconds if seconds is not None else mean for seconds in left]
    first = min((seconds for seconds in known if seconds is not None), default=mean)
    sentences = []
    for position in range(waiting):
        before = len(left) + position
        if not before:
            sentences.append("Waiting: a cancelled run is being stopped.")
            continue
        runs = "one run comes" if before == 1 else f"{before} runs come"
        has_estimate = first is not None and (mean is not None or position == 0)
        wait = (first or 0.0) + position * (mean or 0.0) / workers
        sentences.append(
            f"Waiting for its turn: {runs} before it{f', about {duration(wait)}' if has_estimate else ''}."
        )
    return sentences
