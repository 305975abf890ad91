"""What README and docs claim to be measured, and the stored rows that say so.

A `Sentence` has ``{}`` where numbers stand and those numbers, formatted from stored rows; a `Table` computes its cells.
`ALLOWED` are numbers of other kinds, each with its reason. `tests/test_claims.py` holds the documents to all of it.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from deconditioning.metrics.intervals import AIM

ROOT = Path(__file__).resolve().parents[1]
MEASURED, KEPT = ROOT / "tests" / "benchmarks" / "results", ROOT / "data" / "benchmarks"
Row = dict[str, Any]


@dataclass(frozen=True)
class Sentence:
    """Part of a document, verbatim but for ``{}``, and the stored numbers that stand there."""

    document: str
    text: str
    numbers: Callable[[], Iterable[str]]


@dataclass(frozen=True)
class Table:
    """A table by the beginning of its header line; ``cell(the cells of its line, column label)`` is what must stand
    in a cell (None: nothing measured stands there)."""

    document: str
    head: str
    cell: Callable[[list[str], str], str | None]


@cache
def rows(name: str, folder: Path = MEASURED) -> list[Row]:
    """The stored rows of a benchmark."""
    kept = json.loads((folder / f"{name}.json").read_text())
    return kept["rows"] if "rows" in kept else kept["results"]


def row(name: str, what: str, size: str = "") -> Row:
    """The one measurement of that task and size (both by a part of their words)."""
    found = [each for each in rows(name) if what in each["what"] and size in each["size"]]
    assert len(found) == 1, f"{len(found)} rows of {name} match {what!r}, {size!r}"
    return found[0]


def scores(name: str, score: str, **given: Any) -> list[float]:
    """One score of every stored row that has these values, in the order of seeds."""
    found = [each for each in rows(name, KEPT) if all(each.get(key) == value for key, value in given.items())]
    found = sorted((each for each in found if each["scores"].get(score) is not None), key=lambda each: each["seed"])
    assert found, f"no row of {name} has {given}"
    return [each["scores"][score] for each in found]


def seconds(name: str, **given: Any) -> float:
    """Mean CPU seconds of the rows that have these values."""
    found = [each for each in rows(name, KEPT) if all(each.get(key) == value for key, value in given.items())]
    return mean(each["seconds"]["cpu"] for each in found)


def digits(value: float, count: int) -> str:
    """So many significant digits, thousands apart, no powers of ten."""
    rounded = float(f"{value:.{count}g}")
    places = max(0, count - 1 - math.floor(math.log10(abs(rounded)))) if rounded else 0
    return f"{rounded:,.{places}f}"


def spread(values: list[float], places: int, *, bare: bool = False) -> str:
    """``mean ± sd``, without the noughts before the points where ``bare``."""
    text = f"{mean(values):.{places}f} ± {stdev(values):.{places}f}"
    return text.replace("0.", ".") if bare else text


# docs/pages.md, docs/limits.md and docs/benchmarks.md


def _waits() -> list[str]:
    previews = [each["ours"] / 1000 for each in rows("latency") if each["what"].startswith("Preview")]
    here = row("latency", "New picture", "440 bags")["ours"] / 1000
    exact = row("latency", "Exact picture")["ours"]
    return [f"{here:.2f}", f"{min(previews):.2f}", f"{max(previews):.2f}", f"{exact:.0f}"]


def _full_size() -> list[str]:
    found = row("full_size", ": cmp, data of seed 0", "254,898 pixels")
    return [f"{found['ours']:.0f}", f"{found['peak_mb'] / 1000:.1f}"]


def _largest() -> list[str]:
    sizes = [tuple(each["more"][name] for name in ("pixels", "targets", "bags")) for each in rows("scale")]
    pixels, targets, bags = max(sizes)
    assert (pixels, targets) == (10**6, 10**5)
    return [f"{bags:,}"]


def _inside(name: str) -> str:
    return f"{100 * mean(scores('swiss_roll', 'coverage95', matching='indirect', model=name)):.0f} %"


def _accuracy(seed: int, score: str) -> list[str]:
    """Ours, and the variational CMP's, of the paper's size."""
    told = next(each["accuracy"] for each in rows("full_size") if f"data of seed {seed}" in each["what"])
    part = next(part for part in told.split(", ") if part.startswith(f"{score} "))
    return [part.split()[1], part.split("(")[1].split(")")[0]]


def _fallen_back() -> list[str]:
    note = row("store", "Zarr to Zarr, conditioned once")["note"]
    pixels = next(word for word in note.split("; ") if "fell back" in word).split()[0]
    return [pixels, f"{10 * 360 * 720:,}"]


_NETWORKS = {"generated": ("stations", ""), "generated, known covariance": ("stations", "known")}


def _network_rows(label: str) -> list[Row]:
    """The stored rows of a field in the table of cells and stations."""
    if label in _NETWORKS:
        file, part = _NETWORKS[label]
        return [each[part] if part else each for each in rows(file, KEPT)]
    return [each for each in rows("stations_real", KEPT) if each["case"] == label]


def _network_cell(labels: list[str], column: str) -> str | None:
    names = {"cells and stations": "both", "cells alone": "cells", "stations alone": "stations"}
    found = _network_rows(labels[0])
    means = {name: mean(each[name] for each in found) for name in names.values()}
    alone = min(means["cells"], means["stations"])
    if column in names:
        return f"{means[names[column]]:.3f}"
    gains = [100 * (1 - each["both"] / min(each["cells"], each["stations"])) for each in found]
    inside = [100 * each["inside_95"] for each in found if "inside_95" in each]
    return {
        "smaller than the better one by": f"{100 * (1 - means['both'] / alone):.0f} % ({min(gains):.0f} to "
        f"{max(gains):.0f} %)",
        "inside 95 % intervals": f"{mean(inside):.1f} % ({min(inside):.0f} to {max(inside):.0f} %)" if inside else "–",
    }.get(column)


def _measured_rows(value: str, seen: int, block: int) -> list[Row]:
    """The rows of measured stations: ``seen`` of them used, the others scored."""
    given = {"value": value, "seen": seen, "block": block}
    return [each for each in rows("stations_measured", KEPT) if all(each[name] == given[name] for name in given)]


def _pooled(found: list[Row], name: str) -> float:
    """RMSE at all withheld stations of these rows."""
    return math.sqrt(sum(each["scored"] * each[name] ** 2 for each in found) / sum(each["scored"] for each in found))


def _measured_gain(found: list[Row]) -> float:
    """By how many per cent the RMSE of both sources is smaller than that of the better one alone."""
    return 100 * (1 - _pooled(found, "both") / min(_pooled(found, "cells"), _pooled(found, "stations")))


def _measured_inside(found: list[Row]) -> float:
    return 100 * sum(each["scored"] * each["inside_95"] for each in found) / sum(each["scored"] for each in found)


def _measured_cell(labels: list[str], column: str) -> str | None:
    found = _measured_rows(labels[0].strip("`"), int(labels[1]), 4)
    names = {"cells and stations": "both", "cells alone": "cells", "stations alone": "stations",
             "linear trend": "trend", "fine ERA5": "fine"}  # fmt: skip
    if column in names:
        return f"{_pooled(found, names[column]):.2f}"
    gain = round(_measured_gain(found))
    return {
        "smaller than the better one by": f"{gain} %".replace("-", "−"),
        "inside 95 % intervals": f"{_measured_inside(found):.0f} %",
    }.get(column)


def _measured_in_larger_cells() -> list[str]:
    """RMSE (K) of the mean temperature from larger cells and 26, 18 and 9 stations, and the gains in per cent."""
    found = [_measured_rows("tmean", seen, 8) for seen in (26, 18, 9)]
    return [*(f"{_pooled(each, 'both'):.2f}" for each in found), *(f"{_measured_gain(each):.0f}" for each in found)]


#: Field and way of matching in the table of runs outside the target range → case.
OUTSIDE = {
    ("UKV, 645 m", "matched"): "ukv-645m-matched",
    ("ERA5, 2 m temperature", "matched"): "era5-t2m-matched",
    ("ERA5, 2 m dew point", "matched"): "era5-dew-point-matched",
    ("ERA5, British Isles, hour 654, 4 × 4", "matched"): "era5-uk-654-4-matched",
    ("Annual temperature, Americas", "mediator"): "americas-temperature-mediated",
    ("ERA5, British Isles, hour 372, 3 × 3", "mediator"): "era5-uk-372-3-mediated",
    ("NDVI", "mediator"): "mongon-ndvi-mediated",
    ("Gusts", "mediator"): "eta-gust-mediated",
    ("ERA5, 2 m dew point", "mediator"): "era5-dew-point-mediated",
}


def default_runs() -> dict[str, Row]:
    """The default model's rows of real fields, by case."""
    return {each["case"]: each for each in rows("real_fields", KEPT) if each["model"] == "auto"}


