"""The data of page One dimension: its pairs, its controls, and the learned settings of the two baselines."""

import ast
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from deconditioning.datasets.one_dimension import INPUT, MEDIATOR, Line, LineSpec, make_line
from deconditioning.figures.colours import MODEL_HUES
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.one_dimension.problem import NAIVE, regression
from deconditioning.studies.one_dimension.settings import TITLES, RecoverSettings
from pages.one_dimension.presets import PRESETS
from pages.one_dimension.words import FIRST, FUNCTION, SECOND, explanation
from scripts.teach_offline.mathematics import html
from scripts.teach_offline.plain_chart import numbers

#: Numbers of pairs at which the slider stops.
STOPS = (10, 20, 30, 50, 80, 100, 150, 200)
SLIDERS = ("k_scale", "k_size", "l_scale", "l_size", "regularisation", "noise")
METHOD = "task_transformed_gp"
_OPERATIONS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_OTHERWISE = {"arctan": "atan"}


def first_pairs(line: Line, count: int) -> Line:
    """The problem with the first ``count`` pairs of each data set."""
    return replace(line, inputs=line.inputs[:count], mediators=line.mediators[:count], query=line.query[:count],
                   targets=line.targets[:count])  # fmt: skip


def data() -> dict[str, Any]:
    """Everything that line.js reads."""
    line = make_line(LineSpec())
    spec = line.spec
    y = np.linspace(-spec.half_width, spec.half_width, 300)
    at = torch.from_numpy(y)
    return {
        "x": line.inputs.tolist(),
        "y": line.mediators.tolist(),
        "query": line.query.tolist(),
        "z": line.targets.tolist(),
        "first": _curve(y, spec.r(y), np.full(len(y), spec.input_noise)),
        "second": _curve(y, line.conditional_mean(at).numpy(), line.conditional_sd(at).numpy()),
        "stops": STOPS,
        "sliders": [_slider(name, spec) for name in SLIDERS],
        "presets": [_preset(preset) for preset in PRESETS],
        "baselines": [baselines(first_pairs(line, count)) for count in STOPS],
        "titles": {name: TITLES[name] for name in (METHOD, "impute", "cascade")},
        "hues": {name: MODEL_HUES[name] for name in (METHOD, "impute", "cascade")},
        "scatters": [FIRST._asdict(), SECOND._asdict()],
        "function": FUNCTION,
    }


def target() -> str:
    """The hidden function in JavaScript."""
    return f"{INPUT} => {javascript(LineSpec().target)}"


def mathematics() -> str:
    """The equations with the numbers of the first setting, and their source."""
    line = make_line(LineSpec())
    shown = {name: RecoverSettings.declaration(name).default for name in SLIDERS}
    sentence, equation, source = explanation(line, METHOD, shown["regularisation"], shown["noise"])
    return html(f"{sentence}\n\n{equation}") + f"<p><small>Source: {source}</small></p>"


def baselines(line: Line) -> dict[str, list[float]]:
    """Lengthscale, variance and noise of the three regressions behind impute and cascade, learned as the page does."""
    forth, forth_spec = regression(line.query, line.targets, MEDIATOR, NAIVE)
    made_up = forth.mean(line.mediators[:, None])
    centred = line.mediators - line.mediators.mean()
    return {
        "forth": _hyperparameters(forth_spec),
        "imputed": _hyperparameters(regression(line.inputs, made_up, INPUT, NAIVE)[1]),
        "back": _hyperparameters(regression(line.inputs, centred, INPUT, NAIVE)[1]),
    }


def javascript(expression: str) -> str:
    """An expression of ``deconditioning.expressions`` in JavaScript."""
    return _written(ast.parse(expression.replace("^", "**"), mode="eval").body)


def _written(node: ast.expr) -> str:
    if isinstance(node, ast.BinOp):
        left, right = _written(node.left), _written(node.right)
        power = isinstance(node.op, ast.Pow)
        return f"Math.pow({left}, {right})" if power else f"({left} {_OPERATIONS[type(node.op)]} {right})"
    if isinstance(node, ast.UnaryOp):
        return f"({'-' if isinstance(node.op, ast.USub) else '+'}{_written(node.operand)})"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return f"Math.{_OTHERWISE.get(node.func.id, node.func.id)}({_written(node.args[0])})"
    if isinstance(node, ast.Name):
        return {"pi": "Math.PI", "e": "Math.E"}.get(node.id, node.id)
    assert isinstance(node, ast.Constant)
    return repr(node.value)


def _hyperparameters(spec: ModelSpec) -> list[float]:
    term = spec.kernel.terms[0]
    return [term.factors[0].lengthscales[0], term.scale, spec.noise]


def _curve(at: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> dict[str, Any]:
    return {"at": numbers(at), "mean": numbers(mean), "low": numbers(mean - 2 * sd), "high": numbers(mean + 2 * sd)}


def _slider(name: str, spec: LineSpec) -> dict[str, Any]:
    setting = RecoverSettings.declaration(name)
    text = setting.help(make_line(spec).spec) if callable(setting.help) else setting.help
    variance = name == "noise"
    title = "sd\u00a0σ" if variance else setting.title
    return {"name": name, "plain": setting.plain, "title": title, "variance": variance,
            "help": setting.plain_help or text, "low": setting.low, "high": setting.high,
            "value": setting.default}  # fmt: skip


def _preset(preset: Any) -> dict[str, Any]:
    keys = {RecoverSettings.declaration(name).key: name for name in (*SLIDERS, "n")}
    values = {keys[key]: value for key, value in preset.values({}).items() if key in keys}
    return {"name": preset.name, "about": preset.about, "values": values}
