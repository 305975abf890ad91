"""``deconditioning kbr-camera``: the rotation of a camera estimated from its frames, with learned Kalman filters."""

import argparse

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.filter_options import add_filter_options, filter_settings
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import add_device_option, add_output_options, add_runs_options, requested_seeds
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.studies.filtering.settings import PAPER_NOISES, CameraKernelSettings, CameraSettings

#: Of `deconditioning.kernels.lanczos`, which is not loaded for the help alone.
ACCURACY = 1e-5

HELP = "estimate a camera's rotation from its frames with kernel Bayes filters and learned Kalman filters"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--methods", nargs="+", metavar="METHOD",
                        help="kbr_gauss, kbr_tr, kalman_matrix, kalman_quaternion, nearest (all)")  # fmt: skip
    add_flags(parser, CameraSettings, without=("seed",), several=("noise",), defaults={"train": 400, "test": 100},
              unset={"noise": "both of the paper's"})  # fmt: skip
    add_runs_options(parser, 1, "training and test series")
    parser.add_argument(
        "--field-of-view", type=float, default=90.0, metavar="DEGREES", help="field of view of the camera"
    )
    add_filter_options(parser, CameraKernelSettings)
    parser.add_argument(
        "--full-rank", nargs="?", type=float, const=ACCURACY, default=0.0, metavar="ACCURACY",
        help=f"use the full kernel matrix of the frames, with Lanczos steps to this accuracy ({ACCURACY:g})",
    )  # fmt: skip
    add_device_option(parser)
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Every method on every run of every noise; the summary is over all of them."""
    check_writable(options.json)
    seeds = requested_seeds(options)
    with clean_stdout():
        import torch

        from deconditioning.device import choose
        from deconditioning.studies.filtering.camera import METHODS

        torch.set_num_threads(1)  # matrices this small are slower on several
        noises, methods = tuple(options.noise or PAPER_NOISES), tuple(options.methods or METHODS)
        results = [result for noise in noises for seed in seeds for result in _one(options, noise, seed, methods)]
        device = str(choose(options.device))
    names = ("train", "test", "runs", "seeds", "tilt", "speed", "field_of_view", "room", "scale", "epsilon",
             "tolerance", "full_rank")  # fmt: skip
    settings = {name: getattr(options, name) for name in names} | {"noise": list(noises), "methods": list(methods)}
    write(document(options.command, settings, results, by=("noise",), device=device), options.json)


def _one(options: argparse.Namespace, noise: float, seed: int, methods: tuple[str, ...]) -> list[Result]:
    from deconditioning.filtering.room import Camera
    from deconditioning.filtering.rotations import RotationPath
    from deconditioning.studies.filtering.camera import CameraSpec, compare_camera

    spec = CameraSpec(
        options.train, options.test, noise, seed, RotationPath(speed=options.speed, tilt=options.tilt),
        Camera(field_of_view=options.field_of_view), options.room,
    )  # fmt: skip
    settings = filter_settings(options, iterative=options.full_rank)
    results = []
    for row in compare_camera(spec, settings, methods):
        more = {"noise": noise, "variance": noise**2}
        results.append(Result(row["model"], seed, row["scores"], message=row["message"], more=more))
        if not options.quiet:
            scores = row["scores"]
            say(f"σ = {noise:.3g}, {row['model']}, run {seed}: MSE {scores['mse']:.4f}, {scores['angle']:.1f}°, "
                f"{scores['ms_per_step']:.1f} ms per step ({row['message']})")  # fmt: skip
    return results
