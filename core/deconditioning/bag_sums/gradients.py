"""``K̄`` and all its hyperparameter derivatives in one pass over the tiles, for products of radial and linear factors.

Each tile is evaluated once; derivatives are summed over the bags like the kernel itself: ``∂K̄_ij/∂θ = Σ_{l∈i, r∈j} w_l
w_r ∂k(x_l, x_r)/∂θ`` (Chau et al. 2021, eq. 8-10 at bag level).

Gaussian terms need no tile of squared differences: ``(u − v)² = u² − 2uv + v²``, so sums over the points of one bag
with weights 1, u and u² are enough for a kernel and its derivatives.
"""

from collections.abc import Iterable, Iterator, Sequence

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.blocks import Block, EvenBags, SortedBags
from deconditioning.errors import Check
from deconditioning.kernels.families.gaussian import Gaussian
from deconditioning.kernels.families.linear import Linear
from deconditioning.kernels.families.radial import Profile, Radial
from deconditioning.observations import Bags

#: Entries all derivatives of K̄ may take together (float64: 400 MB).
MOST_ENTRIES = 50_000_000
#: Kernel values of a tile (float64: 320 kB), which stays in a core's cache, and its points in rows.
_TILE, _ROWS = 40_000, 200
#: Sums over the points of bags in rows that are held at once.
_MOST_SUMS = 2_000_000
#: Squared distance from the middle, in lengthscales, above which a product leaves too few digits of a distance.
_FAR = 1e4


class _Scaled:
    """A radial factor with its parameters read once, and all inputs divided by their lengthscales, (d, N)."""

    def __init__(self, factor: gpytorch.kernels.Kernel, inputs: Float[Tensor, "N d"]) -> None:
        self.lengthscales = factor.lengthscale.detach().flatten()
        self.parameters = [parameter.read(factor).detach() for parameter in factor.family.parameters]
        self._family: Radial = factor.family
        self._scaled = (inputs[:, factor.active_dims] / self.lengthscales).T.contiguous()

    def squares(self, rows: slice, columns: slice) -> list[Float[Tensor, "n m"]]:
        """``(x_d − x′_d)²/ℓ_d²`` for each column of the factor."""
        return [torch.sub(x[rows, None], x[None, columns]).square_() for x in self._scaled]

    def profile(self, squares: list[Float[Tensor, "n m"]]) -> Profile:
        """Value and slopes at these scaled squared distances."""
        return self._family.profile(_sum(squares), self.parameters)


class _Lines:
    """A linear factor ``Σ_d v_d x_d x′_d`` with its slope variances read once, by the same methods as `_Scaled`."""

    def __init__(self, factor: gpytorch.kernels.Kernel, inputs: Float[Tensor, "N d"]) -> None:
        self._variances = factor.variance.detach().flatten()
        self.lengthscales = torch.ones_like(self._variances)  # what the derivatives in v are divided by
        self.parameters: list[Tensor] = []
        self._columns = inputs[:, factor.active_dims].T.contiguous()

    def squares(self, rows: slice, columns: slice) -> list[Float[Tensor, "n m"]]:
        """``x_d x′_d`` for each column of the factor: the derivative in its v."""
        return [torch.outer(x[rows], x[columns]) for x in self._columns]

    def profile(self, squares: list[Float[Tensor, "n m"]]) -> Profile:
        """The value; every product of columns is its own derivative."""
        variances = self._variances.expand(len(squares))
        value = _sum([v * each for v, each in zip(variances, squares, strict=True)])
        return Profile(value, torch.ones((), dtype=value.dtype, device=value.device))


#: Scale and factors of each term, read once for all tiles.
_Terms = list[tuple[Tensor, list[_Scaled | _Lines]]]


def leaves(kernel: gpytorch.kernels.Kernel) -> list[Tensor]:
    """Outputscale of each term, then lengthscales (or slope variances) and further parameters of its factors.

    As autograd sees them.
    """
    return [leaf for term in kernel.kernels for leaf in _leaves_of(term)]


def _leaves_of(term: gpytorch.kernels.Kernel) -> list[Tensor]:
    result: list[Tensor] = [term.outputscale]
    for factor in term.base_kernel.kernels:
        scales = factor.variance if isinstance(factor.family, Linear) else factor.lengthscale
        result += [scales, *(parameter.read(factor) for parameter in factor.family.parameters)]
    return result


def in_one_pass(kernel: gpytorch.kernels.Kernel) -> bool:
    """Whether every factor of the kernel is radial or linear."""
    factors = [factor for term in kernel.kernels for factor in term.base_kernel.kernels]
    return all(isinstance(factor.family, Radial | Linear) for factor in factors)


