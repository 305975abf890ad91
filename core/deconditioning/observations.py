"""The observations: high-resolution inputs in bags (D1) and coarse targets (D2)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.errors import InputError


@dataclass(frozen=True)
class Bags:
    """High-resolution inputs grouped in bags; bag ``j`` aggregates as ``f̄_j = Σ_{i∈j} w_i f(x_i)``.

    A point in several bags has a row in each, with its weight there. The noise of single points is assumed independent
    between bags, even if they share a point.

    Parameters
    ----------
    inputs : (N, d) inputs of all bags, one row per point.
    bag : (N,) index of each row's bag, in ``0 … count-1``; every bag has a row.
    count : number of bags ``B``.
    weights : (N,) non-negative aggregation weights, normalised here to sum to one in each bag; equal weights ``1/n_j``
        if not given. Use area weights on a latitude-longitude grid.
    sizes : (B,) number ``n_j`` of high-resolution points in a bag; the row count if not given. A coreset keeps the
        sizes of the bags that it summarises.
    contamination : (B,) ``Σ_i w_i²``, the factor by which independent point noise of variance ς² enters the bag mean;
        computed from the weights if not given.

    Source: Chau et al. 2021, §2.1 and App. E.2.
    """

    inputs: Float[Tensor, "N d"]
    bag: Int[Tensor, " N"]
    count: int
    weights: Float[Tensor, " N"] = field(default=None)  # type: ignore[assignment]
    sizes: Float[Tensor, " B"] = field(default=None)  # type: ignore[assignment]
    contamination: Float[Tensor, " B"] = field(default=None)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        inputs, bag = self.inputs, self.bag
        if inputs.ndim != 2 or bag.shape != inputs.shape[:1]:
            raise InputError(
                f"`inputs` has shape {tuple(inputs.shape)} and `bag` {tuple(bag.shape)}: "
                "give one row of inputs and one bag index per point."
            )
        if not bool(torch.isfinite(inputs).all()):
            raise InputError("`inputs` contains missing or infinite values: remove those points first.")
        rows = torch.bincount(bag, minlength=self.count) if len(bag) else torch.zeros(self.count)
        if self.count < 1 or len(rows) != self.count or bool((rows == 0).any()):
            raise InputError(
                f"{int((rows > 0).sum())} of {self.count} bags contain points: number the bags 0 … count-1 and "
                "leave out empty ones."
            )
        weights = torch.ones_like(inputs[:, 0]) if self.weights is None else self.weights.to(inputs)
        if weights.shape != bag.shape or bool((weights < 0).any()):
            raise InputError("`weights` must be one non-negative number per point.")
        total = self._sum(weights)
        if bool((total <= 0).any()):
            raise InputError("`weights` sum to zero in a bag: every bag needs some weight.")
        weights = weights / total[bag]
        object.__setattr__(self, "weights", weights)
        if self.sizes is None:
            object.__setattr__(self, "sizes", rows.to(inputs))
        if self.contamination is None:
            object.__setattr__(self, "contamination", self._sum(weights**2))

    def _sum(self, values: Tensor) -> Tensor:
        out = torch.zeros(self.count, *values.shape[1:], dtype=values.dtype, device=values.device)
        return out.index_add_(0, self.bag, values)

    def mean(self, values: Float[Tensor, "N *k"]) -> Float[Tensor, "B *k"]:
        """Weighted bag means ``v̄_j = Σ_{i∈j} w_i v_i`` of one value (or row) per point."""
        weights = self.weights.reshape(-1, *([1] * (values.ndim - 1)))
        return self._sum(weights * values)

    def subset(self, chosen: Int[Tensor, " b"]) -> "Bags":
        """Bags ``chosen`` (distinct), renumbered in that order; weights, sizes and contamination are kept."""
        number = torch.full((self.count,), -1, dtype=self.bag.dtype, device=self.bag.device)
        number[chosen] = torch.arange(len(chosen), dtype=self.bag.dtype, device=self.bag.device)
        keep = number[self.bag] >= 0
        return Bags(
            self.inputs[keep],
            number[self.bag[keep]],
            len(chosen),
            weights=self.weights[keep],
            sizes=self.sizes[chosen],
            contamination=self.contamination[chosen],
        )

    @staticmethod
    def joined(parts: "Sequence[Bags]") -> "Bags":
        """The bags of several parts one after another; weights, sizes and contamination are kept."""
        firsts = torch.tensor([0, *(part.count for part in parts)]).cumsum(0).tolist()
        return Bags(
            torch.cat([part.inputs for part in parts]),
            torch.cat([first + part.bag for first, part in zip(firsts, parts, strict=False)]),
            firsts[-1],
            weights=torch.cat([part.weights for part in parts]),
            sizes=torch.cat([part.sizes for part in parts]),
            contamination=torch.cat([part.contamination for part in parts]),
        )

    def to(self, device: torch.device | str) -> "Bags":
        """The same bags on another device."""
        moved = {n: getattr(self, n).to(device) for n in ("inputs", "bag", "weights", "sizes", "contamination")}
        return replace(self, **moved)


#: τ² of the only source beside the cells, or of every one.
Representativeness = float | Tensor | tuple[float | Tensor, ...]


@dataclass(frozen=True)
class PointErrors:
    """The errors of the last ``S`` of the targets, if further sources measure these beside the cells.

    They are ``H b + e`` with ``b ~ N(0, diag(v))`` and ``e_i ~ N(0, τ_s² + e_i²)``: what a whole source, such as a
    network or an instrument, differs by from the cells, and what each measurement does. τ_s² is the noise of
    representativeness of a source s (`models.spec.ModelSpec`), in place of the noise σ² of a cell.

    Parameters
    ----------
    variance : (S,) known variances e² of the measurements' errors.
    effects : (S, q) columns of H; a column of ones is an offset.
    prior : (q,) variances v.
    sizes : how many of the S targets each source has, one source after another; one source if not given.

    Source: Rasmussen and Williams 2006, §2.7, for the coefficients b, which are integrated out.
    """

    variance: Float[Tensor, " S"]
    effects: Float[Tensor, "S q"]
    prior: Float[Tensor, " q"]
    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        rows, columns = self.effects.shape
        if self.variance.shape != (rows,) or self.prior.shape != (columns,):
            raise InputError(
                f"`variance`, `effects` and `prior` have shapes {tuple(self.variance.shape)}, {rows, columns} and "
                f"{tuple(self.prior.shape)}: give one variance per row of the effects and one prior per column."
            )
        if bool((self.variance < 0).any()) or bool((self.prior < 0).any()):
            raise InputError("Variances of points must not be negative.")
        if not self.sizes:
            object.__setattr__(self, "sizes", (rows,))
        if sum(self.sizes) != rows or min(self.sizes) < 0:
            raise InputError(f"`sizes` is {self.sizes} for {rows} targets: give numbers of targets with this sum.")

    @staticmethod
    def joined(parts: "Sequence[PointErrors]") -> "PointErrors":
        """The errors of several sources one after another, each with its own coefficients b."""
        return PointErrors(
            torch.cat([part.variance for part in parts]),
            torch.block_diag(*(part.effects for part in parts)),
            torch.cat([part.prior for part in parts]),
            tuple(size for part in parts for size in part.sizes),
        )

    def of_sources(self, values: Representativeness) -> Float[Tensor, " S"]:
        """One value of each source for each of its targets; a single value is that of every source."""
        each = values if isinstance(values, tuple) else (values,) * len(self.sizes)
        if len(each) != len(self.sizes):
            raise InputError(
                f"`representativeness` has {len(each)} values for {len(self.sizes)} sources in addition to the cells: "
                "give one for each, or one number for all."
            )
        like = self.variance
        tensors = (torch.as_tensor(value, dtype=like.dtype, device=like.device) for value in each)
        return torch.cat([value.expand(size) for value, size in zip(tensors, self.sizes, strict=True)])

    def covariance(self, noise: float | Tensor, representativeness: Representativeness) -> Float[Tensor, "S S"]:
        """``diag(τ² + e² − σ²) + H diag(v) Hᵀ``: what the points' targets have beside the noise σ² of a cell."""
        single = self.variance + self.of_sources(representativeness) - noise
        return torch.diag(single) + (self.effects * self.prior) @ self.effects.T

    def to(self, device: torch.device | str) -> "PointErrors":
        """The same on another device."""
        return PointErrors(self.variance.to(device), self.effects.to(device), self.prior.to(device), self.sizes)


