"""Scores of joint draws against plain loops, and what exchangeable draws must have."""

import numpy as np
import pytest
import xarray as xr
from scipy.stats import chisquare, rankdata

from deconditioning.verification.drawn import drawn_scores
from deconditioning.verification.report import verify
from deconditioning.verification.series import verified

TIMES, SIZE, DRAWS = 40, (8, 12), 9


def dataset(spread: float = 1.0, smooth: float = 0.8, seed: int = 0) -> xr.Dataset:
    """A truth and draws of one process: a mean that is known, and errors that last; ``spread`` too wide or narrow."""
    rng = np.random.default_rng(seed)
    mean = 280 + rng.normal(size=(TIMES, *SIZE)).cumsum(0)
    errors = np.empty((DRAWS + 1, TIMES, *SIZE))
    errors[:, 0] = rng.normal(size=(DRAWS + 1, *SIZE))
    for time in range(1, TIMES):
        new = rng.normal(size=(DRAWS + 1, *SIZE))
        errors[:, time] = smooth * errors[:, time - 1] + np.sqrt(1 - smooth**2) * new
    truth = mean + errors[-1]
    truth[3, 2, 5] = np.nan
    axes = {"time": np.arange(TIMES), "lat": np.linspace(30, 65, SIZE[0]), "lon": np.linspace(0, 11, SIZE[1])}
    ends = {"lat": [[25, 47], [47, 70]], "lon": [[-1, 3.5], [3.5, 7.5], [7.5, 12]]}
    bounds = {f"coarse_{name}_bnds": ((f"coarse_{name}", "bnds"), np.array(each)) for name, each in ends.items()}
    dims = ("time", "lat", "lon")
    fields = {"mean": (dims, mean), "sd": (dims, np.ones_like(mean)), "truth": (dims, truth, {"units": "K"})}
    fields["draws"] = (("realization", *dims), mean + spread * errors[:-1])
    return xr.Dataset({**fields, **bounds}, axes)


def test_scores_of_draws_are_those_of_plain_loops() -> None:
    made = dataset()
    found = drawn_scores(verified(made))
    weights = np.broadcast_to(np.cos(np.radians(made.lat.values))[:, None], SIZE)
    ranks, change = np.zeros(DRAWS + 1), np.zeros((2, 2))
    fields = np.concatenate([made.draws.values, made.truth.values[None]])
    for time in range(TIMES):
        for row, column in np.ndindex(SIZE):
            values = fields[:, time, row, column]
            if np.isfinite(values).all():
                ranks[int(rankdata(values)[-1]) - 1] += weights[row, column]
                before = fields[:, time - 1, row, column]
                if time and np.isfinite(before).all():
                    squares = weights[row, column] * (values - before) ** 2
                    change += [[squares[:-1].mean(), 0], [0, squares[-1]]]
    np.testing.assert_allclose(found.ranks, ranks / ranks.sum())
    assert found.pooled["tendency"] == pytest.approx(np.sqrt(change[0, 0] / change[1, 1]))


def test_draws_of_the_truths_own_process_have_flat_ranks_and_its_changes() -> None:
    right, wide, single = dataset(), dataset(spread=2.0), dataset(smooth=0.0)
    single["truth"] = right["truth"]
    found = {name: drawn_scores(verified(each)) for name, each in
             {"right": right, "wide": wide, "single": single}.items()}  # fmt: skip
    assert found["right"].pooled["tendency"] == pytest.approx(1, abs=0.02)
    assert found["right"].pooled["variance_inside"] == pytest.approx(1, abs=0.05)
    assert found["single"].pooled["tendency"] > 1.15 and found["wide"].pooled["variance_inside"] > 1.2
    independent = TIMES * SIZE[0] * SIZE[1] / 9  # errors last about nine times
    assert chisquare(independent * found["right"].ranks, np.full(DRAWS + 1, independent / (DRAWS + 1))).pvalue > 0.01
    assert found["wide"].ranks[[0, -1]].max() < 0.06 < found["wide"].ranks[4]
    equal = right.assign(draws=right["draws"] * 0 + right["truth"])
    shares = drawn_scores(verified(equal)).ranks  # ranks by lot
    np.testing.assert_allclose(shares, 0.1, atol=0.02)


def test_tables_have_them_and_a_file_without_draws_has_none() -> None:
    result = verify(verified(dataset()))
    rows = {row["score"]: row["value"] for row in result.rows() if row["prediction"] == "draws of prediction"}
    assert rows == result.drawn.pooled and set(rows) == {"tendency", "variance_inside", "ralsd"}
    assert len(result.to_dict()["draws"]["ranks"]) == DRAWS + 1
    without = verify(verified(dataset().drop_vars("draws")))
    assert without.drawn is None and without.to_dict()["draws"] is None
