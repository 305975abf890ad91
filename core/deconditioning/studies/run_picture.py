"""What a run learned as pictures: its model read again in closed form; a sweep as a small picture of a score."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deconditioning.engine.records import Run
from deconditioning.errors import InputError
from deconditioning.figures.printed.thumbnail import figure_sketch
from deconditioning.figures.style import Figure
from deconditioning.sweeps import choosing, erring

Settings = Mapping[str, Any]
_Drawer = Callable[[Settings, Settings, bool], list[Figure]]
_WRONG = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, ZeroDivisionError)
#: Data drawn at most.
_MOST_SHOWN = 2000


def run_figures(task: str, settings: Settings, result: Settings | None, *, dark: bool = False) -> list[Figure]:
    """The pictures of a task's result; none if it learned nothing, or keeps its fields in a file.

    Raises ``InputError`` if settings or result are damaged.
    """
    drawer = _DRAWERS.get(task)
    if drawer is None or not result:
        return []
    try:
        return drawer(settings, result, dark)
    except InputError:
        raise
    except _WRONG:
        raise InputError("The result of this run is damaged and cannot be read: run it again.") from None


def run_sketch(task: str, settings: Settings, result: Settings) -> bytes:
    """The first of them as a small picture; ``InputError`` if there is none."""
    figures = run_figures(task, settings, result)
    if not figures:
        raise InputError("This run has no picture because it learned nothing.")
    return figure_sketch(figures[0])


def sweep_sketch(run: Run) -> bytes:
    """The score that a sweep's settings are chosen by, over them; ``InputError`` if it has none."""
    from deconditioning.figures.sweep import sweep_plot
    from deconditioning.studies.sweep_content import swept

    result = swept(run)
    name = None if result is None else choosing(result.rows, result.scores) or erring(result.rows, result.scores)
    if result is None or name is None:
        raise InputError("This run has no picture because it computed no setting.")
    score, log = result.scores[name], [result.axis(each).log for each in result.rows[0]["values"]]
    falls = score.better == "more"
    return figure_sketch(sweep_plot(result.rows, name, score.title, {}, log=log, names=result.names, falls=falls))


def _sparse(settings: Settings, result: Settings, dark: bool) -> list[Figure]:
    from deconditioning.datasets.sparse_toy import ToySpec, make_toy
    from deconditioning.figures.studies.one_dimension import function_plot
    from deconditioning.studies.sparse_representation.study import VERSIONS, read, spec_from_dict

    if not result.get("learned"):
        return []
    toy, version = make_toy(ToySpec(**settings["toy"])), str(settings["settings"]["version"])
    posterior = read(toy, spec_from_dict(result["learned"]))
    data = toy.inputs[:_MOST_SHOWN, 0].numpy(), toy.targets[:_MOST_SHOWN].numpy()
    return [
        function_plot(
            toy.grid[:, 0].numpy(), posterior.mean, posterior.sd, {"truth": toy.truth}, title=VERSIONS[version],
            model=version, name="mean ±2 sd", marks=posterior.locations, points=data, labels=("x", "f(x)"), dark=dark,
        )
    ]  # fmt: skip


def _line(settings: Settings, result: Settings, dark: bool) -> list[Figure]:
    from deconditioning.datasets.one_dimension import LineSpec, make_line
    from deconditioning.figures.studies.one_dimension import error_band_plot, function_plot
    from deconditioning.models.spec import ModelSpec
    from deconditioning.studies.one_dimension.problem import condition_line, on_grid
    from deconditioning.studies.one_dimension.settings import TITLES

    if not result.get("learned"):
        return []
    line, model = make_line(LineSpec.from_dict(settings["line"])), ModelSpec.from_dict(result["learned"])
    method = str(settings["settings"]["method"])
    posterior = on_grid(line, condition_line(line, model), model)
    grid, mean, sd, truth = (each.numpy() for each in (line.grid, posterior.mean, posterior.sd, line.truth))
    return [
        function_plot(
            grid, mean, sd, {"truth": truth}, title="The hidden function f", model=method,
            name=f"{TITLES[method]} ±2 sd", dark=dark,
        ),
        error_band_plot(grid, mean - truth, sd, model=method, height=360, dark=dark),
    ]  # fmt: skip


def _roll(settings: Settings, result: Settings, dark: bool) -> list[Figure]:
    from deconditioning.datasets.swiss_roll import RollSpec, make_swiss_roll
    from deconditioning.figures.studies.swiss_roll import roll_in_space
    from deconditioning.models.spec import ModelSpec
    from deconditioning.studies.swiss_roll.study import data_for, posterior_at_points

    if not result.get("learned"):
        return []
    roll, spec = make_swiss_roll(RollSpec(**settings["roll"])), ModelSpec.from_dict(result["learned"])
    mean, sd = posterior_at_points(spec, data_for(roll, spec.model), roll.inputs, roll.points)
    inputs, truth, top = roll.inputs.numpy(), roll.truth.numpy(), float(np.quantile(2 * sd.numpy(), 0.99))
    limits = float(truth.min()), float(truth.max())
    return [
        roll_in_space(inputs, mean.numpy(), title="Posterior mean", label="Position t along the roll",
                      colours="sequential", limits=limits, dark=dark),
        roll_in_space(inputs, truth, title="Truth", label="Position t along the roll", colours="sequential",
                      limits=limits, dark=dark),
        roll_in_space(inputs, 2 * sd.numpy(), title="Uncertainty: 2 sd", label="2 standard deviations",
                      colours="uncertainty", limits=(0.0, max(top, 1e-9)), dark=dark),
    ]  # fmt: skip


_DRAWERS: dict[str, _Drawer] = {
    "sparse-representation": _sparse,
    "one-dimension": _line,
    "swiss-roll": _roll,
}
