"""Gridded data: open, check, coarsen, bag, scale, export.

Names are imported when first used, so that the reader process stays light.
"""

from typing import TYPE_CHECKING

from deconditioning.lazy import lazily

if TYPE_CHECKING:
    from deconditioning.fields.baselines import (
        bicubic,
        bilinear,
        bilinear_left_out,
        bilinear_of_joined,
        constant,
        interpolations,
        lapse_rate,
    )
    from deconditioning.fields.blocks import reaggregate
    from deconditioning.fields.by_hand import Cell, Region, cells_of_text, cells_text
    from deconditioning.fields.coarsened import cells_of_fields, make_problem
    from deconditioning.fields.coordinates import scaled_coordinates
    from deconditioning.fields.delivery import Delivery, attributes_of_text, delivered, packed, to_netcdf_bytes
    from deconditioning.fields.explained import ExplainedShare, explained_share
    from deconditioning.fields.export import to_dataset
    from deconditioning.fields.from_dataset import fields_from_dataset
    from deconditioning.fields.grid import Grid
    from deconditioning.fields.gridded import Fields, Variable
    from deconditioning.fields.naming import drs_name
    from deconditioning.fields.opening import open_fields
    from deconditioning.fields.pair import cells_of_files, make_problem_from_files
    from deconditioning.fields.problem import DownscalingProblem
    from deconditioning.fields.scaling import Scale, Scaling
    from deconditioning.fields.spec import DownscalingSpec
    from deconditioning.fields.store import load_fields, save_fields
    from deconditioning.fields.uncertain import with_draws, with_quantiles
    from deconditioning.fields.upload import open_upload

_MODULES = {
    "Cell": "by_hand",
    "Region": "by_hand",
    "cells_of_text": "by_hand",
    "cells_text": "by_hand",
    "cells_of_fields": "coarsened",
    "cells_of_files": "pair",
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
    "Delivery": "delivery",
    "attributes_of_text": "delivery",
    "delivered": "delivery",
    "packed": "delivery",
    "to_netcdf_bytes": "delivery",
    "drs_name": "naming",
    "with_draws": "uncertain",
    "with_quantiles": "uncertain",
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
    "Cell",
    "Delivery",
    "DownscalingProblem",
    "DownscalingSpec",
    "ExplainedShare",
    "Fields",
    "Grid",
    "Region",
    "Scale",
    "Scaling",
    "Variable",
    "attributes_of_text",
    "bicubic",
    "bilinear",
    "bilinear_left_out",
    "bilinear_of_joined",
    "cells_of_fields",
    "cells_of_files",
    "cells_of_text",
    "cells_text",
    "constant",
    "delivered",
    "drs_name",
    "explained_share",
    "fields_from_dataset",
    "interpolations",
    "lapse_rate",
    "load_fields",
    "make_problem",
    "make_problem_from_files",
    "open_fields",
    "open_upload",
    "packed",
    "reaggregate",
    "save_fields",
    "scaled_coordinates",
    "to_dataset",
    "to_netcdf_bytes",
    "with_draws",
    "with_quantiles",
]

__getattr__ = lazily(__name__, _MODULES)
