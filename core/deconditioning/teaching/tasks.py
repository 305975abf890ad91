"""The exercises, in the order in which they are offered."""

from deconditioning.studies.kernel_bayes.settings import KernelBayesSettings
from deconditioning.studies.sparse_representation.settings import RepresentationSettings
from deconditioning.teaching.exercises import Exercise, Verdict


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\u00a0%"


def _band(held: float) -> Verdict:
    return Verdict(0.93 <= held <= 0.97, f"The band of ±2 sd holds {_percent(held)} of the hidden function.")


def _evidence(now: float, best: float) -> Verdict:
    below = max(0.0, best - now)
    return Verdict(below <= 1, f"The log evidence lies {below:.2g} below the best of its picture.")


def _there_and_back(back: float) -> Verdict:
    return Verdict(0.9 <= back < 0.98, f"{_percent(back)} of the function's variation comes back.")


def _few_points(own: float, every: float) -> Verdict:
    said = f"The points' error is {own / every:.2f} times that of a GP on all data."
    return Verdict(own <= 1.25 * every, said)


def _slices(error: float) -> Verdict:
    return Verdict(0.15 <= error <= 0.25, f"The error is {_percent(error)} of the position's own sd.")


def _one_estimator(first: float, second: float) -> Verdict:
    apart = abs(first - second) / first
    said = "The two estimators give the same numbers." if apart < 1e-6 else f"Their errors differ by {_percent(apart)}."
    return Verdict(apart < 1e-6, said)


def _nearer_than_densities(rule: float, densities: float) -> Verdict:
    said = (
        f"Kernel Bayes' rule misses the exact mean by {rule:.3g}, densities from the same samples by {densities:.3g}."
    )
    return Verdict(rule < densities, said)


def _runs(width: float) -> Verdict:
    return Verdict(width <= 1.5, f"The interval is {width:.2f} times as wide as the exact one.")


def _nearer_than_kalman(rule: float, kalman: float) -> Verdict:
    said = f"Mean square error: {rule:.3g} from examples alone, {kalman:.3g} by the extended Kalman filter."
    return Verdict(rule < kalman, said)


def _people(risk: float) -> Verdict:
    return Verdict(risk <= 0.015, f"The posterior risk is {risk:.3g}.")


def _right_intervals(held: float, exact: float) -> Verdict:
    return Verdict(0.9 <= held <= 0.98, f"The 95\u00a0% intervals hold {_percent(held)} of the truth.")


def _worse_than_lines(model: float, lines: float, exact: float) -> Verdict:
    said = f"RMSE: {model:.3g} K by the model, {lines:.3g} K by bilinear interpolation."
    return Verdict(model > lines, said)