def _outside_cell(labels: list[str], column: str) -> str | None:
    found = default_runs()[OUTSIDE[labels[0], labels[1]]]
    held = found["spectra"]["held"]
    return {
        "coverage": f"{100 * found['scores']['coverage95']:.1f} %",
        "standard error": f"{100 * found['coverage_error']:.1f} %",
        "of draws": f"{100 * held[0]:.0f} to {100 * held[-1]:.0f} %",
    }.get(column)


def _of_a_right_model() -> list[str]:
    """Shares of draws in the target range, the runs that would be there if the truth were a draw, and those that are:
    of each first with matched cells, then with a mediator."""
    kinds = [[each for case, each in default_runs().items() if case.endswith("-matched") == matched]
             for matched in (True, False)]  # fmt: skip
    shares = [mean(AIM[0] <= held <= AIM[1] for each in kind for held in each["spectra"]["held"]) for kind in kinds]
    inside = [sum(AIM[0] <= each["scores"]["coverage95"] <= AIM[1] for each in kind) for kind in kinds]
    return [*(f"{100 * share:.0f}" for share in shares), *(f"{16 * share:.0f}" for share in shares), *map(str, inside)]


def _three_sources() -> list[str]:
    """Mean RMSE of all sources, by how much it is smaller than that of the best alone, coverage of 95 % intervals."""
    found = rows("sources", KEPT)
    gains = [100 * (1 - each["all"] / min(each[name] for name in ("cells", "stations", "swath"))) for each in found]
    inside = 100 * mean(each["inside_95"] for each in found)
    whole = [f"{value:.0f}" for value in (mean(gains), min(gains), max(gains))]
    return [f"{mean(each['all'] for each in found):.3f}", *whole, f"{inside:.1f}"]


# docs/kernel_bayes.md


def _bayes_cell(labels: list[str], column: str) -> str | None:
    names = {"kernel Bayes' rule (b)": "kbr", "densities + importance weights": "kde", "conditional mean": "cme",
             "rejection ABC": "abc"}  # fmt: skip
    if column not in names:
        return None
    return _shortened(mean(scores("kernel_bayes", "mse", model=names[column], dimension=int(labels[0]))))


def _shortened(value: float) -> str:
    return f"{value:.0f}" if value >= 150 else digits(value, 4 if value >= 100 else 3)


def _needed(target: float) -> float:
    """How many simulations ABC needs for that error at d = 6, between the stored sizes (log-log)."""
    sizes = sorted({each["size"] for each in rows("kernel_bayes_sizes", KEPT) if each["model"] == "abc"})
    errors = [mean(scores("kernel_bayes_sizes", "mse", model="abc", dimension=6, size=size)) for size in sizes]
    for (n, high), (more, low) in zip(zip(sizes, errors, strict=True), list(zip(sizes, errors, strict=True))[1:],
                                      strict=False):  # fmt: skip
        if low <= target <= high:
            return n * (more / n) ** (math.log(high / target) / math.log(high / low))
    raise AssertionError("the target lies outside the stored errors")


