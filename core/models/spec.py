"""A model as data: its name, kernels and noises; frozen and JSON-able."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from core.errors import InputError
from core.kernels.spec import KernelSpec


@dataclass(frozen=True)
class ModelSpec:
    """Everything a posterior needs beside the data.

    Parameters
    ----------
    model : name in ``core.models.catalogue.MODELS``.
    kernel : ``k`` on the high-resolution inputs.
    mediator_kernel : ``ℓ`` on the mediating variables; unused by models without mediation.
    regularisation : ``λ``; it stands inside ``Bλ`` (shrinkage) or ``Nλ`` (CMP).
    noise : ``σ²``, variance of a target's observation noise (targets are standardised).
    point_noise : ``ς²``, variance of independent noise at each high-resolution point.
    mean : constant prior mean ``m``.

    Source: Chau et al. 2021, §3 and App. E.2.
    """

    model: str
    kernel: KernelSpec
    mediator_kernel: KernelSpec | None = None
    regularisation: float = 1e-4
    noise: float = 0.01
    point_noise: float = 0.0
    mean: float = 0.0

    def __post_init__(self) -> None:
        for name, low in (("regularisation", 0.0), ("noise", 0.0), ("point_noise", 0.0), ("mean", -math.inf)):
            value = getattr(self, name)
            if not math.isfinite(value) or value < low:
                raise InputError(f"`{name}` is {value}: give a finite number that is not negative.")

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able description, inverse of ``from_dict``."""
        mediator = self.mediator_kernel.to_dict() if self.mediator_kernel else None
        return {**asdict(self), "kernel": self.kernel.to_dict(), "mediator_kernel": mediator}

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "ModelSpec":
        """A specification from its JSON-able description."""
        mediator = value.get("mediator_kernel")
        kernels = {
            "kernel": KernelSpec.from_dict(value["kernel"]),
            "mediator_kernel": KernelSpec.from_dict(mediator) if mediator else None,
        }
        return ModelSpec(**{**value, **kernels})
