"""The kernel of anomalies: what it is made of, and what learning it from an archive must keep."""

import math
from dataclasses import replace

import numpy as np
import pytest
from torch import Tensor

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import never
from deconditioning.models.area_to_point import MEAN_VARIANCE
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.spec import ModelSpec
from deconditioning.period.archive import kernel
from deconditioning.period.archive.gain import Mixture, anomalies, gains
from deconditioning.period.archive.setting import prepare
from deconditioning.period.archive.training import Training
from deconditioning.period.run import of_a_series
from deconditioning.period.series import Series

QUICK = DownscaleSettings(model="area_to_point_gp", steps=8, restarts=1, device="cpu")


def _families(spec: ModelSpec) -> list[str]:
    return [factor.family for term in spec.kernel.terms for factor in term.factors]


def test_a_change_of_all_coarse_values_is_one_of_all_pixels(series: Series, training: Training) -> None:
    """A climate that is warmer everywhere, and fine values that are so, too: the gain's weights sum to one."""
    setting = prepare(series, training, of_a_series(series, QUICK, len(series)), NoReport())
    assert [t.scale for t in setting.spec.kernel.terms if t.factors[0].family == "constant"] == [MEAN_VARIANCE]
    fine = setting.some(100, never)
    known = anomalies(setting.coarse, fine, np.arange(len(training)))
    (gain,) = gains(setting.coarse, fine, known, 1.0, [Mixture(0.0, None)])
    warmer = gain.mean(setting.coarse.design[:1], setting.coarse.z[:1] + 1.0)
    moved = (warmer - gain.mean(setting.coarse.design[:1], setting.coarse.z[:1])).numpy()
    np.testing.assert_allclose(moved, 1.0, atol=0.03)


def test_the_mean_is_not_unknown_where_coarse_values_are_no_means(series: Series, training: Training) -> None:
    """Those of another model, or of a target with a warp."""
    other = replace(training, coarse=1.1 * training.coarse)
    setting = prepare(series, other, of_a_series(series, QUICK, len(series)), NoReport())
    assert [t.scale for t in setting.spec.kernel.terms if t.factors[0].family == "constant"] == [0.01]


@pytest.mark.parametrize(("family", "expected"), [(None, False), ("rbf", True)])
def test_covariates_have_straight_lines_unless_a_family_is_given(
    series: Series, training: Training, family: str | None, expected: bool
) -> None:
    settings = of_a_series(series, QUICK.replace(kernel=family), len(series))
    found = _families(prepare(series, training, settings, NoReport()).spec)
    assert ("rbf" in found) is expected and "linear" in found


@pytest.mark.parametrize("wider", [3, 1])
def test_priors_are_three_times_as_wide_as_for_a_single_time_where_coarse_values_are_means(
    series: Series, training: Training, monkeypatch: pytest.MonkeyPatch, wider: int
) -> None:
    """Without priors the loss is the likelihood's alone, and finite."""
    if wider == 1:
        training = replace(training, coarse=1.1 * training.coarse)
    losses, widths = [], []

    class Remembered(Trainable):
        def log_prior(self, width: float) -> Tensor:
            widths.append(width)
            return super().log_prior(width)

    monkeypatch.setattr(kernel, "Trainable", Remembered)
    monkeypatch.setattr(kernel, "minimise", lambda loss, vector, **options: losses.append(float(loss().detach())))
    for width in (0.0, 1.0, 2.0):
        prepare(series, training, of_a_series(series, QUICK.replace(prior_sd=width), len(series)), NoReport())
    assert widths == [wider, 2 * wider] and all(math.isfinite(loss) for loss in losses) and len(losses) == 3
