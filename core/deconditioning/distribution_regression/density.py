"""The density plug-in: each subject's measures replaced by an estimated density (Tang et al., eq. 21).

Gaussian kernel estimates are evaluated on one fine grid for all subjects, where sums are integrals by the trapezoidal
rule: for Gaussians of bandwidth h at a spacing of h/2 its error is ``2e^{−2π²·4}``, below rounding (Trefethen and
Weideman 2014, *The exponentially convergent trapezoidal rule*).
"""

import gpytorch
import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.distribution_regression.subjects import Subjects
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import diagonal, evaluate
from deconditioning.observations import Bags

#: Rules for the bandwidth, all for one subject of sd s, interquartile range q and m measures.
BANDWIDTHS = ("silverman", "silverman_0.9", "scott")
#: What happens to the mass that leaks beyond the range of all measures: it stays there, is folded back inside, or is
#: taken away and the rest made to sum to one.
_ENDS = ("open", "reflect", "cut")
#: Grid spacing in bandwidths, reach beyond the measures in bandwidths, the most grid points.
_SPACING, _REACH, _MOST_POINTS = 0.5, 8.3, 4096
_TILE = 1 << 20


def bandwidths(subjects: Subjects, rule: str = "silverman") -> Float[Tensor, " n"]:
    """h of each subject: "silverman" 1.06 s m^{−1/5}, "silverman_0.9" 0.9 min(s, q/1.34) m^{−1/5}, "scott" s m^{−1/5}.

    A subject with constant values gets the narrowest bandwidth that the grid resolves. Source: Silverman 1986, eq. 3.28
    and 3.31; Scott 1992, with the factor 1 that programs use.
    """
    if rule not in BANDWIDTHS:
        raise InputError(f"The bandwidth rule '{rule}' is unknown: choose {', '.join(BANDWIDTHS)}.")
    bags = subjects.bags
    x, m = bags.inputs[:, 0], bags.sizes
    mean = bags.mean(x)
    variance = bags.mean((x - mean[bags.bag]).square()) * m / (m - 1).clamp_min(1)
    sd = variance.clamp_min(0).sqrt()
    if rule == "silverman_0.9":
        quartile = _interquartile(bags)
        narrow = torch.where(quartile > 0, torch.minimum(sd, quartile / 1.34), sd)
        result = 0.9 * narrow * m**-0.2
    else:
        result = ((4 / 3) ** 0.2 if rule == "silverman" else 1.0) * sd * m**-0.2
    span = float(x.max() - x.min())
    least = span / (_MOST_POINTS * _SPACING * 0.8)
    return result.clamp_min(max(least, 1e-12))


def _interquartile(bags: Bags) -> Float[Tensor, " n"]:
    """q of each subject: smallest values that a quarter and three quarters of the measures do not exceed."""
    order = torch.from_numpy(np.lexsort((bags.inputs[:, 0].cpu().numpy(), bags.bag.cpu().numpy()))).to(bags.bag.device)
    x, bag = bags.inputs[order, 0], bags.bag[order]
    running = bags.weights[order].cumsum(0)
    first = torch.ones_like(bag, dtype=torch.bool)
    first[1:] = bag[1:] != bag[:-1]
    before = torch.cat([running.new_zeros(1), running[:-1]])[first]
    share = running - before[bag]
    ends = []
    for level in (0.25, 0.75):
        reached = share >= level - 1e-12
        starts = reached.clone()
        starts[1:] &= first[1:] | ~reached[:-1]
        ends.append(x[starts])
    return ends[1] - ends[0]


class DensitySums:
    """The sums ``M`` and ``l`` of a kernel under estimated densities, with the interface of ``KernelSums``.

    ``ends``: one of ``_ENDS``; "reflect" and "cut" are treatments of the boundary.
    """

    def __init__(
        self, subjects: Subjects, rule: str = "silverman", ends: str = "open", *, check: Check = never
    ) -> None:
        if ends not in _ENDS:
            raise InputError(f"The treatment '{ends}' of the ends of densities is unknown: choose {', '.join(_ENDS)}.")
        if len(subjects.columns) != 1:
            raise InputError(
                f"Density estimates need one column of measures, and there are {len(subjects.columns)}: choose one."
            )
        self.columns, self.width = subjects.columns, bandwidths(subjects, rule)
        x = subjects.bags.inputs[:, 0]
        low, high = float(x.min()), float(x.max())
        self.grid, self.weights = _on_grid(subjects.bags, self.width, low, high, check)
        if ends == "cut" and high > low:
            self.weights = self.weights * ((self.grid >= low) & (self.grid <= high))
            self.weights = self.weights / self.weights.sum(1, keepdim=True)
        if ends == "reflect" and high > low:
            inside = self.grid.clone()
            inside = torch.where(inside < low, 2 * low - inside, inside)
            self.grid = torch.where(inside > high, 2 * high - inside, inside).clamp(low, high)

    def gram(self, kernel: KernelSpec) -> Float[Tensor, "n n"]:
        """``M`` (n, n): the kernel's mean under pairs of densities."""
        grid = self.grid[:, None]
        with torch.no_grad():
            total = self.weights @ evaluate(self._built(kernel), grid, grid) @ self.weights.T
        return 0.5 * (total + total.T)

    def cross(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "n P"]:
        """``l(s)`` (n, P)."""
        with torch.no_grad():
            return self.weights @ evaluate(self._built(kernel), self.grid[:, None], inputs)

    def prior(self, kernel: KernelSpec, left: Tensor, right: Tensor) -> Float[Tensor, "P Q"]:
        """``K(s, t)``."""
        with torch.no_grad():
            return evaluate(self._built(kernel), left, right)

    def prior_variance(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """``K(s, s)``."""
        with torch.no_grad():
            return diagonal(self._built(kernel), inputs)

    def _built(self, kernel: KernelSpec) -> gpytorch.kernels.Kernel:
        return kernel.build(self.columns).to(self.grid.device)


def _on_grid(
    bags: Bags, width: Float[Tensor, " n"], low: float, high: float, check: Check
) -> tuple[Float[Tensor, " g"], Float[Tensor, "n g"]]:
    """Grid points and each subject's density times the spacing; a mass beyond 8 bandwidths is below rounding."""
    cut = _REACH * float(width.max())
    count = int(np.ceil((high - low + 2 * cut) / (_SPACING * float(width.min())))) + 1
    if count > _MOST_POINTS:
        count = _MOST_POINTS
    grid = torch.linspace(low - cut, high + cut, max(count, 2), dtype=bags.inputs.dtype, device=bags.inputs.device)
    spacing = float(grid[1] - grid[0])
    density = bags.inputs.new_zeros(bags.count, len(grid))
    step = max(1, _TILE // len(grid))
    for begin in range(0, len(bags.inputs), step):
        check()
        rows = slice(begin, begin + step)
        bag = bags.bag[rows]
        scaled = (bags.inputs[rows] - grid) / width[bag, None]
        value = scaled.square_().mul_(-0.5).exp_().mul_((bags.weights[rows] / width[bag])[:, None])
        density.index_add_(0, bag, value)
    weights = density * (spacing / (2 * np.pi) ** 0.5)
    return grid, weights / weights.sum(1, keepdim=True)
