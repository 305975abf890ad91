"""A few weighted points per bag that represent all of its points during learning."""

import warnings

import numpy as np
import torch
from torch.utils.weak import WeakIdKeyDictionary

from deconditioning.observations import Bags

#: Those of bags that are still in use: learning, several models and the check one scale up take the same few points.
_KNOWN = WeakIdKeyDictionary()


def coreset(bags: Bags, points: int, seed: int = 0) -> Bags:
    """At most ``points`` k-means centres per bag, weighted by the aggregation weight of their cluster.

    Sizes and contamination remain those of the full bags. The bag-mean kernel of the coreset converges to that of the
    bag as ``points`` grows, and equals it if a bag has no more than ``points`` points.
    """
    from sklearn import config_context
    from threadpoolctl import threadpool_limits

    known = _KNOWN.setdefault(bags, {})
    if (points, seed) not in known:
        # many small problems: threads would only wait for each other, and checks of the input would take as long
        checked = config_context(assume_finite=True, skip_parameter_validation=True)
        with threadpool_limits(1), checked, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer distinct points than clusters is fine here
            known[points, seed] = _coreset(bags, points, seed)
    return known[points, seed]


def _coreset(bags: Bags, points: int, seed: int) -> Bags:
    from sklearn.cluster import KMeans

    inputs, bag, weights = (v.cpu().numpy() for v in (bags.inputs, bags.bag, bags.weights))
    order = np.argsort(bag, kind="stable")
    edges = np.searchsorted(bag[order], np.arange(bags.count + 1))
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for j in range(bags.count):
        rows = order[edges[j] : edges[j + 1]]
        x, w = inputs[rows], weights[rows]
        if len(rows) > points:
            result = KMeans(points, n_init=1, max_iter=20, random_state=seed + j).fit(x, sample_weight=w)
            mass = np.bincount(result.labels_, w, minlength=points)
            total = np.stack([np.bincount(result.labels_, w * column, minlength=points) for column in x.T], axis=1)
            x, w = total[mass > 0] / mass[mass > 0, None], mass[mass > 0]
        parts.append((x, w))
    counts = [len(w) for _, w in parts]
    device = bags.inputs.device
    return Bags(
        torch.as_tensor(np.concatenate([x for x, _ in parts])).to(device),
        torch.repeat_interleave(torch.arange(bags.count), torch.tensor(counts)).to(device),
        bags.count,
        weights=torch.as_tensor(np.concatenate([w for _, w in parts])).to(device),
        sizes=bags.sizes,
        contamination=bags.contamination,
    )
