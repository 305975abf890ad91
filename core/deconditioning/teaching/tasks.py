"""The exercises, in the order in which they are offered."""

from deconditioning.datasets.line_settings import LineProblem
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.fields.cell_settings import CellSettings
from deconditioning.studies.conditional_means.settings import BagSettings
from deconditioning.studies.distribution_regression.settings import SweptSettings as Regression
from deconditioning.studies.filtering.settings import SweptSettings as Filtering
from deconditioning.studies.kernel_bayes.settings import KernelBayesSettings
from deconditioning.studies.likelihood_free.settings import SimulatorSettings
from deconditioning.studies.one_dimension.settings import RecoverSettings, TripSettings
from deconditioning.studies.sparse_representation.settings import RepresentationSettings
from deconditioning.studies.swiss_roll.settings import SwissRollSettings
from deconditioning.teaching.exercises import Exercise, Verdict
from deconditioning.wording import number


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\u00a0%"


def _band(held: float) -> Verdict:
    return Verdict(0.93 <= held <= 0.97, f"The band of ±2 sd contains {_percent(held)} of the curve.")


def _evidence(now: float, best: float) -> Verdict:
    below = max(0.0, best - now)
    return Verdict(below <= 1, f"The log evidence is {number(below, 2)} below the maximum in its picture.")


def _there_and_back(back: float) -> Verdict:
    return Verdict(0.9 <= back < 0.98, f"{_percent(back)} of the function's variation is recovered.")


def _few_points(with_points: float, every: float) -> Verdict:
    sentence = f"The error with these points is {with_points / every:.2f} times that of a GP on all data."
    return Verdict(with_points <= 1.25 * every, sentence)


def _slices(error: float) -> Verdict:
    return Verdict(0.15 <= error <= 0.25, f"The error is {_percent(error)} of the sd of the position.")


def _one_estimator(first: float, second: float) -> Verdict:
    difference = abs(first - second) / first
    sentence = (
        "The two estimators give the same numbers."
        if difference < 1e-6
        else f"Their errors differ by {_percent(difference)}."
    )
    return Verdict(difference < 1e-6, sentence)


def _nearer_than_densities(rule: float, densities: float) -> Verdict:
    sentence = (
        f"Distance from the exact posterior mean: {number(rule)} by kernel Bayes' rule, {number(densities)} by density "
        "estimation from the same samples."
    )
    return Verdict(rule < densities, sentence)


def _runs(width: float) -> Verdict:
    return Verdict(width <= 1.5, f"The interval is {width:.2f} times as wide as the exact one.")


def _nearer_than_kalman(rule: float, kalman: float) -> Verdict:
    sentence = (
        f"Mean square error: {number(rule)} for the kernel Bayes filter, from examples alone, {number(kalman)} for the "
        "extended Kalman filter."
    )
    return Verdict(rule < kalman, sentence)


def _people(risk: float) -> Verdict:
    return Verdict(risk <= 0.015, f"The posterior risk is {number(risk)}.")


def _right_intervals(held: float, exact: float) -> Verdict:
    return Verdict(0.9 <= held <= 0.98, f"The 95\u00a0% intervals contain {_percent(held)} of the truth.")


def _worse_than_lines(model: float, lines: float, exact: float) -> Verdict:
    sentence = f"RMSE: {number(model)} K for the model, {number(lines)} K for bilinear interpolation."
    return Verdict(model > lines, sentence)


