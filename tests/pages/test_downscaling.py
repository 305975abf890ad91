"""Page Downscaling in AppTest: it opens finished, follows its controls, and answers bad input with a sentence."""

import json
import re
from html import unescape

import numpy as np
import pytest
import torch
import xarray as xr
from streamlit.testing.v1 import AppTest

from deconditioning.downscaling.pictures.covariate_trust import trusted
from deconditioning.fields.problem.coordinates import scaled_coordinates
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.catalogue import MODELS, named
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import slider_text
from pages.downscaling import numbers, picture
from pages.downscaling.cell_selection import COLUMNS, ROWS
from pages.downscaling.essentials import as_noise_sd, in_kilometres
from pages.downscaling.model import family_values, slider_values
from pages.downscaling.presets import PRESETS
from pages.kit.controls.default_or_choice import OWN
from pages.kit.session import Key
from pages.kit.state import get_engine
from tests.core.fields.samples import netcdf, plane, region
from tests.core.test_downscaled_maps import problem_on
from tests.pages.conftest import FEW_CELLS, until
from tests.pages.reading import as_shown
from tests.pages.sliders import log_slider, moved
from tests.pages.visitor_files import offered


@pytest.fixture
def page(open_page) -> AppTest:
    """The page on its worked example."""
    return open_page("downscaling")


@pytest.fixture
def small(open_page) -> AppTest:
    """The page on larger cells, so that the test is quick."""
    return open_page("downscaling", **FEW_CELLS)


def test_essential_sliders_read_in_kilometres_and_in_the_units_of_the_field() -> None:
    """A degree of latitude is 111 km, within a tenth; the noise of all the variance has the sd of the coarse values."""
    problem = problem_on("latlon")
    first, last = scaled_coordinates(problem.grid)[[0, -1], 0]
    height = float(in_kilometres(problem)(np.linalg.norm(last - first)).removesuffix(" km").replace(",", ""))
    assert height == pytest.approx(111.195 * np.ptp(problem.grid.latitude), rel=0.1)
    coarse = problem.data.targets.numpy() * problem.target_sd
    sd, units = as_noise_sd(problem)(1.0).split()
    assert float(sd) == pytest.approx(coarse.std(), rel=0.05) and units == problem.units


def words(page: AppTest) -> str:
    """Everything the page says in Markdown."""
    return " ".join(block.value for block in page.markdown)


def table(page: AppTest) -> str:
    """The model's own row of the table of all scores, without markup."""
    *_, body = (block.proto.body for block in page.get("html") if "Bilinear" in block.proto.body)
    return " ".join(re.sub(r"<[^>]+>", " ", body.split("<tbody>")[1].split("</tr>")[0]).split())


def complaints(page: AppTest) -> list[str]:
    """The errors on the page; never an exception."""
    assert not page.exception
    return [error.value for error in page.error]


def upload(page: AppTest, name: str, data: bytes) -> AppTest:
    """Give a file to the dialog, and accept what is guessed of a good one."""
    offered(page, (name, data))
    return page.button(key="lab-own-go").click().run() if not page.error else page


def test_it_opens_on_a_finished_example(page):
    assert complaints(page) == []
    assert page.title[0].value == "Downscaling"
    assert "440 coarse values" in words(page)
    assert "83 %" in words(page) and "12:00 UTC, level height 645 m" in words(page)
    assert "Area-to-point GP" in table(page)


def test_what_the_intervals_held_stands_beside_the_maps_and_nothing_contradicts_it(page):
    (said,) = [box.value for box in page.success if "95 % intervals" in box.value]
    held, verdict = re.search(r"(\d+) % of the 95 % intervals .*contain the truth: ([a-z, ]+)\.", said).groups()
    assert verdict == "about right, slightly too narrow" and 90 <= int(held) <= 98 and "times this width" not in said
    (drawn,) = [block.proto.body for block in page.get("html") if 'class="lab-trust"' in block.proto.body]
    assert f"95 % intervals contain {held} %" in drawn and len(re.findall('class="dot"', drawn)) == 3
    assert not page.warning


