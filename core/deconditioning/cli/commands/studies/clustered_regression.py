"""``deconditioning clustered-regression``: distribution regression of clustered subjects, on the simulation."""

import argparse
from typing import Any

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.options import add_output_options, seeds_of
from deconditioning.cli.talk import say, stdout_kept_clean

HELP = (
    "regress outcomes of clustered subjects with one function, one per cluster, or exchangeable functions "
    "(Tang et al., section 4.3)"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--subjects", type=int, default=200, help="subjects of the simulation (equation 20) in all clusters together"
    )
    parser.add_argument("--measures", type=int, default=200, help="measures per subject")
    parser.add_argument("--clusters", type=int, default=4, help="number of clusters, assigned in turn")
    parser.add_argument(
        "--apart", nargs="+", type=float, default=[0.0, 0.1, 0.2, 0.3, 0.4], metavar="δ",
        help="distance of the clusters' functions from their mean (0 0.1 0.2 0.3 0.4)",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", nargs="+", default=["0"], metavar="S", help="seeds, as numbers or a range such as 0-99"
    )
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Posterior risk of every way, distance and seed."""
    check_writable(options.json)
    with stdout_kept_clean():
        from deconditioning.distribution_regression.simulate import SimulationSpec
        from deconditioning.studies.distribution_regression.clustered import ClusterSpec, cluster_sweep
        from deconditioning.studies.distribution_regression.study import MethodSettings

        seeds = seeds_of(options.seeds)
        spec = ClusterSpec(SimulationSpec(options.subjects, options.measures), options.clusters)

        def report(row: dict[str, Any]) -> None:
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
