"""The model as one of its sliders would make it, without the slider."""

from collections.abc import Collection
from dataclasses import replace

from deconditioning.downscaling.pictures.covariate_trust import trusted
from deconditioning.downscaling.pictures.settings import SliderSettings
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.spec import ModelSpec
from pages.downscaling.model import slider_key

_NUMBERS = ("noise", "point_noise", "regularisation")


def moved(spec: ModelSpec, key: str, ratio: float, covariates: Collection[str] = ()) -> ModelSpec:
    """The model where the slider of that key shows ``ratio`` times its value; the same model for any other key."""
    if key == SliderSettings.trust.key:
        return replace(spec, kernel=trusted(spec.kernel, covariates, ratio))
    for name in _NUMBERS:
        if DownscaleSettings.declaration(name).key == key:
            return replace(spec, **{name: getattr(spec, name) * ratio})
    mediator = spec.mediator_kernel
    return replace(
        spec,
        kernel=_moved_kernel("k", spec.kernel, key, ratio),
        mediator_kernel=None if mediator is None else _moved_kernel("l", mediator, key, ratio),
    )


def _moved_kernel(prefix: str, kernel: KernelSpec, key: str, ratio: float) -> KernelSpec:
    terms = []
    for index, term in enumerate(kernel.terms):
        factors = tuple(_moved_factor(prefix, (index, i), each, key, ratio) for i, each in enumerate(term.factors))
        terms.append(Term(factors, term.scale * (ratio if slider_key(prefix, "s", index) == key else 1.0)))
    return KernelSpec(tuple(terms))


def _moved_factor(prefix: str, place: tuple[int, int], factor: Factor, key: str, ratio: float) -> Factor:
    of_scale = 1 / ratio if factor.kind.slopes_for_scales else ratio
    scales = tuple(
        scale * (of_scale if slider_key(prefix, "l", *place, column) == key else 1.0)
        for column, scale in enumerate(factor.lengthscales)
    )
    parameters = {
        name: value * (ratio if slider_key(prefix, name, *place) == key else 1.0)
        for name, value in factor.numbers.items()
    }
    return replace(factor, lengthscales=scales, parameters=parameters)
