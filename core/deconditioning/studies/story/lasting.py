"""A period of a real series: errors last, so that the mean over many times is less certain than single times suggest.

The British Isles every three hours, from cells of 8 × 8 pixels and an archive of the earlier times.
"""

from dataclasses import dataclass

import numpy as np

from deconditioning.datasets.entries import find
from deconditioning.device import one_thread
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import read_training
from deconditioning.period.correlation import days_of
from deconditioning.period.series import read_series

#: The data set; its times that are the archive, and those that are downscaled; hours from one to the next.
_KEY, ARCHIVE, USED, STEP = "era5-uk", 168, 80, 3
#: Latitude and longitude of the place that is drawn.
_PLACE = (51.5, -0.25)


@dataclass(frozen=True, eq=False)
class Lasting:
    """A downscaled series: ``days`` (T,), ``errors`` (T, P) of the mean and its ``sds`` (T, P) in ``units``, the
    correlation ``rho`` (T, T) of errors in time, and prediction and truth (T,) at `_PLACE`.
    """

    days: np.ndarray
    errors: np.ndarray
    sds: np.ndarray
    rho: np.ndarray
    predicted: np.ndarray
    truth: np.ndarray
    units: str

    def real(self, count: int) -> float:
        """RMSE of means over ``count`` consecutive times, over that of single times."""
        return _rms(stretches(self.errors, count).mean(1)) / _rms(self.errors)

    def stated(self, count: int) -> float:
        """The same as the prediction states it: ``Var (1/n) Σ e_i = (1/n²) Σ_ij s_i s_j ρ_ij``, root mean square over
        stretches and pixels, over that of single times. Source: Thiébaux and Zwiers 1984, *J. Climate Appl. Meteor.*
        23.
        """
        sds, places = stretches(self.sds, count), stretches(np.arange(len(self.days)), count)
        variance = [np.einsum("ip,ij,jp->p", s, self.rho[np.ix_(at, at)], s) for s, at in zip(sds, places, strict=True)]
        return float(np.sqrt(np.mean(variance)) / count / _rms(self.sds))


def stretches(values: np.ndarray, count: int) -> np.ndarray:
    """(T // n, n, …) consecutive stretches of n; what is left at the end belongs to none."""
    whole = len(values) // count
    return values[: whole * count].reshape(whole, count, *values.shape[1:])


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


@one_thread()
def lasting_errors() -> Lasting:
    """Downscale the series at the kernel's starting values."""
    fields = find(_KEY).open()
    spec = DownscalingSpec("t2m", ("land",), block=(8, 8), withhold=0.0)
    series = read_series(Source(_KEY), spec, lambda key: fields, [f"#{ARCHIVE}/#{ARCHIVE + USED - 1}"])
    training = read_training(series, fields, [f"#0/#{ARCHIVE - 1}"])
    result = downscale_with_archive(series, training, DownscaleSettings(model="area_to_point_gp", learn=False))
    assert series.fine is not None and result.residuals is not None and result.residuals.correlation is not None
    truth = np.stack([series.fine(time) for time in range(USED)])
    sds, days, grid = np.stack([result.sd(time) for time in range(USED)]), days_of(series.dates), series.problem.grid
    pixel = int(np.argmin(np.abs(grid.latitude - _PLACE[0]) + np.abs(grid.longitude - _PLACE[1])))
    flat = [each.reshape(USED, -1) for each in (result.means, truth, sds)]
    return Lasting(days, flat[0] - flat[1], flat[2], result.residuals.correlation.matrix(days),
                   flat[0][:, pixel], flat[1][:, pixel], series.problem.units)  # fmt: skip