def fits(kernel: gpytorch.kernels.Kernel, entries: int) -> bool:
    """Whether one pass is possible for this kernel and the derivatives of so many sums fit into memory."""
    return in_one_pass(kernel) and sum(leaf.numel() for leaf in leaves(kernel)) * entries <= MOST_ENTRIES


def gram_with_gradients(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, tile: int, check: Check
) -> tuple[Float[Tensor, "B B"], Float[Tensor, "p B B"]]:
    """``K̄`` and its derivative in every number of ``leaves(kernel)``, in their order; ``check`` runs before a tile.

    Gaussian terms of bags of about the same size go by products of matrices, the others tile by tile.
    """
    with torch.no_grad():
        even = bags.even if any(is_gaussian(term) for term in kernel.kernels) else None
        others = [term for term in kernel.kernels if even is None or not is_gaussian(term)]
        totals, slopes = _by_tiles(others, bags, tile, check)
        parts = list(slopes.split([sum(leaf.numel() for leaf in _leaves_of(term)) for term in others]))
        for place, term in enumerate(kernel.kernels):
            if even is not None and is_gaussian(term):
                total, slope = _gaussian_with_gradients(term, even, check)
                totals += total
                parts.insert(place, slope)
        return totals, torch.cat(parts)


def _by_tiles(
    kernels: Sequence[gpytorch.kernels.Kernel], bags: SortedBags, tile: int, check: Check
) -> tuple[Float[Tensor, "B B"], Float[Tensor, "p B B"]]:
    """``K̄`` of these terms, and its derivatives, one pair of blocks after another."""
    terms, count = _terms(kernels, bags.bags.inputs), bags.bags.count
    total = bags.bags.inputs.new_zeros(count, count)
    slopes = total.new_empty(_derivatives(terms), count, count)
    for i, row in enumerate(bags.blocks if terms else ()):
        for column in bags.blocks[i:]:
            block = (slice(row.first, row.last), slice(column.first, column.last))
            value, slope = _pair_sums(terms, bags.bags, row, column, tile, check)
            total[block], slopes[:, block[0], block[1]] = value, slope
            total[block[::-1]], slopes[:, block[1], block[0]] = value.T, slope.transpose(1, 2)
    return total, slopes


def diagonal_with_gradients(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, tile: int, check: Check
) -> tuple[Float[Tensor, " B"], Float[Tensor, "p B"]]:
    """``K̄_jj`` and its derivatives, from the pairs inside each block of bags alone."""
    with torch.no_grad():
        terms = _terms(kernel.kernels, bags.bags.inputs)
        parts = [_pair_sums(terms, bags.bags, block, block, tile, check) for block in bags.blocks]
        slopes = [slope.diagonal(dim1=1, dim2=2) for _, slope in parts]
        return torch.cat([value.diagonal() for value, _ in parts]), torch.cat(slopes, dim=1)


def cross_with_gradients(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, inputs: Float[Tensor, "P d"], tile: int, check: Check
) -> tuple[Float[Tensor, "B P"], Float[Tensor, "p B P"]]:
    """``c_j(x_p)`` and its derivatives in the kernel; each input is a bag of its own."""
    with torch.no_grad():
        every, count = bags.bags, bags.bags.count
        singletons = torch.arange(len(inputs), device=inputs.device)
        both = Bags(
            torch.cat([every.inputs, inputs]),
            torch.cat([every.bag, count + singletons]),
            count + len(inputs),
            weights=torch.cat([every.weights, torch.ones_like(inputs[:, 0])]),
        )
        end = len(both.inputs)
        column = Block(count, count + len(inputs), end - len(inputs), end)
        terms = _terms(kernel.kernels, both.inputs)
        total = inputs.new_empty(count, len(inputs))
        slopes = inputs.new_empty(_derivatives(terms), count, len(inputs))
        for block in bags.blocks:  # written in place: small results kept between tiles would break the heap into pieces
            rows = slice(block.first, block.last)
            total[rows], slopes[:, rows] = _pair_sums(terms, both, block, column, tile, check)
    return total, slopes


