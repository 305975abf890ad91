"""A new setting is one line: it is a widget, a flag, an axis of a sweep, a key of the address, a part of the schema."""

import argparse
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.cli.flags import add_flags
from deconditioning.errors import InputError
from deconditioning.settings.setting import Log
from deconditioning.settings.settings import schema
from deconditioning.studies.kernel_bayes import sweep
from deconditioning.studies.kernel_bayes.settings import KernelBayesSettings
from pages.kernel_bayes import controls, one_observation, presets, several_observations
from pages.kit.controls.settings import at, essentials

pytestmark = pytest.mark.usefixtures("own_caches")


class More(KernelBayesSettings):
    """One line more."""

    extra = Log("Extra", 0.1, low=0.01, high=1.0, plain="How much more", plain_help="An extra number.")


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study and its page declare one setting more."""
    for module in (controls, one_observation, several_observations):
        monkeypatch.setattr(module, "RULE", More)
    monkeypatch.setattr(sweep, "KernelBayesSettings", More)
    monkeypatch.setattr(sweep, "SWEEP", replace(sweep.SWEEP, settings=More.declared()))


@pytest.mark.parametrize("dimension", ["1", "6"])
def test_one_line_is_enough(more: None, open_page: Callable[..., AppTest], dimension: str) -> None:
    page = open_page("kernel_bayes", **{"k-dim": dimension, "k-extra": "0.5", "sweep": "true"})
    assert not page.exception and [box.value for box in page.error] == []
    slider = page.select_slider(key="k-extra")
    assert (slider.value, slider.label) == (0.5, "How much more")
    page.segmented_control(key="level").set_value("All").run()
    assert page.select_slider(key="k-extra").label == "How much more (extra)"
    titles = page.selectbox(key="sweep-x").options
    first = ["δ", "Regularisation (ε)", "Lengthscales, in median distances"]
    assert "How much more (extra)" in titles and titles[:3] == first
    assert page.session_state["_seen"].controls["k-extra"].words == ("0.5",)


def test_the_flag_the_schema_and_the_row_follow(more: None) -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, More)
    assert parser.parse_args(["--extra", "0.3"]).extra == 0.3 and "Extra (0.1)" in parser.format_help()
    assert schema("", More.declared())["properties"]["extra"] == {
        "title": "Extra", "type": "number", "default": 0.1, "ends": [0.01, 1.0]
    }  # fmt: skip
    small = sweep.SWEEP.complete({"dimension": 1, "pairs": 20, "prior": 20, "extra": 0.2})
    assert small["extra"] == 0.2 and "extra" in sweep.SWEEP.names(small) and sweep.SWEEP.row(small)["distance"] > 0


def test_presets_are_checked_when_they_are_made() -> None:
    assert essentials(More)["k-extra"].label == "How much more"
    for preset in presets.PRESETS:
        assert preset.values({}).keys() <= KernelBayesSettings.by_key().keys()
    with pytest.raises(InputError, match="1e-08 to 1"):
        at(KernelBayesSettings, epsilon=2.0)
    with pytest.raises(InputError, match="no setting `eps`"):
        at(KernelBayesSettings, eps=1.0)
