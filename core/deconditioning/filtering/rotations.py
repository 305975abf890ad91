"""Rotations of a camera: random paths through SO(3), the nearest rotation to a matrix, distances between rotations.

A rotation R (3, 3) maps a direction of the camera (ahead, left, up) to one of the room; as nine numbers it is given row
by row.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from deconditioning.errors import InputError


@dataclass(frozen=True)
class RotationPath:
    """A random walk on SO(3) that is smooth in pieces: ``R_{t+1} = exp([ω_t + ζ_t]_×) R_t``, ``ζ_t ~ N(0, j²I)``; ω_t
    stays the same for ``piece`` steps, then is drawn anew from ``N(0, s²I)``. A step that would tilt the camera's up
    further than ``tilt`` from the room's is not taken: ω_t is drawn anew instead.

    Parameters
    ----------
    speed : s, radians a step about each axis.  piece : steps between two changes of direction.
    jitter : j, radians about each axis.  tilt : degrees, from 5 to 180; at 180 all of SO(3) is open.

    The first rotation is uniform on what is open. The frames of the paper are not published and its path is not
    described; this one is ours. Source of the problem: Fukumizu et al. 2013, §5.3.
    """

    speed: float = 0.15
    piece: int = 10
    jitter: float = 0.02
    tilt: float = 20.0

    def __post_init__(self) -> None:
        if self.piece < 1:
            raise InputError(f"Pieces of {self.piece} steps were requested: give at least one.")
        for name in ("speed", "jitter"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"`{name}` is {getattr(self, name)}: give a finite number that is not negative.")
        if not 5 <= self.tilt <= 180:
            raise InputError(f"A tilt of {self.tilt}° was given: choose between 5 and 180.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def simulate(self, steps: int, rng: np.random.Generator) -> np.ndarray:
        """Rotations (steps, 3, 3), orthogonal to rounding however long the way."""
        if steps < 1:
            raise InputError(f"{steps} steps were requested: give at least one.")
        now, turn, left = Rotation.random(rng=rng), np.zeros(3), 0
        while not self._open(now):
            now = Rotation.random(rng=rng)
        path = [now]
        while len(path) < steps:
            if left == 0:
                turn, left = self.speed * rng.standard_normal(3), self.piece
            ahead = Rotation.from_rotvec(turn + self.jitter * rng.standard_normal(3)) * now
            if self._open(ahead):
                now, left = ahead, left - 1  # unit quaternions, normalised by scipy: no drift from SO(3)
                path.append(now)
            else:
                left = 0
        return Rotation.concatenate(path).as_matrix()

    def _open(self, rotation: Rotation) -> bool:
        return float(rotation.as_matrix()[2, 2]) >= math.cos(math.radians(self.tilt))


def nearest_rotation(matrices: np.ndarray) -> np.ndarray:
    """``argmax_{R ∈ SO(3)} Tr(R Mᵀ)`` of each M (…, 3, 3): ``U diag(1, 1, det UVᵀ) Vᵀ`` of ``M = UDVᵀ``.

    It is both the Frobenius projection of M and, for ``M = Σ_i α_i R_i``, the pre-image on SO(3) under the kernel
    ``k(A, B) = Tr(ABᵀ)``, whose k(R, R) is the same everywhere. Raises ``InputError`` for values that are not finite.
    """
    if matrices.shape[-2:] != (3, 3):
        raise InputError(f"Matrices of shape {matrices.shape} were given: each must be 3 × 3.")
    if not np.isfinite(matrices).all():
        raise InputError("A matrix contains missing or infinite numbers, so it has no nearest rotation: remove it.")
    left, _, right = np.linalg.svd(matrices)
    left[..., :, 2] *= np.sign(np.linalg.det(left @ right))[..., None]
    return left @ right


def angles_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Angles in degrees (…,) of the turn from one rotation to the other: ``2 asin(‖A − B‖_F / √8)``.

    The chord is exact near 0, where the arc cosine of the trace loses half its digits.
    """
    chord = np.sqrt(squared_distances(first, second))
    return np.degrees(2 * np.arcsin(np.clip(chord / math.sqrt(8), 0, 1)))


def squared_distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """``‖A − B‖²_F`` of matrices (…, 3, 3); between rotations at most 8, and 6 on average between random ones."""
    return ((first - second) ** 2).sum((-2, -1))


def quaternions(rotations: np.ndarray, continuous: bool = False) -> np.ndarray:
    """Unit quaternions (n, 4), scalar last, of rotations (n, 3, 3).

    q and −q are the same rotation. The sign is the one with a positive scalar part, or, where ``continuous``, the one
    nearer to the step before.
    """
    result = Rotation.from_matrix(rotations).as_quat(canonical=True)
    if continuous:
        turned = np.sign((result[1:] * result[:-1]).sum(1))
        result[1:] *= np.cumprod(np.where(turned == 0, 1, turned))[:, None]
    return result


def from_quaternions(values: np.ndarray) -> np.ndarray:
    """Rotations (n, 3, 3) of quaternions (n, 4) of any length but zero."""
    if not bool((np.linalg.norm(values, axis=-1) > 1e-12).all()):
        raise InputError("A quaternion is zero, which is not a rotation: give a nonzero one.")
    return Rotation.from_quat(values).as_matrix()
