"""Page Downscaling with the bundled stations of the Met Office beside cells of ERA5."""

import re

import pytest

from deconditioning.datasets.uk_stations import LICENCE
from deconditioning.downscaling.presets import preset
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.starting import spec_to_settings
from tests.pages.test_stations import equation, exact, words


def test_the_example_opens_with_learned_values_and_says_what_the_command_line_does(open_page) -> None:
    page = exact(open_page("downscaling", data="uk-stations"))
    choice, said = page.session_state["_choice"], words(page)
    assert choice.source == Source("uk-stations", stations="uk-stations/seen", scored="uk-stations/scored")
    assert "and 18 stations" in said and "M = 96 + 18 = 114" in equation(page)
    problem, start = build_problem(choice.source, choice.spec), DownscaleSettings("area_to_point_gp")
    stored = preset(choice.source.to_dict(), choice.spec.to_dict(), start)
    assert stored is not None
    learned = downscale(problem, start)
    assert stored.representativeness == pytest.approx(learned.spec.representativeness, rel=0.05)
    told = downscale(problem, spec_to_settings(start, stored)).diagnostics["stations"]
    ((size, than),) = re.findall(r"stations read \*\*(.*?) ± .*?\*\* (higher|lower) than", said)
    offset = float(size) * {"higher": 1, "lower": -1}[than]
    assert offset == pytest.approx(told["targets"]["offset"], abs=0.02)
    assert told["scored"]["count"] == 9 and told["targets"]["per_100_m"] == pytest.approx(-0.5, abs=0.15)


def test_a_figure_credits_both_sources(open_page) -> None:
    page = open_page("downscaling", data="uk-stations")
    choice = page.session_state["_choice"]
    joint = build_problem(choice.source, choice.spec)
    assert joint.licence.startswith("Copernicus licence") and joint.licence.count(LICENCE) == 1
    assert LICENCE not in build_problem(Source("uk-stations"), choice.spec).licence
