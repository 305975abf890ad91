"""Settings of every kind go through JSON and come back as they were."""

import json
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from deconditioning.downscaling.settings import AUTO, DownscaleSettings
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.engine.records import Run, RunSpec
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.catalogue import MODELS
from deconditioning.models.learning.trainable import NOISES
from deconditioning.models.spec import Inducing, ModelSpec
from deconditioning.models.spread import Spread
from deconditioning.studies.run_content import learned_downscaling, readable
from tests.anything import kernels, positive, seeds

names = some.text(min_size=1, max_size=12)
placements = some.sampled_from(["kmeans", "grid"])
few = settings(max_examples=25)
RUN = {
    "source": {"fields": "ukv-645m", "coarse": None, "mediator": None},
    "problem": DownscalingSpec("t", ("z",)).to_dict(),
    "settings": {},
    "model": "cmp",
}
holds = some.lists(some.sampled_from(sorted(NOISES)), unique=True).map(tuple)


@some.composite
def problems(draw: some.DrawFn) -> DownscalingSpec:
    target, *others = draw(some.lists(names, min_size=2, max_size=6, unique=True))
    cut = draw(some.integers(1, len(others)))
    return DownscalingSpec(
        target,
        tuple(others[:cut]),
        tuple(others[cut:]),
        draw(some.tuples(some.integers(1, 50), some.integers(2, 50))),
        draw(some.floats(0, 1, exclude_max=True)),
        draw(seeds),
        draw(some.sampled_from([None, "direct", "indirect"])),
        True,
        draw(some.dictionaries(names, some.integers(0, 9), max_size=2)),
    )


@some.composite
def models(draw: some.DrawFn) -> ModelSpec:
    rows = some.lists(some.tuples(some.floats(-9, 9), some.floats(-9, 9)), max_size=3).map(tuple)
    inducing = Inducing(draw(some.integers(1, 999)), draw(placements), draw(some.booleans()), draw(seeds), draw(rows))
    name = draw(some.sampled_from(sorted(MODELS)))
    return ModelSpec(
        name,
        draw(kernels()),
        draw(some.none() | kernels(("u", "v"))),
        draw(positive),
        draw(some.floats(0, 1)),
        draw(some.floats(0, 1)),
        draw(some.floats(-5, 5)),
        inducing,
        draw(some.booleans()) and _on_bags(name),
    )


def _on_bags(model: str) -> bool:
    return model == AUTO or MODELS[model].on_bags


def _goes_together(chosen: dict) -> bool:
    """Straight lines have no family of their own and no product, and a local scale needs the bags."""
    model = chosen["model"]
    only_lines = model != AUTO and not MODELS[model].has_covariate_kernel
    families = isinstance(chosen["kernel"], str) or chosen["structure"] == "product"
    return not (only_lines and families) and (_on_bags(model) or not chosen["local_scale"])


whole_kernels = kernels().map(lambda kernel: kernel.to_dict())
choices = (
    some.fixed_dictionaries(
        {
            "model": some.sampled_from([AUTO, *MODELS]),
            "kernel": some.none() | some.sampled_from(["rbf", "matern32"]) | whole_kernels,
            "structure": some.sampled_from(["sum", "product"]),
            "regularisation": some.none() | positive,
            "noise": some.none() | positive,
            "hold": some.none() | holds,
            "learn": some.booleans(),
            "local_scale": some.none() | some.booleans(),
            "points": some.integers(1, 100),
            "seed": some.integers(0, 2**32 - 1),
        }
    )
    .filter(_goes_together)
    .map(lambda chosen: DownscaleSettings(**chosen))
)


def through_json(value: dict) -> dict:
    return json.loads(json.dumps(value))


@given(problems())
def test_a_problem(spec: DownscalingSpec) -> None:
    assert DownscalingSpec.from_dict(through_json(spec.to_dict())) == spec


@few
@given(models())
def test_a_model(spec: ModelSpec) -> None:
    assert ModelSpec.from_dict(through_json(spec.to_dict())) == spec


@few
@given(choices)
def test_the_choices_of_a_downscaling(chosen: DownscaleSettings) -> None:
    assert DownscaleSettings.from_dict(through_json(chosen.to_dict())) == chosen


@few
@given(choices, models())
def test_what_was_learned_stands_in_settings_that_begin_there(chosen: DownscaleSettings, spec: ModelSpec) -> None:
    assume(chosen.structure == "sum" or spec.model.has_covariate_kernel)
    kept = DownscaleSettings.from_dict(through_json(spec_to_settings(chosen, spec).to_dict()))
    assert not kept.learn and kept.inducing_points(10**6) == spec.inducing
    assert learned_downscaling({**kept.to_dict(), "mean": spec.mean}) == spec


@pytest.mark.parametrize(
    "own",
    [
        {"inducing": Inducing(3, "grid", True, 7, ((0.5, -1.0), (2.0, 0.25), (1e-9, 3.0)))},
        {"mean": -2.5},
        {"local_scale": True},
        {"spread": Spread(("k1 variance", "noise σ²"), ((0.5, -1e-9), (0.0, 2.0)))},
        {"regularisation": 0.3, "noise": 0.7, "point_noise": 0.11},
        {"mediator_kernel": KernelSpec((Term((Factor("rbf", ("z",), (0.4,)),), 1.7),))},
    ],
    ids=lambda own: "-".join(own),
)
def test_a_run_is_restored_with_all_that_its_model_holds(own: dict) -> None:
    kernel = KernelSpec((Term((Factor("matern32", ("x", "y"), (0.3, 4.0)),), 2.5),))
    spec = ModelSpec("cmp", kernel, **own)
    stored = through_json({**spec_to_settings(DownscaleSettings("cmp"), spec).to_dict(), "mean": spec.mean})
    assert learned_downscaling(stored) == spec
    run = Run("a", RunSpec("downscale", RUN), "done", 0.0, result={"learned": stored})
    assert readable(run) == run
    assert readable(replace(run, result={"learned": stored | {"inducing": "twelve"}})).result["learned"] is None
    early = stored | {"inducing": 40}  # runs of version 0.1 may hold the count alone
    assert learned_downscaling(early) == replace(spec, inducing=Inducing(40))
