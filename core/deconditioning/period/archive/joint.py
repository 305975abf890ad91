"""Joint draws of the errors of a prediction with an archive, by Matheron's rule on the mixture of both covariances."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.errors import never
from deconditioning.kernels.families.draws import normal
from deconditioning.period.archive.gain import NOISE, Anomalies, anomalies
from deconditioning.period.archive.left_out import Choice, Method, left_out_errors, mixed, spread_of
from deconditioning.period.archive.outside import Outside, kernel_gain
from deconditioning.period.archive.setting import Setting
from deconditioning.period.correlation import correlation_of_errors, days_of
from deconditioning.period.joint import Residuals, kernel_draws

#: Pixels whose errors show how long these last.
_SOME = 1000


def residuals_of_archive(
    setting: Setting, choice: Choice, outside: Outside | None = None, drawn: Setting | None = None
) -> Residuals:  # fmt: skip
    """Errors of the mixture: a draw of the archive's tapered covariance and of the kernel, less what cells tell of it.

    The archive's part is ``Σ_i r_i(x) g_i(cell(x)) / √N``, ``g_i ~ N(0, ρ)`` over the cells, independent for each time
    i of the training period; its coarse values are ``Σ_i a_i g_i(cell) / √N``. Pixels ``outside`` the archive have the
    kernel's part alone, and errors of their climatology, the same at all times. ``drawn`` is the setting with stations.
    """
    method = mixed(choice, setting.coarse, setting.some(_SOME, never), setting.parts)
    drawn = drawn or setting
    errors, variance = left_out_errors(drawn.coarse, drawn.some(_SOME, never), method, setting.parts)
    standard = (errors / spread_of(errors, variance)).cpu().numpy()
    correlation = correlation_of_errors(standard, days_of(setting.training.dates))

    def draw(count: int, generator: torch.Generator) -> Float[Tensor, "count P"]:
        """Standardised errors (count, P)."""
        return _draw(drawn, choice, method, count, generator, outside)

    return Residuals(draw, correlation, of_archive=True, constant=None if outside is None else outside.lasting)


def _draw(
    setting: Setting,
    choice: Choice,
    method: Method,
    count: int,
    generator: torch.Generator,
    outside: Outside | None = None,
) -> Float[Tensor, "count P"]:
    coarse, every, device = setting.coarse, np.arange(len(setting.coarse.z)), setting.coarse.z.device
    share, pixels = choice.mixture.share, len(setting.series.problem.pixel)
    kernel, means = kernel_draws(setting.spec, setting.series.problem, count, generator)
    scale = math.sqrt((1 - share) * choice.scale)
    alone = kernel.to(device), setting.project.T @ means.to(device)
    kernel, means = scale * alone[0], scale * alone[1]
    amplitudes = _amplitudes(setting, choice, count, generator)
    result, targets = torch.full((count, pixels), torch.nan, dtype=torch.float64), None
    for tile, fine in setting.tiles(never):
        known = anomalies(coarse, fine, every)
        part = math.sqrt(share / known.coarse.freedom)
        if targets is None:
            archive_part = part * torch.stack(
                [amplitudes(int(c)) @ known.coarse.a[:, j] for j, c in enumerate(coarse.cell)]
            )
            targets = means + archive_part + _noise(setting, choice, known, count, generator)
        prior = kernel[tile].T.clone()
        for cell in torch.unique(fine.cell):
            inside = fine.cell == cell
            prior[:, inside] += part * amplitudes(int(cell)) @ known.r[:, inside]
        gain = method(coarse, fine, every)
        result[:, torch.as_tensor(tile)] = ((prior - targets.T @ gain.weights) / gain.variance.sqrt()).cpu()
    if outside is not None:
        for tile, errors in _outside(outside, *alone, generator):
            result[:, torch.as_tensor(tile)] = errors.cpu()
    return result


def _outside(
    outside: Outside, kernel: Float[Tensor, "P D"], means: Float[Tensor, "M D"], generator: torch.Generator
) -> Iterator[tuple[np.ndarray, Float[Tensor, "D p"]]]:
    """Standardised errors of the pixels outside the archive, from prior draws of the kernel and their coarse values."""
    coarse, root = outside.setting.coarse, math.sqrt(outside.scale)
    known = coarse.anomalies(np.arange(len(coarse.z)))
    variance = outside.scale * coarse.gram.diagonal() + known.noise
    noise = known.noise + known.own(coarse) + NOISE * variance[~coarse.is_predictor].mean()
    targets = root * means + noise.sqrt()[:, None] * normal(tuple(means.shape), generator).to(means)
    for tile, beyond in outside.tiles(never):
        gain = kernel_gain(coarse, beyond, outside.scale)
        yield tile, (root * kernel[tile].T - targets.T @ gain.weights) / gain.variance.sqrt()


def _noise(
    setting: Setting, choice: Choice, known: Anomalies, count: int, generator: torch.Generator
) -> Float[Tensor, "M D"]:
    """The noise of the coarse values that the gain assumes."""
    mixture, coarse = choice.mixture, setting.coarse
    kernel = (1 - mixture.share) * (choice.scale * coarse.gram.diagonal() + known.coarse.noise)
    variance = mixture.share * known.coarse.a.square().sum(0) / known.coarse.freedom + kernel
    noise = (1 - mixture.share) * known.coarse.noise + known.coarse.own(coarse)
    if coarse.errors is None:
        noise = noise + NOISE * variance[coarse.used(mixture)].mean()
    drawn = noise.sqrt()[:, None] * normal((len(variance), count), generator).to(variance)
    if coarse.errors is None:
        return drawn
    assert coarse.carried is not None
    errors, shared = (
        normal((rows, count), generator).to(variance) for rows in (len(variance), coarse.carried.shape[1])
    )
    return drawn + coarse.errors.sqrt()[:, None] * errors + coarse.carried @ shared


def _amplitudes(setting: Setting, choice: Choice, count: int, generator: torch.Generator) -> Callable[[int], Tensor]:
    """g (count, N) of a coarse cell: the same in all cells without a taper."""
    size = len(setting.coarse.z)
    device = setting.coarse.z.device
    if choice.mixture.reach is None:
        same = normal((count, size), generator).to(device)
        return lambda cell: same
    distance = setting.coarse.distance
    root = linalg.root(torch.exp(-0.5 * (distance / choice.mixture.reach) ** 2), "taper")
    drawn = normal((len(root), count * size), generator).to(device)
    values = (root @ drawn).reshape(len(root), count, size)
    return lambda cell: values[cell]