_PAIRS = LineProblem.address(n=80, m=80)
_CELLS = CellSettings.address(rows=18, columns=18)
_TRIP = {"o-view": "There and back"}
#: Where the control that is asked for is not an essential one.
_ALL = {"level": "All"}
_DOUBT = _ALL | _CELLS | CellSettings.address(withhold=0.5)
_PLACE = DownscaleSettings.spatial.key
_RULE = KernelBayesSettings
EXERCISES = (
    Exercise(
        "band", "one_dimension", "A band of the right width",
        "The ±2 sd band should contain about 95 % of this one curve. Find a λ with which it contains 93 to 97 %.",
        "λ is one of the controls. With a small λ the model trusts every pair (x, y) completely.",
        _ALL | _PAIRS | RecoverSettings.address(seed=8, regularisation=1e-6),
        _ALL | _PAIRS | RecoverSettings.address(seed=8, regularisation=2e-4),
        "With a small λ the model treats the link between the two data sets as certain, and the band is too narrow. "
        "With a large λ the band contains everything and is uninformative. One curve is no test of calibration.",
        ("task_transformed_gp.coverage_2sd",), _band, 4, "easy",
    ),
    Exercise(
        "evidence", "one_dimension", "Learning by the evidence",
        "Move *How smooth the function is* (lengthscale of k) until the log evidence is within 1 of the maximum in the "
        "evidence picture on that page.",
        "In the evidence picture the star marks the maximum and the circle marks the sliders' values.",
        _PAIRS | RecoverSettings.address(k_scale=4), _PAIRS | RecoverSettings.address(k_scale=0.8),
        "The evidence does not need the truth. With a long lengthscale the function cannot follow the data. With a "
        "short one the model could have produced almost any data, so these data are improbable. The maximum lies "
        "between.",
        ("evidence", "best_evidence"), _evidence, 3, "easy",
    ),
    Exercise(
        "trip", "one_dimension", "What averaging loses",
        "A function is averaged and then recovered. Move *Regularisation* (ε, of the second "
        "stage) until 90 to 98 % of its variation is recovered.",
        "With a large ε the model ignores the averages.",
        _TRIP | TripSettings.address(second_regularisation=1),
        _TRIP | TripSettings.address(second_regularisation=0.02),
        "Deconditioning undoes the averaging as far as it trusts the averages. With a small ε nearly all variation is "
        "recovered; with a large ε the function shrinks to zero.",
        ("comes_back",), _there_and_back, 4, "medium",
    ),
    Exercise(
        "points", "sparse_representation", "Few points for many data",
        "Choose points that represent all the data. Their error should be at most 1.25 times that of a GP on all data.",
        "Both the number of points and their positions matter.",
        _ALL | {RepresentationSettings.places.key: "random"},
        _ALL | RepresentationSettings.address(places="even", points=10),
        "Where two points are far apart, the function between them is lost. Evenly spaced points can be about a "
        "lengthscale apart; random points leave gaps.",
        ("on_sliders.rmse", "exact_gp.rmse"), _few_points, 5, "medium",
    ),
    Exercise(
        "slices", "swiss_roll", "How many slices?",
        "Positions along the roll are known only as slice means. Move *How many slices* until the error of "
        "the CMP is 15 to 25 % of the standard deviation of the position.",
        "The fewer slices there are, the more windings of the roll each of them mixes.",
        SwissRollSettings.address(slices=5), SwissRollSettings.address(slices=20),
        "Every slice mean is one equation for the field. If slices are few and thick, each mixes windings that lie far "
        "apart along the roll.",
        ("cmp.rmse",), _slices, 4, "easy",
    ),
    Exercise(
        "one", "conditional_mean_embeddings", "Two estimators, one answer",
        "The standard and the shrinkage estimator differ. Make them give exactly the same numbers.",
        "What does a bag's size do to its weight in each of them?",
        {}, BagSettings.address(unequal=False),
        "The standard estimator gives every point the same weight, the shrinkage estimator every bag. If all bags have "
        "the same size and λ is scaled in the same way, both are identical.",
        ("cme.RMSE of μ(x, y)", "shrinkage_cmp.RMSE of μ(x, y)"), _one_estimator, 5, "medium",
    ),
    Exercise(
        "rule", "kernel_bayes", "Better than density estimation",
        "Move *Regularisation* (ε) until kernel Bayes' rule is closer to the exact posterior mean than "
        "density estimation is.",
        "ε regularises the step from the prior's draws to the pairs.",
        _RULE.address(dimension=1, epsilon=1), _RULE.address(dimension=1, epsilon=0.001),
        "A large ε shrinks the prior's weights, and the posterior mean with them. A very small ε follows the noise of "
        "the samples.",
        ("kbr.distance", "kde.distance"), _nearer_than_densities, 4, "medium",
    ),
    Exercise(
        "runs", "likelihood_free", "How many simulations?",
        "Move *How many simulations* until the 95 % interval of the deconditional embedding is at most "
        "one and a half times as wide as the exact one.",
        "It is the first control below the simulator.",
        SimulatorSettings.address(simulations=50), SimulatorSettings.address(simulations=400),
        "A kernel bridges the gaps between simulations. With more simulations the gaps, the kernel and the interval "
        "become narrower.",
        ("dme.width / exact",), _runs, 4, "easy",
    ),
    Exercise(
        "examples", "filtering", "Examples instead of equations",
        "The extended Kalman filter knows the equations, the kernel Bayes filter does not. Move *How many examples* "
        "(training steps T) until the kernel Bayes filter is closer to the hidden state.",
        "Training steps are the examples from which it learns.",
        Filtering.address(train=20), Filtering.address(train=400),
        "With few examples the filter cannot learn how the state moves. With enough examples it follows the curvature "
        "that the extended Kalman filter replaces by a tangent.",
        ("kbr.mse", "ekf.mse"), _nearer_than_kalman, 5, "medium",
    ),
    Exercise(
        "people", "distribution_regression", "Subjects or measurements?",
        "Choose *How many subjects* and *How many measurements of each* so that the posterior risk of the Gaussian "
        "process is 0.015 or less.",
        "Both give more data. Try one at a time.",
        Regression.address(n=50, m=10), Regression.address(n=200, m=1000),
        "With many measurements of few subjects, or few measurements of many subjects, the risk stays high. Both are "
        "needed.",
        ("gpdr.posterior_risk",), _people, 6, "medium",
    ),
    Exercise(
        "doubt", "downscaling", "Intervals that are right",
        "The intervals on this map are too narrow. Choose another kernel of the coordinates, so that the 95 % "
        "intervals contain 90 to 98 % of the truth.",
        "How rough is the field between the cells? The kernel is among the controls of the model.",
        _DOUBT | {_PLACE: "Matérn 3/2"}, _DOUBT | {_PLACE: "Matérn 1/2"},
        "A smooth kernel assumes that the field hardly varies between neighbouring cells. A rougher kernel, or the "
        "model's own, whose roughness is learned, allows more variation.",
        ("area_to_point_gp.coverage95", "exact"), _right_intervals, 6, "hard",
    ),
    Exercise(
        "noise", "downscaling", "Worse than interpolation",
        "Make the model fail: find a noise variance σ² with which its map is worse than bilinear interpolation.",
        "What does the model do with the cell values if it takes them for noise?",
        _ALL | _CELLS, _ALL | _CELLS | DownscaleSettings.address(noise=1),
        "If the model takes the cell values for noise, the map ignores them. The evidence falls too, so the failure is "
        "visible without the truth.",
        ("area_to_point_gp.rmse", "bilinear.rmse", "exact"), _worse_than_lines, 4, "easy",
    ),
)  # fmt: skip


def exercise_of(key: str) -> Exercise | None:
    """The exercise of that key; None if there is none."""
    return next((exercise for exercise in EXERCISES if exercise.key == key), None)