def test_too_narrow_intervals_are_said(open_page):
    """Nothing may vary that neighbours do not show: intervals shrink."""
    page = open_page("downscaling", withhold="0.5", **FEW_CELLS)
    page.selectbox(key="place").set_value("matern52").run()
    (said,) = [box.value for box in page.warning if "95 % intervals" in box.value]
    held, verdict = re.search(r"(\d+) % of the 95 % intervals contain the truth: ([a-z ]+)\.", said).groups()
    assert verdict == "too narrow" and int(held) < 90 and "times this width" in said
    assert "but the intervals here are too narrow; see *Coverage" in words(page)
    assert not [box for box in page.success if "95 % intervals" in box.value]


@pytest.mark.parametrize(
    ("held", "verdict", "widen", "said"),
    [
        ((0.51, 0.9, 0.94), "about right", 1.03, "contain the truth: about right."),
        (
            (0.9, 1.0, 1.0),
            "too wide",
            0.5,
            "contain the truth: too wide. The intervals would be calibrated at 0.5 times this width.",
        ),
        ((0.1, 0.2, 0.2), "too narrow", np.inf, "too narrow. Where the sd is 0 no factor can correct it."),
    ],
)
def test_only_good_intervals_are_praised(held, verdict, widen, said):
    def shown(held, verdict, widen):
        from deconditioning.metrics.intervals import Trust
        from pages.downscaling import trust
        from pages.downscaling.distribution.view import View

        view = View(None, None, ("preview: at every pixel",), None, 0.0, exact=False)
        trust.panel(None, view, Trust(held, verdict, widen), None)

    page = AppTest.from_function(shown, args=(held, verdict, widen)).run(timeout=120)
    assert complaints(page) == []
    (box,) = page.success if verdict == "about right" else page.warning
    assert box.value.endswith(said) and len(page.success) + len(page.warning) == 1
    assert "inside the interval in the preview." in page.caption[0].value


def test_no_verdict_stands_where_intervals_are_refused():
    def shown():
        from deconditioning.metrics.intervals import Trust
        from pages.downscaling import trust
        from pages.downscaling.distribution.view import View

        view = View(None, None, ("exact",), None, 0.0, exact=True)
        trust.panel(None, view, Trust((0.5, 0.9, 0.95), "about right", 1.0), None, ["Rain is never negative."])

    page = AppTest.from_function(shown).run(timeout=120)
    assert complaints(page) == [] and len(page.success) == 0
    assert [box.value for box in page.warning] == ["Rain is never negative."]


def test_an_unlearned_model_with_wrong_intervals_says_so_before_anything_else():
    def shown():
        from deconditioning.metrics.intervals import Trust
        from pages.downscaling import trust
        from pages.downscaling.distribution.view import View

        view = View(None, None, ("exact",), None, 0.0, exact=True)
        held = Trust((0.25, 0.55, 0.63), "too narrow", 2.0)
        trust.panel(None, view, held, None, ["The coarse values' skewness is −1.31."], True)

    page = AppTest.from_function(shown).run(timeout=120)
    assert complaints(page) == [] and [box.value for box in page.warning] == [
        "63 % of the 95 % intervals contain the truth: far too narrow. The sliders are at starting values: press "
        "*Learn hyperparameters*. The intervals would be calibrated at 2 times this width.",
        "The coarse values' skewness is −1.31.",
    ]


@pytest.mark.parametrize(
    ("approximations", "said"),
    [(("preview: mean exact at every pixel, sd at every pixel",), "Preview. The exact maps follow."),
     (("preview: mean exact at every pixel, sd at every 4th pixel",),
      "Preview: mean exact at every pixel, sd at every 4th pixel. The exact maps follow.")],
)  # fmt: skip
def test_a_preview_says_what_it_leaves_out_if_anything(approximations: tuple[str, ...], said: str) -> None:
    assert picture._preview_words(approximations) == said


@pytest.mark.parametrize(("sd", "places"), [(0.37, 2), (0.04, 3), (1.2, 1), (25.0, 0), (1.0, 1), (0.0, 2)])
def test_values_of_a_cell_have_the_decimals_that_its_sd_determines(sd: float, places: int) -> None:
    assert numbers._places(sd) == places
    assert sd == 0 or float(f"{sd:.{places}f}") == pytest.approx(sd, rel=0.05)


