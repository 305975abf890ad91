"""Radial power spectrum of a field on a grid, to compare the roughness of fields with the same missing pixels."""

from dataclasses import dataclass

import numpy as np

from deconditioning.errors import InputError

#: The fewest pixels each way of which a spectrum is taken.
LEAST = 8


@dataclass(frozen=True)
class Spectrum:
    """Power by wavenumber.

    Parameters
    ----------
    wavenumber : (K,) cycles per unit of ``spacing``, the centres of rings from 0 to the largest one that the grid
        resolves in both directions.
    power : (K,) mean power density of each ring, in squared units of the field per squared wavenumber.
    thirds : (3,) power in the lower, middle and upper third of these wavenumbers, in squared units of the field.
    """

    wavenumber: np.ndarray
    power: np.ndarray
    thirds: np.ndarray


def spectrum(field: np.ndarray, spacing: tuple[float, float] = (1.0, 1.0)) -> Spectrum:
    """The spectrum of a field (H, W) less its plane of least squares, under a Hann window.

    ``P(k) = |F(w u)|² / (HW Σ w²)`` with the Fourier transform F, the window w and the field u without its plane, 0
    where it is missing: summed over all wavenumbers ``P`` is ``Σ (w u)² / Σ w²`` (Parseval). ``spacing`` is the length
    of a step down a column and along a row. Raises `InputError` below `LEAST` pixels each way or without values.

    Source: Denis, Côté and Laprise 2002, *Spectral decomposition of two-dimensional atmospheric fields on limited-area
    domains*; Harris 1978 for the window.
    """
    values = np.asarray(field, dtype=float)
    there = np.isfinite(values)
    if min(values.shape) < LEAST or not there.any():
        raise InputError(f"A spectrum needs a field with values, at least {LEAST} pixels each way.")
    window = np.outer(*(np.hanning(size + 2)[1:-1] for size in values.shape)) * there
    flat = window * np.where(there, _without_plane(values, there), 0.0)
    power = np.abs(np.fft.fft2(flat)) ** 2 / (values.size * np.sum(window**2))
    rows, columns = (np.fft.fftfreq(size, step) for size, step in zip(values.shape, spacing, strict=True))
    radius = np.hypot(rows[:, None], columns)
    most = min(0.5 / step for step in spacing)
    cell = abs(rows[1] * columns[1])
    third = np.minimum((3 * radius / most).astype(int), 3).ravel()
    thirds = np.bincount(third, power.ravel(), 4)[:3]
    rings = max(6, min(values.shape) // 2)
    ring = np.minimum((rings * radius / most).astype(int), rings).ravel()
    count = np.bincount(ring, minlength=rings + 1)[:rings]
    total = np.bincount(ring, power.ravel(), rings + 1)[:rings]
    occupied = count > 0
    centres = (np.arange(rings) + 0.5) * most / rings
    return Spectrum(centres[occupied], total[occupied] / (count[occupied] * cell), thirds)


def _without_plane(values: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The field less the plane that fits its values best."""
    row, column = (index - index.mean() for index in np.indices(values.shape, dtype=float))
    design = np.column_stack([np.ones(there.sum()), row[there], column[there]])
    level, down, along = np.linalg.lstsq(design, values[there], rcond=None)[0]
    return values - (level + down * row + along * column)
