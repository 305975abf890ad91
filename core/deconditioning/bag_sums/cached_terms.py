"""A cache of bag sums by term at unit scale: when a slider moves, only its own term is recomputed."""

import json
import threading
from collections import OrderedDict
from dataclasses import replace

from deconditioning.bag_sums.by_term import PartedPicture
from deconditioning.bag_sums.pixel_sums import Picture, PictureSums, term_sums
from deconditioning.errors import Check, never
from deconditioning.kernels.spec import KernelSpec, Term

#: What a store holds, unless another limit is given.
MOST_BYTES = 500_000_000


class SumsStore:
    """Bag sums of recently used terms, oldest dropped first, bounded in bytes; safe between threads."""

    def __init__(self, limit: int = MOST_BYTES) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], PictureSums] = OrderedDict()

    def get(self, problem: str, term: Term) -> PictureSums | None:
        """The sums of a term in a problem, when they are kept."""
        with self._lock:
            result = self._kept.get((problem, _identity(term)))
            if result is not None:
                self._kept.move_to_end((problem, _identity(term)))
            return result

    def put(self, problem: str, term: Term, sums: PictureSums) -> PictureSums:
        """Keep sums, dropping the least recently used beyond the limit."""
        with self._lock:
            self._kept[problem, _identity(term)] = sums
            while len(self._kept) > 1 and sum(s.cross.nbytes for s in self._kept.values()) > self._limit:
                self._kept.popitem(last=False)
        return sums

    def parts(
        self, problem: str, kernel: KernelSpec, picture: Picture | PartedPicture, check: Check = never
    ) -> list[tuple[float, PictureSums]]:
        """Scale and exact sums of every term, taken from here, or computed and kept."""
        result = []
        for term in kernel.terms:
            cached = self.get(problem, term)
            if cached is None:
                sums = term_sums(term, picture.of(term), check=check)
                cached = self.put(problem, term, picture.placed(term, sums))
            result.append((term.scale, cached))
        return result


def _identity(term: Term) -> str:
    """What a term's sums at unit scale depend on: its factors."""
    return json.dumps(KernelSpec((replace(term, scale=1.0),)).to_dict(), sort_keys=True)
