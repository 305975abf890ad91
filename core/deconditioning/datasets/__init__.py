"""The catalogue of data, the generator of the made-up planet, and a first guess of settings for a new file."""

from typing import TYPE_CHECKING

from deconditioning.lazy import lazily

if TYPE_CHECKING:
    from deconditioning.datasets.atmosphere import make_atmosphere
    from deconditioning.datasets.entries import Entry, atmosphere_fields, catalogue, find, folder_problem
    from deconditioning.datasets.suggest import static_covariates, suggest_spec

_MODULES = {
    "make_atmosphere": "atmosphere",
    "Entry": "entries",
    "atmosphere_fields": "entries",
    "catalogue": "entries",
    "find": "entries",
    "folder_problem": "entries",
    "static_covariates": "suggest",
    "suggest_spec": "suggest",
}

__all__ = [
    "Entry",
    "atmosphere_fields",
    "catalogue",
    "find",
    "folder_problem",
    "make_atmosphere",
    "static_covariates",
    "suggest_spec",
]

__getattr__ = lazily(__name__, _MODULES)
