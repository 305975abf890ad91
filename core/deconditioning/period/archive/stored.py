"""The fine values of a long training period: in memory, or in a temporary file where they are too large for it.

The file holds one pixel after another, so that all times of a few pixels are read together, in single precision:
values differ by at most 2⁻²⁴ of their size. It has no name, so that nothing is left of it however a run ends.
"""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
from jaxtyping import Bool, Float, Int

from deconditioning.errors import InputError
from deconditioning.wording import rough_duration

#: Bytes of fine values that are held in memory, and of those that wait to be written together.
IN_MEMORY, _WAITING = 500_000_000, 128_000_000
_TYPE = np.dtype(np.float32)
#: CPU seconds of every run with an archive, of each of its values, of each value and cell, of each value that mixtures
#: are tried with, of each pixel there and pair of cells, and of each predicted value; of each value for the other
#: methods, which an archive in a file lacks, and of that and a cell. Measured on archives of 365 to 1,100 times, of
#: 9,216 to 57,600 pixels in 144 to 400 cells.
_BASE_S, _VALUE_S, _PRODUCT_S, _TRIED_S, _PAIR_S, _PREDICTED_S = 2.0, 3e-7, 1e-10, 1e-6, 1.2e-8, 5e-7
_OTHERS_S, _OTHERS_PRODUCT_S = 3e-6, 4.3e-9
#: Bytes of memory of each value that is tried, of each value in memory and of each predicted one; less than a run from
#: cells alone has at the start.
_TRIED_BYTES, _HELD_BYTES, _PREDICTED_BYTES, _LESS_BYTES = 200.0, 70.0, 62.0, 2.5e8
#: Pixels and values that mixtures are tried with at most, bytes of bag sums that are held, arrays of the coarse values.
_TRIED, _SUMS, _COARSE = (4000, 4_000_000), 1_000_000_000, 4


def needs_file(times: int, pixels: int) -> bool:
    """Whether so many values are too large for memory."""
    return 8 * times * pixels > IN_MEMORY


@dataclass(frozen=True)
class ArchiveCost:
    """What an archive adds to a run: CPU ``seconds``, bytes of ``memory``, and those of a temporary ``file``, 0 in
    memory.
    """

    seconds: float
    memory: float
    file: float