def _abc_needs() -> list[str]:
    reached = [mean(scores("kernel_bayes_sizes", "mse", model="kbr", dimension=6, size=size)) for size in (200, 1600)]
    return [f"{float(f'{_needed(reached[0]):.2g}'):,.0f}", f"{float(f'{_needed(reached[1]):.1g}'):,.0f}"]


def _slopes() -> list[str]:
    found = []
    for model in ("kbr", "kbr_theorem"):
        sizes = sorted({each["size"] for each in rows("kernel_bayes_sizes", KEPT) if each["model"] == model})
        x = [math.log(size) for size in sizes]
        y = [math.log(mean(scores("kernel_bayes_sizes", "embedding_mse", model=model, dimension=6, size=size)))
             for size in sizes]  # fmt: skip
        top = sum((a - mean(x)) * (b - mean(y)) for a, b in zip(x, y, strict=True))
        found.append(f"{top / sum((a - mean(x)) ** 2 for a in x):.2f}".replace("-", "−"))
    return found


def _printed_cell(labels: list[str], column: str) -> str | None:
    names = {"rule, μ̂ sums to one": "kernel_bayes", "rule, μ̂ as printed": "kernel_bayes_printed"}
    if column not in names:
        return None
    model = "kbr" if names[column] == "kernel_bayes" else "kbr_printed"
    return _shortened(mean(scores(names[column], "mse", model=model, dimension=int(labels[0]))))


def _validated_cell(labels: list[str], column: str) -> str | None:
    names = {"densities, best given the truth": ("kernel_bayes", "kde"),
             "rule, median distance": ("kernel_bayes", "kbr"),
             "densities, cross-validated": ("kernel_bayes_validated", "kde_lscv"),
             "rule, ten folds": ("kernel_bayes_validated", "kbr_cv"),
             "rule, ten folds in their own kernels": ("kernel_bayes_validated", "kbr_cv_own")}  # fmt: skip
    if column not in names:
        return None
    return _shortened(mean(scores(names[column][0], "mse", model=names[column][1], dimension=int(labels[0]))))


def _validated_loss() -> list[str]:
    chosen, best = (mean(scores(name, "mse", model=model, dimension=64))
                    for name, model in (("kernel_bayes_validated", "kde_lscv"), ("kernel_bayes", "kde")))  # fmt: skip
    return [f"{100 * (chosen / best - 1):.0f}"]


def _longest() -> list[str]:
    own = [each["message"].split()[0] for each in rows("kernel_bayes_validated", KEPT) if each["model"] == "kbr_cv_own"]
    assert set(own) == {"2.8"}
    return [str(len(own))]


def _smoother_cell(labels: list[str], column: str) -> str | None:
    given = {"one step ahead": ("kbr_ahead", None), "filter": ("kbr", None),
             "smoother, the filter's δ": ("kbr_smoothed", "the filter's")}  # fmt: skip
    if column == "system":
        return None
    model, delta = given.get(column, ("kbr_smoothed", float(column.split(" = ")[-1]) if " = " in column else None))
    found = scores("smoothing", "mse", model=model, system=labels[0][1], smoothing=delta)
    return f"{mean(found):.4f}".removeprefix("0")


def _filter(model: str, system: str, train: int = 800) -> float:
    return mean(scores("filtering", "mse", model=model, system=system, train=train))


def _filter_cell(labels: list[str], column: str) -> str | None:
    others = {"EKF": "ekf", "UKF": "ukf", "particles": "particle"}
    size = column.removeprefix("T = ")
    if column not in others and not size.isdigit():
        return None
    model, train = (others[column], 800) if column in others else ("kbr", int(size))
    return f"{_filter(model, labels[0][1], train):.4f}".removeprefix("0")


def _step() -> list[str]:
    a, b = rows("filtering")
    ratios = [f"{each['yardstick'] / each['ours']:.0f}" for each in (a, b)]
    parts = [each["accuracy"].split(", full rank ") for each in (a, b)]
    values = [value.removeprefix("MSE ") for part in parts for value in part]
    return [digits(a["ours"], 2), digits(b["ours"], 2), f"{a['yardstick']:.0f}", f"{b['yardstick']:.0f}", *ratios,
            *values]  # fmt: skip


_CAMERA = {"KBR (Gauss)": "kbr_gauss", "KBR (Tr)": "kbr_tr", "Kalman, nine numbers": "kalman_matrix",
           "Kalman, quaternion": "kalman_quaternion", "nearest training frame": "nearest"}  # fmt: skip


def _camera_cell(labels: list[str], column: str) -> str | None:
    """Mean squared distance, its standard error and the mean angle over the runs of a noise."""
    name, _, variance = column.partition(", σ² = ")
    if name not in ("ours", "any rotation"):
        return None
    file = "camera" if name == "ours" else "camera_rotations"
    found = [each["scores"] for each in rows(file, KEPT)
             if each["model"] == _CAMERA[labels[0]] and math.isclose(each["variance"], float(variance))]  # fmt: skip
    errors = [each["mse"] for each in found]
    places = 4 if mean(errors) < 0.1 else 3
    told = f"{mean(errors):.{places}f} ± {stdev(errors) / len(errors) ** 0.5:.{places}f}"
    return f"{re.sub(r'(?<![0-9])0[.]', '.', told)} ({mean(each['angle'] for each in found):.1f}°)"


def _camera_ranks() -> list[str]:
    """The error at 10 % of the trace left out in whole ones, rank at 10 % and 1 %; times whole and at 1 %."""
    whole, *cut = rows("camera")
    by_share = {each["what"].split(", ")[-1].split(" %")[0]: each for each in cut}
    told = {name: float(each["accuracy"].removeprefix("MSE ")) for name, each in by_share.items()}
    exact = float(whole["accuracy"].split(",")[0].removeprefix("MSE "))
    ranks = [by_share[share]["size"].split("rank ")[1] for share in ("10", "1")]
    times = [f"{whole[name]:.0f}" for name in ("ours", "yardstick")]
    return [ranks[0], f"{told['10'] / exact:.1f}", ranks[1], times[0], ranks[1], times[1]]


