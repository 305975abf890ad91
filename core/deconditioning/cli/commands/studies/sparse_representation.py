"""``deconditioning sparse-representation``: few points that represent many data, versions × seeds."""

import argparse

from deconditioning.cli.document import Result, add_json_option, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import add_device_option
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.errors import InputError
from deconditioning.studies.sparse_representation.settings import LearningSettings, ToySettings

HELP = "represent noisy data of a function by a few points, random or learned"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--versions", nargs="+", metavar="NAME", help="random, learned, learned_points, variational_gp, exact_gp (all)"
    )
    add_flags(parser, ToySettings, without=("made_of", "data_noise", "seed"))
    parser.add_argument("--noise", type=float, default=ToySettings.data_noise.default, help="sd of the data's noise")
    parser.add_argument(
        "--seeds", nargs="+", type=int, default=[0], metavar="SEED", help="seeds of the function and the data"
    )
    add_flags(parser, LearningSettings, without=("version",))
    add_device_option(parser)
    add_json_option(parser)


def run(options: argparse.Namespace) -> None:
    """Every version at every seed; failures are reported."""
    check_writable(options.json)
    with clean_stdout():
        from deconditioning.datasets.sparse_toy import ToySpec, make_toy
        from deconditioning.device import choose
        from deconditioning.studies.sparse_representation.study import VERSIONS, SparseSettings, summary_of

        common = {name: getattr(options, name) for name in ("points", "starts", "steps", "device")}
        versions = [SparseSettings(name, **common).version for name in options.versions or VERSIONS]
        results = []
        for seed in options.seeds:
            toy = make_toy(ToySpec(options.data, noise=options.noise, seed=seed))
            for name in versions:
                try:
                    row = summary_of(toy, SparseSettings(name, seed=seed, **common))
                except InputError as error:
                    results.append(Result(name, seed, status="failed", message=str(error)))
                    continue
                say(f"{name}, seed {seed}: RMSE {row['scores']['rmse']:.3f}")
                results.append(
                    Result(
                        name,
                        seed,
                        row["scores"],
                        message=" ".join(row["warnings"]) or None,
                        seconds=row["seconds"],
                        peak_mb=row["peak_mb"],
                        more={"learned": row["learned"]} if row["learned"] else {},
                    )
                )
        device = str(choose(options.device))
    if all(result.status != "ok" for result in results):
        raise InputError(str(results[0].message))
    settings = {name: getattr(options, name) for name in ("data", "points", "noise", "seeds", "starts", "steps")}
    write(document(options.command, {"versions": versions, **settings}, results, device=device), options.json)
