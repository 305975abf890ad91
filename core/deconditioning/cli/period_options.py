"""Options of ``deconditioning downscale`` for many times together, and what they exclude."""

import argparse
from typing import TYPE_CHECKING, Any

from deconditioning.cli.options import Joined
from deconditioning.errors import InputError

if TYPE_CHECKING:
    from deconditioning.fields.gridded import Fields
    from deconditioning.fields.spec import DownscalingSpec

#: Options of one time that have no meaning for several.
_OF_ONE_TIME = (
    "region_time",
    "also",
    "hide_values",
    "score_stations",
    "station_time",
    "seeds",
    "html",
    "pptx",
    "pdf",
    "drs",
    "quantiles",
    "effective_resolution",
    "file_per_grid",
)


def add_times_options(group: Any) -> None:
    """Add ``--times`` and the options that go with it, to ``--link-times`` and those of statistics."""
    group.add_argument(
        "--times", nargs="+", metavar="TIME",
        help="downscale many times together: all, dates or the beginning of dates (2019-03), a range "
            "(2019-03-01/2019-03-10) or indices (#0/#99); hyperparameters are learned from at most 12 of them",
    )  # fmt: skip
    group.add_argument(
        "--plan", action="store_true",
        help="say how much CPU time, memory and disk the series takes, from cells alone or with --archive, and compute "
            "nothing",
    )  # fmt: skip
    _add_archive_options(group)
    group.add_argument(
        "--link-times", choices=("on", "off"),
        help="whether cells that are missing at some times, or noisy, are linked with those before and after (default: "
            "if cells are missing and values left out are then predicted better); from cells alone, on learns the "
            "noise as well",
    )  # fmt: skip
    group.add_argument(
        "--statistics", nargs="+", metavar="NAME",
        help="statistics of the period with their uncertainty, from joint draws: mean, month, season, max, min, change "
            "(from one time to the next), trend, above=VALUE, below=VALUE (counts of times), spell_above=, "
            "spell_below= (longest run), degree_days_above=, degree_days_below= (sum over days), return=YEARS "
            "(return level)",
    )  # fmt: skip
    group.add_argument("--realizations", type=int, default=50, metavar="N", help="joint draws for --statistics (50)")


def _add_archive_options(group: Any) -> None:
    """Add the options of fine values of other times."""
    group.add_argument(
        "--archive", nargs="+", action=Joined, metavar="FINE",
        help="file or data set of the target at high resolution over a training period, whose climatology and "
            "covariance are the prior (with --times)",
    )  # fmt: skip
    group.add_argument(
        "--climatology", nargs="+", action=Joined, metavar="FINE",
        help="file or data set of the target at high resolution, one map or many times, whose climatology on the date "
            "of each map is a covariate, for one time or many",
    )  # fmt: skip
    group.add_argument(
        "--period", nargs="+", metavar="TIME",
        help="the training period of --archive or --climatology, as for --times (default: its times that are not "
            "downscaled)",
    )  # fmt: skip
    group.add_argument(
        "--other-method", choices=("bcsd", "qdm", "analogs", "eof", "ridge", "forest"),
        help="mean and sd of another method from --archive in place of the Gaussian process, with the means of the "
            "cells restored: BCSD, quantile delta mapping, analogs, EOF regression, ridge regression on BCSD, or a "
            "random forest",
    )  # fmt: skip
    group.add_argument(
        "--predictors", nargs="+", metavar="VARIABLE",
        help="other variables of the target's file, such as winds, whose coarse values predict the target through "
            "their covariance with it in the archive; used if they lower the left-out CRPS",
    )  # fmt: skip
    group.add_argument(
        "--upper", metavar="VARIABLE",
        help="a variable that the target is never above, such as the day's highest temperature beside the lowest: both "
            "are downscaled together with --archive, and the file has its fields as upper_mean, upper_sd, …",
    )  # fmt: skip