# docs/likelihood_free.md, docs/one_dimension.md, docs/swiss_roll.md


def _simulated_cell(labels: list[str], column: str) -> str | None:
    names = {"DME": "dme", "kernel Bayes (b)": "kbr", "conditional mean": "cme", "ABC": "abc"}
    if column not in names:
        return None
    given = {"model": names[column], "simulations": int(labels[0])}
    error, width, covers = (scores("likelihood_free", name, **given) for name in ("error", "width", "covers"))
    return f"{median(error):.4f}, {median(width):.1f}, {sum(covers):.0f}"


def _exact() -> list[str]:
    given = {"model": "exact", "simulations": 100, "seed": 0}
    found = [
        scores("likelihood_free", name, **given)[0] for name in ("posterior_mean", "interval_low", "interval_high")
    ]
    return [f"{found[0]:.6f}", f"{found[1]:.4f}", f"{found[2]:.4f}"]


def _observed_cell(labels: list[str], column: str) -> str | None:
    seeds = range(int(labels[1].split("-")[1]) + 1)
    found = [each for each in rows("likelihood_free_observed", KEPT)
             if each["observed"] == float(labels[0]) and each["seed"] in seeds]  # fmt: skip
    mine = [each["scores"] for each in found if each["model"] == "dme"]
    assert len(mine) == len(seeds)
    exact = next(each["scores"]["posterior_mean"] for each in found if each["model"] == "exact")
    error, widths = median(each["error"] for each in mine), [each["width"] for each in mine]
    return {
        "median error": f"{error:.4f}",
        "relative to the exact mean": f"{100 * error / exact:.1f} %",
        "contains it": f"{sum(each['covers'] for each in mine):.0f} of {len(mine)}",
        "width: median, largest": f"{median(widths):.1f}, {max(widths):.1f}",
    }.get(column)


def _limits_cell(labels: list[str], column: str) -> str | None:
    found = [each["scores"] for each in rows("likelihood_free_guards", KEPT)
             if (each["model"], each["way"], each["observed"]) == ("dme", labels[0], float(labels[1]))]  # fmt: skip
    widths = [each["width"] for each in found]
    return {
        "median error": f"{median(each['error'] for each in found):.4f}",
        "width: median, largest": f"{median(widths):.1f}, {max(widths):.1f}",
        "contains it": f"{sum(each['covers'] for each in found):.0f} of {len(found)}",
    }.get(column)


def _predators_cell(labels: list[str], column: str) -> str | None:
    given = {"model": _NINE[labels[0]], "simulations": 2000}
    found = [each["parameters"] for each in rows("lotka_volterra", KEPT)
             if (each["model"], each["simulations"]) == (given["model"], 2000)]  # fmt: skip
    truth = (0.01, 0.5, 1.0, 0.01)
    held = [sum(each[j]["low"] <= rate <= each[j]["high"] for each in found) for j, rate in enumerate(truth)]
    low, high = (median(scores("lotka_volterra", f"interval_{end}", **given)) for end in ("low", "high"))
    return {
        "mean of θ₁": f"{median(scores('lotka_volterra', 'posterior_mean', **given)):.4f}",
        "95 % interval": f"{low:.4f} to {high:.3f}",
        "contains θ₁, θ₂, θ₃, θ₄": f"{', '.join(map(str, held))} of {len(found)}",
        "runs": _used("lotka_volterra", **given),
    }.get(column)


#: How docs/likelihood_free.md calls the nine methods.
_NINE = {
    "DME": "dme", "kernel Bayes (b)": "kbr", "conditional mean": "cme", "the same by its own evidence": "cme_evidence",
    "ABC": "abc", "KELFI": "kelfi", "K2-ABC": "k2_abc", "mixture density network": "mdn", "sequential ABC": "smc_abc",
}  # fmt: skip


def _used(name: str, model: str, **given: Any) -> str:
    found = [each["used"] for each in rows(name, KEPT)
             if each["model"] == model and all(each[key] == value for key, value in given.items())]  # fmt: skip
    return f"{median(found):,.0f}"


def _nine_cell(labels: list[str], column: str) -> str | None:
    name, given = "likelihood_free_methods", {"model": _NINE[labels[0]]}
    widths = scores(name, "width", **given)
    held = scores("likelihood_free_drawn", "holds", **given)
    return {
        "median error": f"{median(scores(name, 'error', **given)):.4f}",
        "width: median, largest": f"{median(widths):.1f}, {max(widths):.1f}",
        "contains the exact mean": f"{sum(scores(name, 'covers', **given)):.0f} of {len(widths)}",
        "contains a drawn θ": f"{sum(held):.0f} of {len(held)}",
        "runs": _used(name, **given),
    }.get(column)


def _drawn_cell(labels: list[str], column: str) -> str | None:
    name, given = "lotka_volterra_drawn", {"model": _NINE[labels[0]]}
    held = scores(name, "holds", **given)
    return {
        "error of log θ": f"{median(scores(name, 'distance', **given)):.2f}",
        "share of the prior": f"{100 * median(scores(name, 'share', **given)):.0f} %",
        "contains a drawn θ": f"{4 * sum(held):.0f} of {4 * len(held)}",
        "runs": _used(name, **given),
    }.get(column)


def _gaps() -> list[str]:
    """Median gap to theorem 6.1's condition on both problems."""
    kept = (rows("likelihood_free_methods", KEPT), rows("lotka_volterra_drawn", KEPT))
    return [f"{median(each['gap'] for each in found if each['model'] == 'dme'):.2f}" for found in kept]


def _line_cell(labels: list[str], column: str) -> str | None:
    return _scored("one_dimension", column, model=labels[0], n=int(labels[1]))


def _sparse_cell(labels: list[str], column: str) -> str | None:
    return _scored("sparse_representation", column, model=labels[0])


