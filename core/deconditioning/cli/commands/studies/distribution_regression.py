"""``deconditioning distribution-regression``: an outcome regressed on the distributions of repeated measures."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import add_missing_option, add_output_options, seeds_of
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.errors import InputError
from deconditioning.fill_values import checked_missing
from deconditioning.studies.distribution_regression.settings import (
    LARGEST,
    FurtherSettings,
    KernelSettings,
    RankSettings,
    SimulationSettings,
    ValidationSettings,
)

HELP = "regress an outcome on distributions observed through repeated measures, with GPDR and alternatives"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_flags(parser, SimulationSettings, names=("n", "m", "unequal"), several=("n", "m"),
              defaults=dict(zip(("n", "m"), LARGEST, strict=True)))  # fmt: skip
    parser.add_argument("--seeds", nargs="+", default=["0"], metavar="S", help="seeds or a range such as 0-99")
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="METHOD",
        help="gpdr, kde, landmark10, landmark50, bdr10, bdr50, shrunk, for other data flr, average (default: all of "
        "these); kde_narrow (silverman_0.9), kde_cut (the same, truncated at the ends), landmark10_gp; with --rank "
        "and other data gpdr_flr, which combines both",
    )
    parser.add_argument("--distinct", action="store_true", help="continuous measures without repeated values")
    parser.add_argument("--draws", type=int, default=100, help="posterior draws for the sampled risk; 0: none")
    parser.add_argument(
        "--curves", action="store_true", help="risks by n and m, paired tests and slopes, no single rows"
    )
    parser.add_argument(
        "--score", default="posterior_risk", choices=("posterior_risk", "squared_error"),
        help="score of the curves (posterior_risk); squared_error: that of the posterior mean alone",
    )  # fmt: skip
    _model(parser)
    table = parser.add_argument_group("other data: cross-validated R² instead of risk")
    table.add_argument("--table", metavar="FILE", help="CSV in long format, one row per measurement")
    table.add_argument("--subject", metavar="COLUMN", help="column of the subject")
    table.add_argument("--value", nargs="+", metavar="COLUMN", help="columns of the measures")
    table.add_argument("--outcome", metavar="COLUMN", help="column of the outcome")
    table.add_argument("--covariate", nargs="*", metavar="COLUMN", help="columns of further covariates of the subject")
    table.add_argument("--drop-missing", action="store_true", help="omit rows with missing cells")
    add_missing_option(table)
    table.add_argument("--stand-in", type=int, metavar="N", help="synthetic accelerometer study of N people")
    add_flags(table, ValidationSettings, without=("nested",), defaults={"repeats": 10})
    table.add_argument("--given", action="store_true", help="use kernel and noise as given, not learned per fold")
    add_output_options(parser)


def _model(parser: argparse.ArgumentParser) -> None:
    model = parser.add_argument_group("model")
    add_flags(model, KernelSettings)
    model.add_argument(
        "--of-range", action="store_true", help="give the lengthscale as a share of the range of the measures"
    )
    add_flags(model, RankSettings, unset={"rank": "full"})
    add_flags(model, FurtherSettings, without=("eta_given",), unset={"eta": "of highest evidence"})


def run(options: argparse.Namespace) -> None:
    """Posterior risk on the simulation; cross-validated R² on a table or the stand-in."""
    check_writable(options.json)
    with clean_stdout():
        import torch

        torch.set_num_threads(1)  # matrices this small are slower on several
        content = _validation(options) if options.table or options.stand_in else _risks(options)
    write(content, options.json)


def _settings(options: argparse.Namespace, **more: Any) -> Any:
    from deconditioning.studies.distribution_regression.study import MethodSettings

    return MethodSettings(
        options.kernel, options.lengthscale, options.variance, options.noise, options.noise_by, options.rank,
        options.bandwidth, options.reflect, embedding_scale=options.embedding_scale, **more,
    )  # fmt: skip


def _risks(options: argparse.Namespace) -> dict[str, Any]:
    from deconditioning.distribution_regression.simulate import SimulationSpec
    from deconditioning.studies.distribution_regression.curves import curves, paired_tests, slopes
    from deconditioning.studies.distribution_regression.study import METHODS, risk_sweep

    methods, seeds = tuple(options.methods or METHODS), seeds_of(options.seeds)
    spec = SimulationSpec(unequal=options.unequal, distinct=options.distinct)

    def report(row: dict[str, Any]) -> None:
        """Print the risk of one row, unless ``--quiet``."""
        if not options.quiet:
            risk = row["scores"]["posterior_risk"]
            say(f"{row['model']}, n = {row['subjects']}, m = {row['measures']}, seed {row['seed']}: risk {risk:.5f}")

    rows = risk_sweep(
        options.subjects, options.measures, seeds, _settings(options), methods, spec=spec,
        draws=0 if options.curves else options.draws, report=report,
    )  # fmt: skip
    names = ("subjects", "measures", "distinct", "unequal", "draws")
    settings = {"methods": list(methods), "seeds": seeds, **{name: getattr(options, name) for name in names}}
    settings |= vars(_settings(options))
    if not options.curves:
        return document(options.command, settings, [_result(row) for row in rows])
    result = curves(rows, options.score)
    tests = [test for second in methods if second != "gpdr" for test in paired_tests(result, second=second)]
    settings |= {"score": options.score}
    return document(options.command, settings, [], curves=result, tests=tests, slopes=slopes(result))


def _result(row: dict[str, Any]) -> Result:
    return Result(
        row["model"], row["seed"], row["scores"], message=row["message"], seconds=row["seconds"],
        peak_mb=row["peak_mb"], more={"subjects": row["subjects"], "measures": row["measures"]},
    )  # fmt: skip


def _validation(options: argparse.Namespace) -> dict[str, Any]:
    import numpy as np

    from deconditioning.distribution_regression.stand_in import LABEL
    from deconditioning.engine.reporting import Stopwatch

    subjects, seeds, results = _subjects(options), seeds_of(options.seeds), []
    settings = _settings(options, intercept=True)
    if options.of_range:
        settings = replace(settings, lengthscale=settings.lengthscale * _range(subjects))
    methods, validate = _validator(options, subjects, settings)
    for method in methods:
        for seed in seeds:
            watch = Stopwatch()
            result = validate(method, seed)
            low, high = result.interval
            scores = {"r2": float(np.mean(result.r2)), "r2_low": low, "r2_high": high, "r2_first": float(result.r2[0])}
            results.append(Result(method, seed, scores, seconds=watch.seconds()))
            if not options.quiet:
                say(f"{method}, seed {seed}: R² {scores['r2']:.3f} [{low:.3f}, {high:.3f}]")
    about = {"folds": options.folds, "repeats": options.repeats, "learned": not options.given, "seeds": seeds}
    about |= {"data": LABEL if options.stand_in else options.table, "subjects": subjects.count}
    about |= {"covariates": list(subjects.covariate_names)}
    about |= {"measures": len(subjects.measures), "methods": list(methods), **vars(settings)}
    return document(options.command, about, results)


def _range(subjects: Any) -> float:
    """That of the measures, over all columns."""
    from deconditioning.distribution_regression.subjects import range_of

    low, high = range_of(subjects)
    return float((high - low).max())


def _validator(options: argparse.Namespace, subjects: Any, settings: Any) -> tuple[tuple[str, ...], Callable[..., Any]]:
    """The methods, and what gives each one's R²: through few features where a rank is given."""
    from deconditioning.distribution_regression.kernel_sums import MOST_SECONDS
    from deconditioning.studies.distribution_regression.compare import Prepared
    from deconditioning.studies.distribution_regression.few_features import PREDICTORS as FEW
    from deconditioning.studies.distribution_regression.few_features import validate_few
    from deconditioning.studies.distribution_regression.validation import PREDICTORS, cross_validate

    same = {
        "folds": options.folds,
        "repeats": options.repeats,
        "prepared": Prepared(subjects, most_seconds=MOST_SECONDS),
    }
    usual = [name for name in (FEW if options.rank else PREDICTORS) if name != "kde" or len(subjects.columns) == 1]

    def validate(method: str, seed: int) -> Any:
        """The cross-validated R² of one method."""
        if options.rank:
            return validate_few(subjects, settings, (method,), rank=options.rank, seed=seed, **same)[method]
        return cross_validate(subjects, settings, (method,), seed=seed, learned=not options.given, **same)[method]

    return tuple(options.methods or usual), validate


def _subjects(options: argparse.Namespace) -> Any:
    from deconditioning.distribution_regression.stand_in import accelerometer_stand_in
    from deconditioning.distribution_regression.subjects import with_covariates
    from deconditioning.distribution_regression.table import Roles, columns_of, guess_roles, read_table

    if options.stand_in:
        if options.table:
            raise InputError("Both --table and --stand-in were given: choose one.")
        return with_covariates(accelerometer_stand_in(options.stand_in), options.covariate)
    guess = guess_roles(columns_of(options.table))
    if guess is None:
        raise InputError("The table has fewer than three columns: it needs a subject, a value and an outcome.")
    missing = None if options.missing is None else checked_missing(options.missing)
    roles = Roles(
        options.subject or guess.subject, tuple(options.value or guess.values), options.outcome or guess.outcome,
        tuple(guess.covariates if options.covariate is None else options.covariate), options.drop_missing, missing,
    )  # fmt: skip
    subjects = read_table(options.table, roles)
    for note in subjects.notes:
        say(f"Note: {note}")
    return subjects
