"""The hyperparameters of a model as trainable numbers, and the model at their current values."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import Check, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.indirect_gp import Columns, check_matching, mediator_grams
from deconditioning.models.learning.initial import ONE_SOURCE
from deconditioning.models.learning.parameters import (
    NOISE,
    Parameter,
    ParameterVector,
    kernel_parameters,
    log_parameter,
    log_prior,
    plain_parameter,
)
from deconditioning.models.sparse.inducing import place
from deconditioning.models.sparse.target_summary import TargetSummary, summarise
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData, Representativeness

#: Bounds of λ·B when λ is learned by the evidence itself.
_REGULARISATION_TIMES_BAGS = (1e-8, 1.0)
#: Noises by their field of a `ModelSpec`, and what learning calls them.
NOISES = {"noise": "noise σ²", "point_noise": "point noise ς²", "representativeness": "representativeness τ²"}
#: W, and what it leaves unknown as a function of K̄.
_Mediation = tuple[Tensor | None, Callable[[Tensor], Tensor] | None]
#: How far an inducing point may travel, in standardised units.
_REACH = 20.0


def _of_source(label: str, number: int) -> str:
    """The name of a noise of one of several sources, counted from 0."""
    return f"{label} of source {1 + number}"


def noises_at(spec: ModelSpec, values: Mapping[str, float]) -> dict[str, Any]:
    """σ², ς² and τ² (of several sources a tuple) of a model by their fields, with the ``values`` that learning has by
    its own names in place of the model's."""
    result: dict[str, Any] = {name: values.get(label, getattr(spec, name)) for name, label in NOISES.items()}
    label, each = NOISES["representativeness"], spec.noises_of_sources
    if len(each) > 1:
        result["representativeness"] = tuple(values.get(_of_source(label, i), tau) for i, tau in enumerate(each))
    return result


def noises_by_label(spec: ModelSpec) -> dict[str, float]:
    """σ², ς² and τ² of a model by the names that learning gives them."""
    result = {label: getattr(spec, name) for name, label in NOISES.items() if name != "representativeness"}
    label, each = NOISES["representativeness"], spec.noises_of_sources
    return result | ({_of_source(label, i): tau for i, tau in enumerate(each)} if len(each) > 1 else {label: each[0]})


