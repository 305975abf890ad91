"""``deconditioning deconditional-rates``: the error of the deconditional mean operator against M and N."""

import argparse
import math
from dataclasses import asdict
from typing import Any

from deconditioning.cli.document import add_json_option, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.cli.talk import say
from deconditioning.studies.conditional_means.settings import TheoremSettings

HELP = "measure the convergence of the deconditional mean operator and compare it with the theorem's rate"
TARGETS = [30, 100, 300, 1000, 3000]
_SAMPLES = [300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_flags(
        parser, TheoremSettings, names=("a", "c", "c_prime", "iota", "largest", "seed"), several=("a",),
        defaults={"a": [0.4, TheoremSettings.a.default, 1.25], "largest": 1_000_000},
    )  # fmt: skip
    b = TheoremSettings.b
    parser.add_argument("--b", type=float, default=b.default, help=f"{b.about}; inf: finite features ({b.default:g})")
    parser.add_argument("--sizes", type=int, default=8, help="number of values of M per curve")
    parser.add_argument("--seeds", type=int, default=6, help="number of data sets per size")
    parser.add_argument(
        "--frequencies",
        nargs="+",
        type=int,
        default=[None],
        help="frequencies k of the circle, with 2k + 1 features; one curve per value",
    )
    parser.add_argument("--astray", type=float, default=0.0, help="share of x drawn uniformly instead of near y")
    parser.add_argument("--no-grid", dest="grid", action="store_false", help="omit the table of all M and N")
    add_json_option(parser)


def run(options: argparse.Namespace) -> None:
    """One curve for each a, and the errors at every pair of M and N with the middle one's ε."""
    check_writable(options.json)
    from deconditioning.studies.conditional_means.measured_rates import RateSettings, measure, measure_grid, schedule

    names = ("c", "c_prime", "iota", "largest", "sizes", "seeds", "seed", "astray")
    common = {name: getattr(options, name) for name in names}
    b = None if math.isinf(options.b) else options.b
    all_settings = [RateSettings(a=a, b=b, frequencies=k, **common) for k in options.frequencies for a in options.a]
    for settings in all_settings:
        schedule(settings)  # refuse impossible sizes before hours of work
    curves = []
    for settings in all_settings:
        say(f"a = {settings.a:g}" + (f", {settings.frequencies} frequencies" if settings.frequencies else ""))
        curves.append({"settings": settings.to_dict(), "rows": [asdict(row) for row in measure(settings)]})
    more: dict[str, Any] = {"curves": curves}
    if options.grid:
        say("all M and N")
        samples = [n for n in _SAMPLES if n <= options.largest]
        middle = all_settings[len(all_settings) // 2]
        rows = measure_grid(middle, TARGETS, samples)
        more["grid"] = {"settings": middle.to_dict(), "rows": [asdict(row) for row in rows]}
    write(
        document(options.command, {"a": options.a, "b": b, "frequencies": options.frequencies, **common}, [], **more),
        options.json,
    )