@dataclass(frozen=True)
class IndirectData:
    """D1 = (bags, mediators) and D2 = (query mediators, targets) (Chau et al. 2021, §2.1).

    Parameters
    ----------
    bags : the ``B`` bags of high-resolution inputs.
    mediators : (n, r) mediating variable ``y_j`` of each bag that has one.
    query_mediators : (m, r) mediating variable ``ỹ_j`` of each target that has one. Direct matching is the special case
        ``query_mediators is mediators``. The bags and targets of ``points`` come last and have no mediators.
    targets : (M,) coarse observations ``z̃_j``.
    covariance : (M, M) joint error covariance of the targets if they are estimates (pseudo-targets); posteriors
        propagate it.
    footprints : the ``M`` bags of locations that the targets' cells cover, if known; only their locations are used
        (`deconditioning.models.named_model.NamedModel.looks_at_footprints`).
    importance : (n,) weight of each bag in the regression on mediators, with mean one, if targets and bags have
        different mediators (`deconditioning.mediator_shift`); equal weights if not given.
    points : the errors of the last targets, if these are measured beside the cells; all are means over cells if not
        given.
    errors : (M,) known variances of the targets' own errors beside the noise; none if not given.
    """

    bags: Bags
    mediators: Float[Tensor, "n r"]
    query_mediators: Float[Tensor, "m r"]
    targets: Float[Tensor, " M"]
    covariance: Float[Tensor, "M M"] | None = None
    footprints: Bags | None = None
    importance: Float[Tensor, " n"] | None = None
    points: PointErrors | None = None
    errors: Float[Tensor, " M"] | None = None

    def __post_init__(self) -> None:
        further = 0 if self.points is None else len(self.points.variance)
        if len(self.mediators) not in (self.bags.count, self.bags.count - further):
            raise InputError(
                f"`mediators` has {len(self.mediators)} rows, but there are {self.bags.count} bags: give one per bag."
            )
        if len(self.targets) - len(self.query_mediators) != self.bags_without_mediators:
            raise InputError(
                f"`targets` has {len(self.targets)} rows, `query_mediators` has "
                f"{len(self.query_mediators)}: give one target per mediator."
            )
        if self.mediators.shape[1] != self.query_mediators.shape[1]:
            raise InputError(
                f"`mediators` has {self.mediators.shape[1]} columns, `query_mediators` has "
                f"{self.query_mediators.shape[1]}: both need the same mediating variables."
            )
        if self.covariance is not None and self.covariance.shape != (len(self.targets),) * 2:
            raise InputError(
                f"`covariance` has shape {tuple(self.covariance.shape)}, but there are {len(self.targets)} "
                "targets: give one row and one column per target."
            )
        if self.footprints is not None and self.footprints.count != len(self.targets):
            raise InputError(
                f"There are {self.footprints.count} footprints and {len(self.targets)} targets: give one per target."
            )
        if self.importance is not None and (
            self.importance.shape != self.mediators.shape[:1] or not bool((self.importance > 0).all())
        ):
            raise InputError(
                f"`importance` has shape {tuple(self.importance.shape)} for {self.bags.count} bags, or values that are "
                "not positive: give one positive number per bag."
            )
        if self.points is not None and len(self.points.variance) > len(self.targets):
            raise InputError(f"There are {len(self.points.variance)} points among {len(self.targets)} targets.")
        if self.errors is not None and (self.errors.shape != self.targets.shape or not bool((self.errors >= 0).all())):
            raise InputError("`errors` must be one variance, not negative, per target.")
        for name in ("mediators", "query_mediators", "targets"):
            if not bool(torch.isfinite(getattr(self, name)).all()):
                raise InputError(f"`{name}` contains missing or infinite values: remove those rows first.")

    @property
    def matched(self) -> bool:
        """Whether every target belongs to the bag of the same row (direct matching)."""
        return self.query_mediators is self.mediators

    @property
    def bags_without_mediators(self) -> int:
        """How many of the bags, the last ones, have none: those of targets measured at points."""
        return self.bags.count - len(self.mediators)

    def with_points(self, points: Bags, targets: Float[Tensor, " S"], errors: PointErrors) -> "IndirectData":
        """The data and, behind them, targets measured at points, each a bag of one point, or over footprints.

        These have no mediators: each target is the mean of its own bag, ``W = diag(W, I)``.
        """
        if self.points is not None:
            raise InputError("These data have points already: add all points at once.")
        count, points = len(targets), points.to(self.bags.inputs.device)
        carried = None if self.covariance is None else torch.nn.functional.pad(self.covariance, (0, count, 0, count))
        return replace(
            self,
            bags=Bags.joined([self.bags, points]),
            targets=torch.cat([self.targets, targets.to(self.targets)]),
            covariance=carried,
            footprints=None if self.footprints is None else Bags.joined([self.footprints, points]),
            points=errors,
            errors=None if self.errors is None else torch.nn.functional.pad(self.errors, (0, count)),
        )

    @property
    def cells_alone(self) -> "IndirectData":
        """The data without the targets measured at points."""
        if self.points is None:
            return self
        bags, count = len(self.mediators), len(self.query_mediators)
        first = torch.arange(count, device=self.bags.bag.device)
        return replace(
            self,
            bags=self.bags.subset(torch.arange(bags, device=first.device)),
            targets=self.targets[:count],
            covariance=None if self.covariance is None else self.covariance[:count, :count],
            footprints=None if self.footprints is None else self.footprints.subset(first),
            points=None,
            errors=None if self.errors is None else self.errors[:count],
        )

    def to(self, device: torch.device | str) -> "IndirectData":
        """The same data on another device; matching is kept."""
        mediators = self.mediators.to(device)
        query = mediators if self.matched else self.query_mediators.to(device)
        covariance = None if self.covariance is None else self.covariance.to(device)
        footprints = None if self.footprints is None else self.footprints.to(device)
        importance = None if self.importance is None else self.importance.to(device)
        points = None if self.points is None else self.points.to(device)
        errors = None if self.errors is None else self.errors.to(device)
        return IndirectData(
            self.bags.to(device), mediators, query, self.targets.to(device), covariance, footprints, importance,
            points, errors,
        )  # fmt: skip
