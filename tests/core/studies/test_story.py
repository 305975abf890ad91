"""What the story's steps compute, by second routes."""

import numpy as np
import pytest

from deconditioning.datasets.one_dimension import LineSpec, make_line
from deconditioning.downscaling.prediction import predict_tiled
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.figures.studies import story as draw
from deconditioning.likelihood_free.simulators import simulate
from deconditioning.studies.likelihood_free.study import infer
from deconditioning.studies.likelihood_free.study import make_problem as make_simulator
from deconditioning.studies.story import checked, lasting, mediated, recovered, transect, turned, whole_map
from tests.core.fields.samples import fields, region

SIZE, LENGTH = 9, 20.0


@pytest.fixture(scope="module")
def problem():
    return whole_map.example("ukv-645m")


@pytest.fixture(scope="module")
def row(problem):
    return transect.transect_of(problem)


def test_the_line_is_a_row_of_the_field_with_its_distances(problem, row):
    assert np.array_equal(row.values, problem.truth[transect.ROW]) and row.units == "K"
    (lat0, lon0), (lat1, lon1) = np.deg2rad(row.ends)
    apart = np.sin((lat1 - lat0) / 2) ** 2 + np.cos(lat0) * np.cos(lat1) * np.sin((lon1 - lon0) / 2) ** 2
    assert row.km[-1] == pytest.approx(2 * transect.EARTH_KM * np.arcsin(apart**0.5), rel=2e-3)  # along a great circle
    assert 600 < row.altitude.max() < 1085 and row.altitude.min() >= -1  # Snowdon is 1,085 m, the sea 0


@pytest.mark.parametrize("size", [3, 7, 9, 45])
def test_cells_keep_what_lies_between_them(row, size):
    cells = transect.through_cells(row, size)
    pieces = [row.values[begin : begin + size] for begin in range(0, len(row.values), size)]
    assert cells.means == pytest.approx([piece.mean() for piece in pieces])
    inside = sum(((piece - piece.mean()) ** 2).sum() for piece in pieces) / len(row.values)
    assert cells.kept == pytest.approx(1 - inside / row.values.var())  # law of total variance
    assert cells.farthest == pytest.approx(max(np.abs(piece - piece.mean()).max() for piece in pieces))
    assert len(cells.edges) == len(pieces) + 1 and np.isclose(row.km, cells.where).any()


