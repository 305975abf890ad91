"""``deconditioning swiss-roll-ablation``: the swiss roll with λ fixed or learned, by Adam or L-BFGS."""

import argparse

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.options import add_output_options
from deconditioning.cli.talk import clean_stdout, say

HELP = (
    "measure how errors on the swiss roll depend on λ (fixed at 0.01 as in the paper, at 1e-6, or learned) and on "
    "the optimiser"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--models", nargs="+", metavar="MODEL", help="cmp, shrinkage_cmp, bag_gp (all)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3, 4], metavar="SEED", help="seeds (0 to 4)")
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Every way, model and seed, direct matching."""
    check_writable(options.json)
    with clean_stdout():
        from deconditioning.studies.swiss_roll.ablation import MODELS, WAYS, ablation

        models, results = tuple(options.models or MODELS), []
        for row in ablation(models, tuple(options.seeds)):
            results.append(
                Result(row["model"], row["seed"], row["scores"], status=row["status"], message=row["message"],
                       seconds=row["seconds"], peak_mb=row["peak_mb"], more={"way": row["way"]})
            )  # fmt: skip
            if not options.quiet:
                sentence = f"RMSE {row['scores']['rmse']:.3f}" if row["scores"] else str(row["message"])
                say(f"{row['way']}, seed {row['seed']}, {row['model']}: {sentence}")
    settings = {"models": list(models), "seeds": options.seeds, "matching": "direct", "ways": WAYS}
    write(document(options.command, settings, results, by=("way",)), options.json)