def with_climatology_of(
    options: argparse.Namespace, spec: "DownscalingSpec", opened: "dict[str, Fields]"
) -> "tuple[DownscalingSpec, dict[str, Fields]]":
    """The settings and fields with the covariate of ``--climatology``; the same without it."""
    if not getattr(options, "climatology", None):
        return spec, opened
    from deconditioning.cli.problem import source_of
    from deconditioning.cli.talk import say
    from deconditioning.period.archive.climatology import with_climatology

    archive = archive_of(options.climatology)
    spec, opened, notes = with_climatology(
        source_of(options), spec, opened, archive, options.times or (), options.period or ()
    )
    for note in notes if not options.quiet else ():
        say(f"Note: {note}")
    return spec, opened


def archive_of(file: str) -> "Fields":
    """The fields of a file, or of a bundled data set."""
    from pathlib import Path

    from deconditioning.datasets.entries import catalogue
    from deconditioning.fields.reading.opening import open_fields

    entry = None if Path(file).exists() else next((each for each in catalogue() if each.key == file), None)
    return entry.open() if entry else open_fields(file)


def hint_of_times(fields: "Fields", spec: "DownscalingSpec") -> str | None:
    """What to say if a target with several times is downscaled at one that nobody chose; None otherwise."""
    from deconditioning.period.times import time_dimension

    try:
        dim = time_dimension(fields, spec.target)
    except InputError:
        return None
    chosen = {**spec.select, **spec.coarse_select}
    if dim in chosen or f"{spec.target}:{dim}" in chosen:
        return None
    labels = fields.check(spec.target).extra[dim]
    return (
        f"`{spec.target}` has {len(labels)} times and only one is downscaled: `--select {dim}=…` chooses it, and "
        "`--times all` downscales all."
    )


def of_a_period(options: argparse.Namespace) -> bool:
    """Whether many times are to be downscaled; ``InputError`` for options that cannot be combined with that."""
    if options.period and not (options.archive or options.climatology):
        raise InputError(
            "`--period` is the training period of `--archive` or `--climatology`: add the file, or choose with "
            "`--times`."
        )
    if options.archive and options.climatology:
        raise InputError("`--archive` has a climatology of its own: leave `--climatology` out.")
    if options.climatology and options.polygons:
        raise InputError("`--climatology` needs a target on a grid: leave it out, or leave out `--polygons`.")
    if options.predictors and not options.archive:
        raise InputError("`--predictors` are learned from an archive: add `--archive` and `--times`.")
    if options.other_method and not options.archive:
        raise InputError("`--other-method` is fitted to an archive: add `--archive` and `--times`.")
    for name in ("upper", "predictors", "stations", "link_times") if options.other_method else ():
        if getattr(options, name):
            named = f"`--{name.replace('_', '-')}`"
            raise InputError(f"`--other-method` cannot be combined with {named}: leave one of them out.")
    if options.plan and not options.times:
        raise InputError("`--plan` is for many times: add `--times`.")
    for name in ("upper", "other_method") if options.plan else ():
        if getattr(options, name):
            raise InputError(f"`--plan` does not cover `--{name.replace('_', '-')}`: leave one of them out.")
    if options.upper and not options.archive:
        raise InputError("`--upper` needs the archive of both variables: add `--archive` and `--times`.")
    if options.link_times and not options.times:
        raise InputError("`--link-times` is for many times: add `--times`.")
    if options.archive and not options.times:
        raise InputError("`--archive` is a prior for many times: choose them with `--times`, or give `--times all`.")
    if options.statistics and not options.output:
        raise InputError("`--statistics` are written to the file: add `--output`.")
    if not options.times:
        if options.statistics:
            raise InputError("`--statistics` need many times: choose them with `--times`, or give `--times all`.")
        return False
    unsuitable = [name for name in _OF_ONE_TIME if getattr(options, name, None) not in (None, False, 0, "")]
    if unsuitable:
        raise InputError(
            f"`--{unsuitable[0].replace('_', '-')}` applies to a single time: leave it out, or leave out `--times`."
        )
    return True