def test_hidden_cells_are_said_first_with_their_control_beside(page):
    assert "hidden" not in words(page)
    page.slider(key="withhold").set_value(0.5).run()
    first = next(block.value for block in page.main.markdown if "Potential temperature" in block.value)
    assert "Half of the 440 coarse cells are hidden from the model to test it. Data: 220 coarse" in first
    assert [slider.key for slider in page.main.slider] == ["withhold"]
    page.slider(key="withhold").set_value(0.3).run()
    assert "132 of the 440 coarse cells are hidden from the model" in words(page)
    page.multiselect(key="med").set_value(["surface_altitude"]).run()
    assert "132 of the 440 coarse cells keep covariates only, the others" in words(page)


def test_the_second_example_warns(page):
    page.selectbox(key="data").set_value("ukv-75m").run()
    assert complaints(page) == []
    assert any("27 %" in box.value and "expect little" in box.value for box in page.warning)


def test_every_slider_moves_the_scores(small):
    for key, factor in (("noise", 1e5), ("l0", 10), ("s1", 10), ("l1", 10), ("trust", 0.05)):
        before = table(small)
        moved(small, key, factor)
        assert complaints(small) == [] and table(small) != before, key
    small.selectbox(key="model").set_value("shrinkage_cmp").run()
    before = table(small)
    log_slider(small, "lam").set_value(0.1).run()
    assert complaints(small) == [] and table(small) != before


def test_each_essential_slider_moves_the_mean_map_visibly_over_its_range(small):
    def mean():
        return small.session_state[Key.PREVIEW][1].mean

    begin = mean()
    for key in ("l0", "trust", "noise"):
        before, stops = log_slider(small, key).value, [float(text) for text in log_slider(small, key).options]
        inside = key == "l0"  # σ begins at its least, the covariates' effect is all of it
        assert not inside or 0.1 < np.searchsorted(stops, before) / (len(stops) - 1) < 0.9, (key, "opens inside")
        seen = []
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            log_slider(small, key).set_value(stops[round(share * (len(stops) - 1))]).run()
            assert complaints(small) == []
            seen.append(mean())
        assert np.nanstd(seen[-1] - seen[0]) > 0.1 * np.nanstd(begin), key
        moved = [np.nanmax(np.abs(end - begin)) for end in (seen[0], seen[-1])]
        ends = {"l0": (0, 1), "trust": (0,), "noise": (1,)}[key]
        assert all(moved[end] > 0.1 * np.nanstd(begin) for end in ends), (key, moved)
        log_slider(small, key).set_value(before).run()


def test_every_slider_has_a_help_and_the_essential_ones_read_alike_at_both_levels(open_page):
    """The level All adds the field's term to the same words; lengths are km at both, noises in the field's units."""

    def reads(page):
        found = [re.search(r'data-key="(.+?)" data-words="(.+?)"', box.proto.body) for box in page.get("html")]
        return {match[1]: json.loads(unescape(match[2])) for match in found if match}

    few, every = open_page("downscaling", **FEW_CELLS), open_page("downscaling", level="All", **FEW_CELLS)
    sliders = [*every.slider, *every.select_slider]
    assert len(sliders) > 9 and [slider.key for slider in sliders if not slider.help] == []
    labels = {slider.key: (slider.label, log_slider(few, slider.key).label) for slider in every.select_slider}
    place = "location"
    assert labels["l0"] == (f"How smooth the field is (lengthscale: {place})", "How smooth the field is")
    assert labels["noise"] == ("How noisy the coarse values are (sd\u00a0σ)", "How noisy the coarse values are")
    assert labels["trust"][0] == "How much the covariate is trusted (covariates' effect kept)"
    assert every.selectbox(key="data").label == few.selectbox(key="data").label == "Which field"
    for key in ("draws", "withhold"):
        there = [each for page in (few, every) for each in (*page.toggle, *page.slider) if each.key == key]
        assert len({each.label for each in there}) == 1 and len(there) == 2, key
    for key in ("l0", "noise", "trust"):
        value = slider_text(log_slider(every, key).value)
        assert reads(every)[key][value] == reads(few)[key][value], key
    assert reads(every)["l0"][slider_text(log_slider(every, "l0").value)].endswith(" km")
    assert reads(every)["trust"]["1"] == "100 %" and reads(few)["trust"]["0.001"] == "0 %"
    assert reads(every)["point"][slider_text(1e-6)] == "none"


