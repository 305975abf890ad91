"""Gridded data: open, check, coarsen, bag, scale, export.

Names are imported when first used, so that the reader process stays light.
"""

from typing import TYPE_CHECKING

from core.lazy import lazily

if TYPE_CHECKING:
    from core.fields.baselines import (
        bicubic,
        bilinear,
        bilinear_left_out,
        bilinear_of_joined,
        constant,
        interpolations,
        lapse_rate,
    )
    from core.fields.blocks import reaggregate
    from core.fields.coarsened import make_problem
    from core.fields.coordinates import scaled_coordinates
    from core.fields.explained import ExplainedShare, explained_share
    from core.fields.export import to_dataset, to_netcdf_bytes
    from core.fields.from_dataset import fields_from_dataset
    from core.fields.grid import Grid
    from core.fields.gridded import Fields, Variable
    from core.fields.opening import open_fields
    from core.fields.pair import make_problem_from_files
    from core.fields.problem import DownscalingProblem
    from core.fields.scaling import Scale, Scaling
    from core.fields.spec import DownscalingSpec
    from core.fields.store import load_fields, save_fields
    from core.fields.upload import open_upload

_MODULES = {
    "bicubic": "baselines",
    "interpolations": "baselines",
    "lapse_rate": "baselines",
    "bilinear": "baselines",
    "bilinear_left_out": "baselines",
    "bilinear_of_joined": "baselines",
    "constant": "baselines",
    "reaggregate": "blocks",
    "scaled_coordinates": "coordinates",
    "ExplainedShare": "explained",
    "explained_share": "explained",
    "to_dataset": "export",
    "to_netcdf_bytes": "export",
    "Grid": "grid",
    "Fields": "gridded",
    "Variable": "gridded",
    "fields_from_dataset": "from_dataset",
    "open_fields": "opening",
    "make_problem_from_files": "pair",
    "DownscalingProblem": "problem",
    "make_problem": "coarsened",
    "Scale": "scaling",
    "Scaling": "scaling",
    "DownscalingSpec": "spec",
    "load_fields": "store",
    "save_fields": "store",
    "open_upload": "upload",
}

__all__ = [
    "DownscalingProblem",
    "DownscalingSpec",
    "ExplainedShare",
    "Fields",
    "Grid",
    "Scale",
    "Scaling",
    "Variable",
    "bicubic",
    "bilinear",
    "bilinear_left_out",
    "bilinear_of_joined",
    "constant",
    "explained_share",
    "fields_from_dataset",
    "interpolations",
    "lapse_rate",
    "load_fields",
    "make_problem",
    "make_problem_from_files",
    "open_fields",
    "open_upload",
    "reaggregate",
    "save_fields",
    "scaled_coordinates",
    "to_dataset",
    "to_netcdf_bytes",
]

__getattr__ = lazily(__name__, _MODULES)
