"""Measured errors of kernel Bayes' rule and what it is compared with: stored runs, extended live."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.figures.studies.against_size import scores_against
from deconditioning.studies.conditional_means.measured_rates import slope
from deconditioning.studies.kernel_bayes.study import (
    FOLDED,
    FOLDED_ANEW,
    LEAST_SQUARES,
    PRINTED,
    THEOREM,
    GaussianSpec,
    compare_rules,
)
from deconditioning.wording import number
from pages.kit.chart.extension import extendable
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.theme import is_dark
from pages.kit.runs.stored_results import stored

_BY_DIMENSION, _BY_SIZE = "kernel_bayes.json", "kernel_bayes_sizes.json"
#: The same runs by the rule with μ̂ as eq. 12 and Figure 1 print it.
_AS_PRINTED = {_BY_DIMENSION: "kernel_bayes_printed.json", _BY_SIZE: "kernel_bayes_sizes_printed.json"}
#: Bandwidths and lengthscales chosen without the truth.
_VALIDATED = "kernel_bayes_validated.json"
TITLES = {
    "kbr": "Kernel Bayes' rule",
    "kbr_a": "Kernel Bayes' rule, weights on the prior's draws",
    "cme": "Conditional mean",
    "kde": "Density estimation, importance weights",
    "abc": "Rejection ABC",
    THEOREM: "Kernel Bayes' rule, theorem's ε and δ",
    PRINTED: "Kernel Bayes' rule, μ̂ as printed",
    FOLDED: "Kernel Bayes' rule, lengthscales by 10 folds",
    LEAST_SQUARES: "Density estimation, bandwidth by cross-validation",
}
#: Variants, whose colours are near those of what they vary.
_DASHES = {PRINTED: "dash", LEAST_SQUARES: "dash"}
#: What theorem 3.6 promises of the mean square error over y, for an i.i.d. sample of the prior.
_PROMISED = -1 / 3
Curves = dict[str, dict[float, list[float]]]


def worth_it() -> str:
    """When the rule is worth it and when not, from the stored runs."""
    document = stored(_BY_SIZE)
    result, runs, size = document["results"], document["settings"]["runs"], 200
    few, many = min(document["settings"]["dimension"]), max(document["settings"]["dimension"])

    def error(dimension: int, name: str, at: int = size) -> str:
        rows = [row for row in result if (row["dimension"], row["model"], row["size"]) == (dimension, name, at)]
        return number(np.mean([row["scores"]["mse"] for row in rows]), 2)

    return (
        "- **Worth using** if the hidden x has several dimensions and only examples are available: over "
        f"{runs} random problems with {size} pairs, the mean squared distance from the exact posterior mean with "
        f"{many} unknown numbers is {error(many, 'kbr')} for the rule, {error(many, 'kde')} "
        f"for density estimation and {error(many, 'cme')} for the conditional mean.\n- **Not worth using** in few "
        f"dimensions (with {few} unknown numbers: {error(few, 'kbr')} for the rule, {error(few, 'abc', 1000)} for "
        f"ABC with 1,000 simulations) or if simulation is cheap (with {many}: {error(many, 'abc', 10_000)} for ABC "
        "with 10,000 simulations)."
    )


def against_dimension() -> None:
    """Posterior means of kernel rules, densities and ABC as the dimension grows."""
    document = stored(_BY_DIMENSION)
    settings = document["settings"]
    pairs, tests = settings["pairs"][0], settings["tests"]

    def work(seed: int) -> Iterator[dict[str, Any]]:
        for dimension in settings["dimension"]:
            methods = (*settings["methods"], PRINTED, LEAST_SQUARES, FOLDED)
            for row in compare_rules(GaussianSpec(dimension, pairs, pairs, tests, seed), methods):
                yield {**row, "dimension": dimension}

    def draw(rows: list[dict[str, Any]]) -> None:
        curves = gathered(rows, "dimension", "mse")
        figure = scores_against(curves, title="Error of the posterior mean against dimension",
                                labels=("dimension d", "mean square error"), names=TITLES,
                                dashes=_DASHES, height=460, dark=is_dark())  # fmt: skip
        plotly_live(figure, "k-dimensions")
        st.markdown(
            f"Mean over random problems and {tests} values of y, {pairs} pairs, {pairs} draws of the prior. "
            f"{_below(curves)} For density estimation the bandwidth, and for ABC with "
            f"{settings['simulations'][0]:,} simulations the acceptance rate, are the best given the truth. The "
            "kernels use the median distance, which needs no truth."
        )
        st.markdown(compared_with_paper(curves))
        st.markdown(_without_the_truth(curves, stored(_VALIDATED)["results"]))

    rows = [row for row in stored(_VALIDATED)["results"] if row["model"] != FOLDED_ANEW]
    command = f"kernel-bayes --dimension {_listed(settings['dimension'])} --runs {settings['runs']} --json FILE"
    sentence = (
        f"{_source_of(document, command)} Those chosen by cross-validation: "
        f"`--methods {LEAST_SQUARES} {FOLDED} {FOLDED_ANEW}`."
    )
    extendable("k-dimensions", "all", [*_with_printed(_BY_DIMENSION), *rows], work, draw, seed=settings["runs"],
               sentence=sentence)  # fmt: skip


def _with_printed(file: str) -> list[dict[str, Any]]:
    """Stored rows, those of the printed normalisation last."""
    return [*stored(file)["results"], *stored(_AS_PRINTED[file])["results"]]


def compared_with_paper(curves: Curves) -> str:
    """What the paper finds in §5.1 and §5.2, and what either normalisation of μ̂ gives here."""
    if not {"kbr", PRINTED, "kde", "cme"} <= set(curves):
        return ""
    every = sorted(set.intersection(*(set(curves[name]) for name in ("kbr", PRINTED, "kde", "cme"))))

    def below(first: str, second: str) -> str:
        return _at(_nearer(curves, first, second, every), every)

    giving = {"the one that sums to one": "kbr", "the printed one": PRINTED}
    both = [
        name
        for name, rule in giving.items()
        if _nearer(curves, rule, "kde", every) == every == _nearer(curves, "cme", rule, every)
    ]
    verdict = {
        0: "Here neither normalisation of μ̂ gives both orders",
        2: "Here both normalisations of μ̂ give both orders",
    }.get(len(both), f"Here, of the two normalisations of μ̂, {' and '.join(both)} gives both orders")
    return (
        "In the paper the rule has a lower error than density estimation (§5.1), and the conditional mean a lower "
        f"error than the rule (§5.2). **{verdict}.** The printed μ̂ (equation 12, Figure 1) is n times as large, which "
        "makes δ in effect n² times smaller. The control *Prior's weights μ̂* (level All) switches between the two.\n\n"
        "| μ̂ | rule below density estimation | conditional mean below the rule |\n|:--|:--|:--|\n"
        f"| sums to one | {below('kbr', 'kde')} | {below('cme', 'kbr')} |\n"
        f"| as printed | {below(PRINTED, 'kde')} | {below('cme', PRINTED)} |"
    )


def _without_the_truth(curves: Curves, chosen: list[dict[str, Any]]) -> str:
    """What cross-validation costs densities and gives the rule, and which lengthscale §4.2's own distance takes."""
    if not {"kbr", FOLDED, "kde", LEAST_SQUARES} <= set(curves):
        return ""
    every = sorted(set.intersection(*(set(curves[name]) for name in ("kbr", FOLDED, "kde", LEAST_SQUARES))))

    def ratios(one: str, other: str) -> dict[float, float]:
        return {size: float(np.mean(curves[one][size]) / np.mean(curves[other][size])) for size in every}

    lost, gained = ratios(LEAST_SQUARES, "kde"), ratios(FOLDED, "kbr")
    same = [size for size in every if abs(lost[size] - 1) < 1e-6]
    most = max(every, key=lost.__getitem__)
    scales = [row["message"] for row in chosen if row["model"] == FOLDED_ANEW]
    longest = max(scales, key=lambda text: float(text.split()[0]))
    return (
        "**Chosen without the truth** (§5.1): least-squares cross-validation selects the best bandwidth "
        f"{_at(same, every)} and increases the error by {100 * (lost[most] - 1):.0f} % at d = {most}. Choosing the "
        f"lengthscales with ten folds changes the error of the rule by {_signed(min(gained.values()))} to "
        f"{_signed(max(gained.values()))} %. With both choices, the rule is below density estimation "
        f"{_at(_nearer(curves, FOLDED, LEAST_SQUARES, every), every)}. All folds measure distances with the same "
        f"kernel. With the kernel of each candidate, as in §4.2, the longest lengthscale, {longest.split()[0]} × the "
        f"median distance, wins on {scales.count(longest)} of {len(scales)} problems, because a flat kernel cannot "
        "distinguish distributions."
    )


