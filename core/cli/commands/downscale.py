"""``python -m core downscale``: from files to a fine field with its uncertainty, its scores and a NetCDF."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import __version__
from core.cli.deck import add_deck_options, check_deck, command_given, deck_files, save_deck
from core.cli.document import Result, check_writable, document, write
from core.cli.options import Joined, add_device_option, add_output_options, chosen
from core.cli.output import add_delivery_options, delivery_of, save
from core.cli.talk import Progress, say, stdout_kept_clean
from core.engine import Context
from core.errors import InputError

if TYPE_CHECKING:
    from core.downscaling.run import DownscalingResult
    from core.downscaling.source import Source
    from core.fields import DownscalingProblem, DownscalingSpec, Fields

HELP = "downscale a coarse field with high-resolution covariates"
MODEL_SETTINGS = (
    "model",
    "kernel",
    "mediator_kernel",
    "spatial",
    "structure",
    "regularisation",
    "noise",
    "point_noise",
    "hold",
    "inducing",
    "placement",
    "bound",
    "learn",
    "stage_one",
    "method",
    "restarts",
    "steps",
    "points",
    "every_pixel",
    "prior_sd",
    "local_scale",
    "gradient_boosting",
    "device",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    data_and_model_arguments(parser)
    _learning_arguments(parser.add_argument_group("learning"))
    out = parser.add_argument_group("output")
    add_delivery_options(out)
    add_deck_options(out)
    add_output_options(out)


def data_and_model_arguments(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """What is downscaled, and by which model; ``optional``: nothing may be."""
    parser.add_argument(
        "input", metavar="INPUT", nargs="*" if optional else "+", action=Joined,
        help="NetCDF or GRIB file, Zarr store, folder, 'pattern_*.nc' or address, or the key of a data set (python -m "
        "core datasets); of several the first gives the grid, the others are carried onto it",
    )  # fmt: skip
    _data_arguments(parser.add_argument_group("data"))
    _model_arguments(parser.add_argument_group("model"))


def _data_arguments(group: Any) -> None:
    group.add_argument("--target", help="the coarse variable to refine (a data set of ours has its own default)")
    group.add_argument("--covariates", nargs="*", metavar="NAME", help="high-resolution variables")
    group.add_argument("--mediators", nargs="*", metavar="NAME", help="mediating variables")
    group.add_argument(
        "--coarse", nargs="+", action=Joined, metavar="FILE", help="the target lies here, on its own coarse grid"
    )
    group.add_argument(
        "--mediator", nargs="+", action=Joined, metavar="FILE", help="the mediators lie here (with --coarse)"
    )
    group.add_argument("--block", nargs=2, type=int, metavar=("ROWS", "COLUMNS"), help="pixels of a coarse cell (9 9)")
    group.add_argument("--withhold", type=float, help="fraction of the cells that loses its target (0.5)")
    group.add_argument("--matching", choices=("direct", "indirect"), help="indirect where there are mediators")
    group.add_argument("--no-coordinates", action="store_true", help="coordinates do not join the covariates")
    group.add_argument(
        "--reweigh", action="store_true", help="cells count by how common their mediators are among the targets"
    )
    group.add_argument(
        "--select", nargs="*", metavar="DIM=VALUE",
        help="along an extra dimension, an index from 0, the beginning of a date (time=1995-07-14T12) or a label",
    )  # fmt: skip
    group.add_argument(
        "--hide", nargs="+", metavar="ROW-COLUMN", help="coarse cells that lose their target, rows and columns from 0"
    )
    group.add_argument("--reveal", nargs="+", metavar="ROW-COLUMN", help="coarse cells that keep it, whatever is drawn")
    group.add_argument(
        "--region", nargs=4, type=int, metavar=("ROW", "ROW", "COLUMN", "COLUMN"),
        help="first and last row, first and last column of the coarse cells to keep, from 0",
    )  # fmt: skip
    group.add_argument("--seed", type=int, help="seed of the withheld cells and of learning (0)")
    group.add_argument("--seeds", nargs="+", type=int, metavar="SEED", help="several seeds, one after the other")


def _model_arguments(group: Any) -> None:
    group.add_argument(
        "--model",
        help="area_to_point_gp (default; without coordinates bag_gp for matched cells and shrinkage_cmp for others), "
        "partial_cmp, regression_kriging, shrinkage_cmp, cmp, bag_gp, task_transformed_gp, variational_cmp, vbagg, "
        "centroid_gp or variational_gp",
    )
    group.add_argument(
        "--choose", action=argparse.BooleanOptionalAction, default=None,
        help="let learning take area_to_point_gp or partial_cmp, whichever is nearer one scale up, where cells are "
        "matched through mediators (it does where no model is named)",
    )  # fmt: skip
    group.add_argument("--kernel", metavar="FAMILY", help="family of the kernel on covariates (rbf)")
    group.add_argument("--mediator-kernel", metavar="FAMILY", help="family of the kernel on mediators (rbf)")
    group.add_argument(
        "--spatial", metavar="FAMILY",
        help="family on coordinates (powered_exponential for area_to_point_gp, partial_cmp and regression_kriging, "
        "matern12 for bag_gp, else matern32)",
    )  # fmt: skip
    group.add_argument("--structure", choices=("sum", "product"), help="how the two kernels join (sum)")
    group.add_argument("--regularisation", type=float, metavar="λ", help="λ inside Bλ (shrinkage_cmp) or Nλ (cmp)")
    group.add_argument("--noise", type=float, metavar="σ²", help="noise variance of the standardised targets")
    group.add_argument("--point-noise", type=float, metavar="ς²", help="noise variance of each point")
    group.add_argument("--inducing", type=int, metavar="P", help="inducing points of variational models (200)")
    group.add_argument(
        "--local-scale", action=argparse.BooleanOptionalAction, default=None,
        help="let the sd vary with how well each cell is predicted from the others (area_to_point_gp and "
        "regression_kriging do, where cells are matched, and partial_cmp)",
    )  # fmt: skip
    group.add_argument(
        "--gradient-boosting",
        action="store_true",
        default=None,
        help="gradient boosting joins the baselines (some seconds)",
    )
    group.add_argument("--placement", choices=("kmeans", "grid"), help="where they lie (kmeans)")
    add_device_option(group, None)


def _learning_arguments(group: Any) -> None:
    group.add_argument("--no-learn", dest="learn", action="store_false", help="keep the hyperparameters as given")
    group.add_argument(
        "--stage-one",
        choices=("leave_one_bag_out", "target_gp", "joint"),
        help="how λ and the mediators' lengthscales are found (leave_one_bag_out)",
    )
    group.add_argument("--method", choices=("lbfgs", "adam"), help="optimiser (lbfgs)")
    group.add_argument("--bound", choices=("collapsed", "stochastic"), help="what variational models climb (collapsed)")
    group.add_argument(
        "--hold", nargs="*", metavar="NOISE", choices=("noise", "point_noise"),
        help="noises that learning leaves as they are (point_noise; for matched cells noise too with "
        "bag_gp; area_to_point_gp, partial_cmp and regression_kriging hold both; --hold alone frees both)",
    )  # fmt: skip
    group.add_argument(
        "--restarts",
        type=int,
        help="starts of the optimiser (2; 1 for area_to_point_gp, partial_cmp and regression_kriging)",
    )
    group.add_argument("--steps", type=int, help="steps of each start")
    group.add_argument("--points", type=int, help="points of each bag while learning; the posterior uses all")
    group.add_argument(
        "--every-pixel", action=argparse.BooleanOptionalAction, default=None,
        help="while learning, sum isotropic terms of the place over every pixel, from a table of distances "
        "(area_to_point_gp, partial_cmp and regression_kriging do)",
    )  # fmt: skip
    group.add_argument(
        "--prior-sd", type=float, metavar="WIDTH",
        help="width of log-normal priors that hold kernels near their start while the evidence is climbed; 0 for none "
        "(1 for area_to_point_gp, partial_cmp and regression_kriging, else 0)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Do every seed, write the fields and print the scores; fails only when no seed succeeds."""
    check_writable(options.json)
    check_deck(options)
    delivery = delivery_of(options)
    _check_files(options)
    with stdout_kept_clean():
        fields, default = _open(options)
        seeds = options.seeds or [options.seed if options.seed is not None else default.get("seed", 0)]
        spec = problem_spec(options, default)
        settings = model_settings(options)

        from core.downscaling.run import downscale, leaving  # heavy: only once the input is known to be good
        from core.downscaling.settings import DownscaleSettings

        DownscaleSettings.from_dict(settings)
        results: list[Result] = []
        failures: list[InputError] = []
        device = "cpu"
        for seed in seeds:
            try:
                problem = _problem(options, fields, replace(spec, seed=seed))
                _tell(problem, options.quiet)
                context = Context(on_report=Progress(options.quiet))
                found = downscale(problem, settings | {"seed": seed}, context)
            except InputError as error:
                failures.append(error)
                results.append(Result(settings.get("model", "auto"), seed, status="failed", message=str(error)))
                continue
            device = str(found.diagnostics.get("device", "cpu"))
            results += _results(problem, found, seed)
            for warning in found.warnings:  # also where progress is not wanted
                say(f"Warning: {warning}")
            save(options, delivery, leaving(problem, found), seed, len(seeds))
            _present(options, fields, problem, found, len(seeds))
        if len(failures) == len(seeds):
            raise failures[0]
    given = {"input": options.input, "coarse": options.coarse, "mediator": options.mediator, "output": options.output}
    everything = {**given, "seeds": seeds, "problem": spec.to_dict(), "model": settings}
    write(document(options.command, everything, results, device=device), options.json)


