"""``deconditioning likelihood-free``: posteriors from a simulator or a table, by every method on the same runs."""

import argparse
from pathlib import Path
from typing import Any

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import add_missing_option, add_output_options, seeds_of
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.errors import InputError
from deconditioning.studies.likelihood_free.settings import SimulatorSettings, SourceSettings

HELP = (
    "compute posteriors from simulations alone: deconditional embedding, kernel Bayes' rule, ABC and six more methods"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_flags(parser, SourceSettings)
    add_flags(parser, SimulatorSettings, names=("observed", "dimension", "simulations"), several=("simulations",),
              unset={"observed": ""})  # fmt: skip
    parser.add_argument("--seeds", nargs="+", default=["0"], metavar="SEED",
                        help="seeds of the simulations, as numbers or a range such as 0-99")  # fmt: skip
    parser.add_argument("--methods", nargs="+", metavar="METHOD",
                        help="dme, kbr, cme, abc (default: these four), cme_evidence, kelfi, "
                             "k2_abc, mdn, smc_abc")  # fmt: skip
    parser.add_argument(
        "--drawn", action="store_true", help="generate each seed's data at parameters drawn from the prior"
    )
    parser.add_argument("--design", choices=("spread", "random"), default="spread",
                        help="parameters from a Latin hypercube (spread) or independent (random)")  # fmt: skip
    parser.add_argument(
        "--calibrate", type=int, metavar="REPEATS", help="add calibration ranks over this many data sets"
    )
    parser.add_argument(
        "--table", metavar="FILE", help="table: CSV of parameters and summaries, one row per simulation"
    )
    parser.add_argument("--observed-row", metavar="FILE", help="table: CSV with names and one observed row")
    add_missing_option(parser)
    parser.add_argument("--parameters", nargs="+", metavar="COLUMN", help="table: its parameter columns")
    parser.add_argument(
        "--log", nargs="+", default=[], metavar="COLUMN", help="table: parameters on a logarithmic scale"
    )
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Means and central 95 % intervals per method, seed and number of simulations, with kernels from
    q̄ and its limits.
    """
    check_writable(options.json)
    seeds = seeds_of(options.seeds)
    with clean_stdout():
        results, more = (_of_table if options.problem == "table" else _of_simulator)(options, seeds)
    names = ("problem", "simulations", "seeds", "observed", "dimension", "design", "drawn")
    settings = {name: getattr(options, name) for name in names} | {"seeds": seeds, "command": _command(options)}
    write(document(options.command, settings, results, **more), options.json)


def _of_simulator(options: argparse.Namespace, seeds: list[int]) -> tuple[list[Result], dict[str, Any]]:
    from deconditioning.studies.likelihood_free.study import calibration, drawn, make_problem, run_problem

    problem, results = make_problem(options.problem, options.observed, options.dimension), []
    for count in options.simulations:
        for seed in seeds:
            simulated = drawn(problem, seed) if options.drawn else problem
            result, rows = run_problem(simulated, count, seed, methods=_methods(options), design=options.design)
            results += [_result(row) for row in rows]
            _talk(options, count, seed, rows)
            if result.simulations.discarded and not options.quiet:
                say(f"{result.simulations.discarded} runs were discarded and drawn again")
    more: dict[str, Any] = {}
    if options.calibrate:
        count = options.simulations[0]
        more["calibration"] = [
            {"model": record.method, "parameter": record.parameter, "simulations": count, "samples": record.samples,
             "ranks": record.ranks.tolist()}
            for record in calibration(problem, count, _methods(options), options.calibrate, seed=seeds[0])
        ]  # fmt: skip
    return results, more


def _of_table(options: argparse.Namespace, seeds: list[int]) -> tuple[list[Result], dict[str, Any]]:
    from deconditioning.likelihood_free.table import problem_of_table, read_table
    from deconditioning.studies.likelihood_free.study import infer, rows_of

    if not options.table:
        raise InputError("No table was given: add --table FILE.")
    if options.calibrate or options.drawn:
        raise InputError("A table has no simulator, so no new data can be drawn: omit --calibrate and --drawn.")
    row = _read(options.observed_row) if options.observed_row else None
    table = read_table(_read(options.table), row, Path(options.table).name, options.missing)
    chosen = tuple(options.parameters or table.suggested)
    problem, simulations = problem_of_table(table, chosen, logs=tuple(options.log))
    results = []
    for seed in seeds:
        rows = list(rows_of(infer(problem, simulations, seed=seed, methods=_methods(options)), seed))
        results += [_result(row) for row in rows]
        _talk(options, len(simulations.parameters), seed, rows)
    return results, {"parameters": list(chosen)}


def _methods(options: argparse.Namespace) -> tuple[str, ...]:
    from deconditioning.likelihood_free.inference import METHODS
    from deconditioning.likelihood_free.other_methods import OTHERS

    unknown = [name for name in options.methods or () if name not in METHODS + OTHERS]
    if unknown:
        raise InputError(f"The method '{unknown[0]}' is unknown: choose among {', '.join(METHODS + OTHERS)}.")
    return tuple(options.methods or METHODS)


def _read(path: str) -> bytes:
    from deconditioning.likelihood_free.table import MOST_BYTES

    try:
        with Path(path).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): give the name of a CSV file.") from None


def _result(row: dict[str, Any]) -> Result:
    status = "ok" if row["scores"] else "failed"
    return Result(row["model"], row["seed"], row["scores"], status=status, message=row["message"],
                  seconds=row["seconds"], more=row["more"])  # fmt: skip


def _talk(options: argparse.Namespace, count: int, seed: int, rows: list[dict[str, Any]]) -> None:
    if options.quiet:
        return
    for row in rows:
        scores = row["scores"]
        text = row["message"] or "mean {posterior_mean:.4g} [{interval_low:.4g}, {interval_high:.4g}]".format(**scores)
        say(f"n = {count}, seed {seed}, {row['model']}: {text}")


def _command(options: argparse.Namespace) -> str:
    """The command that makes this document again, for the page that shows it."""
    words = ["deconditioning likelihood-free --problem", options.problem]
    for name in ("simulations", "seeds", "methods"):
        if getattr(options, name):
            words += [f"--{name}", *(str(value) for value in getattr(options, name))]
    for name in ("observed", "calibrate"):
        if getattr(options, name) is not None:
            words += [f"--{name}", f"{getattr(options, name):g}"]
    if options.drawn:
        words.append("--drawn")
    if options.problem == "gaussian":
        words += ["--dimension", str(options.dimension)]
    return " ".join(words)
