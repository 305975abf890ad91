"""Controls of page One dimension: the problem, the method and its hyperparameters on sliders."""

from deconditioning.datasets.line_settings import LineProblem
from deconditioning.datasets.one_dimension import LineSpec
from deconditioning.expressions import FUNCTIONS
from deconditioning.kernels.families.family import ShapeParameter
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.spec import ModelSpec
from deconditioning.settings.setting import Setting
from deconditioning.settings.wider import Text
from deconditioning.studies.one_dimension.problem import METHODS
from deconditioning.studies.one_dimension.settings import TITLES, LineSettings, RecoverSettings
from deconditioning.wording import number
from pages.kit.controls import widgets
from pages.kit.controls.essential import aside, group
from pages.kit.controls.settings import control
from pages.kit.state import log_slider, on_sliders

OWN = "your own formula"
#: What goes there and back, and the key of the control that says so.
ROUND_TRIP, WHICH = ("the hidden f", "a draw from k"), "t-which"
OFFERED = {name: family.title for name, family in FAMILIES.items() if family.stationary and not family.without_scales}
#: Least, most and usual period of a periodic kernel.
_PERIOD = 0.2, 12.0, 6.0
RECOVER = RecoverSettings


def choose_problem() -> LineSpec:
    """r, f, counts, noises, seed; raises ``InputError`` for an expression that cannot be read."""
    with group("The problem: r, f, n, m, noise, seed"):
        simulation = _expression(LineProblem.simulation, "y")
        target = _expression(LineProblem.target, "x")
        names = ("n", "m", "input_noise", "target_noise", "seed")
        result = {name: control(LineProblem.declaration(name)) for name in names}
    return LineSpec(simulation=simulation, target=target, **result)


def typed_key(expression: Text) -> str:
    """The key of the box for an expression that is typed."""
    return f"{expression.key}-own"


def _expression(setting: Text, variable: str) -> str:
    """A function from the list, or typed."""
    chosen = widgets.selectbox(setting.label, [*setting.offered, OWN], key=setting.key)
    if chosen != OWN:
        return str(chosen)
    return str(
        widgets.text_input(
            f"{setting.label} =", setting.default, key=typed_key(setting), max_chars=200,
            help=f"Numbers, {variable}, + - * / ^, pi, e, and {', '.join(FUNCTIONS)}.",
        )
    )  # fmt: skip


def choose_method() -> str:
    """Full or MAP noise."""
    offered = {name: TITLES[name] for name, model in METHODS.items() if model}
    return str(control(RECOVER.method.copy(options=offered)))


def choose_model(line: LineSpec, method: str) -> ModelSpec:
    """The model at the sliders' values."""
    model = METHODS[method]
    assert model is not None
    k = choose_kernel(RECOVER, "k", "x")
    ell = choose_kernel(RECOVER, "l", "y", sized=model.uses("mediator_variance"))
    n, m = line.counts
    lam = control(RECOVER.regularisation, line)
    noise = control(RECOVER.noise.copy(title="sd\u00a0σ"), reads=_as_sd)
    aside(f"nλ = {number(n * lam)} · ε = σ²/m = {number(noise / m)}")
    return ModelSpec(model, k, ell, lam, noise)


def _as_sd(variance: float) -> str:
    """How a noise variance, which the address holds, reads on its slider."""
    return number(variance**0.5, 3)


def choose_kernel(kind: type[LineProblem], key: str, column: str, *, sized: bool = True) -> KernelSpec:
    """Family, lengthscale, variance (where it has a slider) and parameters of one kernel of a view's settings."""
    family, scale, size = (kind.declaration(f"{key}_{name}") for name in ("family", "scale", "size"))
    chosen = control(family.copy(options=OFFERED))
    length = control(scale)
    amount = control(size) if sized and size.address else 1.0
    symbol = "k" if key == "k" else "ℓ"
    parameters = {
        each.name: _parameter_slider(each, symbol, _own_place(family, each.name))
        for each in FAMILIES[chosen].parameters
    }
    return KernelSpec((Term((Factor(chosen, (column,), (length,), parameters),), amount),))


def _own_place(family: Setting[str], name: str) -> str:
    """The key of a family's own parameter, beside that of the family."""
    return family.key.replace("family", name)


def _parameter_slider(parameter: ShapeParameter, symbol: str, key: str) -> float:
    """A family's parameter; the period, which is not learned, goes in even steps."""
    if parameter.learned:
        return log_slider(
            f"{parameter.symbol} of {symbol}",
            key,
            parameter.low,
            parameter.high,
            parameter.default,
            help=parameter.help,
        )
    low, high, usual = _PERIOD
    return float(widgets.slider(f"Period of {symbol}", low, high, usual, 0.1, key=key))


def slider_values(spec: ModelSpec) -> dict[str, float]:
    """What the sliders must hold to stand for ``spec``; give it to ``set_values``."""
    assert spec.mediator_kernel is not None
    k, ell = spec.kernel.terms[0], spec.mediator_kernel.terms[0]
    values = {
        RECOVER.k_scale.key: k.factors[0].lengthscales[0],
        RECOVER.k_size.key: k.scale,
        RECOVER.l_scale.key: ell.factors[0].lengthscales[0],
        RECOVER.regularisation.key: spec.regularisation,
        RECOVER.noise.key: spec.noise,
    }
    if spec.model.uses("mediator_variance"):
        values[RECOVER.l_size.key] = ell.scale
    for family, factor in ((RECOVER.k_family, k.factors[0]), (RECOVER.l_family, ell.factors[0])):
        learned = [each.name for each in factor.kind.parameters if each.learned]
        values |= {_own_place(family, name): factor.numbers[name] for name in learned}
    return on_sliders(values)


def learning(line: LineSpec, method: str, spec: ModelSpec) -> LineSettings:
    """How to learn, starting from the sliders' values."""
    with group("How to learn"):
        names = ("tied", "optimiser", "restarts", "steps")
        result = {name: control(LineSettings.declaration(name)) for name in names}
    return LineSettings(method, model=spec.to_dict(), seed=line.seed, **result)