def _scored(name: str, column: str, **given: Any) -> str | None:
    if column == "RMSE ± sd":
        return spread(scores(name, "rmse", **given), 3)
    if column == "CPU s":
        return f"{seconds(name, **given):.1f}"
    known = {"inside ±2 sd": ("coverage_2sd", 2), "CRPS": ("crps", 3)}
    if column not in known:
        return None
    score, places = known[column]
    return f"{mean(scores(name, score, **given)):.{places}f}"


def _lines(seeds: int) -> str:
    return f"{mean(scores('one_dimension', 'rmse', model='task_transformed_gp', n=200)[:seeds]):.3f}"


def _free() -> list[str]:
    given = [(model, score) for model in ("task_transformed_gp", "dme") for score in ("rmse", "coverage_2sd")]
    found = [mean(scores("one_dimension_free", score, model=model)) for model, score in given]
    return [f"{found[0]:.3f}", f"{found[1]:.2f}", f"{found[2]:.3f}", f"{found[3]:.2f}"]


def _roll_cell(labels: list[str], column: str) -> str | None:
    names = {"CMP": "cmp", "S-CMP": "shrinkage_cmp", "variational CMP": "variational_cmp", "bag GP": "bag_gp",
             "VBAgg": "vbagg", "GP on centroids": "centroid_gp"}  # fmt: skip
    if labels[0].startswith("paper") or column not in names:
        return None
    given = {"model": names[column], "matching": labels[0].split(", ")[-1]}
    if labels[0].startswith("ours"):
        return spread(scores("swiss_roll", "rmse", **given), 3, bare=True)
    return f"{mean(scores('swiss_roll', 'coverage95', **given)):.2f}".removeprefix("0")


def _way_cell(labels: list[str], column: str) -> str | None:
    names = {"CMP": "cmp", "S-CMP": "shrinkage_cmp", "bag GP": "bag_gp"}
    if column not in names:
        return None
    return spread(scores("swiss_roll_ablation", "rmse", way=labels[0], model=names[column]), 3, bare=True)


def _shift_cell(labels: list[str], column: str) -> str | None:
    given = {"way": labels[0], "shift": float(labels[1])}
    plain, weighed = (scores("mediator_shift", "rmse", model=name, **given) for name in ("plain", "weighed"))
    if column in ("effective", "reached"):
        return f"{mean(each[column] for each in rows('mediator_shift', KEPT) if given.items() <= each.items()):.2f}"
    if column == "better":
        return f"{sum(b < a for a, b in zip(plain, weighed, strict=True))} of 20"
    kinds = {"equal": plain, "weighted": weighed}
    return f"{mean(kinds[column]):.2f}" if column in kinds else None


def _vanishes() -> list[str]:
    given = [scores("swiss_roll", "rmse", matching="direct", model=model) for model in ("cmp", "bag_gp")]
    at_bound = [
        sum("λ at its lower bound" in (each["message"] or "") for each in rows("swiss_roll", KEPT)
            if (each["matching"], each["model"]) == ("direct", model))
        for model in ("cmp", "shrinkage_cmp")
    ]  # fmt: skip
    return [*(f"{mean(found):.3f}" for found in given), *map(str, at_bound)]


def _case_cell(name: str, case: str, model: str) -> str | None:
    """RMSE, and the share of the truth in 95 % intervals, of a model on a case; None without rows."""
    if not any(each["case"] == case and each["model"] == model for each in rows(name, KEPT)):
        return None
    rmse, inside = (mean(scores(name, score, case=case, model=model)) for score in ("rmse", "coverage95"))
    return f"{rmse:.3g} ({100 * inside:.0f} %)"


_MODELS = {"area-to-point GP": "area_to_point_gp", "partial CMP": "partial_cmp", "S-CMP": "shrinkage_cmp", "CMP": "cmp",
           "bag GP": "bag_gp", "GP on centroids": "centroid_gp", "variational CMP": "variational_cmp", "VBAgg": "vbagg",
           "variational GP": "variational_gp", "task-transformed GP": "task_transformed_gp",
           "S-CMP, joint": "shrinkage_joint", "S-CMP, chosen": "shrinkage_chosen",
           "uncertain CMP": "uncertain_cmp"}  # fmt: skip
_CASES = {"UKV 645 m": "ukv-645m", "UKV 75 m": "ukv-75m", "ERA5": "era5-t2m", "GDAS": "gdas-ttop",
          "planets, 2°": "planets-2deg", "planet, 0.5°": "planet-half-deg"}  # fmt: skip


def _mediated_cell(labels: list[str], column: str) -> str | None:
    return _case_cell("downscaling", _CASES[column], _MODELS[labels[0]]) if column in _CASES else None


def _mediation_cell(labels: list[str], column: str) -> str | None:
    if column not in _MODELS:
        return None
    return _case_cell("mediation", f"mediator-{labels[1]}-{labels[0]}", _MODELS[column])


def _period_cell(labels: list[str], column: str) -> str | None:
    methods = {"BCSD": "archive", "ridge on BCSD": "ridge on delta", "archive and kernel": "archive",
               "in 95 % intervals": "archive", "cells alone": "cells alone"}  # fmt: skip
    if column not in methods:
        return None
    (found,) = [
        each for each in rows("period") if (each["size"], each["more"]["method"]) == (labels[0], methods[column])
    ]
    if column == "in 95 % intervals":
        return f"{100 * found['more']['coverage95']:.0f} %"
    return f"{found['yardstick' if column == 'BCSD' else 'ours']:.3f}"


def _peers_cell(labels: list[str], column: str) -> str | None:
    own = {"change of draws": "tendency_of_draws", "change of the mean": "tendency"}.get(column)
    method = "archive" if own else {"quantile mapping": "quantile delta mapping"}.get(column, column)
    found = next(
        (each for each in rows("period") if (each["size"], each["more"]["method"]) == (labels[0], method)), None
    )
    if found is None:
        return None
    return f"{found['more'][own]:.2f}" if own else f"{found['ours']:.3f}"


