"""What a run keeps, read back: against the result that was exported."""

import numpy as np
import pytest

from deconditioning.downscaling.run import downscale, export
from deconditioning.downscaling.saved_map import saved_map
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.errors import InputError
from deconditioning.fields.spec import DownscalingSpec


@pytest.mark.parametrize(("key", "region"), [("ukv-645m", (4, 11, 0, 9)), ("atmosphere-small", (4, 13, 6, 23))])
def test_a_map_comes_back_on_its_grid(key: str, region: tuple[int, ...]) -> None:
    from deconditioning.datasets.entries import catalogue

    default = next(entry.default for entry in catalogue() if entry.key == key)
    problem = build_problem(Source(key), DownscalingSpec.from_dict(default | {"region": region}))
    result = downscale(problem, {"model": "regression_kriging" if problem.matched else "bag_gp", "learn": False})
    found = saved_map(export(problem, result))
    np.testing.assert_allclose(found.mean, result.mean, atol=1e-4)
    np.testing.assert_allclose(found.sd, result.sd, atol=1e-4)
    np.testing.assert_allclose(found.grid.latitude, problem.grid.latitude, atol=1e-6)
    assert problem.truth is not None and found.truth is not None and found.coarse is not None
    np.testing.assert_allclose(found.truth, problem.truth, atol=1e-4)
    np.testing.assert_allclose(found.coarse, problem.coarse, atol=1e-4)
    assert found.coarse_grid is not None and found.coarse_grid.shape == problem.coarse_grid.shape
    assert found.units == problem.units and found.name and not found.name.startswith("posterior")


@pytest.mark.parametrize("data", [b"", b"CDF", b"\x89HDF\r\n\x1a\n" + b"0" * 99])
def test_another_file_is_a_sentence(data: bytes) -> None:
    with pytest.raises(InputError, match="run it again"):
        saved_map(data)
