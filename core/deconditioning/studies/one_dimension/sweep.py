"""What can be swept of the one-dimensional problem, and its scores at a setting."""

from functools import lru_cache
from typing import Any

from deconditioning.datasets.edited import Edits
from deconditioning.datasets.line_settings import LineProblem
from deconditioning.datasets.one_dimension import Line, LineSpec, make_line
from deconditioning.errors import InputError
from deconditioning.figures.small_multiples import small_lines
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.leave_one_out import leave_one_out
from deconditioning.models.spec import ModelSpec
from deconditioning.settings import setting
from deconditioning.studies.one_dimension.problem import METHODS, condition_line, on_grid
from deconditioning.studies.one_dimension.settings import RecoverSettings
from deconditioning.studies.sweeping import Study
from deconditioning.sweeps import Score

#: Points of a small picture, of the grid's 400.
THIN = 8
_PARAMETERS = {each.name: each for family in FAMILIES.values() if family.stationary for each in family.parameters}


_line = lru_cache(maxsize=4)(make_line)


def line_at(values: dict[str, Any]) -> Line:
    """The problem at these settings, cached while only its model moves."""
    return _line(line_spec(values))


def further_parameters(kind: type[LineProblem], view: str) -> dict[str, setting.Setting[Any]]:
    """The parameters that families of k and ℓ have besides, of the settings of a view."""
    result: dict[str, setting.Setting[Any]] = {}
    for key in ("k", "l"):
        family = kind.declaration(f"{key}_family")
        symbol, names = {"k": "k", "l": "ℓ"}[key], {f"{key}_{name}": each for name, each in _PARAMETERS.items()}
        for name, each in names.items():
            result[name] = setting.Log(
                f"{each.symbol} of {symbol}", each.default, low=each.low, high=each.high, first=family.first,
                address=f"{view}-{name.replace('_', '-')}", only={family.name: _having(each.name)},
            )  # fmt: skip
            result[name].name = name
    return result


def _having(parameter: str) -> tuple[str, ...]:
    """The families that have this parameter."""
    return tuple(name for name, family in FAMILIES.items() if parameter in {each.name for each in family.parameters})


def line_spec(values: dict[str, Any]) -> LineSpec:
    """The problem's settings; edits of points that it does not draw are left out."""
    names = ("n", "m", "simulation", "target", "input_noise", "target_noise", "seed")
    first = Edits.from_text(values["first_edits"]).possible(values["n"])
    second = Edits.from_text(values["second_edits"]).possible(values["m"])
    return LineSpec(**{name: values[name] for name in names}, first_edits=first.text, second_edits=second.text)


def kernel_at(values: dict[str, Any], key: str, column: str) -> KernelSpec:
    """The kernel of ``values``, whose settings begin with ``key`` ("k" or "l"), on one ``column``.

    Raises ``InputError`` for an unknown family.
    """
    family = str(values[f"{key}_family"])
    if family not in FAMILIES:
        raise InputError(f"The kernel '{family}' is unknown: choose among {', '.join(FAMILIES)}.")
    parameters = {each.name: values[f"{key}_{each.name}"] for each in FAMILIES[family].parameters}
    factor = Factor(family, (column,), (values[f"{key}_scale"],), parameters)
    return KernelSpec((Term((factor,), values[f"{key}_size"]),))


def model_at(values: dict[str, Any]) -> ModelSpec:
    """The model of ``values``: its method, k on x, ℓ on y, λ and σ².

    Raises ``InputError`` for a method that is no conditioning (impute, cascade), as it has no λ to sweep.
    """
    model = METHODS.get(str(values["method"]))
    if model is None:
        offered = [name for name, result in METHODS.items() if result]
        raise InputError(f"The method '{values['method']}' cannot be swept: choose among {', '.join(offered)}.")
    k, ell = kernel_at(values, "k", "x"), kernel_at(values, "l", "y")
    return ModelSpec(model, k, ell, values["regularisation"], values["noise"])


def row(given: dict[str, Any]) -> dict[str, Any]:
    """Evidence, left-out targets and scores against f, and f's posterior."""
    line, spec = line_at(given), model_at(given)
    posterior = condition_line(line, spec)
    result = on_grid(line, posterior, spec)
    scores = result.scores(line)
    mean, sd, truth = (values.numpy()[::THIN] for values in (result.mean, result.sd, line.truth))
    return {
        "evidence": result.evidence,
        "left_out": leave_one_out(posterior.conditioning).rmse,
        **{name: scores[name] for name in SWEEP.scores if name in scores},
        "picture": small_lines(line.grid.numpy()[::THIN], {"mean": mean, "truth": truth}, sd),
    }


SWEEP = Study(
    "One dimension",
    RecoverSettings.declared() | further_parameters(RecoverSettings, "o"),
    {
        "evidence": Score("Log evidence", "more", truth=False),
        "left_out": Score("RMSE of targets left out", truth=False),
        "rmse": Score("RMSE against f"),
        "crps": Score("CRPS against f"),
        "coverage50": Score("f in 50 % intervals", ""),
        "coverage95": Score("f in 95 % intervals", ""),
    },
    row,
)
