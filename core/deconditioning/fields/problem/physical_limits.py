"""Physical limits of a target, from its CF standard name, its units and its coarse values."""

import numpy as np

from deconditioning.fields.problem.problem import DownscalingProblem

#: Parts of CF standard names of shares of an area or of saturation, and of what can't be negative.
_SHARES = ("area_fraction", "relative_humidity", "_albedo", "volume_fraction", "probability")
_NEVER_NEGATIVE = (
    "precipitation", "rainfall", "snowfall", "snow", "specific_humidity", "mixing_ratio", "concentration", "wind_speed",
    "visibility", "depth", "thickness", "optical_depth", "runoff", "soil_moisture",
)  # fmt: skip
#: Names of variables without a standard name that say the same.
_SHORT = {"clt": _SHARES[0], "cll": _SHARES[0], "clm": _SHARES[0], "clh": _SHARES[0], "hurs": _SHARES[1],
          "rh": _SHARES[1], "pr": _NEVER_NEGATIVE[0], "tp": _NEVER_NEGATIVE[0],
          "huss": "specific_humidity"}  # fmt: skip


def limits_of(problem: DownscalingProblem) -> tuple[float, float] | None:
    """The lowest and the highest possible value, infinite if there is none; None if neither is known.

    A share has the maximum 100 if its units are % or a coarse value exceeds 1; a field in % that never leaves 0 to 100
    and touches either end counts as a share.
    """
    name = problem.standard_name or _SHORT.get(problem.spec.target.lower(), problem.spec.target)
    values = problem.coarse[problem.observed]
    percent = problem.units in ("%", "percent")
    inside = values.min() >= 0 and values.max() <= 100
    touches = inside and (values.min() < 1 or values.max() > 99)
    if any(part in name for part in _SHARES) or (percent and touches):
        high = 100.0 if percent or values.max() > 1 else 1.0
        return (0.0, high) if inside else None
    if any(part in name for part in _NEVER_NEGATIVE) and values.min() >= 0:
        return 0.0, float(np.inf)
    return None