class Trainable:
    """Trainable k, σ², ς² (where the model has point noise), τ² (of targets at points), and with ``joint`` ℓ and λ.

    Parameters
    ----------
    spec : where learning starts.  data, columns : what W is computed from.
    joint : ℓ learned too (a model whose Σ comes from ℓ always learns it); ``regularisation`` says whether λ is, or
        stays; ``tied`` makes it ``σ²/B``.
    hold : noises that stay as given, among those of `NOISES` and `ONE_SOURCE`.
    smoothest : the largest exponent α of a powered exponential.
    held_to : a kernel of the same make where the priors of k have their centres, ``spec``'s own where None.
    Inducing points of a sparse model are placed here, and trained where its spec says so.
    """

    def __init__(
        self,
        spec: ModelSpec,
        data: IndirectData,
        columns: Columns,
        *,
        joint: bool = False,
        regularisation: bool = True,
        tied: bool = False,
        hold: tuple[str, ...] = (),
        held_to: KernelSpec | None = None,
        smoothest: float = math.inf,
    ) -> None:
        check_matching(spec, data)
        device = data.targets.device
        self.spec, self.columns, self.model, self._data = spec, columns, spec.model, data
        self.kernel = spec.kernel.build(columns.inputs).to(device)
        there = {"noise": True, "point_noise": spec.point_noise > 0, "representativeness": data.points is not None}
        self._fixed_sources = {number for name, number in ONE_SOURCE.items() if name in hold}
        self._noises = {name: self._noise_parameters(name, data) for name in NOISES if name not in hold and there[name]}
        noises = [parameter for each in self._noises.values() for parameter in each]
        parameters = [*kernel_parameters("k", spec.kernel, self.kernel, smoothest=smoothest), *noises]
        self.joint = self.model.learns_mediation_with_the_rest(joint) and spec.mediator_kernel is not None
        self._regularisation: Parameter | None = None
        self._tied_to = len(data.mediators) if tied and self.joint else None
        if self.joint:
            parameters += self._mediation_parameters(data, regularisation and not tied)
        self.inducing: Tensor | None = None
        if self.model.sparse:
            self.inducing = place(spec.inducing, data.bags.inputs)
            if spec.inducing.learned:
                self.inducing.requires_grad_(True)
                parameters.append(plain_parameter("inducing coordinate", self.inducing, _REACH))
        self._frozen: _Mediation | None = None
        self._summary: TargetSummary | None = None
        self.vector = ParameterVector(tuple(parameters))
        self._starts = [p.raw.detach().clone() for p in parameters]
        if held_to is not None:
            centres = kernel_parameters("k", held_to, held_to.build(columns.inputs).to(device))
            self._starts[: len(centres)] = [p.raw.detach() for p in centres]

    def _noise_parameters(self, name: str, data: IndirectData) -> list[Parameter]:
        """A noise variance, or that of each source beside the cells that is not fixed."""
        label, device, start = NOISES[name], data.targets.device, getattr(self.spec, name)
        if name != "representativeness" or data.points is None or len(data.points.sizes) == 1:
            start = start[0] if isinstance(start, tuple) else start
            fixed = name == "representativeness" and 0 in self._fixed_sources
            return [] if fixed else [log_parameter(label, start, NOISE, device)]
        return [
            log_parameter(_of_source(label, i), value, NOISE, device)
            for i, value in enumerate(self._starts_of_sources()) if i not in self._fixed_sources
        ]  # fmt: skip

    def _starts_of_sources(self) -> tuple[float, ...]:
        """τ² of each source beside the cells, as given."""
        assert self._data.points is not None
        each = self.spec.noises_of_sources
        return each if len(each) > 1 else each * len(self._data.points.sizes)

    def _mediation_parameters(self, data: IndirectData, regularisation: bool) -> list[Parameter]:
        spec, device = self.spec, data.targets.device
        assert spec.mediator_kernel is not None
        self.mediator_kernel = spec.mediator_kernel.build(self.columns.mediators).to(device)
        fixed = not self.model.correlated
        parameters = kernel_parameters("ℓ", spec.mediator_kernel, self.mediator_kernel, fix_first_scale=fixed)
        if regularisation:
            low, high = (bound / len(data.mediators) for bound in _REGULARISATION_TIMES_BAGS)
            self._regularisation = log_parameter("regularisation λ", spec.regularisation, (low, high), device)
            parameters.append(self._regularisation)
        return parameters

    @property
    def noise(self) -> Tensor:
        """σ², learned or as given."""
        free = self._noises.get("noise")
        return self._data.targets.new_tensor(self.spec.noise) if free is None else free[0].raw.exp()

    @property
    def point_noise(self) -> Tensor | float:
        """ς², learned or as given; 0.0 where the model has none."""
        free = self._noises.get("point_noise")
        return self.spec.point_noise if free is None else free[0].raw.exp()

    @property
    def representativeness(self) -> Representativeness:
        """τ², learned or as given; of several sources one for each."""
        free = self._noises.get("representativeness")
        if not free:
            return self.spec.representativeness
        learned, starts = (each.raw.exp() for each in free), self._starts_of_sources()
        each = tuple(value if i in self._fixed_sources else next(learned) for i, value in enumerate(starts))
        return each if len(each) > 1 else each[0]

    @property
    def regularisation(self) -> Tensor | float:
        """λ, learned, tied to σ² or as given."""
        if self._tied_to is not None:
            return self.noise / self._tied_to
        return self.spec.regularisation if self._regularisation is None else self._regularisation.raw.exp()

    def weights(self, data: IndirectData) -> Float[Tensor, "B M"] | None:
        """W for ``data``: None if it is the identity, a constant unless ℓ is trained too."""
        return self.mediation(data)[0]

    def mediation(self, data: IndirectData) -> _Mediation:
        """W as ``weights`` gives it, and the part of Σ that comes from ℓ, as a function of K̄ (None if there is
        none)."""
        if not self.model.mediated:
            return None, None
        if self.joint:
            grams = mediator_grams(self.spec, data, self.columns, self.mediator_kernel)
            return self.model.mediation(grams, self.regularisation, data.bags_without_mediators)
        if data is not self._data:
            return self._fixed(data)
        if self._frozen is None:
            self._frozen = self._fixed(data)
        return self._frozen

    def _fixed(self, data: IndirectData) -> _Mediation:
        with torch.no_grad():
            grams = mediator_grams(self.spec, data, self.columns)
            return self.model.mediation(grams, self.spec.regularisation, data.bags_without_mediators)

    def summary(self, data: IndirectData, check: Check = never) -> TargetSummary:
        """What the bags see of the targets, W staying as it is; kept for the data that learning starts from."""
        if data is not self._data:
            return summarise(self.spec, data, self.columns, check)
        if self._summary is None:
            self._summary = summarise(self.spec, data, self.columns, check)
        return self._summary

    def log_prior(self, width: float) -> Tensor:
        """``−½ Σ ((log θ − log θ₀)/w)²`` over what k and ℓ are made of, w the ``width`` times their ``spread``."""
        return log_prior(self.vector.parameters, self._starts, width)

    def prior_centres(self) -> np.ndarray:
        """The centres of the priors, in the order of ``vector``."""
        return np.concatenate([start.cpu().numpy().ravel() for start in self._starts])

    def learned(self) -> ModelSpec:
        """The model at the present values."""

        def number(value: Tensor | float) -> float:
            """A parameter as a float."""
            return float(value.detach()) if isinstance(value, Tensor) else value

        each = self.representativeness
        spec = replace(
            self.spec,
            kernel=self.spec.kernel.updated(self.kernel),
            noise=number(self.noise),
            point_noise=number(self.point_noise),
            representativeness=tuple(number(value) for value in each) if isinstance(each, tuple) else number(each),
            regularisation=number(self.regularisation),
        )
        if self.joint and spec.mediator_kernel is not None:
            spec = replace(spec, mediator_kernel=spec.mediator_kernel.updated(self.mediator_kernel))
        if self.inducing is not None:
            rows = tuple(tuple(row) for row in self.inducing.detach().cpu().tolist())
            spec = replace(spec, inducing=replace(spec.inducing, locations=rows))
        return spec