def _present(
    options: argparse.Namespace, fields: "Fields", problem: "DownscalingProblem", found: "DownscalingResult", count: int
) -> None:  # fmt: skip
    """Write the slides that are asked for."""
    if not deck_files(options):
        return
    from core.slides.assembled import of_result

    settings = {
        "source": _source(options).to_dict(),
        "problem": problem.spec.to_dict(),
        "settings": found.settings.to_dict(),
        "version": __version__,
    }
    shown = of_result(problem, fields, found, command=command_given(options))
    save_deck(options, shown, settings, problem.spec.seed, count)


def one_problem(options: argparse.Namespace) -> "tuple[DownscalingProblem, DownscalingSpec]":
    """The problem of the options with one seed, and its settings."""
    fields, default = _open(options)
    spec = problem_spec(options, default)
    problem = _problem(options, fields, spec)
    _tell(problem, options.quiet)
    return problem, spec


def problem_spec(options: argparse.Namespace, default: dict[str, Any]) -> "DownscalingSpec":
    """The problem's settings: those given, else the data set's own, else the usual ones."""
    from core.fields import DownscalingSpec, cells_of_text

    names = ("target", "covariates", "mediators", "block", "withhold", "matching", "seed", "region")
    given = chosen(options, names)
    given |= {name: cells_of_text(".".join(cells)) for name, cells in chosen(options, ("hide", "reveal")).items()}
    if options.no_coordinates:
        given["coordinates"] = False
    if options.reweigh:
        given["reweigh"] = True
    if options.select is not None:
        given["select"] = dict(_pair(text) for text in options.select)
    merged = {**default, **given}
    if "target" not in merged:
        raise InputError("`--target` is missing: name the variable to refine.")
    return DownscalingSpec.from_dict(merged)


