"""Options of the commands that follow a hidden state with the kernel Bayes filter."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import Options, add_device_option, add_output_options, add_runs_options
from deconditioning.settings.settings import Settings
from deconditioning.studies.filtering.settings import OWN, SYSTEMS, KernelSettings, RotationSettings

if TYPE_CHECKING:
    from deconditioning.studies.filtering.study import FilterSettings

#: Training and test steps of the commands.
_LENGTHS = {"train": [400], "test": 200}


def add_filter_options(parser: Options, kind: type[Settings]) -> None:
    """``--scale``, ``--epsilon`` and ``--tolerance`` of a kernel Bayes filter; without them β and ε are validated."""
    add_flags(parser, kind, unset=dict.fromkeys(("scale", "regularisation"), "chosen by validation"))


def filter_settings(options: argparse.Namespace, **more: Any) -> "FilterSettings":
    """The settings from ``add_filter_options`` and ``add_device_option``, and ``more``."""
    from deconditioning.studies.filtering.study import FilterSettings

    return FilterSettings(options.scale, options.epsilon, options.tolerance, options.device, **more)


def add_circle_options(parser: Options, systems: Sequence[str], runs: int) -> None:
    """All options of a command that filters the state on a circle: systems, series, filter, device and output."""
    parser.add_argument(
        "--system", nargs="+", choices=[name for name in SYSTEMS if name not in OWN["system"]], default=list(systems),
        help=f"{RotationSettings.system.about}; one or both ({' '.join(systems)})",
    )  # fmt: skip
    add_flags(parser, RotationSettings, names=tuple(_LENGTHS), several=("train",), defaults=_LENGTHS)
    add_runs_options(parser, runs, "training and test series")
    add_filter_options(parser, KernelSettings)
    add_device_option(parser)
    add_output_options(parser)
