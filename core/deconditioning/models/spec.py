"""A model with its kernels and noise variances: immutable, and written to JSON by the model's name."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.catalogue import named
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spread import Spread


@dataclass(frozen=True)
class Inducing:
    """Inducing points of a sparse model.

    ``count`` points placed by ``placement`` ("kmeans" on the bags' points, or "grid"); ``learned`` with the
    hyperparameters, or fixed; ``locations`` (count rows) override both once they are known.
    """

    count: int = 200
    placement: str = "kmeans"
    learned: bool = False
    seed: int = 0
    locations: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.placement not in ("kmeans", "grid"):
            raise InputError(f"The placement '{self.placement}' of inducing points is unknown: choose kmeans or grid.")
        if self.count < 1:
            raise InputError(f"{self.count} inducing points were requested: give at least one.")

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "Inducing":
        """Inducing points from what ``dataclasses.asdict`` gives; what is left out has its default."""
        return Inducing(**{**value, "locations": tuple(tuple(row) for row in value.get("locations", ()))})


@dataclass(frozen=True)
class ModelSpec:
    """Everything that a posterior needs besides the data.

    Parameters
    ----------
    model : a model of ``deconditioning.models.catalogue``, or its name, as in JSON.
    kernel : ``k`` on the high-resolution inputs.
    mediator_kernel : ``ℓ`` on the mediating variables; unused by models without mediation.
    regularisation : ``λ``, which enters as ``Bλ`` (shrinkage) or ``Nλ`` (CMP).
    noise : ``σ²``, variance of a target's observation noise (targets are standardised).
    point_noise : ``ς²``, variance of independent noise at each high-resolution point.
    representativeness : ``τ²``, variance by which a target measured at a point differs from its pixel; of several
        sources beside the cells one for each; unused without such targets.
    mean : constant prior mean ``m``.
    inducing : inducing points of a sparse model; unused by exact models.
    local_scale : whether the sd of f is multiplied by κ, where left-out cells show larger or smaller errors than
        predicted (`deconditioning.models.local_scale`).
    spread : the posterior spread of the hyperparameters, over which a map is averaged
        (`deconditioning.models.learning.integrate`); None if they are taken as known.
    others : further models and their weights, where the posterior is the average of several (`components`).

    Source: Chau et al. 2021, §3 and App. E.2.
    """

    model: NamedModel
    kernel: KernelSpec
    mediator_kernel: KernelSpec | None = None
    regularisation: float = 1e-4
    noise: float = 0.01
    point_noise: float = 0.0
    mean: float = 0.0
    inducing: Inducing = Inducing()
    local_scale: bool = False
    spread: Spread | None = None
    others: tuple[tuple[float, "ModelSpec"], ...] = ()
    representativeness: float | tuple[float, ...] = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.model, NamedModel):
            object.__setattr__(self, "model", named(self.model))
        each = self.representativeness
        object.__setattr__(self, "representativeness", tuple(each) if isinstance(each, list | tuple) else each)
        numbers = [("representativeness", value, 0.0) for value in self.noises_of_sources]
        for name, low in (("regularisation", 0.0), ("noise", 0.0), ("point_noise", 0.0), ("mean", -math.inf)):
            numbers.append((name, getattr(self, name), low))
        for name, value, low in numbers:
            if not math.isfinite(value) or value < low:
                raise InputError(f"`{name}` is {value}: give a finite number that is not negative.")
        weights = [weight for weight, _ in self.others]
        if weights and not (min(weights) > 0 and sum(weights) < 1 and not any(spec.others for _, spec in self.others)):
            raise InputError(f"The weights of the other models are {weights}: give positive ones with a sum below 1.")

    @property
    def noises_of_sources(self) -> tuple[float, ...]:
        """τ² of each source beside the cells, or the one that all of them have."""
        each = self.representativeness
        return each if isinstance(each, tuple) else (each,)

    @property
    def components(self) -> tuple[tuple[float, "ModelSpec"], ...]:
        """The models of which the posterior is the average ``Σ_k w_k p_k``, with their weights w: itself first."""
        if not self.others:
            return ((1.0, self),)
        return ((1.0 - sum(weight for weight, _ in self.others), replace(self, others=())), *self.others)

    def value_sd(self, variance: Tensor) -> Tensor:
        """Sd of a single pixel ``y = f(x) + e``, ``e ~ N(0, ς²)``, from the variance of f: ``√(var f + ς²)``.

        The truth is compared with this sd, because a pixel includes the noise. The small correlation of e with its
        cell's mean (one over the number of pixels in the cell) is neglected. Negative rounding errors are set to zero.
        """
        return (variance.clamp_min(0) + self.point_noise).sqrt()

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able description, the inverse of ``from_dict``."""
        mediator = self.mediator_kernel.to_dict() if self.mediator_kernel else None
        parts = {"model": self.model.name, "kernel": self.kernel.to_dict(), "mediator_kernel": mediator}
        spread = self.spread.to_dict() if self.spread else None
        result = {**asdict(replace(self, others=())), **parts, "spread": spread}
        del result["others"]
        return result | (others_to_dict(self.others) if self.others else {})

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "ModelSpec":
        """The specification that ``to_dict`` describes; ``InputError`` for an unknown model, family or parameter."""
        mediator = value.get("mediator_kernel")
        parts = {
            "kernel": KernelSpec.from_dict(value["kernel"]),
            "mediator_kernel": KernelSpec.from_dict(mediator) if mediator else None,
            "inducing": Inducing.from_dict(value.get("inducing", {})),
            "spread": Spread.from_dict(value["spread"]) if value.get("spread") else None,
            "others": others_from_dict(value),
        }
        return ModelSpec(**{**value, **parts})


def others_to_dict(others: tuple[tuple[float, ModelSpec], ...]) -> dict[str, Any]:
    """Plain data of the other models of an average."""
    return {"others": [{"weight": weight, "spec": spec.to_dict()} for weight, spec in others]}


def others_from_dict(value: Mapping[str, Any]) -> tuple[tuple[float, ModelSpec], ...]:
    """The inverse of ``others_to_dict``; none if there are none."""
    return tuple((float(each["weight"]), ModelSpec.from_dict(each["spec"])) for each in value.get("others") or ())
