"""A turning camera followed by its frames: kernel Bayes filters on SO(3), learned Kalman filters, the nearest frame.

The hidden state is the camera's rotation, the observation a frame of 20 × 20 RGB pixels with Gaussian noise. Source:
Fukumizu et al. 2013, §5.3 and Table 1, whose frames are not published; room and path are ours.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch

from deconditioning.device import choose, one_thread
from deconditioning.embeddings.bayes_rule import median_kernel
from deconditioning.engine.reporting import Stopwatch
from deconditioning.errors import Check, InputError, never
from deconditioning.filtering.kernel_bayes_filter import FilterState, KernelBayesFilter
from deconditioning.filtering.linear_gaussian import fit_linear_gaussian
from deconditioning.filtering.room import Camera, Room, longitude_latitude
from deconditioning.filtering.rotations import (
    RotationPath,
    angles_between,
    from_quaternions,
    nearest_rotation,
    quaternions,
    squared_distances,
)
from deconditioning.filtering.validation import best_candidate, half_of
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.plain_data import check_seed
from deconditioning.studies.filtering.settings import (
    CAMERA_EPSILONS,
    CAMERA_SCALES,
    CameraKernelSettings,
    CameraSettings,
)
from deconditioning.studies.filtering.study import TEST_SEED, FilterSettings
from deconditioning.wording import number

KERNELS = ("kbr_gauss", "kbr_tr")
METHODS = (*KERNELS, "kalman_matrix", "kalman_quaternion", "nearest")
#: Table 1 of the paper, on frames that are not published: variance of a pixel → method → mean and standard error.
PAPER = {
    1e-4: {
        "kbr_gauss": (0.210, 0.015), "kbr_tr": (0.146, 0.003), "kalman_matrix": (1.980, 0.083),
        "kalman_quaternion": (0.557, 0.023),
    },
    1e-3: {
        "kbr_gauss": (0.222, 0.009), "kbr_tr": (0.210, 0.008), "kalman_matrix": (1.935, 0.064),
        "kalman_quaternion": (0.541, 0.022),
    },
}  # fmt: skip
#: Steps of the second half that rank a candidate.
_VALIDATION_STEPS = 50
#: Of the states' factor: nothing of Tr(ABᵀ) is cut, next to nothing of a Gaussian.
_STATE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class CameraSpec:
    """``train`` T and ``test`` steps of two independent series in the same room, ``noise`` sd of a pixel, seed of both
    series (the room has its own)."""

    train: int = CameraSettings.train.default
    test: int = CameraSettings.test.default
    noise: float = CameraSettings.noise.default
    seed: int = 0
    path: RotationPath = field(default_factory=RotationPath)
    camera: Camera = field(default_factory=Camera)
    room_seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_seed(self.room_seed, "room_seed")
        for name, least in (("train", 20), ("test", 1)):
            if getattr(self, name) < least:
                raise InputError(f"`{name}` is {getattr(self, name)}: give at least {least}.")
        if not 0 <= self.noise < np.inf:
            raise InputError(f"`noise` is {self.noise}: give a finite number that is not negative.")


def camera_spec(settings: CameraSettings) -> CameraSpec:
    """Room, path and series as these settings have them."""
    path = RotationPath(speed=settings.speed, tilt=settings.tilt)
    return CameraSpec(
        settings.train, settings.test, settings.noise, settings.seed, path, room_seed=settings.room
    )  # fmt: skip


@dataclass(frozen=True)
class CameraData:
    """X_1 … X_{T+1} (T + 1, 3, 3) and noisy frames Y_1 … Y_T (T, q) to learn from; the ``truth`` (n, 3, 3), ``clean``
    and ``observed`` frames (n, q) of the series that is followed; q = 3·pixels²."""

    spec: CameraSpec
    room: Room
    states: np.ndarray
    frames: np.ndarray
    truth: np.ndarray
    clean: np.ndarray
    observed: np.ndarray

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of one frame: rows, columns, RGB."""
        return self.spec.camera.pixels, self.spec.camera.pixels, 3

    def believed(self, rotation: np.ndarray) -> np.ndarray:
        """The frame (pixels, pixels, 3) that a camera turned by R (3, 3) would see."""
        return self.room.frames(rotation[None], self.spec.camera)[0]

    def outline(self, rotation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Longitudes and latitudes in degrees of the frame's edge on the panorama, once around."""
        return longitude_latitude(self.spec.camera.edge() @ rotation.T)


def make_camera(spec: CameraSpec) -> CameraData:
    """Draw both series; the same specification gives the same numbers, and more training steps the same test."""
    room = Room(spec.room_seed)

    def series(steps: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rotations (steps, 3, 3), frames without noise and with (steps, pixels)."""
        way, noise = np.random.default_rng(seed).spawn(2)
        rotations = spec.path.simulate(steps, way)
        frames = room.frames(rotations, spec.camera).reshape(steps, -1)
        return rotations, frames, frames + spec.noise * noise.standard_normal(frames.shape)

    states, _, frames = series(spec.train + 1, spec.seed)
    truth, clean, observed = series(spec.test, TEST_SEED + spec.seed)
    return CameraData(spec, room, states, frames[:-1], truth, clean, observed)


@dataclass(frozen=True)
class Estimates:
    """One method's ``matrices`` (n, 3, 3), which need not be rotations, words on its parameters, CPU ``seconds`` a step
    without training, and what a kernel Bayes filter says of itself (n,): ``mass`` where its kernel has any, ``lost``,
    ``far``; its ranks."""

    matrices: np.ndarray
    words: str
    seconds: float
    mass: np.ndarray | None = None
    lost: np.ndarray | None = None
    far: np.ndarray | None = None
    ranks: tuple[int, int] | None = None

    @cached_property
    def rotations(self) -> np.ndarray:
        """The nearest rotations (n, 3, 3)."""
        return nearest_rotation(self.matrices)

    def scores(self, truth: np.ndarray) -> dict[str, float | None]:
        """``mse``, the paper's mean squared Frobenius distance of the matrices as they are; the same after projection
        on SO(3); the mean angle to the truth in degrees; time and rank."""
        return {
            "mse": float(squared_distances(self.matrices, truth).mean()),
            "mse_rotation": float(squared_distances(self.rotations, truth).mean()),
            "angle": float(angles_between(self.rotations, truth).mean()),
            "ms_per_step": 1000 * self.seconds,
            "rank": None if self.ranks is None else float(max(self.ranks)),
        }


def camera_filter(
    method: str, states: torch.Tensor, frames: torch.Tensor, scale: float, epsilon: float, tolerance: float,
    iterative: float = 0.0,
) -> KernelBayesFilter:  # fmt: skip
    """The filter of X_1 … X_{T+1} (T + 1, 9) and Y (T, q): a Gaussian kernel of lengthscale β × median distance on the
    frames; on the states the same ("kbr_gauss"), or ``k(A, B) = Tr(ABᵀ)`` ("kbr_tr"), linear in nine numbers."""
    if method not in KERNELS:
        raise InputError(f"The kernel Bayes filter '{method}' is unknown: choose {' or '.join(KERNELS)}.")

    on_states = median_kernel(states, scale) if method == "kbr_gauss" else _linear_kernel(states)
    state_tolerance = _STATE_TOLERANCE if tolerance else 0.0
    return KernelBayesFilter(
        states, frames, on_states, median_kernel(frames, scale), epsilon, 2 * epsilon, tolerance, state_tolerance,
        iterative,
    )  # fmt: skip


def _linear_kernel(values: torch.Tensor) -> Any:
    names = tuple(f"c{index}" for index in range(values.shape[1]))
    return KernelSpec((Term((Factor("linear", names, (1.0,)),)),)).build(names).to(values.device)


def matrices(method: str, trained: KernelBayesFilter, followed: list[FilterState]) -> np.ndarray:
    """Point estimates (n, 3, 3) of one series, as in the paper: for "kbr_gauss" the pre-image among all 3 × 3 matrices,
    for "kbr_tr" that on SO(3), ``argmax_R Σ_i α_i Tr(X_i Rᵀ)``."""
    weights = torch.cat([state.weights for state in followed])
    if method == "kbr_gauss":
        return trained.estimate(weights).reshape(-1, 3, 3).cpu().numpy()
    return nearest_rotation((weights @ trained.states[:-1]).reshape(-1, 3, 3).cpu().numpy())


def kernel_bayes(method: str, data: CameraData, settings: FilterSettings, check: Check = never) -> Estimates:
    """Train one of ``KERNELS`` (β and ε by validation where they are not given), follow the test series."""
    device = choose(settings.device)
    x, y, observed = (_tensor(values, device) for values in (data.states, data.frames, data.observed))
    scale, epsilon = settings.scale, settings.regularisation
    if scale is None or epsilon is None:
        scale, epsilon = _validated(method, x, y, settings, check)
    trained = camera_filter(method, x, y, scale, epsilon, settings.tolerance, settings.iterative)
    trained.run(observed[None, :2])  # factors are made once, before the clock
    watch = Stopwatch()
    followed = trained.run(observed[None])
    spent = watch.seconds()["cpu"] / len(observed)
    mass, lost, far = (
        torch.cat([getattr(s, name) for s in followed]).cpu().numpy() for name in ("mass", "lost", "far")
    )
    words = f"β = {number(scale)}, ε = {number(epsilon)}, δ = 2ε; restarted {int(lost.sum())} times"
    known_mass = mass if trained.has_mass else None
    return Estimates(matrices(method, trained, followed), words, spent, known_mass, lost, far, trained.ranks)


def _tensor(values: np.ndarray, device: Any) -> torch.Tensor:
    return torch.as_tensor(values.reshape(len(values), -1), dtype=torch.float64, device=device)


def _validated(
    method: str, x: torch.Tensor, y: torch.Tensor, settings: FilterSettings, check: Check
) -> tuple[float, float]:
    """Candidates are ranked by the mean squared Frobenius distance on some steps of the second half (§5.3)."""
    half = half_of(len(y))
    steps = slice(half, min(half + _VALIDATION_STEPS, len(y)))
    truth = x[steps].reshape(-1, 3, 3).cpu().numpy()

    def error(scale: float, epsilon: float) -> float:
        """Mean squared Frobenius distance at a scale and ε."""
        candidate = camera_filter(
            method, x[: half + 1], y[:half], scale, epsilon, settings.tolerance, settings.iterative
        )
        return float(squared_distances(matrices(method, candidate, candidate.run(y[None, steps])), truth).mean())

    return best_candidate(settings.scales(CAMERA_SCALES), settings.regularisations(CAMERA_EPSILONS), error, check)


def kalman(method: str, data: CameraData) -> Estimates:
    """A linear-Gaussian model learned from the training series: of nine numbers as they are ("kalman_matrix"), or of
    quaternions with a positive scalar part ("kalman_quaternion"), whose sign jumps where the scalar part passes 0."""
    states = data.states.reshape(-1, 9) if method == "kalman_matrix" else quaternions(data.states)
    model = fit_linear_gaussian(states, data.frames)
    watch = Stopwatch()
    means = model.follow(data.observed)
    spent = watch.seconds()["cpu"] / len(means)
    result = means.reshape(-1, 3, 3) if method == "kalman_matrix" else from_quaternions(means)
    return Estimates(
        result, f"least squares; pixels' noise shrunk by {number(100 * model.shrinkage, 2)} % to white", spent
    )


def nearest_frame(data: CameraData) -> Estimates:
    """The control: the rotation of the training frame nearest to the one observed, without any memory."""
    watch = Stopwatch()
    frames, observed = data.frames, data.observed
    square = (observed**2).sum(1)[:, None] - 2 * observed @ frames.T + (frames**2).sum(1)
    result = data.states[square.argmin(1)]
    return Estimates(result, f"among {len(frames)} frames", watch.seconds()["cpu"] / len(observed))


@one_thread()
def follow_camera(
    data: CameraData, settings: FilterSettings, methods: tuple[str, ...] = METHODS, check: Check = never
) -> dict[str, Estimates]:
    """The estimates of every method on the same series, by name; ``InputError`` for an unknown method."""
    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        raise InputError(f"The filter '{unknown[0]}' is unknown: choose among {', '.join(METHODS)}.")
    result = {}
    for name in methods:
        check()
        if name in KERNELS:
            result[name] = kernel_bayes(name, data, settings, check)
        else:
            result[name] = nearest_frame(data) if name == "nearest" else kalman(name, data)
    return result


def compare_camera(
    spec: CameraSpec, settings: FilterSettings | None = None, methods: tuple[str, ...] = METHODS
) -> list[dict[str, Any]]:
    """One run: model, seed, scores, parameters in words."""
    data = make_camera(spec)
    result = follow_camera(data, settings or FilterSettings(tolerance=CameraKernelSettings.tolerance.default), methods)
    return [
        {"model": name, "seed": spec.seed, "scores": estimates.scores(data.truth), "message": estimates.words}
        for name, estimates in result.items()
    ]
