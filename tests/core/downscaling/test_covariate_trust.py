"""The scale of the trust in the covariates: against the closed form of one slope, and against the maps themselves."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.datasets.entries import find
from deconditioning.downscaling import interactive
from deconditioning.downscaling.pictures.covariate_trust import TrustScale, trust_scale, trusted
from deconditioning.downscaling.prediction import matched_data
from deconditioning.downscaling.presets import preset
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.spec import ModelSpec
from tests.core.test_downscaled_maps import problem_on


def test_the_share_of_one_slope_is_its_shrinkage() -> None:
    """With a slope b of prior variance t² and white noise the estimate is t²λ / (1 + t²λ) of the least-squares one,
    λ = |x̄|² / σ²; the path of a single number is the number itself."""
    problem, noise = problem_on("latlon"), 0.3
    spec = ModelSpec("area_to_point_gp", KernelSpec((Term((Factor("linear", ("orog",), (1.0,)),)),)), noise=noise)
    scale, bags = trust_scale(problem, spec), problem.data.bags
    assert scale is not None and bags.count <= 200
    column = bags.inputs[:, list(problem.columns).index("orog")]
    means = torch.stack([_few(column[bags.bag == bag]).mean() for bag in range(bags.count)])
    ratio = float((means**2).sum()) / noise
    estimate = [t**2 * ratio / (1 + t**2 * ratio) for t in (scale.factors[0], *scale.factors)][1:]
    expected = (np.array(estimate) - estimate[0]) / (estimate[-1] - estimate[0])
    assert np.allclose(scale.shares, expected, atol=1e-9)
    assert scale.share(scale.stops(4)[3]) == pytest.approx(0.75, abs=1e-6)


def _few(values: torch.Tensor) -> torch.Tensor:
    """The points of a cell that the scale looks at."""
    return values[torch.linspace(0, len(values) - 1, min(len(values), 6)).round().long()]


def test_without_terms_of_the_covariates_there_is_no_scale() -> None:
    kernel = KernelSpec((Term((Factor("rbf", ("latitude", "longitude"), (1.0,)),)),))
    assert trust_scale(problem_on("latlon"), ModelSpec("area_to_point_gp", kernel)) is None


@pytest.fixture(scope="module")
def example() -> tuple[DownscalingProblem, ModelSpec]:
    """The first worked example with the model that comes with it."""
    entry = find("ukv-645m")
    source, spec = Source(entry.key), DownscalingSpec.from_dict(entry.default)
    model = preset(source.to_dict(), spec.to_dict(), DownscaleSettings(model="area_to_point_gp"))
    assert model is not None
    return build_problem(source, spec), model


def changes(problem: DownscalingProblem, model: ModelSpec, factors: list[float]) -> np.ndarray:
    """Root mean square change of the mean map from each factor to the next."""
    store, data, look = SumsStore(), matched_data(problem, model), interactive.sketch(problem)
    picture = interactive.picture_or_none(problem, model)
    means = []
    for factor in factors:
        now = replace(model, kernel=trusted(model.kernel, problem.spec.covariates, factor))
        means.append(np.asarray(interactive.preview(now, data, problem, "k", store, picture, look).mean))
    return np.array([np.sqrt(np.mean((b - a) ** 2)) for a, b in pairwise(means)])


def test_the_map_changes_over_the_whole_travel(example: tuple[DownscalingProblem, ModelSpec]) -> None:
    """From one tenth of the slider to the next about equally; on a logarithmic one half of the travel did nothing."""
    problem, model = example
    scale = trust_scale(problem, model)
    assert isinstance(scale, TrustScale)
    even = changes(problem, model, scale.stops(10))
    assert even.max() < 2 * even.min(), even
    logarithmic = changes(problem, model, list(np.geomspace(0.01, 4.0, 11)))
    assert np.sort(logarithmic)[5] < 0.15 * logarithmic.max()
