"""Controls of page One dimension: the problem, the method and its hyperparameters on sliders."""

from deconditioning.datasets.one_dimension import SIMULATIONS, TARGETS, LineSpec
from deconditioning.expressions import FUNCTIONS
from deconditioning.kernels.families.family import Own
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.one_dimension.problem import METHODS, TITLES, LineSettings
from pages.kit.controls import widgets
from pages.kit.controls.essential import aside, group
from pages.kit.state import log_slider, on_sliders

OWN = "your own formula"
OFFERED = {name: family.title for name, family in FAMILIES.items() if family.stationary and not family.without_scales}
#: Least, most and usual period of a periodic kernel.
_PERIOD = 0.2, 12.0, 6.0
#: Where the sliders stand on opening: near what learning finds on the paper's problem.
START_K, START_L, START_LAMBDA, START_NOISE = (1.0, 2.1), (0.4, 2.0), 1e-3, 0.2


def choose_problem() -> LineSpec:
    """r, f, counts, noises, seed; raises ``InputError`` for an expression that cannot be read."""
    with group("The problem: r, f, n, m, noise, seed"):
        simulation = _expression("Simulation r(y)", "o-r", SIMULATIONS, "y")
        target = _expression("Hidden function f(x)", "o-f", TARGETS, "x")
        n = widgets.slider("n, pairs (x, y)", 1, 400, 200, key="o-n")
        m = widgets.slider("m, pairs (y, z)", 1, 400, 200, key="o-m")
        eta = widgets.slider("Noise of x (sd)", 0.0, 2.0, 0.25, 0.05, key="o-eta")
        xi = widgets.slider("Noise of z (sd)", 0.0, 2.0, 0.25, 0.05, key="o-xi")
        seed = widgets.number_input("Seed", 0, 9999, 0, key="o-seed")
    return LineSpec(int(n), int(m), simulation, target, float(eta), float(xi), seed=int(seed))


def _expression(label: str, key: str, offered: tuple[str, ...], variable: str) -> str:
    """A function from the list, or typed."""
    chosen = widgets.selectbox(label, [*offered, OWN], key=key)
    if chosen != OWN:
        return str(chosen)
    return str(
        widgets.text_input(
            f"{label} =", offered[0], key=f"{key}-own", max_chars=200,
            help=f"Numbers, {variable}, + - * / ^, pi, e, and {', '.join(FUNCTIONS)}.",
        )
    )  # fmt: skip


def choose_method() -> str:
    """Full or MAP noise."""
    offered = [name for name, model in METHODS.items() if model]
    chosen = widgets.segmented_control(
        "Method", offered, default=offered[0], key="o-method", format_func=TITLES.__getitem__,
        help=(
            "The task-transformed GP adds the uncertainty of g to the noise. The embedding uses the MAP estimate of g."
        ),
    )  # fmt: skip
    return chosen or offered[0]


def choose_model(line: LineSpec, method: str) -> ModelSpec:
    """The model at the sliders' values."""
    model = METHODS[method]
    assert model is not None
    kernel = choose_kernel("k", "x", "k", START_K, variance=True)
    ell = choose_kernel("ℓ", "y", "l", START_L, variance=model.uses("mediator_variance"))
    n, m = line.counts
    lam = log_slider("λ", "o-lam", 1e-9, 1.0, START_LAMBDA, help=f"Enters as nλ, n = {n}.")
    noise = log_slider("σ²", "o-noise", 1e-4, 10.0, START_NOISE, help="Noise variance of z; ε = σ²/m.")
    aside(f"nλ = {n * lam:.3g} · ε = σ²/m = {noise / m:.3g}")
    return ModelSpec(model, kernel, ell, lam, noise)


def choose_kernel(
    symbol: str,
    column: str,
    key: str,
    start: tuple[float, float],
    *,
    variance: bool,
    page: str = "o",
    family: str = "rbf",
) -> KernelSpec:
    """Family, lengthscale and (where it matters) variance of one kernel; ``page`` names the view's own controls."""
    scale, size = start
    family = widgets.selectbox(
        f"Kernel {symbol} on {column}", list(OFFERED), index=list(OFFERED).index(family),
        key=f"{page}-{key}-family", format_func=OFFERED.__getitem__,
    )  # fmt: skip
    length = log_slider(f"Lengthscale of {symbol}", f"{page}-{key}-scale", 2e-2, 20.0, scale)
    size = log_slider(f"Variance of {symbol}", f"{page}-{key}-size", 1e-2, 1e3, size) if variance else 1.0
    own = {each.name: _own_slider(each, symbol, f"{page}-{key}-{each.name}") for each in FAMILIES[family].own}
    return KernelSpec((Term((Factor(family, (column,), (length,), own),), size),))


def _own_slider(own: Own, symbol: str, key: str) -> float:
    """A family's own parameter; the period, which is not learned, goes in even steps."""
    if own.learned:
        return log_slider(f"{own.symbol} of {symbol}", key, own.low, own.high, own.default, help=own.help)
    low, high, usual = _PERIOD
    return float(widgets.slider(f"Period of {symbol}", low, high, usual, 0.1, key=key))


def slider_values(spec: ModelSpec) -> dict[str, float]:
    """What the sliders must hold to stand for ``spec``; give it to ``set_values``."""
    assert spec.mediator_kernel is not None
    k, ell = spec.kernel.terms[0], spec.mediator_kernel.terms[0]
    values = {
        "o-k-scale": k.factors[0].lengthscales[0],
        "o-k-size": k.scale,
        "o-l-scale": ell.factors[0].lengthscales[0],
        "o-lam": spec.regularisation,
        "o-noise": spec.noise,
    }
    if spec.model.uses("mediator_variance"):
        values["o-l-size"] = ell.scale
    for key, factor in (("k", k.factors[0]), ("l", ell.factors[0])):
        learned = [own.name for own in factor.kind.own if own.learned]
        values |= {f"o-{key}-{name}": factor.numbers[name] for name in learned}
    return on_sliders(values)


def learning(line: LineSpec, method: str, spec: ModelSpec) -> LineSettings:
    """How to learn, starting from the sliders' values."""
    with group("How to learn"):
        tied = widgets.toggle(
            "λ = σ²/n while learning", True, key="o-tied",
            help="On: both regularisations follow from the noise (theorem 5.3). Off: λ is learned separately.",
        )  # fmt: skip
        optimiser = widgets.segmented_control("Optimiser", ["lbfgs", "adam"], default="lbfgs", key="o-opt")  # fmt: skip
        starts = widgets.number_input("Starts", 1, 10, 3, key="o-starts")
        steps = widgets.number_input("Steps per start", 5, 300, 60, key="o-steps")
    return LineSettings(
        method, spec.to_dict(), True, bool(tied), int(starts), int(steps), optimiser or "lbfgs", line.seed
    )
