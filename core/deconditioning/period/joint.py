"""Joint draws of a series: fields of errors that are correlated in space as the posterior is, and in time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.downscaling.draws import prior_draws
from deconditioning.downscaling.prediction import picture_for
from deconditioning.errors import never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.families.draws import normal
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.spec import ModelSpec
from deconditioning.period.correlation import Part, TimeCorrelation, correlation_of_cells, days_of
from deconditioning.period.posterior import PixelSums, Together
from deconditioning.period.series import Series


@dataclass(frozen=True, eq=False)
class ErrorsOfCoefficients:
    """Errors ``Σ_k b_k(t) ε_k(x)``, of variance one, of coefficients that are the same at all times: the ``basis``
    b (T, h), of length one at every time, and what gives the share (P,) of these errors in each pixel's variance and
    draws of ε, of variance one where there is a share.
    """

    basis: Float[np.ndarray, "T h"]
    draw: Callable[[int, torch.Generator], tuple[Float[Tensor, " P"], Float[Tensor, "count h P"]]]


@dataclass(frozen=True, eq=False)
class Residuals:
    """``draw`` gives (count, P) independent fields of standardised errors, of variance one at every pixel, from a
    generator; ``correlation`` is ρ in time, ``of_archive`` if it comes from an archive's left-out errors. ``together``
    gives (count, T, P) of all times together, where their joint distribution is known, in place of ρ. A part of the
    errors may be ``constant``, in addition to what ρ says. ``part`` gives those of some of the times, where these are
    drawn by themselves.

    Where covariates change with time there is no ρ, and ``draw`` gives (count, T, P): errors of functions of the
    covariates that never change.
    """

    draw: Callable[[int, torch.Generator], Float[Tensor, "count *T P"]]
    correlation: TimeCorrelation | None
    of_archive: bool
    together: Callable[[int, torch.Generator], Float[Tensor, "count T P"]] | None = None
    constant: ErrorsOfCoefficients | None = None
    part: Callable[[np.ndarray], "Residuals"] | None = None

    def only(self, times: np.ndarray) -> "Residuals":
        """Those of some of the times."""
        if self.part is not None:
            return self.part(times)
        if self.constant is not None:
            return replace(self, constant=replace(self.constant, basis=self.constant.basis[times]))
        if self.together is None:
            return self
        fixed = self.draw if self.correlation is not None else _some(self.draw, times)
        return replace(self, draw=fixed, together=_some(self.together, times))


def _some(
    every: Callable[[int, torch.Generator], Tensor], times: np.ndarray
) -> Callable[[int, torch.Generator], Tensor]:  # fmt: skip
    return lambda count, generator: every(count, generator)[:, times]


#: σ² below which the noise has no part in the errors.
_LEAST_NOISE = 1e-6
#: Bytes of errors that are drawn at once.
_AT_ONCE = 100_000_000


def linked_errors(
    residuals: Residuals, days: np.ndarray, pixels: int, count: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """``count`` fields (T, P) of standardised errors at times in ``days``, correlated in space and in time, one after
    another, and (1, P), or (T, P) where covariates change with time, of errors that never change.

    Errors are drawn a few series at a time, so that the draws depend on ``count`` too.
    """
    times, generator = len(days), torch.Generator().manual_seed(seed)
    most = max(1, _AT_ONCE // (8 * times * pixels))
    at_once = [min(most, count - begin) for begin in range(0, count, most)]
    if residuals.together is not None:
        for series in at_once:
            joint = residuals.together(series, generator)
            fixed = residuals.draw(series, generator).reshape(series, -1, pixels)
            yield from zip(joint.numpy(), fixed.numpy(), strict=True)
        return
    assert residuals.correlation is not None
    root = linalg.root(torch.as_tensor(residuals.correlation.matrix(days)), "correlation in time")
    for series in at_once:
        fields = residuals.draw(series * times, generator).reshape(series, times, -1)
        constant = residuals.constant
        share, coefficients = constant.draw(series, generator) if constant else (None, fields)
        for errors, own in zip(fields, coefficients, strict=True):
            linked = root @ errors
            if constant is not None and share is not None:
                linked = (1 - share).sqrt() * linked + share.sqrt() * (torch.as_tensor(constant.basis) @ own)
            yield linked.numpy(), errors[:1].numpy()


def kernel_draws(
    spec: ModelSpec, problem: DownscalingProblem, count: int, generator: torch.Generator
) -> tuple[Float[Tensor, "P D"], Float[Tensor, "n D"]]:
    """Prior draws of f at the pixels, and their bag means."""
    at = torch.arange(len(problem.pixel))
    rows = problem.joint_data.bags.count
    if spec.model.looks_at_footprints and problem.data.footprints is not None:
        rows += problem.data.footprints.count
    return prior_draws(spec, problem, picture_for(spec, problem), at, rows, count, generator, never)


def lasting_draws(
    spec: ModelSpec, problem: DownscalingProblem, between: Float[Tensor, "T T"], count: int, generator: torch.Generator
) -> tuple[Float[Tensor, "T P D"], Float[Tensor, "T n D"]]:
    """Prior draws of f at T times, correlated by the root ``between`` of a correlation in time, and their bag means."""
    prior, means = kernel_draws(spec, problem, len(between) * count, generator)
    mixed = (
        torch.einsum("ts,psd->tpd", between.to(each), each.reshape(len(each), len(between), count))
        for each in (prior, means)
    )
    return next(mixed), next(mixed)


def residuals_of_kernel(
    spec: ModelSpec, problem: DownscalingProblem, sums: PixelSums, group: Together, correlation: TimeCorrelation
) -> Residuals:
    """Errors of a posterior by Matheron's rule: ``f − c(x)ᵀ W S⁻¹ (Wᵀf̄ + e)``, over their sd.

    Source: Wilson et al. 2020, *Efficiently sampling functions from GP posteriors*.
    """
    conditioning = group.conditioning
    noise = conditioning.noise if conditioning.carried is None else conditioning.noise + conditioning.carried
    root = linalg.root(noise, "noise of the targets")

    def draw(count: int, generator: torch.Generator) -> Float[Tensor, "count P"]:
        """Standardised errors (count, P)."""
        prior, means = kernel_draws(spec, problem, count, generator)
        return errors_given(conditioning, sums, prior, means, root @ normal((len(root), count), generator).to(root))

    return Residuals(draw, correlation, of_archive=False)


def errors_given(
    conditioning: Conditioning, sums: PixelSums, prior: Float[Tensor, "P D"], means: Float[Tensor, "n D"],
    noise: Float[Tensor, "m D"],
) -> Float[Tensor, "D P"]:  # fmt: skip
    """``f − c(x)ᵀ W S⁻¹ (Wᵀf̄ + e)`` over its sd, from prior draws of f, their bag ``means`` and errors e of the
    targets.
    """
    dual = conditioning.weights @ conditioning.factor.solve(conditioning.weights.T @ means.to(noise) + noise)
    result = torch.empty(prior.shape[1], sums.pixels, dtype=torch.float64)
    for part, cross, prior_variance in sums.tiles():
        sd = conditioning.variance(cross, prior_variance).sqrt().clamp_min(1e-12)
        result[:, part] = ((prior[part].T.to(noise) - dual.T @ cross) / sd).cpu()
    return result


def _share_of_noise(sums: PixelSums, given: Conditioning, noise: Float[Tensor, " M"]) -> float:
    """What the ``noise`` σ² of each of the first M targets has of a pixel's posterior variance,
    ``Σ_j σ_j² (S⁻¹Wᵀc)_j² / var f``, on average.
    """
    total = 0.0
    for _, cross, prior_variance in sums.tiles():
        gain = given.factor.solve(given.weights.T @ cross)[: len(noise)]
        variance = given.variance(cross, prior_variance).clamp_min(1e-24)
        total += float((noise @ gain.square() / variance).clamp_max(1).sum())
    return total / sums.pixels


def correlation_of_group(
    series: Series, spec: ModelSpec, sums: PixelSums, group: Together, some: np.ndarray, scale: float | None
) -> TimeCorrelation:  # fmt: skip
    """How long errors last, from the cells at ``some`` times: those of a ``group``, or with other errors of the cells;
    ``scale`` is τ where it is known. The noise of the cells, σ² and their mean squared error, is new at every time.
    """
    if scale is None and len(some) < 3:
        return TimeCorrelation((Part(1.0, 0.0),))
    conditioning, rows = group.conditioning, group.rows[group.rows < len(series.problem.data.targets)]
    cells, errors = len(rows), series.variances(some)  # stations are behind the cells
    noise = torch.full((cells,), max(spec.noise, _LEAST_NOISE), dtype=torch.float64).to(sums.gram)
    if errors is not None:
        noise += errors.mean(1).to(noise)[rows]
    if scale is None:
        correlation = _correlation_of_cells(series, spec, sums, group, some, noise)
    else:
        correlation = TimeCorrelation((Part(1.0, scale),))
    if errors is None and spec.noise <= _LEAST_NOISE:
        return correlation
    return correlation.with_single(_share_of_noise(sums, conditioning, noise))


def _correlation_of_cells(
    series: Series, spec: ModelSpec, sums: PixelSums, group: Together, some: np.ndarray, noise: torch.Tensor
) -> TimeCorrelation:  # fmt: skip
    """That of the largest evidence of cells with this ``noise`` each (`correlation_of_cells`), in units of its sd."""
    constant = sum(term.scale for term in spec.kernel.terms if all(f.family == "constant" for f in term.factors))
    cells, sd = len(noise), noise.sqrt()
    weights, known = group.conditioning.weights[:, :cells], group.conditioning.noise[:cells, :cells]
    errors = series.variances(group.times[:1].cpu().numpy())
    own = torch.full_like(noise, spec.noise) + (0.0 if errors is None else errors[:, 0].to(noise)[group.rows[:cells]])
    covariance = weights.T @ (sums.gram - constant) @ weights + known - torch.diag(own)
    targets = series.targets(some)[group.rows[:cells].cpu()].to(covariance)
    days = days_of([series.dates[time] for time in some])
    return correlation_of_cells(covariance / torch.outer(sd, sd), targets / sd[:, None], 1.0, days)
