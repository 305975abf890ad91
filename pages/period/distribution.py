"""Power spectrum and quantiles of truth, mean, joint draws and bilinear interpolation."""

from dataclasses import replace

import numpy as np
import streamlit as st

from deconditioning.figures.scores import power_spectra
from deconditioning.figures.studies.verification import quantile_plot
from deconditioning.period.scores import verified_result
from deconditioning.period.statistics import period_draws
from deconditioning.verification.drawn import DrawnScores, drawn_scores
from deconditioning.verification.report import Verification
from deconditioning.verification.series import BILINEAR, Verified
from deconditioning.wording import number
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.escaping import plain
from pages.kit.layout.theme import is_dark
from pages.period.result import Choice, Shown
from pages.period.words import names_of

#: Joint draws that are verified.
DRAWS = 5
#: What draws are called in pictures.
_KEY = "draws"
#: Rows of the table of quantiles that the caption has: about 1 % and 99 %.
_TAILS = (0.01, 0.99)


@st.cache_data(show_spinner="Drawing possible series …", max_entries=8)
def _drawn(choice: Choice, _shown: Shown) -> DrawnScores | None:
    """Scores of a few joint draws; None where errors cannot be drawn."""
    if _shown.result.residuals is None:
        return None
    own = verified_result(_shown.result, conserving=False)
    return drawn_scores(with_draws(_shown, replace(own, forecasts=dict(list(own.forecasts.items())[:1]))))


def with_draws(shown: Shown, fields: Verified) -> Verified:
    """The same predictions beside a few joint draws, if errors can be drawn."""
    result, problem = shown.result, shown.result.series.problem
    if result.residuals is None:
        return fields
    rows = [draw for draw, _ in period_draws(result, DRAWS, problem.spec.seed)]
    return replace(fields, draws=lambda time: np.stack([problem.on_grid(each[time]) for each in rows]))


def show_power(choice: Choice, shown: Shown, verification: Verification) -> None:
    """The power of every scale, averaged over the times; nothing for grids of few pixels."""
    model, drawn = next(iter(verification.scores)), _drawn(choice, shown)
    own, other = (verification.scores[name].power for name in (model, BILINEAR))
    if own is None or other is None:
        st.caption("The grid has fewer than eight pixels each way, too few for a power spectrum.")
        return
    power = {"mean": own[:, 2], "bilinear": other[:, 2], "truth": own[:, 1]}
    distances = {
        "mean": verification.scores[model].pooled["ralsd"],
        "bilinear": verification.scores[BILINEAR].pooled["ralsd"],
    }
    if drawn is not None and drawn.power is not None:
        power["draws"], distances[f"{DRAWS} draws"] = drawn.power[:, 2], drawn.pooled["ralsd"]
    units = plain(shown.result.series.problem.units)
    figure = power_spectra(own[:, 0], power, units=units, length="pixel", height=320, dark=is_dark())
    plotly_live(figure, "p-power")
    words = ", ".join(f"{name} {number(value, 2)} dB" for name, value in distances.items())
    st.caption(
        f"Small scales are on the right. At the smallest the mean has {number(own[-1, 2] / own[-1, 1], 2)} times the "
        "power of the truth. Cells do not determine these scales: a mean has less power there if it is as smooth as it "
        f"should be, and possible series as much. Distance from the truth (RALSD, 0 is best): {words}."
    )


def show_quantiles(choice: Choice, shown: Shown, verification: Verification) -> None:
    """Quantiles of all values against those of the truth."""
    model, drawn = next(iter(verification.scores)), _drawn(choice, shown)
    tables = {name: verification.scores[name].quantiles for name in (model, BILINEAR)}
    names = names_of(verification.scores) | {_KEY: f"{DRAWS} draws"}
    if drawn is not None:
        tables[_KEY] = drawn.quantiles
    units = plain(shown.result.series.problem.units)
    plotly_live(quantile_plot(tables, units=units, names=names, dark=is_dark()), "p-quantiles")
    words = "; ".join(f"{names[name]} {_off(table)} {units}" for name, table in tables.items())
    st.caption(
        "All pixels and times together: on the diagonal values are as frequent as in the truth. Dots are the lowest "
        f"and the highest 5 %. Prediction − truth at the 1 % and the 99 % quantile: {words}."
    )


def _off(table: np.ndarray) -> str:
    """Prediction − truth at both tails."""
    rows = [table[np.abs(table[:, 0] - level).argmin()] for level in _TAILS]
    return " and ".join(number(float(row[2] - row[1]), 2) for row in rows)
