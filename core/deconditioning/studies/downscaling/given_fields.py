"""Real fields that the project does not contain: files of a folder that a person names, as cases of the benchmark.

`DECONDITIONING_FIELDS` names the folder. A case whose file is not there is skipped with a sentence.
"""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec

#: The environment variable that names the folder.
FOLDER = "DECONDITIONING_FIELDS"


class FieldNotThereError(InputError):
    """The file of a case is not in the folder, or no folder is named."""


@dataclass(frozen=True)
class KnownField:
    """A field of a file: its target, covariates, cells of ``block``² pixels, and the mediator of its unmatched case.

    ``select`` picks one step along further dimensions; ``title`` is for people.
    """

    title: str
    file: str
    target: str
    covariates: tuple[str, ...]
    mediator: str
    block: int
    select: dict[str, int] = field(default_factory=dict)

    def case(self, matched: bool) -> dict[str, Any]:
        """A case of the benchmark: half of the cells withheld, the others matched directly or by the mediator."""
        problem = {
            "target": self.target, "covariates": list(self.covariates), "block": [self.block, self.block],
            "withhold": 0.5, "mediators": [] if matched else [self.mediator], "select": self.select,
        }  # fmt: skip
        title = self.title if matched else f"{self.title}, by {self.mediator}"
        return {"file": self.file, "title": title, "problem": problem}


def _hour(step: int, when: str, block: int) -> KnownField:
    return KnownField(
        f"ERA5 over Britain, {when}, {block} × {block} (K)", "era5_uk_2019-03_hourly.nc", "t2m", ("orog", "land"),
        "orog", block, {"time": step},
    )  # fmt: skip


_HOURS = {60: "3 March 12 UTC", 372: "16 March 12 UTC", 654: "28 March 06 UTC"}
FIELDS: dict[str, KnownField] = {
    "americas-temperature": KnownField("Annual temperature, Americas (°C)",
                                       "americas_annual_temperature_half_degree.nc", "bio1", ("orog",), "orog", 6),
    "usa-rain": KnownField("Monthly rain, south-eastern USA (mm)", "se_usa_july_1999_eighth_degree.nc", "pr",
                           ("tas", "orog"), "orog", 3),
    "mongon-ndvi": KnownField("NDVI at 30 m (1)", "mongon_ndvi_30m.nc", "ndvi", ("dem", "north"), "dem", 6),
    "eta-gust": KnownField("Gusts, North America (m/s)", "eta_gust_20041208.nc", "gust", ("msl_grad", "orog", "lsm"),
                           "msl_grad", 4),
    "gdas-t2m": KnownField("GDAS, 2 m temperature, globe (K)", "ncep_gdas_flux_20060401_t62.nc", "t2m",
                           ("orog", "lsm"), "orog", 6),
    "era5-dew-point": KnownField("ERA5, 2 m dew point, North America (K)", "era5_1995-07-14T12.nc", "d2m",
                                 ("sp", "t2m"), "sp", 7),
    **{f"era5-uk-{step}-{block}": _hour(step, when, block) for step, when in _HOURS.items() for block in (3, 4)},
}  # fmt: skip
#: The same as cases.
FIELD_MATCHED = {f"{name}-matched": each.case(matched=True) for name, each in FIELDS.items()}
FIELD_MEDIATED = {f"{name}-mediated": each.case(matched=False) for name, each in FIELDS.items()}
#: Fields with few visible cells anywhere on the map: the four that were given for this, and how many cells are seen.
_FEW_FIELDS, _FEW_CELLS = ("americas-temperature", "usa-rain", "mongon-ndvi", "eta-gust"), (15, 20, 40)
FIELD_FEW = {
    f"{name}-{cells}-cells": FIELDS[name].case(matched=True) | {"cells": cells}
    for name in _FEW_FIELDS
    for cells in _FEW_CELLS
}


def problem_of_field(case: dict[str, Any], seed: int) -> DownscalingProblem:
    """The problem of a given case, with as many visible ``cells`` as it says, drawn by the seed.

    `FieldNotThereError` where its file is not there.
    """
    from deconditioning.fields.reading.opening import open_fields

    named = os.environ.get(FOLDER, "").strip()
    if not named:
        raise FieldNotThereError(
            f"The field of {case['file']} is not part of the project: name the folder of the file, --fields FOLDER or "
            f"{FOLDER}=FOLDER."
        )
    path = Path(named).expanduser() / case["file"]
    if not path.is_file():
        raise FieldNotThereError(f"There is no {case['file']} in the folder of given fields: copy it there.")
    fields, spec = open_fields(path), DownscalingSpec.from_dict({**case["problem"], "seed": seed})
    if "cells" not in case:
        return make_problem(fields, spec)
    there = int(np.isfinite(make_problem(fields, replace(spec, withhold=0.0)).coarse_truth).sum())
    return make_problem(fields, replace(spec, withhold=1 - case["cells"] / there))
