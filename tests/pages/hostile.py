"""Files whose every name, unit and text is written for a browser, not for a reader."""

import numpy as np
import xarray as xr

from tests.core.fields.samples import netcdf, region

#: What must never reach a browser unescaped; each of them is drawn, fetched, linked or coloured as Markdown or HTML.
MARKS = (
    "![p](http://203.0.113.1/x.png)",
    '<img src="http://203.0.113.1/y.png">',
    "[l](http://203.0.113.1/z)",
    "$x^2$",
    ":red[x]",
)
HOSTILE = " ".join(MARKS)
#: The same where a name may hold no slash.
NAME = "![p](http:x.png) $n^2$ :red[n]"


def fields() -> bytes:
    """A NetCDF file that can be downscaled: a target, a covariate, a mediator and a level."""
    plain = region(24, 30)
    field = plain.t.expand_dims(level=np.array([1.0, 2.0]))
    attributes = {"units": f"K {HOSTILE}", "long_name": f"long {HOSTILE}", "comment": HOSTILE}
    data = xr.Dataset(
        {f"t {NAME}": field.assign_attrs(attributes), f"orog {NAME}": plain.orog.assign_attrs(attributes)},
        attrs={
            name: HOSTILE for name in ("title", "source", "institution", "licence", "license", "history", "comment")
        },
    ).rename(level=f"level {NAME}")
    data[f"level {NAME}"].attrs |= {"units": HOSTILE, "long_name": HOSTILE}
    for name in ("lat", "lon"):
        data[name].attrs |= {"long_name": HOSTILE, "comment": HOSTILE}
    return netcdf(data)


def series() -> bytes:
    """A table that can be filtered: a row a step, four columns that move."""
    time = np.arange(120)
    columns = [np.sin(time / 7), np.cos(time / 7), np.sin(time / 7 + 1), np.cos(time / 5)]
    return table([f"{HOSTILE} {letter}" for letter in "abcd"], np.column_stack(columns))


def simulations() -> bytes:
    """Simulations of a parameter and a summary, and the observed row."""
    rng = np.random.default_rng(0)
    theta = rng.uniform(1, 3, 60)
    rows = np.column_stack([theta, theta + 0.1 * rng.standard_normal(60)])
    return table([f"theta {HOSTILE}", f"mean {HOSTILE}"], rows) + b",2.0\n"


def measures() -> bytes:
    """A long table: twelve subjects with ten measures each, their outcome and a covariate."""
    rng = np.random.default_rng(0)
    names = [f"{role} {HOSTILE}" for role in ("subject", "value", "outcome", "age")]
    means = rng.standard_normal(12)
    rows = [
        f'"{HOSTILE} {subject}",{means[subject] + rng.standard_normal():.4f},{means[subject]:.4f},{subject % 5}'
        for subject in range(12)
        for _ in range(10)
    ]
    return ("\n".join([_header(names), *rows]) + "\n").encode()


def table(names: list[str], rows: np.ndarray) -> bytes:
    """A CSV file with these columns."""
    return ("\n".join([_header(names), *(",".join(f"{cell:.6f}" for cell in row) for row in rows)]) + "\n").encode()


def _header(names: list[str]) -> str:
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)