def _at(result: Sequence[float], every: Sequence[float]) -> str:
    return "at every d" if result == every else f"at d = {', '.join(map(str, result))}" if result else "at no d"


def _signed(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f}".replace("-", "−")


def _nearer(curves: Curves, first: str, second: str, sizes: Sequence[float]) -> list[float]:
    """The sizes at which the first has the smaller mean error."""
    return [size for size in sizes if np.mean(curves[first][size]) < np.mean(curves[second][size])]


def _below(curves: Curves) -> str:
    """At which dimensions kernel Bayes' rule lies below densities."""
    if not {"kbr", "kde"} <= set(curves):
        return ""
    both = sorted(set(curves["kbr"]) & set(curves["kde"]))
    better = _nearer(curves, "kbr", "kde", both)
    if better == both:
        return "Kernel Bayes' rule has a lower error than density estimation at every d."
    return (
        f"Kernel Bayes' rule has a lower error than density estimation at d = {_listed(better) or 'none'} of "
        f"{_listed(both)}."
    )


def against_size(dimension: int) -> None:
    """Error against the number of pairs with the theorem's rate, and error against CPU time with ABC."""
    document = stored(_BY_SIZE)
    settings = document["settings"]
    known = settings["dimension"]
    chosen = widgets.segmented_control("d", known, default=known[-1], key="k-size-d") or known[-1]

    def work(seed: int) -> Iterator[dict[str, Any]]:
        first = settings["pairs"][0]
        spec = GaussianSpec(chosen, first, first, settings["tests"], seed)
        methods = (*(name for name in settings["methods"] if name != "abc"), PRINTED)
        for size in settings["pairs"]:
            for row in compare_rules(replace(spec, pairs=size, prior=size), methods):
                yield {**row, "size": size}
        for size in settings["simulations"]:
            yield {**compare_rules(spec, ("abc",), size)[0], "size": size}

    command = (
        f"kernel-bayes --dimension {_listed(known)} --pairs {_listed(settings['pairs'])} --tests {settings['tests']} "
        f"--simulations {_listed(settings['simulations'])} --methods {_listed(settings['methods'])} --runs "
        f"{settings['runs']} --json FILE"
    )
    rows = [row for row in _with_printed(_BY_SIZE) if row["dimension"] == chosen]
    extendable("k-sizes", str(chosen), rows, work, lambda rows: _draw_sizes(rows, settings["tests"]),
               seed=settings["runs"], sentence=_source_of(document, command))  # fmt: skip


