"""A seed that some generator cannot take is refused where settings are built, in one sentence."""

import importlib

import pytest

from deconditioning.cli.options import seeds_of
from deconditioning.cli.program import main
from deconditioning.errors import InputError
from deconditioning.plain_data import MOST_SEED, check_seed

#: Settings with a seed, and what else they need.
SETTINGS = {
    "deconditioning.fields.spec.DownscalingSpec": {"target": "t", "covariates": ("a",)},
    "deconditioning.downscaling.settings.DownscaleSettings": {},
    "deconditioning.datasets.one_dimension.LineSpec": {},
    "deconditioning.studies.one_dimension.problem.LineSettings": {},
    "deconditioning.datasets.swiss_roll.RollSpec": {},
    "deconditioning.studies.swiss_roll.study.RollSettings": {},
    "deconditioning.datasets.sparse_toy.ToySpec": {},
    "deconditioning.studies.sparse_representation.study.SparseSettings": {},
    "deconditioning.studies.kernel_bayes.study.GaussianSpec": {},
    "deconditioning.studies.filtering.camera.CameraSpec": {},
    "deconditioning.studies.conditional_means.study.BagLayout": {},
    "deconditioning.distribution_regression.simulate.SimulationSpec": {},
    "deconditioning.engine.records.RunSpec": {"task": "a", "settings": {}},
}
BAD = [2**70, 2**32, -1, 1.5, float("inf"), float("nan"), "first", None, 10**5000]


def build(path: str, **given):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)(**SETTINGS[path], **given)


@pytest.mark.parametrize("seed", BAD, ids=[str(value)[:8] for value in BAD[:-1]] + ["huge"])
@pytest.mark.parametrize("path", SETTINGS)
def test_settings_refuse_what_is_no_seed(path, seed):
    with pytest.raises(InputError, match="seed") as error:
        build(path, seed=seed)
    assert str(error.value).endswith(".") and len(str(error.value)) < 200


@pytest.mark.parametrize("path", SETTINGS)
def test_the_largest_seed_is_taken(path):
    assert build(path, seed=MOST_SEED).seed == MOST_SEED


@pytest.mark.parametrize(
    "command",
    ["likelihood-free --seeds {}", "downscale ukv-645m --seed {}", "swiss-roll --seeds 0 {}",
     "one-dimension --seeds {}", "distribution-regression --seeds {}", "distribution-regression --seeds 0-{}"],
)  # fmt: skip
def test_on_the_command_line_it_is_one_sentence(command, capsys):
    assert main(command.format(2**70).split()) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and "give a whole number from 0 to 4294967295." in said.err


def test_a_range_of_seeds_has_an_end():
    with pytest.raises(InputError, match="more than 100,000 seeds"):
        seeds_of(["0-4294967295"])
    with pytest.raises(InputError, match="is not a number"):
        seeds_of(["²"])
    assert seeds_of(["3", "5-7"]) == [3, 5, 6, 7]


def test_what_is_refused_is_told_in_few_words():
    with pytest.raises(InputError, match="`--seed` is a number of 200 bits: give"):
        check_seed(2**199, "--seed")


def test_infinite_settings_of_a_problem_are_sentences():
    for given in ({"block": (float("inf"), 3)}, {"select": {"time": float("inf")}}, {"withhold": float("nan")}):
        with pytest.raises(InputError):
            build("deconditioning.fields.spec.DownscalingSpec", **given)
    assert build("deconditioning.fields.spec.DownscalingSpec", seed="5").seed == 5