def model_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The model's settings that were given; the others keep their defaults."""
    return chosen(options, MODEL_SETTINGS)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value.strip():
        raise InputError(f"`--select {text}` is not understood: write DIM=VALUE, such as time=2 or time=1995-07-14T12.")
    return name, value


def _check_files(options: argparse.Namespace) -> None:
    if options.mediator and not options.coarse:
        raise InputError("`--mediator` goes with `--coarse`: without it the mediators are read from INPUT.")
    from core.fields.several import keys_of

    given = [keys_of(key) for key in (options.input, options.coarse, options.mediator) if key]
    inputs = [Path(file).resolve() for files in given for file in files]
    for option, file in {"output": options.output, **deck_files(options)}.items():
        if file and Path(file).resolve() in inputs:
            raise InputError(f"`--{option}` {file} is also an input: choose another name.")


def _open(options: argparse.Namespace) -> tuple["Fields", dict[str, Any]]:
    """The fields of files or of data sets of ours, and the settings that one of the latter comes with."""
    from core.datasets import catalogue
    from core.fields import open_fields
    from core.fields.several import keys_of, together

    entries = {entry.key: entry for entry in catalogue()}
    keys = [options.input] if Path(options.input).exists() else keys_of(options.input)
    ours = [None if Path(key).exists() else entries.get(key) for key in keys]
    if len(keys) == 1 and ours[0] is not None:
        return ours[0].open(), dict(ours[0].default)
    if not any(ours):
        return open_fields(options.input), {}
    return together([entry.open() if entry else open_fields(key) for key, entry in zip(keys, ours, strict=True)]), {}


def _problem(options: argparse.Namespace, fields: "Fields", spec: "DownscalingSpec") -> "DownscalingProblem":
    from core.downscaling.source import build_problem
    from core.fields import open_fields

    return build_problem(_source(options), spec, lambda key: fields if key == options.input else open_fields(key))


def _source(options: argparse.Namespace) -> "Source":
    from core.downscaling.source import Source

    return Source(options.input, options.coarse, options.mediator)


def _results(problem: "DownscalingProblem", found: Any, seed: int) -> list[Result]:
    """The model's entry, then its baselines'. Without truth the scores are those of the coarse cells, and said so."""
    model, units, sentences = found.spec.model, problem.units or "1", list(found.warnings)
    scores = dict(found.scores)
    if problem.truth is None:
        from core.downscaling.run import withheld_scores

        which = "withheld" if "withheld" in found.coarse_scores else "seen"
        scores = withheld_scores(problem, found.fields) or {model: found.coarse_scores.get(which, {})}
        sentences.insert(0, f"There is no truth at high resolution: scores are of the {which} coarse cells.")
    mine = Result(
        model,
        seed,
        scores.pop(model, {}),
        units,
        message=" ".join(sentences) or None,
        seconds=found.seconds,
        peak_mb=found.peak_mb,
        more={
            "coarse_scores": found.coarse_scores,
            "settings": found.settings.to_dict(),
            "warnings": list(found.warnings),
            "diagnostics": found.diagnostics,
        },
    )
    return [mine, *(Result(name, seed, values, units) for name, values in scores.items())]


def _tell(problem: "DownscalingProblem", quiet: bool) -> None:
    for note in problem.notes if not quiet else ():
        say(f"Note: {note}")