def joint(row, told):
    """Prior covariance of the places by formula, the averaging matrix, standardised cell means."""
    k = np.exp(-np.abs(row.km[:, None] - row.km) / LENGTH)
    if told:
        h = (row.altitude - row.altitude.mean()) / row.altitude.std()
        k = k + recovered.SLOPE * np.outer(h, h)
    a = np.kron(np.eye(len(row.km) // SIZE), np.full((1, SIZE), 1 / SIZE))
    means = a @ row.values
    return k, a, (means - means.mean()) / means.std(), means


@pytest.mark.parametrize("told", [False, True])
def test_the_curve_is_a_conditioned_gaussian(row, told):
    from scipy.stats import multivariate_normal

    found = recovered.recover(row, SIZE, LENGTH, with_altitude=told)
    k, a, z, means = joint(row, told)
    s = a @ k @ a.T + recovered.NOISE * np.eye(len(z))
    gain = np.linalg.solve(s, a @ k).T
    scale = z @ np.linalg.solve(s, z) / len(z)
    sd = np.sqrt(scale * np.diag(k - gain @ a @ k)) * means.std()
    assert found.mean == pytest.approx(means.mean() + means.std() * gain @ z, abs=1e-6)
    assert found.sd == pytest.approx(sd, abs=1e-5) and found.scale == pytest.approx(scale)
    evidence = [multivariate_normal(np.zeros(len(z)), factor * scale * s).logpdf(z) for factor in (0.9, 1.0, 1.1)]
    assert found.evidence == pytest.approx(evidence[1]) and max(evidence) == evidence[1]
    assert found.off < 1e-4 and found.rmse == pytest.approx(np.sqrt(np.mean((found.mean - row.values) ** 2)))
    inside = [abs(m - t) <= 2 * d for m, d, t in zip(found.mean, sd, row.values, strict=True)]
    assert found.held == pytest.approx(np.mean(inside))


def test_mountains_help_and_the_evidence_finds_a_length(row):
    ways = {}
    for told in (False, True):
        curve = recovered.evidence_of(row, SIZE, with_altitude=told)
        best = recovered.LENGTHS[int(curve.argmax())]
        ways[told] = recovered.recover(row, SIZE, best, with_altitude=told)
        assert ways[told].evidence == curve.max() > max(curve[0], -np.inf)
    assert ways[True].rmse < 0.5 * ways[False].rmse and ways[True].evidence > ways[False].evidence + 10
    assert not np.isclose(recovered.LENGTHS[0], ways[False].length)


def test_rivals_return_every_cell_and_spread_as_the_posterior_does(row):
    found = recovered.recover(row, SIZE, 12.0, family=recovered.SMOOTH)
    draws = found.rivals(80, 0)
    assert max(recovered.off_cells(draw, found.cells) for draw in draws) < 5e-3
    assert draws.mean(0) == pytest.approx(found.mean, abs=5 * found.sd.max() / 80**0.5)
    assert np.mean(draws.std(0)) == pytest.approx(np.mean(found.sd), rel=0.1)


def test_the_mediator_points_at_rows_of_both_tables():
    line = make_line(LineSpec(n=60, m=50))
    link = mediated.link_at(line, 1.0)
    rows = zip(line.inputs.tolist(), line.mediators.tolist(), strict=True)
    near = [x for x, y in rows if abs(y - 1) <= mediated.NEAR]
    assert link.rows[0] == len(near) and link.input == pytest.approx(sum(near) / len(near))
    empty = mediated.link_at(line, 40.0)
    assert empty.rows == (0, 0) and np.isnan(empty.input) and np.isnan(empty.outcome)


def test_two_tables_give_the_hidden_function():
    line = make_line(LineSpec(n=40, m=30))
    x, y, q, z = (v.numpy() for v in (line.inputs, line.mediators, line.query, line.targets))

    def gauss(a, b, length, size):
        return size * np.exp(-0.5 * ((a[:, None] - b) / length) ** 2)

    ((ls,), size), ((ell,), own) = mediated.KERNEL, mediated.MEDIATOR_KERNEL
    across = gauss(y, q, ell, own)
    w = np.linalg.solve(gauss(y, y, ell, own) + len(x) * mediated.REGULARISATION * np.eye(len(x)), across)
    unknown = gauss(q, q, ell, own) + mediated.NOISE * np.eye(len(q)) - across.T @ w
    mean = gauss(line.grid.numpy(), x, ls, size) @ w @ np.linalg.solve(w.T @ gauss(x, x, ls, size) @ w + unknown, z)
    found = mediated.deconditioned(line)
    assert found.mean.numpy() == pytest.approx(mean, abs=1e-6)
    assert mediated.read_at(line, found.mean, float(line.grid[7])) == pytest.approx(float(found.mean[7]))


def test_more_averages_bring_more_back_and_what_comes_back_has_them():
    shares = {}
    for averages in (2, 5, 40):
        _, trip = mediated.there_and_back(averages)
        assert trip.again == pytest.approx(trip.conditioned, abs=3e-3)
        shares[averages] = mediated.share_back(trip)
        left = np.mean((trip.back - trip.function) ** 2) / trip.function.var()
        assert shares[averages] == pytest.approx(max(0, 1 - left))
    assert shares[2] < 0.9 < shares[5] < shares[40]


@pytest.fixture(scope="module")
def solved(problem):
    return whole_map.solve("ukv-645m", problem)


def test_the_map_is_the_exact_posterior_at_its_pixels(monkeypatch):
    spec = DownscalingSpec("t", ("orog",), block=(6, 6), withhold=0.0)
    small = make_problem(fields(region()), spec)
    settings = DownscaleSettings(model=whole_map.MODEL)
    monkeypatch.setattr(whole_map, "preset", lambda source, given, how: starting_spec(small, settings))
    found = whole_map.solve("any", small)
    again = predict_tiled(starting_spec(small, settings), small.data, small, small.inputs)
    assert found.mean == pytest.approx(small.physical_mean(again.mean), abs=1e-6)
    assert found.sd == pytest.approx(small.physical_sd(again.sd), abs=1e-5)
    monkeypatch.undo()
    with pytest.raises(InputError, match="No hyperparameters are stored for 'any'"):
        whole_map.solve("any", small)


def test_whatever_is_dissolved_returns_its_cells(problem, solved):
    for share in (0.0, 0.3, 1.0):
        assert solved.off_cells(solved.dissolved(share)) < 1e-3
    shifted = solved.blocks.copy()
    shifted[:9, :9] += 0.25
    assert solved.off_cells(shifted) == pytest.approx(0.25, abs=1e-6)
    area = problem.grid.area
    byhand = np.sqrt((area * (solved.mean - problem.truth) ** 2).sum() / area.sum())
    assert solved.rmse(solved.mean) == pytest.approx(byhand) and byhand < 0.5 * solved.rmse(solved.blocks)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_hold_what_is_not_beyond_them(problem, solved, level):
    inside = solved.beyond(level) == 0
    assert solved.held(level) == pytest.approx((problem.grid.area * inside).sum() / problem.grid.area.sum(), abs=1e-9)
    assert (solved.truth > solved.mean)[solved.beyond(level) > 0].all()


def test_secrets_are_inferred_as_any_observation(monkeypatch):
    monkeypatch.setattr(checked, "SECRETS", 3)
    problem = make_simulator("exponential-gamma")
    found = checked.check_secrets(problem, 20)
    assert found.theta.shape == (3,) and found.intervals.shape == (3, 2)
    rng = np.random.default_rng([0, 16])
    u = problem.prior.draw(3, rng)
    y, _ = problem.simulator(u, rng)
    again = infer(
        make_simulator("exponential-gamma", float(np.exp(y[1, 0]))), simulate(problem, 20, 0), methods=("dme",)
    )
    assert found.intervals[1] == pytest.approx(again.answers["dme"].interval[0])
    assert found.theta == pytest.approx(np.exp(u[:, 0]))
    by_hand = [low <= theta <= high for theta, (low, high) in zip(found.theta, found.intervals, strict=True)]
    assert found.inside.tolist() == by_hand


def test_another_turn_misleads_the_filter_and_surprises_it():
    usual, other = turned.follow_turned(turned.TAUGHT), turned.follow_turned(-0.6)
    for found in (usual, other):
        off = np.sqrt(np.mean(np.sum((found.means - found.truth) ** 2, axis=1)))
        assert found.errors[0] == pytest.approx(off) and found.ahead.shape == (len(found.truth) - 1, 2)
    assert usual.errors[0] < usual.errors[1] and other.errors[0] > other.errors[1]
    assert other.surprise > 1.5 * usual.surprise


def test_pictures_say_what_they_show():
    edges, means = np.array([0.0, 2.0, 4.0]), np.array([1.0, 3.0])
    pieces = draw.cells(edges, means, "cells", "#000000")
    rows = {"one": (0.2, np.array([0.1, 0.4]), "#0a7a8c")}
    both = draw.two_pictures([pieces], [pieces], ("a", "b", "up"), "Both.", dark=False)
    assert [trace.get("xaxis", "x") for trace in both["data"]] == ["x", "x2"] and both["layout"]["meta"][
        "alt"
    ] == "Both."
    found = draw.intervals(rows, (0.3, np.array([0.0, 0.5])), "rate", dark=True)["layout"]
    assert found["xaxis"]["range"][0] < 0 < 0.5 < found["xaxis"]["range"][1] and found["yaxis"]["ticktext"] == ["one"]
    assert found["shapes"][0]["x0"] == 0.0 and found["shapes"][0]["x1"] == 0.5


def test_errors_of_means_last_as_draws_of_the_series_do():
    """Shares of a single time's error by loops, and the stated ones from drawn errors; limits without any link."""
    rng = np.random.default_rng(0)
    days, sds = np.arange(12.0), rng.uniform(0.5, 2.0, size=(12, 40))
    rho = 0.7 * np.exp(-np.abs(np.subtract.outer(days, days)) / 3) + 0.3 * np.eye(12)
    errors = sds * (np.linalg.cholesky(rho) @ rng.normal(size=(4000, 12, 40)))
    given = lasting.Lasting(days, errors[0], sds, rho, errors[0, :, 0], 0 * days, "K")
    ends = [errors[0, begin : begin + 4, at].mean() for begin in (0, 4, 8) for at in range(40)]
    single = np.sqrt(np.mean([each**2 for each in errors[0].ravel()]))
    assert given.real(4) == pytest.approx(np.sqrt(np.mean(np.square(ends))) / single)
    drawn = np.sqrt(np.mean(np.square(errors[:, :10].reshape(4000, 2, 5, 40).mean(2)))) / np.sqrt(np.mean(sds**2))
    assert given.stated(5) == pytest.approx(drawn, rel=0.02)
    assert given.real(1) == pytest.approx(1) and given.stated(1) == pytest.approx(1)
    same = np.ones((12, 40))
    for other, share in ((np.eye(12), 0.5), (np.ones((12, 12)), 1.0)):
        assert lasting.Lasting(days, same, same, other, days, days, "K").stated(4) == pytest.approx(share)


def test_the_series_lasts_longer_than_independent_errors_would():
    found = lasting.lasting_errors()
    assert found.errors.shape == (80, 1536) and found.rho.shape == (80, 80)
    assert all(each**-0.5 < found.real(each) < 1 for each in (8, 16, 40))
    assert found.stated(40) == pytest.approx(found.real(40), rel=0.3)
    (at,) = np.flatnonzero(np.isclose(found.errors[5], found.predicted[5] - found.truth[5]))[:1]
    np.testing.assert_allclose(found.errors[:, at], found.predicted - found.truth)
