"""``deconditioning downscale``: from files to a fine field with uncertainty, scores and a NetCDF file."""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deconditioning import __version__
from deconditioning.cli.deck import add_deck_options, check_deck, command_given, deck_files, save_deck
from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import Joined, add_output_options, chosen
from deconditioning.cli.output import add_delivery_options, delivery_of, save
from deconditioning.cli.period import period_document
from deconditioning.cli.period_options import add_times_options, hint_of_times, of_a_period, with_climatology_of
from deconditioning.cli.problem import (
    add_data_options,
    add_footprint_options,
    check_files,
    check_selection,
    file_arguments,
    open_input,
    problem_of,
    problem_spec,
    source_of,
)
from deconditioning.cli.talk import Progress, clean_stdout, say
from deconditioning.downscaling.settings import DownscaleSettings, KernelSettings, LearningSettings
from deconditioning.engine.context import Context
from deconditioning.errors import InputError
from deconditioning.wording import rough_duration

if TYPE_CHECKING:
    from deconditioning.downscaling.run import DownscalingResult
    from deconditioning.fields.gridded import Fields
    from deconditioning.fields.problem.problem import DownscalingProblem
    from deconditioning.fields.spec import DownscalingSpec

HELP = "downscale a coarse field with high-resolution covariates"
#: For runs that are likely to take longer the command says how long.
_LONG_S = 15.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    data_and_model_arguments(parser)
    add_footprint_options(parser.add_argument_group("regions and stations"))
    add_times_options(parser.add_argument_group("times"))
    add_flags(parser.add_argument_group("learning"), LearningSettings, without=("seed",), given=True,
              defaults={"learn": LearningSettings.learn.default})  # fmt: skip
    out = parser.add_argument_group("output")
    add_delivery_options(out)
    add_deck_options(out)
    add_output_options(out)


