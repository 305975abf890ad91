"""Subjects with repeated measures: converts a table in long format to weighted distinct values, outcomes and
covariates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.observations import Bags

_FEWEST = 2


@dataclass(frozen=True)
class Subjects:
    """Data of n subjects.

    Parameters
    ----------
    bags : the distinct values of each subject with their shares as weights; ``bags.sizes`` are the m_i measures.
    outcomes : (n,) y_i.
    covariates : (n, q) W_i, q may be 0.
    measures, owner : all measures (R, d) in their original order, and the subject of each (R,).
    names : names of the subjects.
    columns, covariate_names, outcome_name : names of the table's columns.
    notes : messages on anything unusual in the table and how it was read.

    Source: Tang et al., §2 and §4.3.
    """

    bags: Bags
    outcomes: Float[Tensor, " n"]
    covariates: Float[Tensor, "n q"]
    measures: Float[Tensor, "R d"]
    owner: Int[Tensor, " R"]
    names: tuple[str, ...]
    columns: tuple[str, ...] = ("x",)
    covariate_names: tuple[str, ...] = ()
    outcome_name: str = "y"
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number n of subjects."""
        return len(self.outcomes)


def merged_bags(values: Float[Tensor, "R d"], owner: Int[Tensor, " R"], count: int) -> Bags:
    """Merge repeated values of a subject exactly: the weight is the share of the subject's measures."""
    v, s = values.cpu().numpy(), owner.cpu().numpy()
    order = np.lexsort((*v.T[::-1], s))
    v, s = v[order], s[order]
    first = np.ones(len(s), dtype=bool)
    first[1:] = (s[1:] != s[:-1]) | (v[1:] != v[:-1]).any(1)
    starts = np.flatnonzero(first)
    repeats = np.diff(np.r_[starts, len(s)]).astype(float)
    device = values.device
    bag = torch.from_numpy(s[starts].astype(np.int64)).to(device)
    weights, sizes = torch.from_numpy(repeats).to(device), torch.bincount(owner, minlength=count).to(values)
    atoms = torch.from_numpy(np.ascontiguousarray(v[starts])).to(device)
    return Bags(atoms, bag, count, weights=weights, sizes=sizes)


def make_subjects(
    values: np.ndarray, owner: np.ndarray, outcomes: np.ndarray, *, covariates: np.ndarray | None = None,
    names: Sequence[str] | None = None, columns: Sequence[str] = ("x",), covariate_names: Sequence[str] = (),
    outcome_name: str = "y",
) -> Subjects:  # fmt: skip
    """Subjects from arrays.

    Parameters
    ----------
    values : (R,) or (R, d) all measures.  owner : (R,) index of the subject of each, 0 … n−1.
    outcomes : (n,).  covariates : (n, q).

    Raises ``InputError`` for a single subject, a subject without a measurement, missing numbers, a constant outcome.
    """
    wide = np.asarray(values, dtype=float).reshape(len(values), -1)
    y = np.asarray(outcomes, dtype=float)
    extra = np.empty((len(y), 0)) if covariates is None else np.asarray(covariates, dtype=float).reshape(len(y), -1)
    called = tuple(str(i) for i in range(len(y))) if names is None else tuple(str(name) for name in names)
    _check(wide, np.asarray(owner), y, extra, called)
    measures, of = torch.from_numpy(np.ascontiguousarray(wide)), torch.from_numpy(np.asarray(owner, dtype=np.int64))
    return Subjects(
        merged_bags(measures, of, len(y)), torch.from_numpy(y.copy()), torch.from_numpy(np.ascontiguousarray(extra)),
        measures, of, called, tuple(columns), tuple(covariate_names), outcome_name,
    )  # fmt: skip


def _check(values: np.ndarray, owner: np.ndarray, y: np.ndarray, extra: np.ndarray, names: tuple[str, ...]) -> None:
    if len(y) < _FEWEST:
        raise InputError(f"There is {len(y)} subject: a regression needs at least {_FEWEST}, preferably more than 20.")
    if len(names) != len(y):
        raise InputError(f"`names` has {len(names)} entries for {len(y)} outcomes: give one name per subject.")
    if len(owner) != len(values) or (len(owner) and (owner.min() < 0 or owner.max() >= len(y))):
        raise InputError(
            f"`owner` has {len(owner)} entries for {len(values)} measures of {len(y)} subjects: give each measure the "
            "index of its subject."
        )
    for what, numbers in (("measures", values), ("outcomes", y), ("covariates", extra)):
        if not np.isfinite(numbers).all():
            bad = int((~np.isfinite(numbers)).sum())
            raise InputError(f"{bad} of the {what} are missing or infinite: leave those rows out or fill them in.")
    counts = np.bincount(owner, minlength=len(y))
    if (counts == 0).any():
        empty = [names[i] for i in np.flatnonzero(counts == 0)[:3]]
        raise InputError(
            f"{int((counts == 0).sum())} subject(s) have no measurement ({', '.join(empty)}): leave them out."
        )
    if not np.ptp(y) > 0:
        raise InputError(
            f"The outcome is {y[0]:g} for every subject: there is nothing to explain; choose another column."
        )


def subset(subjects: Subjects, chosen: np.ndarray) -> Subjects:
    """Some of the subjects, in the given order."""
    keep = torch.as_tensor(chosen, dtype=torch.long, device=subjects.outcomes.device)
    number = torch.full((subjects.count,), -1, dtype=torch.long, device=keep.device)
    number[keep] = torch.arange(len(keep), device=keep.device)
    rows = number[subjects.owner] >= 0
    return Subjects(
        subjects.bags.subset(keep), subjects.outcomes[keep], subjects.covariates[keep], subjects.measures[rows],
        number[subjects.owner[rows]], tuple(subjects.names[int(i)] for i in keep), subjects.columns,
        subjects.covariate_names, subjects.outcome_name,
    )  # fmt: skip


def range_of(subjects: Subjects) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value (d,) of each column over all subjects."""
    values = subjects.bags.inputs
    return values.min(0).values.cpu().numpy(), values.max(0).values.cpu().numpy()


def with_covariates(subjects: Subjects, names: Sequence[str] | None) -> Subjects:
    """The subjects with only these covariates; None keeps all. Raises ``InputError`` for an unknown one."""
    if names is None:
        return subjects
    missing = [name for name in names if name not in subjects.covariate_names]
    if missing:
        there = ", ".join(subjects.covariate_names) or "none"
        raise InputError(f"There is no covariate '{missing[0]}': choose one of {there}.")
    columns = [subjects.covariate_names.index(name) for name in names]
    return replace(subjects, covariates=subjects.covariates[:, columns], covariate_names=tuple(names))
