"""Camera rotation: rays against a second route, ways on SO(3), projection, both kernels, the learned Kalman filter."""

import math

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from deconditioning.errors import InputError
from deconditioning.filtering.linear_gaussian import fit_linear_gaussian
from deconditioning.filtering.room import Camera, Room, direction, longitude_latitude
from deconditioning.filtering.rotations import (
    RotationPath,
    angles_between,
    from_quaternions,
    nearest_rotation,
    quaternions,
    squared_distances,
)
from deconditioning.kernels.low_rank import incomplete_cholesky
from deconditioning.kernels.tiles import evaluate
from deconditioning.studies.filtering.camera import (
    KERNELS,
    METHODS,
    CameraSpec,
    camera_filter,
    compare_camera,
    follow_camera,
    make_camera,
    matrices,
    nearest_frame,
)
from deconditioning.studies.filtering.study import FilterSettings

ROOM = Room(3)
SMALL = CameraSpec(60, 8, 0.03, 1, camera=Camera(6))


def random_rotations(count: int, seed: int = 0) -> np.ndarray:
    return Rotation.random(count, rng=np.random.default_rng(seed)).as_matrix()


def marched(room: Room, ray: np.ndarray) -> np.ndarray:
    """Where a ray leaves the box, by bisection on being inside: knows nothing of planes."""
    low, high = 0.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        inside = np.all(np.abs(np.array(room.eye) + middle * ray) <= np.array(room.half))
        low, high = (middle, high) if inside else (low, middle)
    return np.array(room.eye) + low * ray