def _gaps_cell(labels: list[str], column: str) -> str | None:
    if column == "series":
        return None
    (found,) = [each for each in rows("period_gaps") if each["size"] == labels[0]]
    if column == "in 95 % intervals":
        return f"{100 * found['more']['linked']['coverage95']:.0f} %"
    own = found["more"]["linked" if column.endswith("linked") else "alone"]
    return f"{own['tendency']:.2f}" if column.startswith("change") else f"{own['crps']:.3f}"


def _gaps_of_archive_cell(labels: list[str], column: str) -> str | None:
    score, _, which = column.partition(", ")
    if score == "series":
        return None
    (found,) = [each for each in rows("period_gaps_archive") if each["size"] == labels[0]]
    own = found["more"]["linked" if which == "linked" else "alone"]
    return {
        "CRPS": f"{own['crps']:.3f}", "RMSE": f"{own['rmse']:.3f}",
        "in 95 % intervals": f"{100 * own['coverage95']:.0f} %", "change of draws": f"{own['tendency']:.2f}",
    }[score]  # fmt: skip


def _gaps_of_climatology_cell(labels: list[str], column: str) -> str | None:
    if column == "series, cells and climatology":
        return None
    (found,) = [each for each in rows("period_gaps_climatology") if each["size"] == labels[0]]
    own = found["more"]["linked" if column.endswith("linked") else "alone"]
    if column.startswith("change"):
        return f"{own['tendency']:.2f}"
    return f"{100 * own['coverage95']:.0f} %" if column.startswith("in 95") else f"{own['crps']:.3f}"


def _pooled_cell(labels: list[str], column: str) -> str | None:
    if column == "series, cells":
        return None
    (found,) = [each for each in rows("period_pooled") if each["size"] == labels[0]]
    own = found["more"]["pooled" if column.endswith("all times") else "single"]
    return f"{100 * own['coverage95']:.0f} %" if column.startswith("in 95") else f"{own['crps']:.3f}"


def _climatology_cell(labels: list[str], column: str) -> str | None:
    if column == "series":
        return None
    (found,) = [each for each in rows("period_climatology") if each["size"] == labels[0]]
    own = found["more"]["with" if column != "CRPS without it" else "without"]
    return f"{100 * own['coverage95']:.0f} %" if column == "in 95 % intervals" else f"{own['crps']:.3f}"


def _plan_cell(labels: list[str], column: str) -> str | None:
    if column == "series":
        return None
    (found,) = [each for each in rows("period_plan") if each["size"] == labels[0]]
    whole = found["more"]["plans"][1]
    return {
        "part, CPU time": f"{found['ours']:.0f} s", "its plan": f"{found['yardstick']:.0f} s",
        "all times by the plan: CPU time": f"{whole['seconds'] / 60:.0f} min",
        "memory": f"{whole['memory'] / 1e9:.1f} GB", "file": f"{whole['disk'] / 1e9:.0f} GB",
    }[column]  # fmt: skip


def _plan_archive_cell(labels: list[str], column: str) -> str | None:
    if column == "series with an archive":
        return None
    (found,) = [each for each in rows("period_plan_archive") if each["size"] == labels[0]]
    more = found["more"]
    return {
        "CPU time": f"{found['ours']:.0f} s", "its plan": f"{found['yardstick']:.0f} s",
        "memory": f"{more['memory'] / 1e9:.1f} GB", "its plan for memory": f"{more['plan']['memory'] / 1e9:.1f} GB",
    }[column]  # fmt: skip


def _statistic_cell(labels: list[str], column: str) -> str | None:
    name = {"times above": "above", "times below": "below"}.get(column, column)
    method = {"an archive": "archive", "cells and a climatology": "climatology"}.get(labels[1], labels[1])
    measured = rows("period_statistics") + rows("period_statistics_climatology")
    (found,) = [each for each in measured if (each["size"], each["more"]["method"]) == (labels[0], method)]
    held = found["more"]["held"]
    return f"{100 * held[name]:.0f} %" if name in held else None


def _held_maxima() -> list[str]:
    mine = [each for each in rows("period_statistics") if "ERA5" in each["size"]]
    held = [each["max"] for row in mine if row["more"]["method"] == "archive" for each in row["more"]["windows"]]
    return [f"{100 * share:.0f} %" for share in (min(held), max(held))]


def _widths() -> list[str]:
    """How far a width may be off, its sd if nine of ten are to be right, and that of fields drawn from a covariance."""
    from scipy.stats import norm

    low, high = AIM
    window = math.log(norm.ppf((1 + high) / 2) / norm.ppf((1 + low) / 2)) / 2
    found = [number for each in rows("drawn_fields") for number in (f"{each['ours']:.0f}", str(each["more"]["cells"]))]
    known = max(each["more"]["spread_known"] for each in rows("drawn_fields"))
    limits = [f"{100 * each:.0f}" for each in (low, high, window, window / norm.ppf(0.95))]
    return [*limits, *found, f"{known:.0f}"]


def _with_predictors() -> list[str]:
    each = {row["more"]["method"]: row["ours"] for row in rows("period") if row["size"].startswith("made-up region")}
    return [f"{each['archive with predictors']:.3f}", f"{each['archive']:.3f}"]


BENCHMARKS, BAYES = "docs/benchmarks.md", "docs/kernel_bayes.md"
PAGES, RESULTS, LIMITS, SERVER = "docs/pages.md", "docs/reading_results.md", "docs/limits.md", "docs/server.md"
DOWN = "docs/downscaling.md"
FREE, LINE, ROLL, FIELDS = ("docs/likelihood_free.md", "docs/one_dimension.md", "docs/swiss_roll.md",
                            "docs/large_fields.md")  # fmt: skip

