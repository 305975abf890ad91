"""A small neural network in front of a kernel: ``k(φ(x), φ(x′))`` with φ learned like any hyperparameter.

Source: Chau et al. 2021, App. B.1 (kernels parametrised by feature maps); Wilson et al. 2016, *Deep kernel learning*.
"""

import itertools
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from core.errors import InputError


@dataclass(frozen=True)
class FeatureMap:
    """``φ``: a network of tanh layers on some columns; its outputs are columns ``feature1 …`` that factors may name.

    Parameters
    ----------
    columns : what it looks at (standardised).  outputs : how many columns it makes.  hidden : widths of its layers.
    seed : of its first weights.  weights : one flat row a layer (weights, then biases) once they are learned.
    """

    columns: tuple[str, ...]
    outputs: int = 2
    hidden: tuple[int, ...] = (16,)
    seed: int = 0
    weights: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        if not self.columns or self.outputs < 1 or any(width < 1 for width in self.hidden):
            raise InputError(
                f"A feature map of {len(self.columns)} columns, widths {list(self.hidden)} and {self.outputs} outputs "
                "was asked for: give at least one of each."
            )
        if self.weights and [len(row) for row in self.weights] != [(a + 1) * b for a, b in self._layers]:
            raise InputError("The weights of the feature map do not fit its layers: leave them out to begin anew.")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns it makes."""
        return tuple(f"feature{index + 1}" for index in range(self.outputs))

    @property
    def _layers(self) -> list[tuple[int, int]]:
        widths = (len(self.columns), *self.hidden, self.outputs)
        return list(itertools.pairwise(widths))

    def build(self, columns: tuple[str, ...]) -> "FeatureNetwork":
        """The network on inputs whose columns are named ``columns``, float64."""
        missing = [name for name in self.columns if name not in columns]
        if missing:
            raise InputError(f"The feature map names the column '{missing[0]}', the data have {', '.join(columns)}.")
        shadowed = [name for name in self.names if name in columns]
        if shadowed:
            raise InputError(
                f"The data have a column '{shadowed[0]}', the name of an output of the feature map: rename the column."
            )
        return FeatureNetwork([columns.index(name) for name in self.columns], self._layers, self._rows())

    def _rows(self) -> list[Tensor]:
        if self.weights:
            return [torch.tensor(row, dtype=torch.float64) for row in self.weights]
        generator = torch.Generator().manual_seed(self.seed)
        rows = []
        for fan_in, fan_out in self._layers:
            slopes = torch.randn(fan_in * fan_out, generator=generator, dtype=torch.float64) / fan_in**0.5
            shifts = 0.3 * torch.randn(fan_out, generator=generator, dtype=torch.float64)
            rows.append(torch.cat([slopes, shifts]))
        return rows

    def updated(self, network: "FeatureNetwork") -> "FeatureMap":
        """This map with the weights of a network that ``build`` made and learning changed."""
        return replace(self, weights=tuple(tuple(row.detach().cpu().tolist()) for row in network.rows))


class FeatureNetwork(nn.Module):
    """Inputs (n, d) with the outputs of the map appended (n, d + outputs)."""

    def __init__(self, index: list[int], layers: list[tuple[int, int]], rows: list[Tensor]) -> None:
        super().__init__()
        self.index, self.layers = index, layers
        self.rows = nn.ParameterList(rows)

    def forward(self, inputs: Float[Tensor, "n d"]) -> Float[Tensor, "n e"]:
        """``[x, φ(x)]`` with tanh after every layer but the last."""
        values = inputs[:, self.index]
        for number, ((fan_in, fan_out), row) in enumerate(zip(self.layers, self.rows, strict=True)):
            slopes, shifts = row[: fan_in * fan_out].reshape(fan_out, fan_in), row[fan_in * fan_out :]
            values = values @ slopes.T + shifts
            if number < len(self.layers) - 1:
                values = values.tanh()
        return torch.cat([inputs, values], dim=1)
