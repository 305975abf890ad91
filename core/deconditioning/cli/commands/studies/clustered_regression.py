"""``deconditioning clustered-regression``: distribution regression of clustered subjects, on the simulation."""

import argparse
from typing import Any

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import add_output_options, seeds_of
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.studies.distribution_regression.settings import ClusterSettings

HELP = (
    "regress outcomes of clustered subjects with one function, one per cluster, or exchangeable functions "
    "(Tang et al., section 4.3)"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_flags(parser, ClusterSettings, without=("way", "rho"), several=("apart",),
              defaults={"apart": [0.0, 0.1, 0.2, 0.3, 0.4]})  # fmt: skip
    parser.add_argument(
        "--seeds", nargs="+", default=["0"], metavar="S", help="seeds, as numbers or a range such as 0-99"
    )
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Posterior risk of every way, distance and seed."""
    check_writable(options.json)
    with clean_stdout():
        from deconditioning.distribution_regression.simulate import SimulationSpec
        from deconditioning.studies.distribution_regression.clustered import ClusterSpec, cluster_sweep
        from deconditioning.studies.distribution_regression.study import MethodSettings

        seeds = seeds_of(options.seeds)
        spec = ClusterSpec(SimulationSpec(options.subjects, options.measures), options.clusters)

        def report(row: dict[str, Any]) -> None:
            """Print the risk of one row, unless ``--quiet``."""
            if not options.quiet:
                risk = row["scores"]["posterior_risk"]
                say(f"{row['model']}, δ = {row['apart']:g}, seed {row['seed']}: risk {risk:.5f}")

        rows = cluster_sweep(spec, options.apart, seeds, MethodSettings(), report)
        names = ("subjects", "measures", "clusters", "apart")
        settings = {"seeds": seeds, **{name: getattr(options, name) for name in names}, **vars(MethodSettings())}
        results = [
            Result(row["model"], row["seed"], row["scores"], seconds=row["seconds"], more={"apart": row["apart"]})
            for row in rows
        ]
    write(document(options.command, settings, results), options.json)
