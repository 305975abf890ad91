"""Rotations of a camera: random ways through SO(3), the rotation nearest to a matrix, distances between two.

A rotation R (3, 3) takes a direction of the camera (ahead, left, up) to one of the room; where nine numbers stand for
it they are its rows one after the other.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from core.errors import InputError


@dataclass(frozen=True)
class RotationPath:
    """A random walk on SO(3) that is smooth in pieces: ``R_{t+1} = exp([ω_t + ζ_t]_×) R_t``, ``ζ_t ~ N(0, j²I)``; ω_t
    stays the same for ``piece`` steps, then is drawn anew from ``N(0, s²I)``.

    Parameters
    ----------
    speed : s, radians a step about each axis.  piece : steps between two turns of the hand.
    jitter : j, radians about each axis.

    The first rotation is uniform on SO(3). Source of the problem, whose frames are not published: Fukumizu et al.
    2013, §5.3.
    """

    speed: float = 0.08
    piece: int = 15
    jitter: float = 0.02

    def __post_init__(self) -> None:
        if self.piece < 1:
            raise InputError(f"Pieces of {self.piece} steps were asked for: give at least one.")
        for name in ("speed", "jitter"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"`{name}` is {getattr(self, name)}: give a finite number that is not negative.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def simulate(self, steps: int, rng: np.random.Generator) -> np.ndarray:
        """Rotations (steps, 3, 3), orthogonal to rounding however long the way."""
        if steps < 1:
            raise InputError(f"{steps} steps were asked for: give at least one.")
        now = Rotation.random(rng=rng)
        pieces = self.speed * rng.standard_normal((-(-steps // self.piece), 3))
        turns = np.repeat(pieces, self.piece, axis=0)[:steps] + self.jitter * rng.standard_normal((steps, 3))
        path = [now]
        for turn in Rotation.from_rotvec(turns[: steps - 1]) if steps > 1 else ():
            now = turn * now  # unit quaternions, normalised by scipy: no drift from SO(3)
            path.append(now)
        return Rotation.concatenate(path).as_matrix()


def nearest_rotation(matrices: np.ndarray) -> np.ndarray:
    """``argmax_{R ∈ SO(3)} Tr(R Mᵀ)`` of each M (…, 3, 3): ``U diag(1, 1, det UVᵀ) Vᵀ`` of ``M = UDVᵀ``.

    It is both the Frobenius projection of M and, for ``M = Σ_i α_i R_i``, the pre-image on SO(3) under the kernel
    ``k(A, B) = Tr(ABᵀ)``, whose k(R, R) is the same everywhere. Raises ``InputError`` for values that are not finite.
    """
    if matrices.shape[-2:] != (3, 3):
        raise InputError(f"Matrices of shape {matrices.shape} were given: each must be 3 × 3.")
    if not np.isfinite(matrices).all():
        raise InputError("A matrix holds missing or infinite numbers: it has no nearest rotation.")
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
    found = Rotation.from_matrix(rotations).as_quat(canonical=True)
    if continuous:
        turned = np.sign((found[1:] * found[:-1]).sum(1))
        found[1:] *= np.cumprod(np.where(turned == 0, 1, turned))[:, None]
    return found


def from_quaternions(values: np.ndarray) -> np.ndarray:
    """Rotations (n, 3, 3) of quaternions (n, 4) of any length but zero."""
    if not bool((np.linalg.norm(values, axis=-1) > 1e-12).all()):
        raise InputError("A quaternion is zero: it stands for no rotation.")
    return Rotation.from_quat(values).as_matrix()
