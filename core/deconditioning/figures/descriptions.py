"""What a picture shows in words and numbers, for those who cannot see it: computed from what is drawn."""

from collections.abc import Mapping, Sequence

import numpy as np

from deconditioning.figures.colours import MODEL_NAMES, model_name
from deconditioning.wording import number

#: The ninths of a map, rows from its foot.
_NINTHS = (
    ("at the lower left", "at the bottom", "at the lower right"),
    ("on the left", "in the middle", "on the right"),
    ("at the upper left", "at the top", "at the upper right"),
)


def course(x: np.ndarray, values: np.ndarray) -> str:
    """Where a curve (n,) is highest and lowest: "highest 2.1 at 0.5, lowest −1 at 3"."""
    known = np.isfinite(values)
    if not known.any():
        return "no values"
    top, foot = (int(find(np.where(known, values, fill))) for find, fill in ((np.argmax, -np.inf), (np.argmin, np.inf)))
    return f"highest {number(values[top])} at {number(x[top])}, lowest {number(values[foot])} at {number(x[foot])}"


def off_by(curves: Mapping[str, np.ndarray], truth: np.ndarray) -> str:
    """Root mean square distance of each curve (n,) or path (n, d) from the truth, by name, the nearest first."""
    far = {name: float(np.sqrt(np.nanmean((values - truth) ** 2))) for name, values in curves.items()}
    return ", ".join(
        f"{_in_sentence(model_name(name))} {number(value)}"
        for name, value in sorted(far.items(), key=lambda one: one[1])
    )


def _in_sentence(name: str) -> str:
    """A name inside a sentence: "random points", but "GP on all data" and "Gaussian process"."""
    proper = name.split(" ")[0].removesuffix("'s") in ("Gaussian", "Kalman", "Bayes", "Nadaraya")
    return name[:1].lower() + name[1:] if name[1:2].islower() and not proper else name


def legend_name(name: str, names: Mapping[str, str]) -> str:
    """The name of a curve as the legend has it, on one line."""
    return names.get(name, model_name(name)).replace("<br>", " ")


def held(mean: np.ndarray, sd: np.ndarray, truth: np.ndarray) -> str:
    """The share of the truth inside mean ± 2 sd: "±2 sd hold 93 % of the truth"."""
    return f"±2 sd contain {100 * np.nanmean(np.abs(truth - mean) <= 2 * sd):.0f} % of the truth"


def together(first: np.ndarray, second: np.ndarray) -> str:
    """How far two variables (n,) go together: "correlation 0.83"."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return "correlation not defined"
    return f"correlation {np.corrcoef(first, second)[0, 1]:.2f}"


def ends(curves: Mapping[str, Sequence[float] | np.ndarray], names: Mapping[str, str] = MODEL_NAMES) -> str:
    """First and last value of each curve, by the legend's names: "CMP 3 to 1.2, VBAgg 4 to 2,100"; one number where
    both are written the same."""
    return ", ".join(f"{legend_name(name, names)} {_from_to(values[0], values[-1])}" for name, values in curves.items())


def _from_to(first: float, last: float) -> str:
    both = dict.fromkeys((number(first), number(last)))
    return " to ".join(both)


def extremes(values: np.ndarray) -> str:
    """In which ninth of a map (Y, X), rows from its foot, the mean is lowest and highest; "" where all is missing."""
    means = {}
    for rows, words in zip(np.array_split(values, 3, axis=0), _NINTHS, strict=True):
        for part, word in zip(np.array_split(rows, 3, axis=1), words, strict=True):
            known = part[np.isfinite(part)]
            if known.size:
                means[word] = float(known.mean())
    if not means:
        return "all values missing"
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if means[low] == means[high]:
        return f"{number(means[low], 4)} everywhere"
    return f"lowest {low} ({number(means[low], 4)} on average), highest {high} ({number(means[high], 4)})"


def spread(values: np.ndarray, units: str) -> str:
    """A sentence on least, greatest and mean value of a map (Y, X): "From 272 K to 284 K, on average 280 K."."""
    known = values[np.isfinite(values)]
    if not known.size:
        return "All values are missing."
    low, high, mean = (
        f"{number(value, 4)}\u00a0{units}".rstrip() for value in (known.min(), known.max(), known.mean())
    )
    return f"From {low} to {high}, on average {mean}."


def size_of_error(values: np.ndarray) -> str:
    """Of a field of differences: its mean and root mean square."""
    known = values[np.isfinite(values)]
    if not known.size:
        return "all values missing"
    return f"{number(known.mean())} on average, root mean square {number(np.sqrt(np.mean(known**2)))}"
