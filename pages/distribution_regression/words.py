"""What page Distribution regression says of its results."""

import numpy as np
import streamlit as st

from deconditioning.distribution_regression.simulate import regression_function
from deconditioning.figures.colours import model_name
from deconditioning.studies.distribution_regression.compare import Comparison
from deconditioning.studies.distribution_regression.validation import Validated
from deconditioning.wording import number, signed
from pages.distribution_regression.data import Chosen
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import lead

#: The share of the outcomes' variance that must be predictable at best for predictions of single subjects to be of use.
_FORETOLD = 0.5


def summary(chosen: Chosen, result: Comparison, scores: dict[str, Validated]) -> None:
    """The result in a sentence."""
    risks = {name: curve.risk for name, curve in result.curves.items() if curve.risk is not None}
    r2 = {name: float(v.r2.mean()) for name, v in scores.items()}
    if risks:
        best = min(risks, key=risks.__getitem__)
        verb = (
            "the lowest of all methods on this draw"
            if best == "gpdr"
            else f"more than that of *{model_name(best)}* on this draw"
        )
        lead(
            "Each simulated subject has many measurements x and one outcome: the mean of an unknown function f over "
            "them, plus noise. The thick teal line with the band estimates f by a Gaussian process: measurements near "
            f"{_where(result)}. {_in_band(result)} Its posterior risk, the mean squared distance of posterior draws "
            f"from the true curve, is **{risks['gpdr']:.4f}**, {verb}."
        )
        return
    best = max(r2, key=r2.__getitem__)
    also = "the most of all methods" if best == "gpdr" else f"*{model_name(best)}* the most, {100 * r2[best]:.1f} %"
    lead(
        f"For held-out subjects, the Gaussian process explains **{100 * r2['gpdr']:.1f} %** of the variance of "
        f"{plain(chosen.prepared.subjects.outcome_name)}, {also}. {chosen.words}"
    )


def _where(result: Comparison) -> str:
    """Which measurements go with the highest and the lowest outcomes, by the estimate."""
    mean, at = result.curves["gpdr"].mean, result.at
    high, low = ((round(float(at[i]), 2), round(float(mean[i]), 2)) for i in (np.argmax(mean), np.argmin(mean)))
    least = "lower it most" if low[1] < 0 else "least"
    return (
        f"x = {number(high[0], 2)} raise the outcome most (f = {number(high[1], 2)}), those near x = "
        f"{number(low[0], 2)} {least} (f = {number(low[1], 2)})"
    )


def _in_band(result: Comparison) -> str:
    """Over which share of x the band of the estimate contains the true curve, and where it does not."""
    curve = result.curves["gpdr"]
    outside = np.abs(curve.mean - regression_function(result.at)) > 2 * curve.sd
    if not outside.any():
        return "The ±2 sd band contains the true curve everywhere."
    at = result.at[outside]
    where = (
        f"near x = {number(round(float(at.mean()), 1), 2)}"
        if np.ptp(at) < 0.1
        else f"from x = {at[0]:.2f} to {at[-1]:.2f}, in parts"
    )
    return f"The ±2 sd band contains the true curve over {100 * (1 - outside.mean()):.0f} % of x, not {where}."


def others(chosen: Chosen, result: Comparison, scores: dict[str, Validated]) -> None:
    """The risks of the other methods, and how much of single outcomes can be predicted at all."""
    risks = {name: curve.risk for name, curve in result.curves.items() if curve.risk is not None}
    if risks:
        r2, ceiling = float(scores["gpdr"].r2.mean()), _ceiling(chosen)
        single = (
            f"- **Single outcomes** are hard to predict: R² for held-out subjects is {signed(r2, 3)}; with the true "
            f"curve and every distribution known it would be {ceiling:.3f}."
        )
        if ceiling < _FORETOLD:
            single += " Use the regression to learn the curve, not to predict single subjects."
        compared = (
            "- **Other methods**: density estimation replaces each subject's measurements by a smooth density before "
            f"the regression; its risk is {risks['kde']:.4f}. Bayesian linear regression (BLR) represents f by kernels "
            "at a few values of x, the landmarks. Bayesian distribution regression (BDR) also allows for the "
            f"uncertainty of subjects with few measurements: its risk is {risks['bdr10']:.4f} with 10 landmarks, "
            f"{risks['bdr50']:.4f} with 50, and {risks['shrunk']:.4f} with 50 and the Gaussian process's prior."
        )
        st.markdown(f"{single}\n{_average_alone(scores)}\n{compared}")


def _average_alone(scores: dict[str, Validated]) -> str:
    """What the whole distributions add to the subjects' averages."""
    whole, average = (float(scores[name].r2.mean()) for name in ("gpdr", "average"))
    return f"- **Averages alone**: a straight line in each subject's average reaches {signed(average, 3)}" + (
        f": the distribution adds {signed(whole - average, 3)}." if whole > average
        else ", no less: here the distribution adds nothing to the prediction."
    )  # fmt: skip


def _ceiling(chosen: Chosen) -> float:
    assert chosen.simulated is not None
    known, outcomes = chosen.simulated.expected, chosen.simulated.subjects.outcomes.numpy(force=True)
    return float(min(1.0, known.var() / outcomes.var()))
