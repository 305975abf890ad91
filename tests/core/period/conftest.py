"""A made-up series whose last twelve times are downscaled and whose earlier ones are an archive, at fixed settings."""

import pytest

from deconditioning.downscaling.source import Source
from deconditioning.engine.reporting import NoReport
from deconditioning.fields.gridded import Fields
from deconditioning.period.archive.setting import Setting, prepare
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.run import of_a_series
from deconditioning.period.series import Series, read_series
from tests.core.period.made import SPEC, UNLEARNED, made_fields


@pytest.fixture(scope="module")
def fields() -> Fields:
    return made_fields(60)


@pytest.fixture(scope="module")
def series(fields: Fields) -> Series:
    return read_series(Source("x"), SPEC, lambda key: fields, ["#48/#59"])


@pytest.fixture(scope="module")
def training(fields: Fields, series: Series) -> Training:
    return read_training(series, fields)


@pytest.fixture(scope="module")
def setting(series: Series, training: Training) -> Setting:
    return prepare(series, training, of_a_series(series, UNLEARNED, len(series)), NoReport())