def _draw_sizes(rows: list[dict[str, Any]], tests: int) -> None:
    left, right = st.columns(2)
    with left:
        curves = gathered(rows, "size", "embedding_mse")
        figure = scores_against(curves, title="Error of E[k(x, X) | y] against n = ℓ",
                                labels=("pairs n, draws of the prior ℓ", "mean square error"), names=TITLES,
                                guides=_promise(curves), dashes=_DASHES, dark=is_dark())  # fmt: skip
        plotly_live(figure, "k-embedding-sizes")
        st.markdown(_slopes(curves))
    with right:
        figure = scores_against(_by_time(rows), title="Error of the posterior mean against time",
                                labels=("CPU seconds, one thread", "mean square error"), names=TITLES,
                                dashes=_DASHES, dark=is_dark())  # fmt: skip
        plotly_live(figure, "k-error-time")
        st.markdown(
            f"Total time for all {tests} posteriors of a problem; each point is one sample size. ABC simulates once "
            "for all y. If simulations are this cheap, ABC can use a thousand times as many, although each carries "
            "less information."
        )


def _promise(curves: Curves) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The theorem's slope through the first point of its own schedule."""
    if THEOREM not in curves or len(curves[THEOREM]) < 2:
        return {}
    sizes = np.array(sorted(curves[THEOREM]), dtype=float)
    first = float(np.mean(curves[THEOREM][sizes[0]]))
    return {"theorem 3.6": (sizes, first * (sizes / sizes[0]) ** _PROMISED)}


