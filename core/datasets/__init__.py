"""The catalogue of data, the generator of the made-up planet, and a first guess of settings for a new file."""

from core.datasets.atmosphere import make_atmosphere
from core.datasets.catalogue import Entry, atmosphere_fields, catalogue, find, folder_problem
from core.datasets.suggest import suggest_spec

__all__ = ["Entry", "atmosphere_fields", "catalogue", "find", "folder_problem", "make_atmosphere", "suggest_spec"]
