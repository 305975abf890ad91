"""Mutations of the corpus through the lock: each is read or refused in a sentence, never a crash, a hang or 1 GB.

A file that makes a library compute without end is stopped by the reader's limit, and told so: such are counted apart.

    make fuzz ARGS="--count 5000 --seed 7"
    python -m tests.corpus.fuzz --replay fuzz-failures/7-01234.nc

Files that break the rule are kept in fuzz-failures/, each with a note of how to play it again.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from deconditioning.errors import InputError
from deconditioning.sandbox import ROOT, read_apart
from tests.corpus.batch import CPU_S, PLAIN, ROLES, Outcome, _readers, framed, run_batch, write_all
from tests.corpus.make import Case, cases

KEPT = ROOT / "fuzz-failures"
BATCH = 200
#: Numbers that lengths, offsets and counts break on.
EDGES = (0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**40, 2**63 - 1)
TOKENS = (
    b",",
    b";",
    b'"',
    b"\n",
    b"\r",
    b"\x00",
    b"nan",
    b"inf",
    b"1e999",
    b"-",
    b"\xff",
    b",,,,",
    b'"\n"',
    b"\t",
    b"=",
)


def mutated(case: Case, other: Case, rng: np.random.Generator) -> bytes:
    """The file with one to four changes of random kinds; ``other`` lends a piece."""
    data = bytearray(case.data[:200_000])
    text = case.reader != "fields" and not case.data.startswith((b"CDF", b"\x89HDF"))
    for _ in range(int(rng.integers(1, 5))):
        at = _place(data, rng)
        kind = rng.integers(9 if not text else 11)
        size = int(rng.integers(1, 64))
        if kind <= 1 and data:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 2 and data:
            data[at] = int(rng.integers(256))
        elif kind == 3:
            width, order = int(rng.choice([1, 2, 4, 8])), ("big", "little")[int(rng.integers(2))]
            edge = EDGES[int(rng.integers(len(EDGES)))] % (1 << 8 * width)
            data[at : at + width] = edge.to_bytes(width, order)  # type: ignore[arg-type]
        elif kind == 4:
            data[at : at + size] = bytes([int(rng.choice([0, 255, 32]))]) * min(size, len(data) - at)
        elif kind == 5:
            del data[at : at + size]
        elif kind == 6:
            data[at:at] = data[max(0, at - size) : at]
        elif kind == 7:
            start = _place(other.data, rng)
            data[at : at + size] = other.data[start : start + size]
        elif kind == 8 and rng.random() < 0.3:
            del data[at:]
        else:
            data[at:at] = TOKENS[int(rng.integers(len(TOKENS)))]
    return bytes(data)


def _place(data: bytes | bytearray, rng: np.random.Generator) -> int:
    """A place, half of the time among the first 2000 bytes, where headers are."""
    reach = min(len(data), 2000) if rng.random() < 0.5 else len(data)
    return int(rng.integers(reach)) if reach else 0


def files(seed: int, count: int, secret: Path) -> Iterator[Case]:
    """That many mutated files, the same for the same seed."""
    corpus = [case for case in cases(secret) if len(case.data) > 8]
    fields = [case for case in corpus if case.reader == "fields"]
    sound = [case for case in fields if case.read]  # most of all, for their mutations get farthest
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        pool = (sound, fields, corpus)[int(rng.choice(3, p=[0.5, 0.25, 0.25]))]
        case, other = (pool[int(rng.integers(len(pool)))] for _ in range(2))
        yield Case(f"{seed}-{number:05d}{Path(case.name).suffix}", mutated(case, other, rng), reader=case.reader)


def fuzz(seed: int, count: int) -> Counter:
    """Read them all; how many were read, refused and at fault. Those at fault are kept."""
    total: Counter = Counter()
    made = list(files(seed, count, Path(tempfile.gettempdir()) / "secret.nc"))
    for first in range(0, count, BATCH):
        some = made[first : first + BATCH]
        with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
            folder = Path(place)
            outcomes = run_batch(folder, write_all(folder, ((c.reader, c.name, c.data) for c in some)))
        for case, found in zip(some, outcomes, strict=True):
            total[_kind(found)] += 1
            if found.fault:
                keep(case, found)
        print(f"{first + len(some)} of {count}: {dict(total)}", flush=True)
    return total


def _kind(found: Outcome) -> str:
    if found.fault:
        return "fault"
    return "stopped" if found.stopped else "refused" if found.sentence else "read"


def keep(case: Case, found: Outcome) -> None:
    """The file, and beside it what went wrong and the command that plays it again."""
    KEPT.mkdir(exist_ok=True)
    path = KEPT / case.name
    path.write_bytes(case.data)
    replay = f"python -m tests.corpus.fuzz --replay {path.relative_to(ROOT)} --reader {case.reader}"
    path.with_suffix(path.suffix + ".txt").write_text(f"{found.fault}\nreader {case.reader}\n{replay}\n")
    print(f"{case.name} ({case.reader}): {found.fault}\n  {replay}", flush=True)


def replay(path: Path, reader: str) -> str:
    """What the application says to this file, by its real door."""
    modules = {
        "fields": "fields", "table": "tables", "simulations": "likelihood_free", "subjects": "distribution_regression",
    }  # fmt: skip
    load = _readers()[reader][1]
    settings = {"subjects": json.dumps(ROLES), "simulations": PLAIN}.get(reader, "")
    data = framed(reader, path.read_bytes())
    try:
        read_apart(f"deconditioning.{modules[reader]}.reader", data, path.name, load, seconds=CPU_S, settings=settings)
    except InputError as error:
        return f"refused: {error}"
    return "read"


def main() -> int:
    """Fuzz, or play one file again; 1 where any file broke the rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="how many files (2000)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other files (0)")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="read one file by the application's own door")
    parser.add_argument("--reader", default="fields", help="as what: fields, table, simulations or subjects")
    options = parser.parse_args()
    if options.replay:
        print(replay(options.replay, options.reader))
        return 0
    shutil.rmtree(KEPT, ignore_errors=True)
    total = fuzz(options.seed, options.count)
    print(f"{options.count} files of seed {options.seed}: {total['read']} read, {total['refused']} refused in a "
          f"sentence, {total['stopped']} stopped after {CPU_S} s, {total['fault']} at fault.")  # fmt: skip
    return 1 if total["fault"] else 0


if __name__ == "__main__":
    sys.exit(main())