def test_rays_hit_the_box_where_a_march_leaves_it():
    rays = Camera(5).rays.reshape(-1, 3) @ random_rotations(1)[0].T
    rays = np.concatenate([rays, np.eye(3), -np.eye(3)])  # along the axes two divisors are zero
    points, walls = ROOM.hit(rays)
    for ray, point, wall in zip(rays, points, walls, strict=True):
        assert np.allclose(marched(ROOM, ray), point, atol=1e-9)
        assert point[wall // 2] == pytest.approx((-1) ** wall * ROOM.half[wall // 2])


def test_a_pixel_is_the_colour_along_its_ray():
    camera, turn = Camera(4, 60), random_rotations(3)[2]
    frame, reach = ROOM.frames(turn[None], camera)[0], math.tan(math.radians(30))
    for row, column in ((0, 0), (1, 3), (3, 2)):
        left, up = ((1 - (2 * k + 1) / 4) * reach for k in (column, row))
        ray = turn @ (np.array([1, left, up]) / math.sqrt(1 + left**2 + up**2))
        assert np.allclose(ROOM.look(ray[None])[0], frame[row, column], atol=1e-12)


def test_a_frame_is_looked_up_in_the_panorama():
    camera, height = Camera(12), 360
    panorama, turns = ROOM.panorama(height), random_rotations(4, 5)
    longitude, latitude = longitude_latitude(np.einsum("nij,hwj->nhwi", turns, camera.rays))
    column = ((180 - longitude) / 180 * height).astype(int) % (2 * height)
    row = ((90 - latitude) / 180 * height).astype(int).clip(0, height - 1)
    difference = np.abs(panorama[row, column] - ROOM.frames(turns, camera))
    assert np.median(difference) < 0.01 and difference.mean() < 0.03


def test_without_a_turn_the_camera_looks_ahead_upright():
    frame = ROOM.frames(np.eye(3)[None], Camera(21, 20))[0]
    assert np.allclose(frame[10, 10], ROOM.look(np.array([[1.0, 0, 0]]))[0])
    quarter = Rotation.from_euler("z", 90, degrees=True).as_matrix()  # to the left
    assert np.allclose(ROOM.frames(quarter[None], Camera(1))[0, 0, 0], ROOM.look(np.array([[0, 1.0, 0]]))[0])
    above, below = (ROOM.frames(np.eye(3)[None], Camera(3, 100))[0][row, 1] for row in (0, 2))
    assert not np.allclose(above, below)
    angles = (np.array([0.3, -2.0]), np.array([0.5, -1.2]))
    back = longitude_latitude(direction(*angles))
    assert np.allclose(np.radians(back), angles)


def test_walls_differ_and_a_seed_is_a_room():
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    looks = [ROOM.look(axes + 0.3 * np.roll(axes, k, 1)).ravel() for k in (1, 2)]
    colours = np.array(looks).reshape(2, 6, 3).mean(0)
    assert min(np.abs(colours[i] - colours[j]).sum() for i in range(6) for j in range(i)) > 0.08
    assert np.array_equal(Room(3).panorama(20), ROOM.panorama(20))
    assert not np.allclose(Room(4).panorama(20), ROOM.panorama(20))


@pytest.mark.parametrize("tilt", [20, 180])
def test_a_way_stays_on_so3_and_within_its_tilt(tilt):
    path = RotationPath(tilt=tilt)
    way = path.simulate(1500, np.random.default_rng(0))
    assert np.abs(way @ way.transpose(0, 2, 1) - np.eye(3)).max() < 1e-12
    assert np.abs(np.linalg.det(way) - 1).max() < 1e-12
    assert way[:, 2, 2].min() >= math.cos(math.radians(tilt)) - 1e-12
    again = path.simulate(1500, np.random.default_rng(0))
    assert np.array_equal(way, again)


def test_without_bounds_turns_are_those_that_were_drawn():
    way = RotationPath(0.1, 5, 0.02, 180).simulate(4001, np.random.default_rng(1))
    turns = Rotation.from_matrix(way[1:] @ way[:-1].transpose(0, 2, 1)).as_rotvec()
    pieces = turns.reshape(-1, 5, 3)
    assert pieces.mean(1).std() == pytest.approx(math.sqrt(0.01 + 0.0004 / 5), rel=0.05)
    assert (pieces - pieces.mean(1, keepdims=True)).std() == pytest.approx(0.02 * math.sqrt(4 / 5), rel=0.05)


def test_the_nearest_rotation_is_the_argmax_of_the_trace():
    rng, candidates = np.random.default_rng(2), random_rotations(20_000, 3)
    for matrix in rng.standard_normal((6, 3, 3)):
        found = nearest_rotation(matrix)
        best = float((candidates * matrix).sum((1, 2)).max())
        top = float((found * matrix).sum())
        assert np.linalg.det(found) == pytest.approx(1) and best <= top + 1e-12 and top - best < 0.05 * abs(top) + 0.05
        near = Rotation.from_rotvec(1e-3 * rng.standard_normal((50, 3))).as_matrix() @ found
        assert float((near * matrix).sum((1, 2)).max()) < top
    turns = random_rotations(5)
    assert np.allclose(nearest_rotation(3 * turns), turns, atol=1e-12)


def test_angles_and_quaternions_against_scipy():
    first, second = random_rotations(40, 1), random_rotations(40, 2)
    expected = np.degrees((Rotation.from_matrix(first).inv() * Rotation.from_matrix(second)).magnitude())
    assert np.allclose(angles_between(first, second), expected, atol=1e-6)
    small = Rotation.from_rotvec([0, 0, 1e-9]).as_matrix()
    assert angles_between(np.eye(3), small) == pytest.approx(math.degrees(1e-9), rel=1e-6)
    assert squared_distances(first, second).max() <= 8 + 1e-9
    way = RotationPath(tilt=180).simulate(300, np.random.default_rng(0))
    for continuous in (False, True):
        assert np.allclose(from_quaternions(3 * quaternions(way, continuous)), way, atol=1e-12)
    steps = quaternions(way, True)
    assert np.abs(np.diff(steps, axis=0)).max() < 0.6 and quaternions(way)[:, 3].min() >= 0


@pytest.mark.parametrize("method", KERNELS)
def test_a_low_rank_filter_follows_the_dense_one(method):
    data = make_camera(SMALL)
    x, y, seen = (torch.from_numpy(v.reshape(len(v), -1)) for v in (data.states, data.frames, data.observed))
    dense, cut = (camera_filter(method, x, y, 1.0, 1e-4, tolerance) for tolerance in (0.0, 1e-10))
    assert cut.ranks[0] == 9 if method == "kbr_tr" else cut.ranks[0] > 9
    left, right = (matrices(method, f, f.run(seen[None])) for f in (dense, cut))
    assert np.allclose(left, right, atol=1e-3)


@pytest.mark.parametrize("method", KERNELS)
def test_a_filter_by_lanczos_steps_follows_the_dense_one(method, monkeypatch):
    data = make_camera(SMALL)
    x, y, seen = (torch.from_numpy(v.reshape(len(v), -1)) for v in (data.states, data.frames, data.observed))
    dense, steps = (camera_filter(method, x, y, 1.0, 1e-4, *more) for more in ((0.0,), (1e-10, 1e-5)))
    left, right = (matrices(method, f, f.run(seen[None])) for f in (dense, steps))
    assert np.allclose(left, right, atol=1e-3) and steps.ranks[1] == len(y)
    monkeypatch.setattr(
        "deconditioning.filtering.kernel_bayes_filter.lanczos_update", lambda *_: None
    )  # directly instead
    again = camera_filter(method, x, y, 1.0, 1e-4, 1e-10, 1e-5)
    assert np.allclose(left, matrices(method, again, again.run(seen[None])), atol=1e-3)


def test_the_trace_kernel_has_no_mass_to_lose_on_all_rotations():
    """Its functions are linear: none is the constant 1 where the mean rotation is nought, one nearly is upright."""
    masses = {}
    for tilt in (20, 180):
        data = make_camera(CameraSpec(300, 12, 0.01, 1, RotationPath(tilt=tilt), Camera(6)))
        x, y, seen = (torch.from_numpy(v.reshape(len(v), -1)) for v in (data.states, data.frames, data.observed))
        for method in KERNELS:
            found = camera_filter(method, x, y, 0.5, 1e-5, 1e-2)
            masses[tilt, method] = found.has_mass
            if not found.has_mass:
                steps = found.run(seen[None])
                assert min(float(step.mass) for step in steps) < 0.1 and not any(bool(step.lost) for step in steps)
    assert masses == {(20, "kbr_gauss"): True, (20, "kbr_tr"): True, (180, "kbr_gauss"): True, (180, "kbr_tr"): False}


def test_the_trace_kernel_is_the_trace():
    data = make_camera(SMALL)
    x, y = (torch.from_numpy(v.reshape(len(v), -1)) for v in (data.states, data.frames))
    gram = evaluate(camera_filter("kbr_tr", x, y, 1.0, 1e-4, 1e-2).kernel, x, x).detach().numpy()
    assert np.allclose(gram, np.einsum("iab,jab->ij", data.states, data.states))


def test_wide_inputs_have_the_same_factor(monkeypatch):
    data = make_camera(SMALL)
    x, y = (torch.from_numpy(v.reshape(len(v), -1)) for v in (data.states, data.frames))
    kernel = camera_filter("kbr_tr", x, y, 1.0, 1e-4, 1e-2).observation_kernel
    whole = incomplete_cholesky(kernel, y, 1e-3)
    monkeypatch.setattr("deconditioning.kernels.low_rank.WHOLE", 10)
    by_rows = incomplete_cholesky(kernel, y, 1e-3)
    assert torch.equal(whole.pivots, by_rows.pivots) and torch.allclose(whole.factor, by_rows.factor, atol=1e-9)


def test_the_learned_kalman_filter_is_gaussian_conditioning():
    rng = np.random.default_rng(4)
    d, q, steps = 2, 7, 4
    rotate, seen_by = np.array([[0.9, -0.3], [0.3, 0.9]]), rng.standard_normal((q, d))
    x = np.zeros((401, d))
    for t in range(400):
        x[t + 1] = rotate @ x[t] + 0.3 + 0.4 * rng.standard_normal(d)
    y = x[:-1] @ seen_by.T + 1 + 0.5 * rng.standard_normal((400, q))
    model, test = fit_linear_gaussian(x, y), y[:steps] + 0.1
    assert np.allclose(model.transition, rotate, atol=0.1) and np.allclose(model.offset, 0.3, atol=0.15)
    now = np.column_stack([x[:-1], np.ones(400)])
    slope = np.linalg.lstsq(now, y, rcond=None)[0][:-1].T
    from sklearn.covariance import LedoitWolf

    noise = LedoitWolf(assume_centered=True).fit(y - now @ np.linalg.lstsq(now, y, rcond=None)[0]).covariance_
    means, spreads, cross = [model.mean], [model.covariance], {}
    for _ in range(1, steps):
        means.append(model.transition @ means[-1] + model.offset)
        spreads.append(model.transition @ spreads[-1] @ model.transition.T + model.transition_noise)
    for s in range(steps):
        for t in range(s, steps):
            cross[t, s] = np.linalg.matrix_power(model.transition, t - s) @ spreads[s]
            cross[s, t] = cross[t, s].T
    found = model.follow(test)
    for t in range(steps):  # the joint Gaussian of x_t and y_1 … y_t, all q pixels
        joint = np.block(
            [[slope @ cross[i, j] @ slope.T + (i == j) * noise for j in range(t + 1)] for i in range(t + 1)]
        )
        between = np.hstack([cross[t, j] @ slope.T for j in range(t + 1)])
        misfit = np.concatenate([test[j] - slope @ means[j] - model.level for j in range(t + 1)])
        assert np.allclose(found[t], means[t] + between @ np.linalg.solve(joint, misfit), atol=1e-8)


def test_the_nearest_frame_without_noise_among_itself_is_itself():
    data = make_camera(SMALL)
    own = type(data)(data.spec, data.room, data.states, data.frames, data.states[:-1], data.frames, data.frames)
    assert np.array_equal(nearest_frame(own).matrices, data.states[:-1])


def test_series_are_drawn_apart_and_noise_is_as_said():
    data, longer = make_camera(SMALL), make_camera(CameraSpec(90, 8, 0.03, 1, camera=Camera(6)))
    assert np.array_equal(data.observed, longer.observed) and not np.allclose(data.states[:8], data.truth)
    assert (data.observed - data.clean).std() == pytest.approx(0.03, rel=0.1)
    assert np.allclose(data.believed(data.truth[0]).ravel(), data.clean[0])
    longitude, latitude = data.outline(data.truth[0])
    assert longitude.shape == latitude.shape == (65,) and longitude[0] == pytest.approx(longitude[-1])


def test_every_method_knows_more_than_nothing():
    """Loosely, on one short series: two random rotations are 6 apart on average. Who wins is shown, not asserted."""
    rows = compare_camera(CameraSpec(200, 20, 0.03, 0), FilterSettings(1.0, 1e-5, 1e-2))
    found = {row["model"]: row["scores"] for row in rows}
    assert tuple(found) == METHODS and all(scores["mse"] < 2.5 for scores in found.values())
    assert found["kbr_gauss"]["angle"] < 20 and found["kbr_tr"]["mse"] == pytest.approx(found["kbr_tr"]["mse_rotation"])


def test_validation_keeps_what_is_given():
    data = make_camera(SMALL)
    words = follow_camera(data, FilterSettings(None, 1e-4, 1e-2), ("kbr_tr",))["kbr_tr"].words
    assert "ε = 0.0001" in words and any(f"β = {scale:g}," in words for scale in (0.5, 1.0, 2.0))


def test_bad_input_is_said():
    for make, word in (
        (lambda: RotationPath(piece=0), "at least one"), (lambda: RotationPath(speed=-1), "finite number"),
        (lambda: RotationPath(tilt=1), "between 5 and 180"), (lambda: Camera(0), "at least one"),
        (lambda: Camera(5, 180), "between 0 and 180"), (lambda: Room(eye=(9, 0, 0)), "not inside"),
        (lambda: CameraSpec(train=5), "at least 20"), (lambda: CameraSpec(noise=-1), "not negative"),
        (lambda: follow_camera(make_camera(SMALL), FilterSettings(), ("x",)), "unknown"),
        (lambda: nearest_rotation(np.full((3, 3), np.nan)), "no nearest"),
        (lambda: from_quaternions(np.zeros((1, 4))), "zero"),
        (lambda: fit_linear_gaussian(np.zeros((5, 2)), np.zeros((5, 3))), "one state more"),
        (lambda: RotationPath().simulate(0, np.random.default_rng(0)), "at least one"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=word):
            make()
