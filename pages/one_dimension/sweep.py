"""Which controls of page One dimension can be swept."""

from collections.abc import Mapping
from typing import Any

from deconditioning.studies.one_dimension.problem import METHODS
from deconditioning.studies.sweeping import Settings
from pages.kit.controls.edits import read
from pages.kit.tools.study_sweep import OnPage
from pages.one_dimension.controls import OWN
from pages.one_dimension.edits import HELD

_PROBLEM = {
    "o-n": "n", "o-m": "m", "o-eta": "input_noise", "o-xi": "target_noise", "o-seed": "seed",
}  # fmt: skip


def _kernels(page: str) -> dict[str, str]:
    """Of both kernels of a view."""
    names = ("scale", "size", "alpha", "mixture", "period")
    return {f"{page}-{key}-{name}": f"{key}_{name}" for key in ("k", "l") for name in names}


def _problem(held: Mapping[str, Any]) -> Settings:
    """r and f, chosen or typed, and the points that were edited."""
    expressions = {
        name: held[f"{key}-own"] if held[key] == OWN else held[key]
        for key, name in (("o-r", "simulation"), ("o-f", "target"))
    }
    return expressions | {f"{scatter}_edits": read(held[key])[0].text for scatter, (key, _) in HELD.items()}


def _recovered(held: Mapping[str, Any]) -> Settings:
    method = held["o-method"] or next(iter(METHODS))
    return _problem(held) | {"method": method, "k_family": held["o-k-family"], "l_family": held["o-l-family"]}


def _bayes(held: Mapping[str, Any]) -> Settings:
    families = {"k_family": held["b-k-family"], "l_family": held["b-l-family"]}
    return _problem(held) | {"prior": held["b-prior"] or "uniform"} | families


def _trip(held: Mapping[str, Any]) -> Settings:
    families = {"k_family": held["t-k-family"], "l_family": held["t-l-family"]}
    drawn = {} if held.get("t-draw") is None else {"draw": int(held["t-draw"])}
    return _problem(held) | {"drawn": held["t-which"] == "a draw from k"} | drawn | families


RECOVER = OnPage(
    "one-dimension", {"o-noise": "noise", "o-lam": "regularisation", **_kernels("o"), **_PROBLEM}, _recovered
)
BAYES = OnPage(
    "bayes-rule",
    {
        "b-eps": "second_regularisation", "b-lam": "regularisation", "b-x": "x",
        **{key: name for key, name in _kernels("b").items() if not key.endswith("size")},
        **_PROBLEM, "b-herd": "herded",
    },
    _bayes,
)  # fmt: skip
THERE_AND_BACK = OnPage(
    "there-and-back",
    {
        "t-lam": "regularisation", "t-eps": "second_regularisation",
        **{key: name for key, name in _kernels("t").items() if not key.endswith("size")},
        **_PROBLEM,
    },
    _trip,
)  # fmt: skip