SENTENCES = (
    Sentence(
        PAGES,
        "here (440 bags, 35,640 pixels) the new picture after {} s; at the size of the paper (254,898 pixels) a "
        "preview after {} to {} s, the exact picture after {} s.",
        _waits,
    ),
    Sentence(
        PAGES,
        "see the posterior follow ({} s in the median, measured in a browser)",
        lambda: [f"{row('latency', 'New picture', 'One dimension')['ours'] / 1000:.2f}"],
    ),
    Sentence(LIMITS, "predicted 254,898 pixels in {} CPU seconds and {} GB.", _full_size),
    Sentence(LIMITS, "10⁶ pixels and 10⁵ targets of {} bags were measured", _largest),
    Sentence(LIMITS, "on the swiss roll the bag GP's 95 % intervals contain {} of the "
        "truth", lambda: [_inside("bag_gp")]),
    Sentence(BENCHMARKS, "at the end it is {}, that of the variational CMP {}.", lambda: _accuracy(1, "ssim")),
    Sentence(BENCHMARKS, "than the {} at the end.", lambda: _accuracy(0, "rmse")[:1]),
    Sentence(
        BENCHMARKS,
        "The 95 % intervals of a run contain {} to {} % of the truth if their width is right to about {} %; if this is "
        "to happen in nine of ten runs, the factor by which they ought to be wider must have an sd of at most {} %. On "
        "fields drawn from a known covariance it is {} % with {} visible cells and {} % with {}, and at most {} % with "
        "the hyperparameters that made the fields.",
        _widths,
    ),
    Sentence(
        BENCHMARKS,
        "Of ten draws of each map of page Benchmarks, {} % have a coverage in the target range where cells are "
        "matched, but only {} % where they are matched through a mediator. So even a right model would have {} of 16 "
        "runs with matched cells in the range, and {} of 16 with a mediator. The default model has {} and {}.",
        _of_a_right_model,
    ),
    Sentence(BENCHMARKS, "summed pair by pair ({} of {})", _fallen_back),
    Sentence(
        BENCHMARKS,
        "three is {} K, {} % smaller than that of the best source alone ({} to {} %), and {} % of the 95 % intervals "
        "contain the measured value.",
        _three_sources,
    ),
    Sentence(
        BENCHMARKS,
        "the RMSE of `tmean` is {}, {} and {} K with 26, 18 and 9 stations, {}, {} and {} % smaller than that of the "
        "better source alone.",
        _measured_in_larger_cells,
    ),
    Sentence(
        "docs/period.md", "one of the patterns below the cells appears: with it the CRPS is {} instead of {} K.",
        _with_predictors,
    ),
    Sentence(
        "docs/period.md", "maximum of a single window of the British Isles at {} to {} of the pixels", _held_maxima
    ),
    Sentence(BAYES, "what ABC needs about {} simulations for, and with 1,600 + 1,600 what it needs about {} for.",
             _abc_needs),
    Sentence(BAYES, "It loses {} % at d = 64", _validated_loss),
    Sentence(BAYES, "the longest offered wins on all {} problems", _longest),
    Sentence(BAYES, "falls as n^{} with the paper's ε = 0.01/n, and as n^{} with the powers of theorem 3.6", _slopes),
    Sentence(BAYES, "800 examples come within {} % of it",
             lambda: [f"{100 * (_filter('kbr', 'a') / _filter('ekf', 'a') - 1):.0f}"]),
    Sentence(BAYES, "by {} % at T = 800", lambda: [f"{100 * (1 - _filter('kbr', 'b') / _filter('ekf', 'b')):.0f}"]),
    Sentence(
        BAYES,
        "takes {} (a) and {} CPU ms (b), weights alone; the T×T matrices of the paper take {} and {} ms, {} and {} "
        "times as long. MSE is {} ({} at full rank) and {} ({})",
        _step,
    ),
    Sentence(BAYES, "the UKF is more accurate, {} against {}",
             lambda: [f"{_filter(name, 'b'):.4f}".removeprefix("0") for name in ("ukf", "ekf")]),
    Sentence(BAYES, "with 10 % of it left out (rank {}) the error is {} times as large, and 1 % takes rank {}. Lanczos "
             "steps with the full matrix take {} CPU ms a frame, whereas rank {} takes {}", _camera_ranks),
    Sentence(FREE, "the exact posterior has mean {} and 95 % interval [{}, {}]", _exact),
    Sentence(FREE, "the gap is {} for exponential-gamma and {} for predators and prey", _gaps),
    Sentence(LINE, "RMSE is {} over ten seeds, {} over seeds 0 to 2.", lambda: [_lines(10), _lines(3)]),
    Sentence(LINE, "it is {} at coverage {} (DME {} and {})", _free),
    Sentence(ROLL, "The exact bag GP reaches {} where the paper prints 0.60",
             lambda: [f"{mean(scores('swiss_roll', 'rmse', matching='direct', model='bag_gp')):.2f}"]),
    Sentence(ROLL, "both are optimised: {} against {}. λ ends at its lower bound in {} (CMP) and {} (shrinkage CMP)",
             _vanishes),
    Sentence(ROLL, "those of the bag GP contain {} on average, {} on the worst of 20 seeds.", lambda: [
        _inside("bag_gp"), f"{100 * min(scores('swiss_roll', 'coverage95', matching='indirect', model='bag_gp')):.0f} %"
    ]),
    Sentence(ROLL, "Its 50 % intervals contain {}, which is too much",
             lambda: [f"{100 * mean(scores('swiss_roll', 'coverage50', matching='indirect', model='bag_gp')):.0f} %"]),
    Sentence(ROLL, "The CRPS is {} instead of",
             lambda: [f"{mean(scores('swiss_roll', 'crps', matching='indirect', model='bag_gp')):.2f}"]),
)  # fmt: skip

