"""Spherical harmonics against scipy's, and the statistics of the fields they make."""

import numpy as np
import pytest
from scipy.special import sph_harm_y

from deconditioning.datasets import harmonics


def test_legendre_functions_are_scipys_up_to_the_normalisation():
    """|Y_lm|² of scipy integrates to one over the sphere, ours has the mean one: a factor √(4π), and a phase."""
    latitude = np.linspace(-88.0, 88.0, 13)
    basis = harmonics.legendre(latitude, 12)
    for m in (0, 1, 5, 12):
        for l in range(m, 13):
            other = sph_harm_y(l, m, np.deg2rad(90 - latitude), 0.0).real * np.sqrt(4 * np.pi) * (-1) ** m
            np.testing.assert_allclose(basis[m][l - m], other, atol=1e-12)


def test_functions_of_high_degree_stay_orthonormal():
    nodes, weights = np.polynomial.legendre.leggauss(400)
    basis = harmonics.legendre(np.rad2deg(np.arcsin(nodes)), 240)
    for m in (0, 7, 120, 240):
        gram = (basis[m] * weights / 2) @ basis[m].T
        np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-10)


def test_synthesis_is_the_sum_of_harmonics():
    rng = np.random.default_rng(0)
    shape, degree = (10, 20), 4
    a = harmonics.draw_coefficients(rng, 1, 6)
    power = harmonics.red_spectrum(degree, 2.0, 1.0)
    latitude, longitude = harmonics.cell_centres(shape)
    field = harmonics.synthesise(a, power[None], shape, harmonics.legendre(latitude, degree))[0]
    theta, phi = np.deg2rad(90 - latitude)[:, None], np.deg2rad(longitude)[None, :]
    brute = np.zeros(shape)
    for l in range(degree + 1):
        for m in range(l + 1):
            term = a[0, m, l] * np.sqrt(4 * np.pi * power[l]) * (-1) ** m * sph_harm_y(l, m, theta, phi)
            brute += (2 if m else 1) * term.real
    np.testing.assert_allclose(field, brute, atol=1e-12)


def test_angular_power_comes_back():
    """Per degree, the estimate is the sum of the drawn coefficients; midpoint sums over rows leave about a per cent."""
    rng = np.random.default_rng(1)
    shape = (120, 240)
    power = harmonics.red_spectrum(40, 5.0, 4 / 3)
    basis = harmonics.legendre(harmonics.cell_centres(shape)[0], 40)
    a = harmonics.draw_coefficients(rng, 1, 40)
    field = harmonics.synthesise(a, power[None], shape, basis)[0]
    l = np.arange(41)
    size = np.abs(a[0]) ** 2
    inside = np.arange(41)[:, None] <= l[None, :]  # [m, l]
    drawn = power * ((size * inside)[1:].sum(axis=0) * 2 + size[0]) / (2 * l + 1)
    np.testing.assert_allclose(harmonics.angular_power(field, basis)[1:], drawn[1:], rtol=0.03)


def test_fields_have_unit_variance_everywhere_poles_included():
    """Isotropy: over many draws the variance is one at the pole row, at the equator and at the date line."""
    rng = np.random.default_rng(2)
    shape, count = (24, 48), 1500
    basis = harmonics.legendre(harmonics.cell_centres(shape)[0], 12)
    power = np.tile(harmonics.red_spectrum(12, 4.0, 1.5), (count, 1))
    fields = harmonics.synthesise(harmonics.draw_coefficients(rng, count, 12), power, shape, basis)
    spread = fields.var(axis=0)
    assert spread[[0, 12, 23]].mean(axis=1) == pytest.approx(1.0, abs=0.1)
    assert np.abs(spread - 1).max() < 0.2
    seam = np.mean((fields[:, 12, 0] - fields[:, 12, -1]) ** 2)
    inside = np.mean((fields[:, 12, 20] - fields[:, 12, 21]) ** 2)
    assert seam == pytest.approx(inside, rel=0.2)
