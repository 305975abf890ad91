"""Draws that show the covariance of what they are made from exactly: each has one standard Gaussian equal to one."""

from collections.abc import Sequence
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import Tensor

from deconditioning import linalg
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.spec import ModelSpec

#: So many draws; all standard Gaussians but one are zero in each.
UNITS = 3200


def units(
    monkeypatch: pytest.MonkeyPatch, of_normal: Sequence[ModuleType], of_kernel: Sequence[ModuleType],
    functions: np.ndarray | None = None,
) -> None:  # fmt: skip
    """Make the standard Gaussians of some modules unit vectors, and the prior draws of others exact: of the kernel, or,
    time by time, of ``functions`` with this covariance (T, P, T, P).
    """
    used: dict[torch.Generator, int] = {}

    def normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        count, first = int(np.prod(shape)) // UNITS, used.get(generator, 0)
        used[generator] = first + count
        assert used[generator] <= UNITS
        rows = torch.zeros(count, UNITS, dtype=torch.float64)
        rows[torch.arange(count), first + torch.arange(count)] = 1.0
        return rows.reshape(shape)

    size = 0 if functions is None else functions.shape[0] * functions.shape[1]
    root = None if functions is None else linalg.root(torch.as_tensor(functions.reshape(size, size)))
    times: list[int] = []

    def kernel_draws(
        spec: ModelSpec, problem: DownscalingProblem, count: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        pixels = len(problem.pixel)
        if root is None:
            kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach()
            drawn = linalg.root(kernel) @ normal((pixels, count), generator)
        else:
            times.append(len(times))
            drawn = (root @ normal((size, count), generator)).reshape(-1, pixels, count)[times[-1]]
        return drawn, problem.joint_data.bags.mean(drawn[torch.as_tensor(problem.joint_pixel)])

    for module in of_normal:
        monkeypatch.setattr(module, "normal", normal)
    for module in of_kernel:
        monkeypatch.setattr(module, "kernel_draws", kernel_draws)


def covariance(draw: Tensor) -> np.ndarray:
    """The covariance (n, n) of what ``UNITS`` draws are made from."""
    flat = draw.reshape(UNITS, -1).numpy()
    return flat.T @ flat


def correlation(dense: np.ndarray) -> np.ndarray:
    """The correlation of a covariance."""
    sd = np.sqrt(np.diag(dense))
    return dense / np.outer(sd, sd)
