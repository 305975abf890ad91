"""The slider of the trust in the covariates: it shows how much of their effect on the map is kept."""

import json
from collections.abc import Callable
from weakref import WeakKeyDictionary

from deconditioning.downscaling.pictures.covariate_trust import TrustScale, trust_scale, trusted
from deconditioning.downscaling.pictures.settings import SliderSettings
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import number
from pages.kit.controls.settings import control

_SCALES: WeakKeyDictionary[DownscalingProblem, dict[str, TrustScale | None]] = WeakKeyDictionary()


def trust_slider(problem: DownscalingProblem, start: ModelSpec, kernel: KernelSpec) -> KernelSpec:
    """The kernel with the trust in the covariates that the slider asks for, whose stops move the map evenly; the kernel
    itself, and no slider, where no term of ``start`` is of the covariates alone."""
    scale = _scale_of(problem, start)
    if scale is None:
        return kernel
    shown = scale.factors[0], 1.0  # an earlier address may ask for more
    chosen = control(SliderSettings.trust, stops=scale.stops(), reads=_as_share_kept(scale), shown=shown)
    return trusted(kernel, problem.spec.covariates, chosen)


def _as_share_kept(scale: TrustScale) -> Callable[[float], str]:
    """How a factor on the covariates' prior sd reads: the share of their effect on the map that is kept."""

    def reads(factor: float) -> str:
        if factor > 1:
            return f"over 100 % (sd × {number(factor, 3)})"
        return f"{number(100 * scale.share(factor), 3)} %"

    return reads


def _scale_of(problem: DownscalingProblem, start: ModelSpec) -> TrustScale | None:
    """`trust_scale` where the sliders begin, kept as long as the problem is."""
    known, name = _SCALES.setdefault(problem, {}), json.dumps(start.to_dict(), sort_keys=True)
    if name not in known:
        known[name] = trust_scale(problem, start)
    return known[name]
