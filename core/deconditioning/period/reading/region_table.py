"""Values of regions at the times of a table that has a row for each region and date."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from deconditioning.downscaling.further_sources.opening import regions_in_time_at
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_data import Regions
from deconditioning.fields.spec import DownscalingSpec


@dataclass(frozen=True, eq=False)
class RegionTable:
    """The times of a table, ``labels`` and ``dates`` (T,), and what reads the regions with the values of one."""

    labels: tuple[str, ...]
    dates: np.ndarray
    read: Callable[[int], Regions]
    _kept: dict[int, Regions] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def of(source: Source, spec: DownscalingSpec) -> "RegionTable":
        """That of a source; ``InputError`` without a table, and for one without several times."""
        if not (source.regions and source.table):
            raise InputError(
                "Regions over a period need a table with a row for each region and date: give it (`--region-table`, "
                "`--key`), or downscale one time."
            )
        if source.region_time:
            raise InputError("A time of the regions applies to a single map: leave it out, or downscale one time.")
        labels, dates, read = regions_in_time_at(
            source.regions, spec.target, source.units, spec.error, source.table, source.key
        )
        return RegionTable(tuple(labels), dates.astype("datetime64[ns]"), read)

    def at(self, index: int) -> Regions:
        """The regions with their values at a time, NaN where these, or their errors, are missing."""
        if index not in self._kept:
            regions = self.read(index)
            known = np.isfinite(regions.value if regions.error is None else regions.value + regions.error)
            self._kept[index] = replace(regions, value=np.where(known, regions.value, np.nan))
        return self._kept[index]

    def mean(self, requested: Sequence[int]) -> Regions:
        """The regions with the means of their values at some times, without errors, and the notes of all these."""
        every = [self.at(index) for index in requested]
        values = np.stack([each.value for each in every])
        count = np.isfinite(values).sum(axis=0)
        mean = np.where(count > 0, np.nansum(values, axis=0) / np.maximum(count, 1), np.nan)
        notes = tuple(note for note in every[0].notes if all(note in each.notes for each in every))
        return replace(every[0], value=mean, error=None, notes=notes, time=None)

    def cells(self, place: np.ndarray, size: int, index: int) -> np.ndarray:
        """(cells,) values at a time at the ``place`` (n,) that each region has among the cells; NaN elsewhere."""
        return _placed(self.at(index).value, place, size)

    def errors(self, place: np.ndarray, size: int, index: int) -> np.ndarray:
        """(cells,) the sds of their errors."""
        error = self.at(index).error
        assert error is not None
        return _placed(error, place, size)


def _placed(values: np.ndarray, place: np.ndarray, size: int) -> np.ndarray:
    result = np.full(size, np.nan)
    result[place] = values
    return result
