"""Ensembles of a driving model: all members are downscaled by one model and share everything but their coarse values.

The members' series are joined one after another: hyperparameters, scale, factorisation and, with an archive, the
mixture come from all of them. For a further, exchangeable member, the members' means μ_e and sds s_e give

    mean = Ē μ_e,      variance = Ē s_e² + Σ_e (μ_e − mean)² / (E − 1),

of which the second part is the spread between the members. The sd of the mean itself is not stated: errors of the
members at the same time are not independent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.footprints.stations import standardised_again
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.scaling import Scale
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive.peers.alone import EndingAtZero, downscale_by_method
from deconditioning.period.archive.predictors import read_predictors
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import Training
from deconditioning.period.behind_warp import BehindWarp
from deconditioning.period.dataset import period_dataset
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.series import Series, SeriesFile, read_series, scale_of
from deconditioning.period.statistics import PeriodStatistic
from deconditioning.period.warped import WarpedCells

if TYPE_CHECKING:
    import xarray as xr

#: What the dimension of the members is called in files.
_NAMES = ("realization", "realisation", "member", "ensemble", "ensemble_member", "member_id", "ens", "number")


@dataclass(frozen=True, eq=False)
class Ensemble:
    """E members along the dimension ``dim`` of the target's file: their ``labels``, and their ``series``, which have
    the same cells and T times; ``pooled`` is the series of all members' E·T times, one member after another.
    """

    dim: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    pooled: Series

    def __len__(self) -> int:
        return len(self.series)


@dataclass(frozen=True, eq=False)
class EnsembleResult:
    """The downscaled ``members``, and ``pooled``, the result of all of their times."""

    members: tuple[PeriodResult, ...]
    pooled: PeriodResult


def member_dimension(fields: Fields, spec: DownscalingSpec) -> str | None:
    """The dimension of the target with several members, None if there is none or the selection names one member."""
    selected = {key.removeprefix(f"{spec.target}:") for key in (*spec.select, *spec.coarse_select)}
    coordinates = fields.at(spec.target)[0].dataset.coords
    for dim, labels in fields.check(spec.target).extra.items():
        says_so = dim in coordinates and coordinates[dim].attrs.get("standard_name") == "realization"
        if len(labels) > 1 and dim not in selected and (says_so or dim.lower() in _NAMES):
            return dim
    return None


def read_ensemble(
    source: Source, spec: DownscalingSpec, opener: Callable[[str], Fields], words: Sequence[str]
) -> Ensemble | None:
    """All members of the target's file at the times that ``words`` mean; None if it has no members to choose from.

    Raises ``InputError`` as `read_series` does, and for members that differ in their times or cells.
    """
    if source.regions:
        return None
    fields = opener(source.coarse or source.fields)
    dim = member_dimension(fields, spec)
    if dim is None:
        return None
    labels, series = fields.check(spec.target).extra[dim], list[Series]()
    for number in range(len(labels)):
        at = replace(spec, select={**spec.select, f"{spec.target}:{dim}": number})
        series.append(read_series(source, at, opener, words, series[0] if series else None))
    _check(dim, labels, series)
    return Ensemble(dim, labels, tuple(series), _pooled(spec, dim, series))


def predictors_of_members(
    source: Source, spec: DownscalingSpec, opener: Callable[[str], Fields], words: Sequence[str], names: Sequence[str],
    ensemble: Ensemble,
) -> tuple[Series, ...]:  # fmt: skip
    """Series of other variables at the times of all members, one member after another: each member has its own values
    of those with the dimension of the members.

    At training times they are of the member that the target's coarse values are of. Raises ``InputError`` as
    `read_predictors` does, and for members that differ in their times.
    """
    fields, result = opener(source.coarse or source.fields), list[Series]()
    for name in dict.fromkeys(names):
        each = list[Series]()
        for number, member in enumerate(ensemble.series):
            has_members = fields.holds(name) and ensemble.dim in fields.check(name).extra
            select = {**spec.select, **({f"{name}:{ensemble.dim}": number} if has_members else {})}
            each += read_predictors(source, replace(spec, select=select), opener, words, [name], member)
        _check(ensemble.dim, ensemble.labels, each)
        pooled = _pooled(replace(spec, target=name), ensemble.dim, each)
        result.append(pooled if ensemble.pooled.fine is None else replace(pooled, file=each[0].file))
    return tuple(result)


def _check(dim: str, labels: Sequence[str], series: Sequence[Series]) -> None:
    first = series[0]
    for label, each in zip(labels, series, strict=True):
        cells = each.problem.target_cell
        if each.labels != first.labels or not np.array_equal(cells, first.problem.target_cell):
            raise InputError(
                f"The members {labels[0]} and {label} of `{dim}` have values at different times or cells: choose times "
                f"that both have, or one member with `--select {dim}=…`."
            )


def _pooled(spec: DownscalingSpec, dim: str, series: Sequence[Series]) -> Series:
    """All members as one series; the coarse values of other times are those of one member after another."""
    first, times = series[0], len(series[0])
    coarse = np.concatenate([each.coarse for each in series])
    level, scale = scale_of(coarse[:, first.problem.target_cell], spec.target, len(coarse))
    mean = np.mean([each.problem.coarse for each in series], axis=0)
    problem = replace(first.problem, spec=spec, target_scale=Scale(0.0, scale), coarse=mean)
    problem = replace(problem, sources=tuple(standardised_again(problem, each) for each in problem.sources))
    stations = None if first.stations is None else np.concatenate([first.stations] * len(series))
    file = SeriesFile(
        first.file.labels, lambda index: series[index % len(series)].file.coarse(index), first.file.numbered
    )
    fines = [each.fine for each in series if each.fine is not None]
    varying = None if first.varying is None else first.varying.only(np.tile(np.arange(times), len(series)))
    return replace(
        first, problem=problem, labels=first.labels * len(series), dates=first.dates * len(series), coarse=coarse,
        level=level, fine=(lambda time: fines[time // times](time % times)) if fines else None, file=file,
        notes=tuple(dict.fromkeys(note for each in series for note in each.notes)), members=len(series),
        errors=None if first.errors is None else np.concatenate([each.errors for each in series]),
        stations=stations, varying=varying,
        selected={name: label for name, label in first.selected.items() if name != dim},
    )  # fmt: skip


def downscale_ensemble(
    ensemble: Ensemble, settings: DownscaleSettings | dict[str, Any], context: Any = None,
    training: Training | None = None, other_method: str = "", *, link: bool | None = None,
) -> EnsembleResult:  # fmt: skip
    """Predict every member, from cells alone or with the ``training`` period of an archive, where the method that
    ``other_method`` calls may take the place of the Gaussian process (`downscale_by_method`); errors are as there.
    ``link`` the times, or not, as `downscale_series` does.
    """
    if training is None:
        result = downscale_series(ensemble.pooled, settings, context, link=link)
    elif other_method:
        result = downscale_by_method(ensemble.pooled, training, other_method, settings, context)
    else:
        result = downscale_with_archive(ensemble.pooled, training, settings, context, link=link)
    return EnsembleResult(members_of(result), result)


def members_of(result: PeriodResult) -> tuple[PeriodResult, ...]:
    """The result of each member from that of all of their times."""
    stretches = np.split(np.arange(len(result.series)), result.series.members)
    members = tuple(_at(result, times) for times in stretches)
    if result.series.stations is None:
        return members
    reports = result.diagnostics["stations"]
    return tuple(
        replace(each, diagnostics={**each.diagnostics, "stations": report})
        for each, report in zip(members, reports, strict=True)
    )


def further_member(ensemble: Ensemble, result: EnsembleResult) -> PeriodResult:
    """The prediction of a further, exchangeable member: mean (T, H, W) and sd as in the equations above.

    Its coarse values are the means over the members. It has no truth, no joint draws and no peers.
    """
    members, first = result.members, ensemble.series[0]
    means = np.stack([each.means for each in members])
    within = np.mean([[each.sd(time) ** 2 for time in range(len(first))] for each in members], axis=0)
    series = replace(
        first, coarse=np.mean([each.coarse for each in ensemble.series], axis=0), fine=None,
        level=np.mean([each.level for each in ensemble.series], axis=0), notes=ensemble.pooled.notes,
        selected=ensemble.pooled.selected, errors=None,
    )  # fmt: skip
    return replace(
        result.pooled, series=series, means=means.mean(0), spreads=np.sqrt(within + means.var(0, ddof=1)),
        spread_of=np.arange(len(first)), amplitude=np.ones(len(first)), by_value=None, behind=None, residuals=None,
        evidence=np.mean([each.evidence for each in members], axis=0), peers={},
    )  # fmt: skip


def _at(result: PeriodResult, times: np.ndarray) -> PeriodResult:
    """The result of some of the times, those of one member."""
    behind = result.behind
    if isinstance(behind, BehindWarp):
        assert isinstance(behind.latent, PeriodResult)
        behind = replace(behind, latent=_at(behind.latent, times), aims=behind.aims[times])
    elif isinstance(behind, WarpedCells):
        assert isinstance(behind.latent, PeriodResult)
        behind = behind.only(_at(behind.latent, times), times)
    elif isinstance(behind, EndingAtZero):
        behind = behind.only(times)
    return replace(
        result, series=replace(result.series.only(times), members=1), means=result.means[times],
        spread_of=result.spread_of[times], amplitude=result.amplitude[times], evidence=result.evidence[times],
        peers={name: replace(peer, means=peer.means[times]) for name, peer in result.peers.items()}, behind=behind,
        residuals=None if result.residuals is None else result.residuals.only(times),
    )  # fmt: skip


def ensemble_dataset(
    ensemble: Ensemble, members: Sequence[PeriodResult], statistics: Sequence[Sequence[PeriodStatistic]] = ()
) -> "xr.Dataset":
    """The datasets of the members (`period_dataset`) along the dimension of the file, and of a further member
    ``ensemble_mean``, ``ensemble_sd`` and ``ensemble_spread`` (time, y, x), the sd between the members' means.

    The same three, as ``ensemble_…``, ``ensemble_…_sd`` and ``ensemble_…_spread``, are there for every one of the
    ``statistics`` of each member.
    """
    import xarray as xr

    every = statistics or [()] * len(members)
    datasets = [period_dataset(result, each) for result, each in zip(members, every, strict=True)]
    names = [each.statistic.name for each in every[0]]
    varying = [
        name for name in map(str, datasets[0].data_vars)
        if members[0].series.dim in datasets[0][name].dims or name.startswith(tuple(names) or ("\0",))
    ]  # fmt: skip
    labels = [int(label) if label.isdecimal() else label for label in ensemble.labels]
    about = {"long_name": f"{ensemble.dim} of the target's file", "standard_name": "realization", "units": "1"}
    along = xr.concat([each[varying] for each in datasets], ensemble.dim, join="exact", combine_attrs="override")
    result = datasets[0].drop_vars(varying).assign(along.data_vars)
    result = result.assign_coords({ensemble.dim: (ensemble.dim, labels, about if isinstance(labels[0], int) else {})})
    for name in ("", *names):
        result = _with_moments(result, ensemble.dim, name)
    return result


def _with_moments(dataset: "xr.Dataset", dim: str, name: str) -> "xr.Dataset":
    """The dataset with mean, sd and spread for a further member, of the fields or of a statistic called ``name``."""
    mean, sd = (dataset[name or "mean"], dataset[f"{name}_sd" if name else "sd"])
    spread = mean.std(dim, ddof=1)
    total = np.sqrt((sd**2).mean(dim) + spread**2)
    begins, what = (f"ensemble_{name}_", f" of {mean.attrs['long_name']}") if name else ("ensemble_", "")
    values: dict[str, Any] = {
        f"ensemble_{name or 'mean'}": mean.mean(dim),
        f"{begins}sd": total,
        f"{begins}spread": spread,
    }
    words = (
        "mean over the members",
        "standard deviation for a further member, from spread and sd of the members",
        "standard deviation between the means of the members",
    )
    for field, text in zip(values.values(), words, strict=True):
        field.attrs = {"long_name": text + what, "units": mean.attrs["units"]}
    return dataset.assign(values)
