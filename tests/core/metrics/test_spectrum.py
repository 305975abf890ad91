"""Spectra: Parseval, waves and slopes that are known, and what must not change them."""

import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.metrics.spectrum import spectrum


def rough(shape: tuple[int, int], slope: float, seed: int = 0) -> np.ndarray:
    """A random field with power density k^−slope."""
    k = np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.fftfreq(shape[1]))
    k[0, 0] = np.inf
    noise = np.random.default_rng(seed).standard_normal(shape)
    return np.fft.ifft2(np.fft.fft2(noise) * k ** (-slope / 2)).real


def test_the_powers_of_all_waves_add_up_to_the_mean_square_under_the_window() -> None:
    """Parseval: a field of the lower wavenumbers alone has all of its power in the thirds."""
    field = rough((64, 96), 0.0)
    kept = np.hypot(np.fft.fftfreq(64)[:, None], np.fft.fftfreq(96)) < 0.3
    field = np.fft.ifft2(np.fft.fft2(field) * kept).real
    row, column = (index.ravel() for index in np.indices(field.shape))
    design = np.column_stack([np.ones(field.size), row, column])
    flat = field.ravel() - design @ np.linalg.solve(design.T @ design, design.T @ field.ravel())
    window = np.outer(*(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(1, n + 1) / (n + 1)) for n in field.shape)).ravel()
    wanted = np.sum((window * flat) ** 2) / np.sum(window**2)
    assert spectrum(field).thirds.sum() == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("slope", [0.0, 2.0, 3.0])
def test_generated_fields_have_their_slope(slope: float) -> None:
    powers = [spectrum(rough((128, 128), slope, seed)).power for seed in range(8)]
    k = spectrum(rough((128, 128), slope)).wavenumber
    inside = (k > 0.05) & (k < 0.45)
    found = np.polyfit(np.log(k[inside]), np.log(np.mean(powers, axis=0)[inside]), 1)[0]
    assert found == pytest.approx(-slope, abs=0.15)


@pytest.mark.parametrize(("cycles", "third"), [(0.08, 0), (0.25, 1), (0.45, 2)])
def test_a_wave_is_in_its_third(cycles: float, third: int) -> None:
    """Steps of 2 km down and 1 km along: the largest wavenumber that both resolve is 0.25 cycles a km."""
    field = np.sin(2 * np.pi * cycles * np.arange(90))[:, None] * np.ones(90)
    thirds = spectrum(field).thirds
    assert thirds[third] > 0.98 * thirds.sum() and thirds.sum() == pytest.approx(0.5, rel=0.02)
    stretched = spectrum(field, (2.0, 2.0))
    assert stretched.thirds == pytest.approx(thirds) and stretched.wavenumber.max() < 0.25


def test_planes_do_not_count_and_missing_pixels_are_allowed() -> None:
    field, index = rough((60, 50), 2.0), np.indices((60, 50))
    thirds = spectrum(field).thirds
    assert spectrum(field + 3 + 0.2 * index[0] - 5 * index[1]).thirds == pytest.approx(thirds, rel=1e-6)
    field[20:24, 30:33] = np.nan
    assert spectrum(field).thirds == pytest.approx(thirds, rel=0.3)
    for wrong in (np.ones((4, 40)), np.full((20, 20), np.nan)):
        with pytest.raises(InputError, match="at least 8 pixels"):
            spectrum(wrong)