_PAIRS = {"o-n": "80", "o-m": "80"}
_CELLS = {"rows": "18", "columns": "18"}
_TRIP = {"o-view": "There and back"}
#: Where the control that is asked for is not an essential one.
_ALL = {"level": "All"}
_DOUBT = _ALL | _CELLS | {"withhold": "0.5"}
_RULE = KernelBayesSettings
EXERCISES = (
    Exercise(
        "band", "one_dimension", "A band that keeps its word",
        "The band promises to hold 95 % of the hidden function. Find the λ at which it holds 93 to 97 %.",
        "λ stands among the controls. A small λ believes every pair (x, y) to the letter.",
        _ALL | _PAIRS | {"o-lam": "1e-6"}, _ALL | _PAIRS | {"o-lam": "0.002"},
        "A small λ takes the link between both data sets for certain, and the band is too narrow; a large one leaves "
        "so much open that the band holds everything and says little.",
        ("task_transformed_gp.coverage_2sd",), _band,
    ),
    Exercise(
        "evidence", "one_dimension", "What the evidence prefers",
        "Move *How smooth the function is* (lengthscale of k) until the log evidence lies within 1 of the best of its "
        "picture, below.",
        "In the evidence picture the star is the best, the circle is "
        "where the sliders stand.",
        _PAIRS | {"o-k-scale": "5"}, _PAIRS | {"o-k-scale": "0.5"},
        "The evidence needs no truth. A long lengthscale can't bend as the data do, a short one could have made many "
        "other data; the best lies between them.",
        ("evidence", "best_evidence"), _evidence,
    ),
    Exercise(
        "trip", "one_dimension", "What an average loses",
        "A function is averaged and brought back. Move *How cautiously the averaging is undone* (ε, of the second "
        "stage) until 90 to 98 % of its variation comes back.",
        "A large ε believes no average.",
        _TRIP | {"t-eps": "1"}, _TRIP | {"t-eps": "0.02"},
        "Deconditioning undoes averaging as far as the averages are believed: with a small ε nearly all comes back, "
        "with a large one the function is pulled to nought.",
        ("comes_back",), _there_and_back,
    ),
    Exercise(
        "points", "sparse_representation", "Few points for many data",
        "Choose points that stand for all the data: their error is to be at most 1.25 times that of a GP on all data.",
        "It matters how many points there are, and where they stand.",
        _ALL, _ALL | RepresentationSettings.address(places="even", points=10),
        "Points between which the function can bend are missed. Evenly spread ones need to be about a lengthscale "
        "apart; random ones leave gaps.",
        ("random.rmse", "exact_gp.rmse"), _few_points,
    ),
    Exercise(
        "slices", "swiss_roll", "How many slices?",
        "Positions along the roll are known only as means of slices. Move *How many slices* (slices) until the error "
        "of the CMP is 15 to 25 % of the position's own standard deviation.",
        "The fewer slices there are, the more windings of the roll each of them mixes.",
        {"r-bags": "5"}, {"r-bags": "20"},
        "Every slice is one equation for the field. Few, thick ones mix windings that lie far apart along the roll.",
        ("cmp.rmse",), _slices,
    ),
    Exercise(
        "one", "conditional_mean_embeddings", "Two estimators, one answer",
        "The standard and the shrinkage estimator differ. Make them give exactly the same numbers.",
        "What does a bag's size do to its weight in each of them?",
        {}, {"e-unequal": "false"},
        "The standard estimator counts every point, the shrinkage estimator every bag. With bags of equal size and λ "
        "scaled alike this is the same.",
        ("cmp.of μ(x, y)", "shrinkage_cmp.of μ(x, y)"), _one_estimator,
    ),
    Exercise(
        "rule", "kernel_bayes", "Nearer than densities",
        "Move *How cautious the rule is* (ε) until kernel Bayes' rule comes nearer to the exact posterior mean than "
        "estimated densities do.",
        "ε regularises the step from the prior's draws to the pairs.",
        _RULE.address(dimension=1, epsilon=1), _RULE.address(dimension=1, epsilon=0.001),
        "A large ε shrinks the prior's weights and, with them, the answer; a very small one follows the noise of the "
        "samples.",
        ("kbr.distance", "kde.distance"), _nearer_than_densities,
    ),
    Exercise(
        "runs", "likelihood_free", "How many simulations?",
        "Move *How many simulations* (simulations) until the 95 % interval of the deconditional embedding is at most "
        "one and a half times as wide as the exact one.",
        "It stands first among the controls, below the simulator.",
        {"lf-n-exponential-gamma": "50"}, {"lf-n-exponential-gamma": "400"},
        "Between simulations a kernel bridges the gaps; more simulations make the gaps, the kernel and the interval "
        "narrower.",
        ("dme.width / exact",), _runs,
    ),
    Exercise(
        "examples", "filtering", "Examples against equations",
        "The extended Kalman filter is told the equations. Move *How many examples* (training steps T) until the "
        "kernel Bayes filter, which is told none, comes nearer to the hidden state.",
        "Training steps are the examples that it sees.",
        {"f-train": "20"}, {"f-train": "400"},
        "With few examples the filter does not know what follows what. With enough it bends where the Kalman filter's "
        "tangent does not.",
        ("kbr.mse", "ekf.mse"), _nearer_than_kalman,
    ),
    Exercise(
        "people", "distribution_regression", "Subjects or measures?",
        "Bring the posterior risk of GPDR to 0.015 or less.",
        "There are two ways to get more data: more subjects, and more measures of each. Try one at a time.",
        {"d-n": "50", "d-m": "10"}, {"d-n": "200", "d-m": "1000"},
        "Many measures of few subjects, or many subjects with few measures, leave the risk high: both are needed.",
        ("gpdr.posterior_risk",), _people,
    ),
    Exercise(
        "doubt", "downscaling", "Intervals that are right",
        "These intervals are too narrow. Choose another kernel of the coordinates, so that the 95 % intervals hold 90 "
        "to 98 % of the truth.",
        "How rough must a field be between the cells? It stands with the controls of the model.",
        _DOUBT | {"place": "Matérn 3/2"}, _DOUBT | {"place": "Matérn 1/2"},
        "A smooth kernel trusts that nothing happens between neighbours that they do not show. A rougher one, or the "
        "model's own, whose roughness is learned, admits more.",
        ("area_to_point_gp.coverage95", "exact"), _right_intervals,
    ),
    Exercise(
        "noise", "downscaling", "Worse than straight lines",
        "Make the model fail: find a noise σ² with which its map is worse than bilinear interpolation.",
        "What does the model do with the cells if it takes them for noise?",
        _ALL | _CELLS, _ALL | _CELLS | {"noise": "1"},
        "If the cells' values are taken for noise, the map forgets them. The evidence falls at the same time: one need "
        "not know the truth to notice.",
        ("area_to_point_gp.rmse", "bilinear.rmse", "exact"), _worse_than_lines,
    ),
)  # fmt: skip


def exercise_of(key: str) -> Exercise | None:
    """The exercise of that key; None where there is none."""
    return next((exercise for exercise in EXERCISES if exercise.key == key), None)