def _pair_sums(
    terms: _Terms, bags: Bags, row: Block, column: Block, tile: int, check: Check
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "p b c"]]:
    """Sums over one pair of blocks, its columns in chunks where the tile is too small."""
    total = bags.inputs.new_zeros(row.last - row.first, column.last - column.first)
    slopes = total.new_zeros(_derivatives(terms), *total.shape)
    step = max(1, tile // max(1, row.stop - row.start))
    for begin in range(column.start, column.stop, step):
        check()
        _add_terms(terms, _Sums(bags, row, column, begin, min(begin + step, column.stop)), total, slopes)
    return total, slopes


def _terms(kernels: Iterable[gpytorch.kernels.Kernel], inputs: Tensor) -> _Terms:
    return [
        (term.outputscale.detach(), [_read(factor, inputs) for factor in term.base_kernel.kernels]) for term in kernels
    ]


def _read(factor: gpytorch.kernels.Kernel, inputs: Tensor) -> _Scaled | _Lines:
    return _Lines(factor, inputs) if isinstance(factor.family, Linear) else _Scaled(factor, inputs)


def _derivatives(terms: _Terms) -> int:
    """How many numbers ``leaves`` holds."""
    return sum(1 + sum(len(f.lengthscales) + len(f.parameters) for f in factors) for _, factors in terms)


class _Sums:
    """One tile: which points it spans, and the weighted sum of its entries over the bags of both sides."""

    def __init__(self, bags: Bags, row: Block, column: Block, begin: int, end: int) -> None:
        self.rows, self.columns = slice(row.start, row.stop), slice(begin, end)
        self.row_bag, self.column_bag = bags.bag[self.rows] - row.first, bags.bag[self.columns] - column.first
        self.row_weights, self.column_weights = bags.weights[self.rows, None], bags.weights[self.columns]
        self.shape = (row.last - row.first, column.last - column.first)

    def __call__(self, entries: Float[Tensor, "n m"]) -> Float[Tensor, "b c"]:
        """``Σ_{l∈i, r∈j} w_l w_r e_lr``; ``entries`` are overwritten."""
        rows = entries.new_zeros(self.shape[0], entries.shape[1])
        rows.index_add_(0, self.row_bag, entries.mul_(self.row_weights)).mul_(self.column_weights)
        return entries.new_zeros(self.shape).index_add_(1, self.column_bag, rows)


def _add_terms(terms: _Terms, summed: _Sums, total: Tensor, slopes: Tensor) -> None:
    """Add one tile's sums to ``total`` (b, c) and ``slopes`` (p, b, c)."""
    index = 0
    for scale, factors in terms:
        squares = [factor.squares(summed.rows, summed.columns) for factor in factors]
        parts = [factor.profile(s) for factor, s in zip(factors, squares, strict=True)]
        derivatives = list(_lengthscales_and_parameters(factors, squares, parts, scale))
        unit = summed(_product([part.value for part in parts]))
        total += scale * unit
        slopes[index] += unit
        for offset, (factor, entries) in enumerate(derivatives, start=1):
            slopes[index + offset] += factor * summed(entries)
        index += 1 + len(derivatives)


def _lengthscales_and_parameters(
    factors: list[_Scaled | _Lines], squares: list[list[Tensor]], parts: list[Profile], scale: Tensor
) -> Iterator[tuple[Tensor, Tensor]]:
    """A number and the tile it multiplies, for each derivative of a term after that in its scale."""
    for number, (factor, square, part) in enumerate(zip(factors, squares, parts, strict=True)):
        others = [other.value for k, other in enumerate(parts) if k != number]
        slope = _product([part.slope, *others])
        shared = len(factor.lengthscales) == 1
        for entries, lengthscale in zip([_sum(square)] if shared else square, factor.lengthscales, strict=True):
            yield scale / lengthscale, entries.mul_(slope)
        for derivative in part.parameters:
            yield scale, _product([derivative, *others])


def _sum(values: list[Tensor]) -> Tensor:
    """A new tensor, the sum of some."""
    out = values[0].clone() if len(values) == 1 else values[0] + values[1]
    for value in values[2:]:
        out += value
    return out


def _product(values: list[Tensor]) -> Tensor:
    out = values[0]
    for value in values[1:]:
        out = out * value
    return out


def is_gaussian(term: gpytorch.kernels.Kernel) -> bool:
    """Whether every factor of a term is Gaussian."""
    return all(isinstance(factor.family, Gaussian) for factor in term.base_kernel.kernels)


def _gaussian_with_gradients(
    term: gpytorch.kernels.Kernel, bags: EvenBags, check: Check
) -> tuple[Float[Tensor, "B B"], Float[Tensor, "p B B"]]:
    """``K̄`` of a term whose factors are Gaussian, and its derivatives in the scale and in each lengthscale."""
    scale, (scaled, lengthscales, wide) = term.outputscale.detach(), _scaled_points(term, bags)
    unit, squares = _gaussian_sums(scaled, bags.weights, check, scaled.shape[2])
    parts = squares.split([len(each) for each in wide])
    pairs = zip(lengthscales, parts, strict=True)
    slopes = [part.sum(0, keepdim=True) if len(each) == 1 else part for each, part in pairs]
    factor = scale / torch.cat(lengthscales)
    return scale * unit, torch.cat([unit[None], factor[:, None, None] * torch.cat(slopes)])


def gaussian_gram(term: gpytorch.kernels.Kernel, bags: EvenBags, check: Check) -> Float[Tensor, "B B"] | None:
    """``K̄`` of a term whose factors are Gaussian, without gradient; None if points are too many lengthscales apart."""
    with torch.no_grad():
        scaled = _scaled_points(term, bags)[0]
        if float(scaled.square().sum(2).max()) > _FAR:
            return None
        return term.outputscale.detach() * _gaussian_sums(scaled, bags.weights, check, 0)[0]


def _scaled_points(
    term: gpytorch.kernels.Kernel, bags: EvenBags
) -> tuple[Float[Tensor, "B k c"], list[Tensor], list[Tensor]]:
    """Points in lengthscales of the term's factors, these, and these for every column."""
    factors = list(term.base_kernel.kernels)
    columns = torch.cat([factor.active_dims for factor in factors])
    lengthscales = [factor.lengthscale.detach().flatten() for factor in factors]
    wide = [each.expand(len(factor.active_dims)) for each, factor in zip(lengthscales, factors, strict=True)]
    return bags.points[:, :, columns] / torch.cat(wide), lengthscales, wide


def _gaussian_sums(
    scaled: Float[Tensor, "B k c"], weights: Float[Tensor, "B k"], check: Check, columns: int
) -> tuple[Float[Tensor, "B B"], Float[Tensor, "columns B B"]]:
    """``K̄_ij = Σ_{l∈i, r∈j} w_l w_r e^{−½|u_l − u_r|²}`` of scaled points u, and the same sums with ``(u_l − u_r)²`` of
    each of the first ``columns`` as a factor, ``ℓ ∂K̄/∂ℓ``; the rounding error is that of ``|u|²``."""
    (count, each, _), varied = scaled.shape, scaled[:, :, :columns]
    flat, of_slopes = scaled.reshape(count * each, -1), varied.reshape(count * each, columns)
    half, ones = -0.5 * flat.square().sum(1, keepdim=True), flat.new_ones(len(flat), 1)
    left, right = torch.cat([flat, half, ones], dim=1), torch.cat([flat, ones, half], dim=1).T.contiguous()
    powers = torch.cat([torch.ones_like(scaled[:, :, :1]), varied, varied.square()], dim=2) * weights[:, :, None]
    total, slopes = flat.new_empty(count, count), flat.new_empty(columns, count, count)
    step = max(1, min(_ROWS // each, _MOST_SUMS // ((1 + 2 * columns) * len(flat))))
    for first in range(0, count, step):
        last, begin = min(first + step, count), first * each
        sums = _over_rows(left[begin : last * each], right[:, begin:], powers[first:last], check)
        parts = _over_columns(sums, of_slopes[begin:], weights.flatten()[begin:], each)
        total[first:last, first:], slopes[:, first:last, first:] = parts[0], parts[1:]
        total[first:, first:last], slopes[:, first:, first:last] = parts[0].T, parts[1:].transpose(1, 2)
    return total, slopes


def _over_rows(
    left: Float[Tensor, "n p"], right: Float[Tensor, "p m"], powers: Float[Tensor, "b k q"], check: Check
) -> Float[Tensor, "b q m"]:
    """Sums over the points of the bags in rows with q weights each, at every point in a column."""
    bags, each, kinds = powers.shape
    result = left.new_empty(bags, kinds, right.shape[1])
    step = max(1, _TILE // len(left))
    tile, across = left.new_empty(len(left) * step), powers.transpose(1, 2).contiguous()
    for begin in range(0, right.shape[1], step):
        check()
        part = right[:, begin : begin + step]
        values = tile[: len(left) * part.shape[1]].view(len(left), -1)
        torch.mm(left, part, out=values).exp_()
        result[:, :, begin : begin + step] = torch.bmm(across, values.view(bags, each, -1))
    return result


def _over_columns(
    sums: Float[Tensor, "b q m"], points: Float[Tensor, "m c"], weights: Float[Tensor, " m"], each: int
) -> Float[Tensor, "kinds b bags"]:
    """The kernel's sums over pairs of bags, then those of each column, from sums over rows with weights 1, u and u²."""
    bags, _, size = sums.shape
    first, second = sums[:, 1 : 1 + points.shape[1]], sums[:, 1 + points.shape[1] :]
    plain = sums[:, 0]
    parts = [plain * weights]
    for index, column in enumerate(points.T):
        part = torch.addcmul(second[:, index], first[:, index], column, value=-2)
        parts.append(part.addcmul_(plain, column.square()).mul_(weights))
    return torch.stack([part.view(bags, size // each, each).sum(2) for part in parts])
