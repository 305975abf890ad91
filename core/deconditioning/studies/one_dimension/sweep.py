"""What can be swept of the one-dimensional problem, and its scores at a setting."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from deconditioning.datasets.edited import Edits
from deconditioning.datasets.one_dimension import SIMULATIONS, TARGETS, Line, LineSpec, make_line
from deconditioning.errors import InputError
from deconditioning.figures.small_multiples import small_lines
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.leave_one_out import leave_one_out
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.one_dimension.problem import METHODS, condition_line, on_grid
from deconditioning.studies.sweeping import Setting, Settings, Study
from deconditioning.sweeps import Score

#: Points of a small picture, of the grid's 400.
THIN = 8
_OWN = {own.name: own for family in FAMILIES.values() if family.stationary for own in family.own}


@lru_cache(maxsize=4)
def line_at(spec: LineSpec) -> Line:
    """The problem, kept while only its model moves."""
    return make_line(spec)


def line_settings() -> dict[str, Setting]:
    """Those of the problem."""
    return {
        "n": Setting("n, pairs (x, y)", 200, 1, 400, whole=True, draws=True),
        "m": Setting("m, pairs (y, z)", 200, 1, 400, whole=True, draws=True),
        "simulation": Setting("Simulation r(y)", SIMULATIONS[0]),
        "target": Setting("Hidden function f(x)", TARGETS[0]),
        "input_noise": Setting("Noise of x (sd)", 0.25, 0.0, 2.0, log=False, draws=True),
        "target_noise": Setting("Noise of z (sd)", 0.25, 0.0, 2.0, log=False, draws=True),
        "seed": Setting("Seed", 0),
        "first_edits": Setting("Points of D₁ by hand", ""),
        "second_edits": Setting("Points of D₂ by hand", ""),
    }


def kernel_settings(
    symbol: str, key: str, scale: float, size: float, only: Mapping[str, tuple[Any, ...]] | None = None
) -> dict[str, Setting]:
    """Those of one kernel; ``key`` begins their names; ``only`` of its variance."""
    own = {
        f"{key}_{name}": Setting(
            f"{each.symbol} of {symbol}", each.default, each.low, each.high, only={f"{key}_family": _having(name)}
        )
        for name, each in _OWN.items()
    }
    return {
        f"{key}_family": Setting(f"Kernel {symbol}", "rbf"),
        f"{key}_scale": Setting(f"Lengthscale of {symbol}", scale, 2e-2, 20.0),
        f"{key}_size": Setting(f"Variance of {symbol}", size, 1e-2, 1e3, only=only or {}),
        **own,
    }


def _having(own: str) -> tuple[str, ...]:
    """The families with this parameter of their own."""
    return tuple(name for name, family in FAMILIES.items() if own in {each.name for each in family.own})


def line_spec(given: Settings) -> LineSpec:
    """The problem's settings; edits of points that it does not draw are left out."""
    names = ("n", "m", "simulation", "target", "input_noise", "target_noise", "seed")
    first = Edits.from_text(given["first_edits"]).possible(given["n"])
    second = Edits.from_text(given["second_edits"]).possible(given["m"])
    return LineSpec(**{name: given[name] for name in names}, first_edits=first.text, second_edits=second.text)


def kernel_at(given: Settings, key: str, column: str) -> KernelSpec:
    """One kernel at its settings."""
    family = str(given[f"{key}_family"])
    if family not in FAMILIES:
        raise InputError(f"The kernel '{family}' is unknown: choose among {', '.join(FAMILIES)}.")
    own = {each.name: given[f"{key}_{each.name}"] for each in FAMILIES[family].own}
    factor = Factor(family, (column,), (given[f"{key}_scale"],), own)
    return KernelSpec((Term((factor,), given[f"{key}_size"]),))


def model_at(given: Settings) -> ModelSpec:
    """The model at its settings."""
    model = METHODS.get(str(given["method"]))
    if model is None:
        offered = [name for name, found in METHODS.items() if found]
        raise InputError(f"The method '{given['method']}' cannot be swept: choose among {', '.join(offered)}.")
    k, ell = kernel_at(given, "k", "x"), kernel_at(given, "l", "y")
    return ModelSpec(model, k, ell, given["regularisation"], given["noise"])


def row(given: Settings) -> dict[str, Any]:
    """Evidence, left-out targets and scores against f, and f's posterior."""
    line, spec = line_at(line_spec(given)), model_at(given)
    posterior = condition_line(line, spec)
    found = on_grid(line, posterior, spec)
    scores = found.scores(line)
    mean, sd, truth = (values.numpy()[::THIN] for values in (found.mean, found.sd, line.truth))
    return {
        "evidence": found.evidence,
        "left_out": leave_one_out(posterior.conditioning).rmse,
        **{name: scores[name] for name in SWEEP.scores if name in scores},
        "picture": small_lines(line.grid.numpy()[::THIN], {"mean": mean, "truth": truth}, sd),
    }


SWEEP = Study(
    "One dimension",
    line_settings()
    | {"method": Setting("Method", "task_transformed_gp")}
    | kernel_settings("k", "k", 1.0, 2.1)
    | kernel_settings("ℓ", "l", 0.4, 2.0, {"method": ("task_transformed_gp",)})
    | {
        "regularisation": Setting("λ", 1e-3, 1e-9, 1.0),
        "noise": Setting("σ²", 0.2, 1e-4, 10.0),
    },
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
