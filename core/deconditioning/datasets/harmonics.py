"""Random fields on the sphere, by spherical harmonics.

``f(φ, λ) = Σ_lm a_lm P̄_lm(sin φ) e^{imλ}`` with ``P̄_lm`` normalised so that every ``|Y_lm|²`` has the mean one
over the sphere. Coefficients of variance ``C_l`` give an isotropic field of variance ``Σ_l (2l+1) C_l``: no seam at the
date line and no pinching at the poles. Source of the recursion: Holmes & Featherstone 2002, eq. 11–12.
"""

import numpy as np


def cell_centres(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Latitudes (H,) and longitudes (W,) in degrees of the centres of a global grid, both ascending."""
    rows, columns = shape
    return -90 + 180 * (np.arange(rows) + 0.5) / rows, -180 + 360 * (np.arange(columns) + 0.5) / columns


def red_spectrum(degree: int, knee: float, decay: float) -> np.ndarray:
    """Angular power (degree + 1,): ``C_l ∝ (1 + (l/knee)²)^−decay``, no mean (C_0 = 0), total variance one.

    ``decay`` 4/3 gives variance per degree falling as l^(−5/3), as in mesoscale cloud fields.
    """
    l = np.arange(degree + 1)
    power = (1 + (l / knee) ** 2) ** -decay
    power[0] = 0.0
    return power / ((2 * l + 1) * power).sum()


def legendre(latitude: np.ndarray, degree: int) -> tuple[np.ndarray, ...]:
    """For m = 0, 1, … the functions ``P̄_lm``, l = m … degree, as rows of a (degree + 1 − m, H) array."""
    x, s = np.sin(np.deg2rad(latitude)), np.cos(np.deg2rad(latitude))
    sectoral = np.ones_like(x)
    basis = []
    for m in range(degree + 1):
        if m:
            sectoral = np.sqrt((2 * m + 1) / (2 * m)) * s * sectoral  # P̄_mm from P̄_{m−1,m−1}
        l = np.arange(m, degree + 1, dtype=float)
        up = np.sqrt(np.maximum(4 * l**2 - 1, 0.0) / np.maximum(l**2 - m**2, 1.0))
        back = np.sqrt(np.maximum((l - 1) ** 2 - m**2, 0.0) / np.maximum(4 * (l - 1) ** 2 - 1, 1.0))
        P = np.empty((len(l), len(x)))
        P[0] = sectoral
        for i in range(1, len(l)):
            below = back[i] * P[i - 2] if i > 1 else 0.0
            P[i] = up[i] * (x * P[i - 1] - below)
        basis.append(P)
    return tuple(basis)


def draw_coefficients(rng: np.random.Generator, count: int, degree: int) -> np.ndarray:
    """(count, degree + 1, degree + 1) complex ``a_lm`` of unit variance, [field, m, l]; real where m = 0."""
    parts = rng.standard_normal((count, degree + 1, degree + 1, 2))
    a = (parts[..., 0] + 1j * parts[..., 1]) / np.sqrt(2)
    a[:, 0] = parts[:, 0, :, 0]
    return a


def synthesise(
    coefficients: np.ndarray, power: np.ndarray, shape: tuple[int, int], basis: tuple[np.ndarray, ...]
) -> np.ndarray:
    """(K, H, W) fields from unit coefficients [K, m, l] and angular powers (K, degree + 1).

    ``basis`` is ``legendre`` at the grid's latitudes. Only the degrees that ``power`` holds are used, so the same
    coefficients give the same planet, smoother, on a coarser grid.
    """
    count, degree = power.shape[0], power.shape[1] - 1
    _, longitude = cell_centres(shape)
    scaled = coefficients[:, :, : degree + 1] * np.sqrt(power)[:, None, :]
    waves = np.zeros((count, shape[0], shape[1] // 2 + 1), complex)
    for m, P in enumerate(basis):
        row = scaled[:, m, m:]
        phase = np.exp(1j * m * np.deg2rad(longitude[0]))
        waves[:, :, m] = phase * (row.real @ P + 1j * (row.imag @ P))
    return np.fft.irfft(waves, n=shape[1], axis=2) * shape[1]


def angular_power(field: np.ndarray, basis: tuple[np.ndarray, ...]) -> np.ndarray:
    """(degree + 1,) estimated ``C_l`` of one (H, W) field: mean of ``|a_lm|²`` over the 2l + 1 orders."""
    degree = len(basis) - 1
    latitude, _ = cell_centres((field.shape[0], field.shape[1]))
    weight = np.cos(np.deg2rad(latitude))
    waves = np.fft.rfft(field, axis=1) / field.shape[1] * (weight / weight.sum())[:, None]
    total = np.zeros(degree + 1)
    for m, P in enumerate(basis):
        total[m:] += (2 if m else 1) * np.abs(P @ waves[:, m]) ** 2
    return total / (2 * np.arange(degree + 1) + 1)