def data_and_model_arguments(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """What is downscaled, and by which model; ``optional``: nothing may be."""
    parser.add_argument(
        "input", metavar="INPUT", nargs="*" if optional else "+", action=Joined,
        help="NetCDF, GeoTIFF or GRIB file, Zarr store, folder, 'pattern_*.nc' or URL, or the key of a data set (see "
            "`deconditioning datasets`); of several, the first defines the grid and the others are interpolated to "
            "it",
    )  # fmt: skip
    add_data_options(parser.add_argument_group("data"))
    add_flags(parser.add_argument_group("model"), KernelSettings, given=True)


def run(options: argparse.Namespace) -> None:
    """Do every seed, write the fields and print the scores; fails only when no seed succeeds."""
    check_writable(options.json)
    check_deck(options)
    delivery = delivery_of(options)
    check_files(options)
    if of_a_period(options):
        _run_times(options)
        return
    with clean_stdout():
        fields, default = open_input(options)
        seeds = options.seeds or [options.seed if options.seed is not None else default.get("seed", 0)]
        spec = problem_spec(options, default)
        settings = model_settings(options)

        from deconditioning.downscaling.run import downscale, leaving  # heavy: only once the input is known to be good

        DownscaleSettings.from_dict(settings)
        results: list[Result] = []
        failures: list[InputError] = []
        device = "cpu"
        for seed in seeds:
            try:
                problem = _problem(options, fields, replace(spec, seed=seed))
                _tell(problem, options.quiet)
                _announce(problem, settings, options.quiet)
                context = Context(on_report=Progress(options.quiet))
                result = downscale(problem, settings | {"seed": seed}, context)
            except InputError as error:
                failures.append(error)
                results.append(Result(settings.get("model", "auto"), seed, status="failed", message=str(error)))
                continue
            device = str(result.diagnostics.get("device", "cpu"))
            _tell_result(result, options.quiet)
            spectra = save(options, delivery, leaving(problem, result), seed, len(seeds))
            result.diagnostics["draw_spectra"] = spectra
            results += _results(problem, result, seed)
            _present(options, fields, problem, result, len(seeds))
        if len(failures) == len(seeds):
            raise failures[0]
    everything = {**file_arguments(options), "seeds": seeds, "problem": spec.to_dict(), "model": settings}
    write(document(options.command, everything, results, device=device), options.json)


def _present(
    options: argparse.Namespace, fields: "Fields", problem: "DownscalingProblem", result: "DownscalingResult",
    count: int
) -> None:  # fmt: skip
    """Write the slides that are asked for."""
    if not deck_files(options):
        return
    from deconditioning.slides.assembled import of_result

    settings = {
        "source": source_of(options).to_dict(),
        "problem": problem.spec.to_dict(),
        "settings": result.settings.to_dict(),
        "version": __version__,
    }
    shown = of_result(problem, fields, result, command=command_given(options))
    save_deck(options, shown, settings, problem.spec.seed, count)


def one_problem(options: argparse.Namespace) -> "tuple[DownscalingProblem, DownscalingSpec]":
    """The problem of the options with one seed, and its settings."""
    fields, default = open_input(options)
    spec = problem_spec(options, default)
    problem = _problem(options, fields, spec)
    _tell(problem, options.quiet)
    return problem, spec


def model_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The model's settings that were given; the others keep their defaults."""
    return chosen(options, [name for name in DownscaleSettings.declared() if name != "seed"])


def _opened(options: argparse.Namespace, fields: "Fields", spec: "DownscalingSpec") -> "dict[str, Fields]":
    """The fields of all files that were given."""
    from deconditioning.fields.reading.opening import open_fields

    source, opened = source_of(options), {options.input: fields}
    for key in (source.coarse, source.mediator):
        if key:
            opened[key] = open_fields(key)
    check_selection(options, spec, list(opened.values()))
    return opened


def _problem(options: argparse.Namespace, fields: "Fields", spec: "DownscalingSpec") -> "DownscalingProblem":
    opened = _opened(options, fields, spec)
    hint = hint_of_times(opened[options.coarse or options.input], spec)
    if hint and not options.quiet:
        say(f"Note: {hint}")
    spec, opened = with_climatology_of(options, spec, opened)

    def opener(key: str) -> "Fields":
        """The fields of a file, of one that is read already without reading it again."""
        from deconditioning.fields.reading.opening import open_fields

        return opened[key] if key in opened else open_fields(key)

    return problem_of(options, spec, opener)


def _run_times(options: argparse.Namespace) -> None:
    """Downscale many times together."""
    with clean_stdout():
        fields, default = open_input(options)
        seed = options.seed if options.seed is not None else default.get("seed", 0)
        spec = replace(problem_spec(options, default), seed=seed)
        settings = model_settings(options) | {"seed": seed}
        DownscaleSettings.from_dict(settings)
        given, opened = with_climatology_of(options, spec, _opened(options, fields, spec))
        content = period_document(options, source_of(options), given, settings, opened)
    write(content, options.json)


def _results(problem: "DownscalingProblem", result: Any, seed: int) -> list[Result]:
    """The model's entry, then its baselines'. Without truth the scores are those of the coarse cells, and said so."""
    model, units, sentences = result.spec.model.name, problem.units or "1", list(result.warnings)
    scores = dict(result.scores)
    if problem.truth is None:
        from deconditioning.downscaling.run import withheld_scores

        which = "withheld" if "withheld" in result.coarse_scores else "seen"
        scores = withheld_scores(problem, result.fields) or {model: result.coarse_scores.get(which, {})}
        sentences.insert(0, f"There is no truth at high resolution: scores are of the {which} coarse cells.")
    mine = Result(
        model,
        seed,
        scores.pop(model, {}),
        units,
        message=" ".join(sentences) or None,
        seconds=result.seconds,
        peak_mb=result.peak_mb,
        more={
            "coarse_scores": result.coarse_scores,
            "settings": result.settings.to_dict(),
            "warnings": list(result.warnings),
            "diagnostics": result.diagnostics,
        },
    )
    return [mine, *(Result(name, seed, values, units) for name, values in scores.items())]


def _announce(problem: "DownscalingProblem", settings: dict[str, Any], quiet: bool) -> None:
    """What is about to be done, and about how long it takes where that is long."""
    from deconditioning.downscaling.duration import about_seconds

    if quiet:
        return
    chosen = DownscaleSettings.from_dict(settings)
    targets, learn = len(problem.data.targets), chosen.learn
    columns = len(problem.spec.covariates)
    seconds = about_seconds(problem, chosen)
    least, most = rough_duration(seconds / 2), rough_duration(2 * seconds)
    long = f", which takes about {least} to {most}" if seconds > _LONG_S else ""
    say(
        f"{targets:,} of {problem.coarse_truth.size:,} coarse cells, {problem.grid.area.size:,} pixels, {columns} "
        f"covariate{'s' * (columns != 1)}: {'learning, then ' if learn else ''}computing the map and its "
        f"scores{long}."
    )


def _tell_result(result: "DownscalingResult", quiet: bool) -> None:
    """Warnings, also where progress is not wanted; the weights of an average."""
    for warning in result.warnings:
        say(f"Warning: {warning}")
    for sentence in result.diagnostics.get("stations", {}).get("sentences", ()):
        say(f"Note: {sentence}")
    if result.spec.others and result.diagnostics["one_scale_up"] and not quiet:
        from deconditioning.downscaling.checks.scale_up_result import OneScaleUp

        say(f"Note: {OneScaleUp.from_dict(result.diagnostics['one_scale_up']).choice}")


def _tell(problem: "DownscalingProblem", quiet: bool) -> None:
    for note in problem.notes if not quiet else ():
        say(f"Note: {note}")