def test_an_old_address_of_the_trust_keeps_its_factor(open_page):
    """0.0447 was a stop of the slider, and 4 its end."""
    for asked in (0.0447, 4.0):
        page = open_page("downscaling", trust=str(asked), **FEW_CELLS)
        assert complaints(page) == [] and log_slider(page, "trust").value == asked


def test_no_number_below_the_slider_of_smoothness_exceeds_the_map(small):
    """The distance of half the correlation grows with the slider, and is no longer told where it leaves the map."""
    told = []
    for value in log_slider(small, "l0").options[:: len(log_slider(small, "l0").options) // 4]:
        log_slider(small, "l0").set_value(float(value)).run()
        (sentence,) = [box.value for box in small.caption if "have a correlation of" in box.value]
        numbers = [float(text) for text in re.findall(r"([\d.]+) km", sentence)]
        assert max(numbers) == numbers[-1] == 161, sentence
        told.append(numbers[0])
    assert told == sorted(told)


def test_trust_is_a_factor_on_the_sd_of_the_terms_of_the_covariates():
    """Gram matrices with and without: those of the covariates' terms by trust², the others as they were."""
    place, altitude = Factor("matern32", ("y", "x"), (1.0,)), Factor("rbf", ("altitude",), (0.7,))
    line = Factor("linear", ("altitude",), (4.0,))
    kernel = KernelSpec((Term((place,), 2.0), Term((altitude,), 0.5), Term((line,), 1.0), Term((place, altitude), 0.3)))
    columns, inputs = ("y", "x", "altitude"), torch.randn(6, 3, dtype=torch.float64, generator=torch.manual_seed(1))

    def gram(terms):
        return KernelSpec(tuple(terms)).build(columns)(inputs, inputs).to_dense()

    first, second, third, fourth = ([term] for term in kernel.terms)
    expected = gram(first) + 0.09 * (gram(second) + gram(third)) + gram(fourth)
    assert torch.allclose(gram(trusted(kernel, ("altitude",), 0.3).terms), expected, rtol=1e-12)


def test_every_model_runs_on_unmatched_data(small):
    small.multiselect(key="med").set_value(["surface_altitude"])
    small.slider(key="withhold").set_value(0.5).run()
    for model in MODELS:
        small.selectbox(key="model").set_value(model).run()
        assert complaints(small) == [], model
        assert "matched only through" in words(small) and "withheld cells" in words(small)
        shown = [slider for slider in small.select_slider if slider.key == "lam"]
        assert (len(shown) == 1) == MODELS[model].uses("regularisation"), model


def test_impossible_cells_give_one_sentence_and_the_page_comes_back(small):
    for key, values, said in (
        ("columns", {"columns": 200}, "lock"),
        ("withhold", {"withhold": 0.9, "rows": 40, "columns": 40}, "at least 8"),
    ):
        good = {name: control(small, name).value for name in values}
        for name, value in values.items():
            control(small, name).set_value(value)
        small.run()
        assert len(complaints(small)) == 1 and said in complaints(small)[0], key
        for name, value in good.items():
            control(small, name).set_value(value)
        small.run()
        assert complaints(small) == [] and table(small)


def control(page: AppTest, key: str):
    return page.slider(key=key) if key == "withhold" else page.number_input(key=key)


def broken_files() -> dict[str, bytes]:
    """A file that is none, one without places, one without numbers; all other kinds: tests/core/fields/test_uploads."""
    data = region()
    text = xr.Dataset({"name": (("lat", "lon"), np.full((36, 48), "x"))}, data.coords)
    return {
        "nonsense.nc": b"this is not a NetCDF file",
        "nowhere.nc": netcdf(data.drop_vars(["lat", "lon"])),
        "text.nc": netcdf(text),
    }


def test_rubbish_is_refused_with_a_sentence_and_nothing_is_lost(small):
    before = table(small)
    for name, data in broken_files().items():
        upload(small, name, data)
        said = complaints(small)
        assert len(said) == 1 and said[0].startswith(name), (name, said)
        assert "Traceback" not in said[0] and said[0].endswith((".", "\u2026"))
        assert table(small) == before
    assert small.selectbox(key="data").value == "ukv-645m"


def test_a_good_upload_becomes_the_data(small):
    upload(small, "mine.nc", netcdf(region()))
    assert complaints(small) == []
    assert small.selectbox(key="data").value.startswith("upload:")
    assert "Temperature" in words(small) and table(small)
    assert re.search(
        r"\*\*Temperature\.\*\* Half of the \d+ coarse cells are hidden from the model to test it\.", words(small)
    )


def test_fields_that_cannot_be_a_target_are_refused(small):
    data = region()
    extra = data.assign(empty=data.t * np.nan, flat=data.t * 0 + 5)
    upload(small, "mine.nc", netcdf(extra))
    for target, said in (("empty", "missing"), ("flat", "constant")):
        small.selectbox(key="target").set_value(target).run()
        assert len(complaints(small)) == 1 and said in complaints(small)[0]
    small.selectbox(key="target").set_value("t").run()
    assert complaints(small) == []


def test_the_target_is_never_offered_as_its_own_covariate(small):
    assert "air_potential_temperature" not in small.multiselect(key="cov").options


def test_a_coarse_file_and_a_fine_file_meet(small):
    fine = region(60, 72)
    coarse = fine[["t"]].coarsen(lat=6, lon=6).mean()
    upload(small, "fine.nc", netcdf(fine[["orog", "q"]]))
    key = small.selectbox(key="data").value
    upload(small, "coarse.nc", netcdf(coarse))
    small.selectbox(key="data").set_value(key).run()
    other = next(k for k in small.selectbox(key="coarse").options if "coarse.nc" in k)
    small.selectbox(key="coarse").select(other).run()
    assert complaints(small) == []
    assert any("truth is available" in box.value for box in small.info)
    assert "re-aggregation" in words(small)
    (said,) = [
        box.value
        for box in small.warning
        if "neither the field inside the cells nor the intervals could be checked" in box.value
    ]
    assert "means of hidden cells have an error of" in said and "bilinear" in said
    assert "each the mean over the pixels inside its cell" in words(small)
    small.slider(key="withhold").set_value(0.0).run()
    assert any(
        box.value.startswith("No cell is hidden from the model and no truth is available") for box in small.warning
    )


def test_a_rerun_leaves_sliders_to_the_person(small):
    """A value written by the program on every run would undo a key press that is still on its way."""
    log_slider(small, "noise").set_value(0.01).run()
    small.run()
    assert [slider.key for slider in [*small.slider, *small.select_slider] if slider.proto.set_value] == []
    assert log_slider(small, "noise").value == 0.01


def test_the_command_for_many_steps_is_one_that_is_understood(page):
    from deconditioning.cli.program import make_parser

    def commands() -> list[str]:
        return re.findall(r"`(deconditioning predict-store .*?)`", words(page))

    until(page, commands)  # downloads wait for the exact picture
    parts = commands()[0].split()
    assert parts[:2] == ["deconditioning", "predict-store"]
    options = make_parser().parse_args(parts[1:])
    assert options.model == "air_potential_temperature-area_to_point_gp.json" and options.condition == "once"
    assert any("Many time steps" in box.label for box in page.expander)
    assert "`surface_altitude` of every step" in as_shown(words(page))


def test_the_models_own_family_follows_the_model(small):
    """On coordinates as rough as is learned, rough for the bag GP, smoother for mediated ones; one asked for stays."""
    small.slider(key="withhold").set_value(0.5).run()
    assert small.selectbox(key="place").value == "own" and "Powered exponential on" in equation(small)
    small.selectbox(key="model").set_value("bag_gp").run()
    assert "Matérn 1/2 on" in equation(small)
    small.selectbox(key="model").set_value("shrinkage_cmp").run()
    assert "Matérn 3/2 on" in equation(small)
    small.selectbox(key="place").set_value("matern52").run()
    small.selectbox(key="model").set_value("bag_gp").run()
    assert complaints(small) == [] and "Matérn 5/2 on" in equation(small)


def test_a_familys_own_parameter_is_on_a_slider_that_moves_the_map(small):
    for family, key in (
        ("rational_quadratic", "alpha0"), (OWN, "alpha0"), ("mixed_matern", "mixture0"),
    ):  # fmt: skip
        small.selectbox(key="place").set_value(family).run()
        before = equation(small)
        moved(small, key, 0.7)
        assert complaints(small) == [] and equation(small) != before, family


def test_lines_are_shown_by_their_slopes_and_the_mean_by_its_variance(small):
    """No slider for what changes nothing: a line's variance beside its slope; regression kriging has no smooth term."""
    labels = {slider.key: slider.label for slider in small.select_slider}
    expected = {
        "l1": "Lengthscale: surface altitude", "l2": "Sd of the slope: surface altitude",
        "s3": "Variance of the unknown mean", "alpha0": "α of Powered exponential: location",
    }  # fmt: skip
    assert {key: labels[key] for key in expected} == expected
    assert "s2" not in labels and "l3" not in labels
    line = KernelSpec((Term((Factor("linear", ("surface_altitude",), (4.0,)),)),))
    assert slider_values(ModelSpec("area_to_point_gp", line), 10)["l0"] == 0.25
    before = table(small)
    moved(small, "l2", 0.02)
    assert complaints(small) == [] and table(small) != before
    assert "(sd of the slope 0.02 = 0.0115 K per sd)" in equation(small).replace("\\", "")
    assert [box.key for box in small.selectbox if box.key in ("place", "fam")] == ["place", "fam"]
    small.selectbox(key="model").set_value("regression_kriging").run()
    assert complaints(small) == [] and "Gaussian on" not in equation(small) and "Constant" in equation(small)
    assert [box.key for box in small.selectbox if box.key in ("place", "fam")] == ["place"]


@pytest.mark.parametrize("terms", ["sum", "product"])
def test_the_families_of_a_learned_kernel_are_those_of_its_first_terms(terms):
    rough, smooth = Factor("powered_exponential", ("y", "x"), (0.4,)), Factor("matern32", ("c",), (1.0,))
    first = [Term((rough, smooth))] if terms == "product" else [Term((rough,)), Term((smooth,))]
    trend = Term((Factor("linear", ("c",), (1.0,)),)), Term((Factor("constant", ("y", "x"), ()),))
    found = family_values(named("area_to_point_gp"), KernelSpec((*first, *trend)), ["c"])
    assert found == {"place": "powered_exponential", "fam": "matern32", "struct": terms, "slopes": "same"}
    varying = Term((Factor("matern12", ("y", "x"), (0.4,)), *trend[0].factors))
    found = family_values(named("area_to_point_gp"), KernelSpec((*first, *trend, varying)), ["c"])
    assert found == {"place": "powered_exponential", "fam": "matern32", "struct": terms, "slopes": "vary"}
    lines, same = KernelSpec((Term((rough,)), *trend)), {"place": "powered_exponential", "struct": "sum"}
    assert family_values(named("regression_kriging"), lines, ["c"]) == same | {"slopes": "same"}
    assert family_values(named("bag_gp"), KernelSpec((Term((rough,)), trend[0])), ["c"])["fam"] == "linear"


def test_without_coordinates_models_of_the_place_are_not_offered(small):
    small.toggle(key="coords").set_value(False).run()
    assert complaints(small) == [] and small.selectbox(key="model").value == "bag_gp"
    assert "Area-to-point Gaussian process" not in small.selectbox(key="model").options


def test_what_was_learned_of_a_familys_own_parameter_reaches_its_slider():
    factor = Factor("rational_quadratic", ("y", "x"), (0.4,), {"alpha": 0.2})
    spec = ModelSpec("bag_gp", KernelSpec((Term((factor,)),)), None, 1e-3, 0.1)
    assert slider_values(spec, 10)["alpha0"] == 0.2


def equation(page: AppTest) -> str:
    """The kernel as the equation's text has it."""
    return next(block.value for block in page.markdown if "k = " in block.value)


def test_the_noises_of_the_default_stay_and_none_is_none(small):
    held = small.selectbox(key="hold")
    assert held.value == "own" and "σ² and ς² are fixed" in held.options[0]
    small.selectbox(key="model").set_value("shrinkage_cmp").run()
    assert "σ² learned, ς² fixed" in small.selectbox(key="hold").options[0]


def test_a_better_guess_of_bilinear_interpolation_stands_beside_the_maps(small):
    """A plane that no covariate tells of; the sentence is the guard's own."""
    upload(small, "plane.nc", netcdf(plane()))
    small.number_input(key="rows").set_value(4)
    small.number_input(key="columns").set_value(4).run()
    until(small, lambda: warned(small))  # it is known with the exact picture
    (said,) = warned(small)
    assert "leave-one-out over the visible cells" in said and complaints(small) == []


def warned(page: AppTest) -> list[str]:
    return [box.value for box in page.warning if "Bilinear interpolation predicts better" in box.value]


def test_an_average_is_shown_until_a_slider_moves(open_page):
    page = open_page("downscaling", withhold="0.3", **{ROWS: ["0", "10"], COLUMNS: ["0", "9"]})
    assert page.checkbox(key="average").value and not [box for box in page.checkbox if box.key == "choose"]
    page.number_input(key="steps").set_value(8)
    page.button(key="learn").click().run()
    until(page, lambda: [box for box in page.info if "Learned" in box.value])
    page.run()
    learned = current(page)["learned"]
    assert complaints(page) == [] and page.selectbox(key="model").value == learned["model"]
    said = [caption.value for caption in page.caption if "one scale up" in caption.value]
    weights = current(page)["diagnostics"]["one_scale_up"]["weights"]
    assert any("The map is an average" in each for each in said) == (min(weights.values()) > 0)


def test_what_is_learned_from_unmatched_cells_comes_with_the_model_that_one_scale_up_chose(open_page):
    corner = {ROWS: ["0", "10"], COLUMNS: ["0", "9"]}
    page = open_page("downscaling", med="surface_altitude", withhold="0.5", average="false", **corner)
    assert page.selectbox(key="model").value == "area_to_point_gp" and page.checkbox(key="choose").value
    assert "pseudo-targets" in equation(page) and "a(x)^\\top C" in words(page)
    page.number_input(key="steps").set_value(8)
    page.button(key="learn").click().run()
    until(page, lambda: [box for box in page.info if "Learned" in box.value])
    page.run()
    chosen = page.selectbox(key="model").value
    (said,) = [caption.value for caption in page.caption if "Chosen one scale up" in caption.value]
    assert complaints(page) == [] and chosen == "partial_cmp" and "the partially mediated process predicts" in said
    assert page.selectbox(key="local").value == "own" and "footprint" in words(page)
    learned = current(page)["learned"]
    assert learned["model"] == chosen
    first = learned["kernel"]["terms"][0]
    assert log_slider(page, "s0").value == pytest.approx(first["scale"], rel=6e-5)  # four digits
    page.selectbox(key="model").set_value("area_to_point_gp").run()
    assert page.selectbox(key="model").value == "area_to_point_gp", "what was chosen is not pressed on anybody"
    page.selectbox(key="model").set_value("shrinkage_cmp").run()
    assert not [box for box in page.checkbox if box.key == "choose"]


def current(page: AppTest) -> dict:
    """The result of the page's own run."""
    return get_engine().get(page.query_params["run"]).result


def test_the_score_table_shows_six_columns_and_a_bias_of_rounding_error_as_zero(page):
    first, every = (block.proto.body for block in page.get("html") if "Bilinear" in block.proto.body)
    heads = [
        re.sub(r"<small>.*?</small>|<[^>]+>", "", part) for part in re.findall(r'<th scope="col"[^>]*>.*?</th>', first)
    ]
    assert heads == ["RMSE, K", "Coverage of 95 %", "CRPS, K", "SSIM", "Pearson r", "Bias, K"]
    assert len(re.findall(r'<th scope="col"[^>]*>', every)) > 6
    assert re.search(r"Constant in cell</th>(<td[^>]*>.*?</td>){5}<td[^>]*>0</td>", first)


def test_presets_move_the_terms_of_location_or_of_covariates(page):
    """By the labels of the page as it opens: one slider of each kind."""
    controls = page.session_state["_seen"].controls
    of = {preset.name: preset.values(controls) for preset in PRESETS}
    smooth, trusting, without = (
        of[title] for title in ("Too smooth", "Too much trust in the covariate", "Without the covariate")
    )
    assert smooth.items() >= {"l0": 8 * controls["l0"].default, "noise": 1.0}.items() and "l1" not in smooth
    assert trusting["s0"] == 0.01 * controls["s0"].default and trusting["s1"] == 30 * controls["s1"].default
    assert trusting["l1"] == 0.1 * controls["l1"].default and not {"s0", "l0"} & without.keys()