def _slopes(curves: Curves) -> str:
    """Measured exponents beside the promised one."""
    result = {
        name: slope(np.array(sorted(by_size), float), np.array([np.mean(by_size[size]) for size in sorted(by_size)]))
        for name, by_size in curves.items()
        if len(by_size) > 1
    }
    rates = ", ".join(f"{TITLES[name]} $n^{{{value:.2f}}}$" for name, value in result.items())
    slope_of_rule = result.get(THEOREM, float("nan"))
    slower = (
        "Here the error falls more slowly with the exponents of the theorem: either the condition does not hold, or n "
        "is too small. "
        if slope_of_rule > _PROMISED
        else ""
    )
    return (
        f"Measured: {rates}. Theorem 3.6 guarantees at least $n^{{-0.33}}$ for functions in the reproducing kernel "
        r"Hilbert space, averaged over y, with $\varepsilon \propto n^{-1/3}$ and $\delta \propto n^{-1/6}$, if its "
        "smoothness condition on "
        f"E[f(X) | y] holds; at a single y theorem 3.5 guarantees $n^{{-0.30}}$. {slower}"
        "Kernel Bayes' rule uses ε = 0.01/n and δ = 2ε, as in the paper, and μ̂ sums to one. The paper's equation "
        "12 and Figure 1 print a μ̂ that is n times as large, which makes the same δ in effect n² times smaller: *μ̂ as "
        "printed*."
    )


def _by_time(rows: list[dict[str, Any]]) -> Curves:
    """Error by mean CPU seconds of each size."""
    result: Curves = {}
    for name, by_size in gathered(rows, "size", "mse").items():
        if name == THEOREM:
            continue
        for size, values in by_size.items():
            times = [row["seconds"]["cpu"] for row in rows if row["model"] == name and row["size"] == size]
            result.setdefault(name, {})[float(np.mean(times))] = values
    return result


def gathered(rows: list[dict[str, Any]], key: str, score: str) -> Curves:
    """Method → size → scores of its runs."""
    result: Curves = {}
    for row in rows:
        if score in row["scores"]:
            result.setdefault(row["model"], {}).setdefault(row[key], []).append(row["scores"][score])
    return result


def _listed(values: list[Any]) -> str:
    return " ".join(str(value) for value in values)


def _source_of(document: dict[str, Any], command: str) -> str:
    last = document["settings"]["runs"] - 1
    return (
        f"Stored, seeds 0 to {last}; made by `deconditioning {command}`, measured with version "
        f"{document['version']}; μ̂ as printed "
        f"by the same with `--methods {PRINTED}`."
    )