TABLES = (
    Table(BAYES, "| d | kernel Bayes", _bayes_cell),
    Table(BAYES, "| d | rule, μ̂", _printed_cell),
    Table(BAYES, "| d | densities, best", _validated_cell),
    Table(BAYES, "| system | T = 50", _filter_cell),
    Table(BAYES, "| system | one step", _smoother_cell),
    Table(BAYES, "| | paper, σ² = 1e-4", _camera_cell),
    Table(FREE, "| simulations | DME", _simulated_cell),
    Table(FREE, "| observed | seeds", _observed_cell),
    Table(FREE, "| limits | observed", _limits_cell),
    Table(FREE, "| method | mean of θ₁", _predators_cell),
    Table(FREE, "| method | median error", _nine_cell),
    Table(FREE, "| method | error of log θ", _drawn_cell),
    Table(LINE, "| method | n = m", _line_cell),
    Table(LINE, "| version | RMSE", _sparse_cell),
    Table(ROLL, "| | CMP | S-CMP", _roll_cell),
    Table(ROLL, "| way | CMP", _way_cell),
    Table("docs/one_dimension.md", "| ℓ | shift |", _shift_cell),
    Table(DOWN, "| | UKV 645 m", _mediated_cell),
    Table(DOWN, "| unexplained", _mediation_cell),
    Table(BENCHMARKS, "| field | cells | coverage", _outside_cell),
    Table(BENCHMARKS, "| field | cells and stations", _network_cell),
    Table(BENCHMARKS, "| temperature | stations", _measured_cell),
    Table("docs/period.md", "| series | BCSD", _period_cell),
    Table("docs/period.md", "| series | quantile mapping", _peers_cell),
    Table("docs/period.md", "| series | from |", _statistic_cell),
    Table("docs/period.md", "| series | each time", _gaps_cell),
    Table("docs/period.md", "| series | CRPS, each", _gaps_of_archive_cell),
    Table("docs/period.md", "| series, cells and", _gaps_of_climatology_cell),
    Table("docs/period.md", "| series | CRPS with", _climatology_cell),
    Table("docs/period.md", "| series, cells |", _pooled_cell),
    Table("docs/period.md", "| series | part,", _plan_cell),
    Table("docs/period.md", "| series with an archive |", _plan_archive_cell),
)

#: Numbers that are not measured, as they stand, and what they are.
ALLOWED: dict[str, dict[str, str]] = {
    "docs/period.md": {
        "where 5 % of the coarse values or more": "a setting of ours: from there on the page warns",
        "their sd and 90 % interval": "nominal level",
        "where at least 2 % of the values are missing": "a rule of `period.linking`",
        "every tenth value left out is lower by 1 % if times": "a rule of `period.linking`",
        "lower by 1 % than that of each time by itself": "a rule of `period.linking`",
        "days above 300 K and days below 273.15 K": "definitions of summer and frost days",
    },
    RESULTS: {
        "at about 95 % of the pixels": "what two standard deviations of a normal distribution mean",
        "the 50, 90 and 95 % intervals": "nominal levels",
        "Below 0.3 no method": "the page's own threshold of the explained share",
        "95 % intervals contain less than 90 % or more than 98 %": "nominal levels, and where the verdict turns amber",
        "value that 98 % of the pixels": "a rule of the colour limits",
        "a weight below 5 % is dropped": "a setting of ours",
        "an end of the 95 % interval": "nominal level",
        "is above 97.5 %; otherwise": "a setting of ours",
    },
    SERVER: {
        "2,000 MB for each visitor, 20,000 MB in all, 1,000 MB of the disk": "limits that uploads have by default",
    },
    "docs/command_line.md": {"--withhold 0.5": "an option's value"},
    "README.md": {"up to 300 MB": "the limit of an upload"},
    BENCHMARKS: {
        "error (sd 0.1 K,": "how the pseudo-stations are made",
        "pixel (sd 0.15 K,": "how the pseudo-stations are made",
        "median and 95 % quantile": "a nominal level",
        "by which factor the 95 % intervals ought": "a nominal level",
        "over 1.5 decades around its value": "a setting of ours",
        "at most 2 % of the median sd": "a setting of ours: beyond it nothing is blended",
        "has moved for 0.2 s": "how long the chart's code waits",
    },
    BAYES: {
        "ε = 0.01/n": "a setting, the paper's",
        "which promises n^−0.33": "theorem 3.6",
        "of 0.35 to 2.8 median distances": "a setting of ours",
    },
    FIELDS: {"3.3e10 kernel values": "pixels times pixels of all bags, arithmetic"},
    FREE: {
        "θ ~ Gamma(0.1, 0.1)": "the problem's definition",
        "observed mean 9.42": "the problem's definition",
        "median width of the 95 % interval": "a nominal level",
        "so a 95 % interval ought to contain": "a nominal level",
        "rates the 95 % intervals contain": "a nominal level",
        "The observed mean is 9.42": "the problem's definition",
        "at 3.0 seeds 0 to 9": "an observation, in the table",
        "up to 1.5 times that": "a setting of ours",
        "from one to 1.5 spreads": "a setting of ours",
        "(√n, 1.5, 2, a tenth)": "settings of ours",
        "ε free between 0.005 and 2": "a setting of ours",
        "ℓ between 0.1 and 10 sd": "a setting of ours",
        "error grows at 3.0": "an observation, in the table",
        "at 9.42 harms nothing; at 3.0 single": "observations, in the table",
        "θ₁ = 0.01 from": "the problem's definition",
    },
    DOWN: {
        "inside the 95 % intervals": "a nominal level",
        "has 7.40 ± 0.25 for": "the paper's",
        "8.25 ± 0.15 for VBAgg": "the paper's",
        "8.02 ± 0.28 for": "the paper's",
        "the covariate x = c + 0.7 e": "the problem's definition",
    },
    LINE: {
        "sin 2x + 0.5 x cos x": "the problem's definition",
        "both noises of sd 0.25": "the problem's definition",
        "the central 95 % of x": "where scores are taken",
        "noisy data (sd 0.1)": "the problem's definition",
    },
    ROLL: {
        "the 95 % intervals contain 16 %": "rows of before, which the covariance has replaced; the means are the same",
        "0.63, because intervals with": "rows of before, which the covariance has replaced; the means are the same",
        "and 0.01 is too large": "a setting of ours",
        "held at 0.01 the evidence": "a setting of ours",
    },
}
