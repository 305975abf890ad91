"""``python -m core kbr-filter``: follow a hidden point by kernel Bayes' rule, beside filters told the equations."""

import argparse

from core.cli.document import Result, add_json_option, check_writable, document, write
from core.cli.talk import say, stdout_kept_clean

HELP = "follow a hidden state with the kernel Bayes filter, beside EKF, UKF and a particle filter"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--system", choices=("a", "b"), default="a", help="a: a circle, b: a wavy circle")
    parser.add_argument(
        "--generator", choices=("M", "D"), default="M", help="M: the angle of the noisy state, D: its own"
    )
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="kbr, ekf, ukf, particle (all)")
    parser.add_argument("--train", type=int, default=400, help="training steps T")
    parser.add_argument("--test", type=int, default=200, help="steps that are followed and scored")
    parser.add_argument("--runs", type=int, default=3, help="training and test series, seeds from 0")
    parser.add_argument("--scale", type=float, metavar="β", help="lengthscale in median distances (by validation)")
    parser.add_argument("--epsilon", type=float, metavar="ε", help="regularisation, δ = 2ε (by validation)")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="trace that low-rank factors leave out, 0: dense")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto takes a GPU if any")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_json_option(parser)


def run(options: argparse.Namespace) -> None:
    """Every method on every run."""
    check_writable(options.json)
    with stdout_kept_clean():
        import torch

        from core.device import choose
        from core.experiments.filtering import METHODS, FilterSettings, compare
        from core.filtering.systems import RotationSystem

        torch.set_num_threads(1)  # matrices this small are slower on several
        system = RotationSystem.named(options.system, options.generator)
        settings = FilterSettings(options.scale, options.epsilon, options.tolerance, options.device)
        methods = tuple(options.methods or METHODS)
        results = []
        for seed in range(options.runs):
            for row in compare(system, options.train, options.test, seed, settings, methods):
                results.append(Result(row["model"], seed, row["scores"], message=row["message"]))
                if not options.quiet:
                    say(f"{row['model']}, run {seed}: MSE {row['scores']['mse']:.4f} ({row['message']})")
        device = str(choose(options.device))
    settings_said = {
        name: getattr(options, name) for name in ("system", "generator", "train", "test", "runs", "tolerance")
    }
    write(document(options.command, {**system.to_dict(), **settings_said}, results, device=device), options.json)
