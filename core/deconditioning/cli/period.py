"""``deconditioning downscale … --times``: many times of one target together."""

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from deconditioning.cli.document import Result, document
from deconditioning.cli.output import delivery_of
from deconditioning.cli.period_options import archive_of
from deconditioning.cli.problem import file_arguments
from deconditioning.cli.talk import Progress, say
from deconditioning.engine.context import Context
from deconditioning.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from deconditioning.downscaling.source import Source
    from deconditioning.fields.gridded import Fields
    from deconditioning.fields.spec import DownscalingSpec
    from deconditioning.period.archive.training import Training
    from deconditioning.period.ensemble import Ensemble
    from deconditioning.period.run import PeriodResult
    from deconditioning.period.series import Series
    from deconditioning.period.statistics import PeriodStatistic

#: Options that the JSON repeats.
_NAMED = ("archive", "times", "period", "predictors", "upper", "other_method", "link_times")


def period_document(
    options: argparse.Namespace, source: "Source", spec: "DownscalingSpec", settings: dict[str, Any],
    opened: "dict[str, Fields]",
) -> dict[str, Any]:  # fmt: skip
    """Downscale the chosen times and write the dataset; the JSON with the scores."""
    from deconditioning.period.ensemble import read_ensemble
    from deconditioning.period.series import read_series
    from deconditioning.period.store import stretches_of

    delivery = delivery_of(options)
    source, spec = _matched_directly(options, source, spec)
    ensemble = read_ensemble(source, spec, opened.__getitem__, options.times)
    series = ensemble.pooled if ensemble else read_series(source, spec, opened.__getitem__, options.times)
    _announce(series, options.quiet)
    in_stretches = delivery.store and len(stretches_of(series)) > 1
    if options.plan:
        return _planned(options, series, settings)
    if ensemble:
        _check_ensemble(options, ensemble, in_stretches)
    if in_stretches:
        _check_stretches(options)
    if options.statistics:
        from deconditioning.period.statistics import statistics_named

        statistics_named(options.statistics, ensemble.series[0] if ensemble else series)
    training = _training(options, ensemble or series, source, spec, opened)
    if options.upper and training is not None:
        if in_stretches:
            raise InputError("`--upper` needs all times in memory: choose fewer times or a region, or leave it out.")
        result, scores = _pair(options, delivery, series, training, source, spec, settings, opened)
    elif in_stretches:
        result, scores = _in_stretches(options, delivery, series, training, settings)
    else:
        result = _downscaled(options, series, training, settings)
        _save(options, delivery, result, ensemble)
        scores = _scores(result)
    for warning in result.warnings:
        say(f"Warning: {warning}")
    arguments = {**file_arguments(options), **{name: getattr(options, name) for name in _NAMED}}
    everything = {**arguments, "problem": spec.to_dict(), "model": settings}
    entries = _results(result, scores, len(series) // series.members, spec.seed)
    return document(options.command, everything, entries, device=str(result.diagnostics["device"]))


def _check_stretches(options: argparse.Namespace) -> None:
    """``InputError`` for what is not there for a series in blocks of times."""
    for name in ("statistics", "draws", "exceedance", "other_method"):
        if getattr(options, name):
            need = "need" if name in ("statistics", "draws") else "needs"
            raise InputError(
                f"`--{name.replace('_', '-')}` {need} all times in memory: choose fewer times or a region, or leave "
                "the option out."
            )


def _planned(options: argparse.Namespace, series: "Series", settings: dict[str, Any]) -> dict[str, Any]:
    """The JSON of the plan of a series, of which nothing is computed."""
    from dataclasses import asdict

    from deconditioning.downscaling.settings import DownscaleSettings
    from deconditioning.period.archive.training import times_in_archive
    from deconditioning.period.store import plan_of

    archive = times_in_archive(series, archive_of(options.archive), options.period or ()) if options.archive else 0
    chosen, in_stretches = DownscaleSettings.from_dict(settings), delivery_of(options).store
    plan = plan_of(series, chosen, in_stretches=in_stretches, archive=archive)
    say(plan.sentence)
    return document(options.command, {**file_arguments(options), "model": settings}, [], plan=asdict(plan))


def _matched_directly(
    options: argparse.Namespace, source: "Source", spec: "DownscalingSpec"
) -> "tuple[Source, DownscalingSpec]":  # fmt: skip
    """The same cells without mediators if there is an archive, which does not need them."""
    if not options.archive:
        return source, spec
    from deconditioning.period.archive.training import matched_directly

    source, spec, notes = matched_directly(source, spec)
    for note in notes if not options.quiet else ():
        say(f"Note: {note}")
    return source, spec


def _training(
    options: argparse.Namespace,
    target: "Series | Ensemble",
    source: "Source",
    spec: "DownscalingSpec",
    opened: "dict[str, Fields]",
) -> "Training | None":
    """The training period of ``--archive``; None without one."""
    if not options.archive:
        return None
    from deconditioning.period.archive.predictors import read_predictors
    from deconditioning.period.archive.training import cost_of, read_training
    from deconditioning.period.ensemble import Ensemble, predictors_of_members

    series, names = target.pooled if isinstance(target, Ensemble) else target, options.predictors or ()
    if isinstance(target, Ensemble):
        predictors = predictors_of_members(source, spec, opened.__getitem__, options.times, names, target)
    else:
        predictors = read_predictors(source, spec, opened.__getitem__, options.times, names, target)
    archive, words = archive_of(options.archive), options.period or ()
    cost = cost_of(series, archive, words)
    if cost and not options.quiet:
        say(cost)
    training = read_training(series, archive, words, predictors, _folder(options))
    if not options.quiet:
        for note in training.notes:
            say(f"Note: {note}")
        say(f"The archive has {len(training)} times, {training.labels[0]} to {training.labels[-1]}.")
    return training


def _downscaled(
    options: argparse.Namespace, series: "Series", training: "Training | None", settings: dict[str, Any],
    times: Any = None, like: "PeriodResult | None" = None,
) -> "PeriodResult":  # fmt: skip
    """All times, or some, by cells alone or with an archive."""
    context = Context(on_report=Progress(options.quiet))
    if training is None:
        from deconditioning.period.run import downscale_series

        again = None if series.varying else like
        result = downscale_series(series, settings, context, times, again, link=_link(options))
        if "linked" in result.diagnostics and not options.quiet:
            say(f"Note: {result.diagnostics['linked']}")
        return result
    if options.other_method:
        from deconditioning.period.archive.peers.alone import downscale_by_method

        result = downscale_by_method(series, training, options.other_method, settings, context)
        if not options.quiet:
            say(f"Note: {result.diagnostics['method']}")
        return result
    from deconditioning.period.archive.run import downscale_with_archive

    result = downscale_with_archive(series, training, settings, context, times, link=_link(options))
    if not options.quiet:
        say(f"Note: the prior covariance is {result.diagnostics['mixture']}, chosen on left-out blocks of time.")
        for name in ("warp", "linked"):
            if name in result.diagnostics:
                say(f"Note: {result.diagnostics[name]}")
    return result


def _link(options: argparse.Namespace) -> bool | None:
    """Whether times are linked; None if that is left open."""
    return {"on": True, "off": False}.get(options.link_times)


def _pair(
    options: argparse.Namespace, delivery: Any, series: "Series", training: "Training", source: "Source",
    spec: "DownscalingSpec", settings: dict[str, Any], opened: "dict[str, Fields]",
) -> "tuple[PeriodResult, dict[str, dict[str, float]]]":  # fmt: skip
    """The target and the variable that it is never above, written to one file; the scores of both."""
    from dataclasses import replace

    from deconditioning.period.archive.pair import downscale_pair
    from deconditioning.period.archive.training import read_training
    from deconditioning.period.dataset import pair_dataset
    from deconditioning.period.series import read_series

    upper = read_series(source, replace(spec, target=options.upper), opened.__getitem__, options.times, series)
    known = read_training(upper, archive_of(options.archive), options.period or (), (), _folder(options))
    context = Context(on_report=Progress(options.quiet))
    pair = downscale_pair(series, upper, (training, known), settings, context, link=_link(options))
    if not options.quiet:
        say(f"Note: {pair.lower.diagnostics['warp']}")
        say(f"Note: {pair.lower.diagnostics['order']}")
    statistics = _statistics(options, pair.lower), _statistics(options, pair.upper)
    if options.output:
        _write(options, delivery, pair_dataset(pair.lower, pair.upper, statistics, delivery.draws, delivery.thresholds))
    above = {f"{options.upper}: {name}": each for name, each in _scores(pair.upper).items()}
    return pair.lower, {**_scores(pair.lower), **above}


def _folder(options: argparse.Namespace) -> "Path | None":
    """The folder of the output, for temporary files; None without an output."""
    from pathlib import Path

    return Path(options.output).absolute().parent if options.output else None


def _announce(series: "Series", quiet: bool) -> None:
    if quiet:
        return
    for note in (*series.problem.notes, *series.notes):
        say(f"Note: {note}")
    count = int(series.problem.observed.sum())
    varying = "covariates change with time" if series.varying else "covariates are the same at all"
    times = len(series) // series.members
    say(
        f"{times} times, {series.labels[0]} to {series.labels[-1]}: {count:,} cells, "
        f"{series.problem.grid.area.size:,} pixels; {varying}."
    )


def _statistics(options: argparse.Namespace, result: "PeriodResult") -> "list[PeriodStatistic]":
    """The statistics that are asked for."""
    if not options.statistics:
        return []
    from deconditioning.period.statistics import period_statistics

    return period_statistics(result, options.statistics, options.realizations, result.series.problem.spec.seed)


def _save(options: argparse.Namespace, delivery: Any, result: "PeriodResult", ensemble: "Ensemble | None") -> None:
    """Write the result with its statistics, or each member's."""
    if not options.output:
        return
    from deconditioning.period.dataset import period_dataset
    from deconditioning.period.ensemble import ensemble_dataset, members_of

    if ensemble is None:
        statistics = _statistics(options, result)
        _write(options, delivery, period_dataset(result, statistics, delivery.draws, delivery.thresholds))
        return
    members = members_of(result)
    _write(options, delivery, ensemble_dataset(ensemble, members, [_statistics(options, each) for each in members]))


def _check_ensemble(options: argparse.Namespace, ensemble: "Ensemble", in_stretches: bool) -> None:
    """Say that all members are downscaled; ``InputError`` for what is not there for several."""
    one = f"leave it out, or choose one member with `--select {ensemble.dim}=…`"
    for name in ("upper", "draws", "exceedance"):
        if getattr(options, name):
            what = f"`--{name.replace('_', '-')}`"
            raise InputError(f"{what} cannot be used with the {len(ensemble)} members of `{ensemble.dim}`: {one}.")
    if in_stretches:
        raise InputError(
            f"The {len(ensemble)} members of `{ensemble.dim}` do not fit into memory together: choose fewer times, or "
            f"one member with `--select {ensemble.dim}=…`."
        )
    if not options.quiet:
        say(f"Note: all {len(ensemble)} members of `{ensemble.dim}` are downscaled, with shared hyperparameters.")


def _write(options: argparse.Namespace, delivery: Any, dataset: Any) -> None:
    """Write a dataset to the file that is asked for."""
    from pathlib import Path

    from deconditioning.fields.writing.delivery import delivered

    for file in delivered(dataset, delivery, Path(options.output)):
        if not options.quiet:
            say(f"Wrote {file}.")


def _in_stretches(
    options: argparse.Namespace, delivery: Any, series: "Series", training: "Training | None", settings: dict[str, Any]
) -> "tuple[PeriodResult, dict[str, dict[str, float]]]":
    """A series that does not fit into memory: written stretch by stretch, then scored from the store."""
    from pathlib import Path

    import xarray as xr

    from deconditioning.period.scores import series_scores
    from deconditioning.period.store import write_stretches

    path = Path(options.output).with_suffix(".zarr")
    result = write_stretches(
        series, lambda times, own, like: _downscaled(options, series, training, own or settings, times, like), path,
        single=delivery.single, attributes=dict(delivery.attributes),
        request={"arguments": options.times, "labels": [series.labels[0], series.labels[-1]], "model": settings,
               "archive": options.archive, "period": options.period, "predictors": options.predictors,
               **{name: value for name in ("link_times", "error") if (value := getattr(options, name))},
               **file_arguments(options)},
        say=(lambda text: None) if options.quiet else say,
    )  # fmt: skip
    with xr.open_zarr(path, consolidated=True) as store:
        own = series_scores(series, *(partial(_field_of, store[name]) for name in ("mean", "sd")))
    return result, {"prediction": own} if own else {}


def _field_of(variable: Any, time: int) -> Any:
    """(H, W) the values of a time, rows from the south."""
    import numpy as np

    return np.asarray(variable[time], dtype=float)


def _results(result: "PeriodResult", every: dict[str, dict[str, float]], times: int, seed: int) -> list[Result]:
    series, name = result.series, result.method or result.spec.model.name
    units = series.problem.units or "1"
    scores = every.pop("prediction", {})
    sentences = list(result.warnings) if scores else ["There is no truth at high resolution.", *result.warnings]
    more = {"settings": result.settings.to_dict(), "diagnostics": result.diagnostics, "times": times}
    mine = Result(name, seed, scores, units, message=" ".join(sentences) or None, seconds=result.seconds, more=more)
    return [mine, *(Result(name, seed, own, units) for name, own in every.items())]


def _scores(result: "PeriodResult") -> dict[str, dict[str, float]]:
    """Name → pooled scores of the prediction, interpolation and the peers; none without a truth."""
    from deconditioning.period.scores import verified_result
    from deconditioning.verification.scores import series_scores

    if result.series.fine is None:
        return {}
    return {name: each.pooled for name, each in series_scores(verified_result(result, conserving=False))[0].items()}
