"""Page Benchmarks: what was measured, in time, memory and accuracy, with the machine and the command that did it."""

import streamlit as st

from deconditioning.abbreviations import legend
from deconditioning.models.defaults import CANDIDATES
from pages.benchmarks import mediated
from pages.benchmarks.advice import show_advice
from pages.benchmarks.measured import show_measured
from pages.benchmarks.trust import show_trust
from pages.kit.layout.page_layout import page_header
from pages.kit.pages import page_link
from pages.kit.runs.benchmark_table import BenchmarkTable, headline, mediation, show, start_controls
from pages.kit.runs.mediated import lost
from pages.kit.runs.run_panel import run_of

TITLES = {
    "ukv-645m": "UKV, 645 m, by altitude",
    "ukv-75m": "UKV, 75 m, by altitude",
    "era5-t2m": "ERA5, by surface pressure",
    "gdas-ttop": "GDAS cloud tops, by their pressure",
    "planets-2deg": "Synthetic planets, 90 × 180, by pressure",
    "planet-half-deg": "One synthetic planet of the paper's size, 360 × 720",
}


def main() -> None:
    """A headline a topic, with one small table or figure; everything else folded below it."""
    page_header(
        "Benchmarks", "Which model is most accurate on real fields, are its intervals right, and how fast is it?"
    )
    scores = ("mae", "pearson", "ssim", "crps", "coverage95")
    table = BenchmarkTable("downscaling-benchmark", "downscaling.json", "case", TITLES, units="K", scores=scores,
                           references=dict.fromkeys(TITLES, CANDIDATES[0]))  # fmt: skip
    show_advice()
    st.subheader("Calibration and accuracy on real fields", anchor=False)
    show_trust()
    st.subheader("Accuracy of downscaling through a mediator", anchor=False)
    headline(table)
    st.caption(
        "Means over the seeds, which draw the hidden cells, ± sd between them. Partial CMP: the part of the kernel of "
        "location is averaged over each cell, and only the rest is matched through the mediator."
    )
    told = (lost(), mediated.choice(), mediated.regime())
    st.markdown("\n".join(f"- {sentence}" for sentence in told if sentence))
    with st.expander("All models and scores, significance tests, and a run of your own",
                     expanded=run_of(table.task) is not None):  # fmt: skip
        everything(table)
    show_measured()
    st.caption(f"{legend('GP, CMP, RMSE, CRPS, BCSD')}.")


def everything(table: BenchmarkTable) -> None:
    """The downscaling benchmark, stored or run from here."""
    st.markdown(
        "As in the paper, half of the cells have only covariates and the other half only coarse targets. Each model "
        "learns its hyperparameters for every seed and is scored on every pixel. Models without mediation get "
        "pseudo-targets, each for its own cell."
    )
    page_link("swiss_roll", "The paper's Table 1 with our numbers, on page Swiss roll", icon=":material/cyclone:")
    start_controls(table, {"cases": ["ukv-645m", "planets-2deg"]})
    show(table)
    st.caption(f"{legend('VBAgg, MAE, SSIM, ELBO')}.")
    st.markdown(mediation(table))
    mediated.show_regime()


main()
