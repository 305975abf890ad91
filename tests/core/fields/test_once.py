"""What is computed of a problem once."""

from dataclasses import replace

from deconditioning.fields.problem.once import once
from deconditioning.fields.problem.problem import DownscalingProblem
from tests.core.test_downscaled_maps import problem_on


def test_each_problem_is_computed_once() -> None:
    seen = []

    @once
    def units(problem: DownscalingProblem) -> list[str]:
        seen.append(problem.units)
        return [problem.units]

    first = problem_on("latlon")
    other = replace(first, units="other")
    assert units(first) is units(first) and units(other) == ["other"] and units(first) == [first.units]
    assert seen == [first.units, "other"]
