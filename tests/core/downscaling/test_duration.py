"""How long a downscaling is said to take: beside runs of bundled data that were timed."""

from collections.abc import Callable
from functools import cache

import pytest

from deconditioning.datasets.entries import find
from deconditioning.downscaling.duration import about_seconds, map_seconds, setting_seconds
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec

#: CPU seconds on one core of 2 GHz with 100 steps: data, pixels along a cell's side, model, of the map alone, with
#: learning.
RUNS = [
    ("era5-t2m", None, "bag_gp", 4.8, 26.1),
    ("era5-t2m", 11, "bag_gp", 1.8, 5.8),
    ("era5-t2m", None, "auto", 4.7, 19.2),
    ("ukv-645m", None, "bag_gp", 3.2, 20.2),
    ("ukv-645m", 6, "bag_gp", 24.9, 49.1),
    ("gdas-ttop", None, "bag_gp", 3.4, 33.1),
    ("atmosphere-small", None, "auto", 3.7, 18.8),
    ("atmosphere-small", None, "cmp", 2.7, 43.4),
]
Problems = Callable[[str, int | None], DownscalingProblem]


@pytest.fixture(scope="module")
def problems() -> Problems:
    @cache
    def make(key: str, block: int | None) -> DownscalingProblem:
        given = find(key).default | ({"block": [block, block]} if block else {})
        return build_problem(Source(key), DownscalingSpec.from_dict(given))

    return make


@pytest.mark.parametrize(("key", "block", "model", "mapped", "learned"), RUNS)
def test_it_is_right_within_a_factor_of_two(key, block, model, mapped, learned, problems) -> None:
    problem = problems(key, block)
    given, learning = (DownscaleSettings(model=model, learn=learn) for learn in (False, True))
    assert 0.5 < about_seconds(problem, given) / mapped < 2
    assert 0.5 < about_seconds(problem, learning) / learned < 2


def test_choosing_looks_twice_and_inducing_points_are_quicker(problems) -> None:
    problem = problems("atmosphere-small", None)

    def seconds(**changes) -> float:
        return about_seconds(problem, DownscaleSettings(**{"model": "area_to_point_gp", "choose": False} | changes))

    assert seconds(choose=True) > 1.2 * seconds()
    assert seconds(restarts=4) > seconds() > seconds(points=2)
    assert seconds(method="adam", steps=400) > 3 * seconds()
    assert seconds(model="vbagg", inducing=20) < seconds(model="bag_gp", restarts=2)
    assert about_seconds(problem, DownscaleSettings(learn=False)) == map_seconds(problem) > setting_seconds(problem)