def cost_of_archive(times: int, pixels: int, cells: int, predicted: int) -> ArchiveCost:
    """By a model of measured runs (`bench_period_plan_archive`), for N times of P pixels in M cells, and T predicted
    times: ``seconds = a + N P (v + p M) + u N q + r M² q + t T P``, where mixtures are tried with q pixels, and
    ``N P (w + x M)`` for other methods if the archive is in memory.
    """
    values, asked = times * pixels, predicted * pixels
    sums = 8 * cells * pixels if 8 * cells * pixels <= _SUMS else 0
    tried = min(_TRIED[0], pixels, _TRIED[1] // times)
    memory = _TRIED_BYTES * times * tried + 2 * sums + 8 * cells * (_COARSE * times + 2 * _COARSE * cells)
    memory += _PREDICTED_BYTES * asked - _LESS_BYTES
    seconds = _BASE_S + values * (_VALUE_S + cells * _PRODUCT_S) + _TRIED_S * times * tried
    seconds += _PAIR_S * cells**2 * tried + _PREDICTED_S * asked
    if needs_file(times, pixels):
        return ArchiveCost(seconds, memory, _TYPE.itemsize * values)
    return ArchiveCost(seconds + values * (_OTHERS_S + cells * _OTHERS_PRODUCT_S), memory + _HELD_BYTES * values, 0.0)


def cost_sentence(times: int, pixels: int, cells: int, predicted: int) -> str:
    """What an archive in a file adds to a run: disk, memory and CPU time (`cost_of_archive`)."""
    cost = cost_of_archive(times, pixels, cells, predicted)
    memory = max(cost.memory, 0.0) / 1e9
    return (
        f"The archive has {times:,} times of {pixels:,} pixels: they are kept in a temporary file of "
        f"{cost.file / 1e9:.1f} GB, in single precision, which changes values by at most 6·10⁻⁸ of their size. It adds "
        f"about {memory:.1f} GB of memory and {rough_duration(cost.seconds)} of CPU time; no other methods are fitted."
    )


@dataclass(frozen=True, eq=False)
class Stored:
    """Fine values of N times and P pixels in a file.

    Parameters
    ----------
    file : the file, ``width`` values for each pixel.
    rows : (N,) the times that are used, as places in the file.
    known : (P,) the pixels that have a value at every time.
    """

    file: IO[bytes]
    width: int
    rows: Int[np.ndarray, " N"]
    known: Bool[np.ndarray, " P"]

    def at(self, pixels: Int[np.ndarray, " p"]) -> Float[np.ndarray, "N p"]:
        """The values of some pixels, ascending."""
        result = np.empty((len(pixels), self.width), _TYPE)
        for begin, end in _runs(pixels):
            self.file.seek(int(pixels[begin]) * self.width * _TYPE.itemsize)
            part = result[begin:end].data.cast("B")
            while len(part):
                part = part[self.file.readinto(part) :]  # type: ignore[attr-defined]
        return np.asarray(result.T[self.rows], dtype=float)

    def some_times(self, chosen: Int[np.ndarray, " n"]) -> "Stored":
        """Some of the times."""
        return replace(self, rows=self.rows[chosen])


class Collected:
    """Collects the fine values of one time after another, in memory or in a file beside ``folder``'s others.

    Raises ``InputError`` if the disk has too little space.
    """

    def __init__(self, times: int, pixels: int, folder: Path | None) -> None:
        self._width, self._waiting, self._rows = times, list[np.ndarray](), 0
        self.known: Bool[np.ndarray, " P"] = np.ones(pixels, dtype=bool)
        self._file = _new_file(times * pixels * _TYPE.itemsize, folder) if needs_file(times, pixels) else None
        self._most = max(1, _WAITING // (pixels * _TYPE.itemsize))

    def add(self, row: Float[np.ndarray, " P"]) -> None:
        """The values of the next time."""
        self.known &= np.isfinite(row)
        self._waiting.append(row if self._file is None else row.astype(_TYPE))
        if self._file is not None and len(self._waiting) == self._most:
            self._write()

    def finish(self, chosen: Int[np.ndarray, " N"]) -> "tuple[np.ndarray, Stored | None]":
        """The values (N, P) of some of the times, NaN at pixels that lack one at any time, or empty and the file."""
        if self._file is None:
            values = np.stack([self._waiting[n] for n in chosen])
            values[:, ~self.known] = np.nan
            return values, None
        self._write()
        return np.empty((len(chosen), 0)), Stored(self._file, self._width, chosen, self.known)

    def _write(self) -> None:
        if not self._waiting or self._file is None:
            return
        block = np.ascontiguousarray(np.stack(self._waiting).T)
        for pixel, values in enumerate(block):
            self._file.seek((pixel * self._width + self._rows) * _TYPE.itemsize)
            if self._file.write(values.data) < values.nbytes:
                raise InputError("The disk of the archive's temporary file is full: free some space.")
        self._rows += len(self._waiting)
        self._waiting.clear()


def _new_file(size: int, folder: Path | None) -> IO[bytes]:
    """A file of this size without a name in ``folder``, the system's folder of temporary files by default."""
    place = folder or Path(tempfile.gettempdir())
    free = shutil.disk_usage(place).free
    if size > free:
        raise InputError(
            f"The archive needs a temporary file of {size / 1e9:.1f} GB, and {place} has {free / 1e9:.1f} GB: choose a "
            "shorter training period or a region, or write the output to another disk."
        )
    file = tempfile.TemporaryFile(dir=place, buffering=0)
    file.truncate(size)
    return file


def _runs(pixels: np.ndarray) -> Iterator[tuple[int, int]]:
    """Begin and end of the stretches of consecutive numbers."""
    ends = np.flatnonzero(np.diff(pixels) != 1) + 1
    yield from zip([0, *ends], [*ends, len(pixels)], strict=True) if len(pixels) else ()
