"""Placement of inducing points: by k-means++ on the bags' points, or on a grid snapped to them."""

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from scipy.spatial import cKDTree
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.models.spec import Inducing, ModelSpec
from deconditioning.observations import Bags

#: Points that k-means looks at; more are drawn without replacement.
MOST_POINTS = 20_000


def place(inducing: Inducing, inputs: Float[Tensor, "N d"]) -> Float[Tensor, "p d"]:
    """Inducing points for ``inputs``; the stored locations if there are any.

    Raises ``InputError`` if more are requested than there are distinct points, or if stored locations have another
    number of columns.
    """
    if inducing.locations:
        result = torch.tensor(inducing.locations, dtype=inputs.dtype, device=inputs.device)
        if result.shape[1] != inputs.shape[1]:
            raise InputError(
                f"The stored inducing points have {result.shape[1]} columns, the data {inputs.shape[1]}: place them "
                "again."
            )
        return result
    distinct = np.unique(_rounded(inputs.detach().cpu().numpy()), axis=0)
    if inducing.count > len(distinct):
        raise InputError(
            f"{inducing.count} inducing points were requested, but the data have {len(distinct)} distinct points: "
            "request at most that many."
        )
    rng = np.random.default_rng(inducing.seed)
    points = _kmeans(distinct, inducing, rng) if inducing.placement == "kmeans" else _grid(distinct, inducing.count)
    return torch.as_tensor(points, dtype=inputs.dtype, device=inputs.device)


def located(spec: ModelSpec, bags: Bags) -> ModelSpec:
    """The model with fixed inducing points, if it has any, so that they stay in place when a slider moves."""
    model = spec.model
    if not model.sparse or spec.inducing.locations:
        return spec
    points = place(spec.inducing, model.places(bags))
    return replace(spec, inducing=replace(spec.inducing, locations=tuple(tuple(row) for row in points.tolist())))


def fitting(inducing: Inducing, bags: Bags) -> Inducing:
    """The same model with at most as many inducing points as the bags have points (a coreset has fewer
    than the data).
    """
    return replace(inducing, count=min(inducing.count, len(bags.inputs)))


def _rounded(points: np.ndarray) -> np.ndarray:
    """Points to 40 bits of their columns' size: the last bits, which differ between devices, decide no tie."""
    step = np.exp2(np.ceil(np.log2(np.abs(points).max(0, initial=np.finfo(float).tiny))) - 40)
    return np.round(points / step) * step


def _kmeans(points: np.ndarray, inducing: Inducing, rng: np.random.Generator) -> np.ndarray:
    """Centres of k-means, started by k-means++ (Arthur and Vassilvitskii 2007)."""
    from sklearn.cluster import KMeans  # 20 MB, which most models do without

    if inducing.count == len(points):
        return points
    if len(points) > max(MOST_POINTS, inducing.count):
        points = points[rng.choice(len(points), max(MOST_POINTS, inducing.count), replace=False)]
    state = int(rng.integers(2**31))
    return (
        KMeans(inducing.count, init="k-means++", n_init=1, max_iter=25, random_state=state).fit(points).cluster_centers_
    )


def _grid(points: np.ndarray, count: int) -> np.ndarray:
    """Points nearest to the nodes of a regular grid over the first two columns, topped up evenly to ``count``."""
    plane = points[:, :2]
    low, span = plane.min(0), np.ptp(plane, axis=0)
    flat = span <= 0
    shares = np.where(flat, 1.0, np.sqrt(count / np.prod(np.where(flat, 1.0, span / span.max()))) * span / span.max())
    if plane.shape[1] == 1 or flat.any():
        shares = np.where(flat, 1, count)
    nodes = [low[i] + (np.arange(int(np.ceil(n))) + 0.5) / np.ceil(n) * span[i] for i, n in enumerate(shares)]
    mesh = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, plane.shape[1])
    chosen = np.unique(cKDTree(plane).query(mesh)[1])
    if len(chosen) > count:
        return points[chosen[np.linspace(0, len(chosen) - 1, count).round().astype(int)]]
    rest = np.setdiff1d(np.arange(len(points)), chosen)
    extra = rest[np.linspace(0, len(rest) - 1, count - len(chosen)).round().astype(int)] if len(chosen) < count else []
    return points[np.sort(np.concatenate([chosen, np.asarray(extra, dtype=int)]))]
