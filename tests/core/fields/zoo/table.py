"""Writes docs/files.md, the result of reading every file of the zoo: ``python -m tests.core.fields.zoo.table``."""

import importlib.util
import tempfile
from pathlib import Path

from deconditioning.errors import InputError
from deconditioning.fields.reading.opening import open_fields
from tests.core.fields.zoo import calendars, contents, formats, geotiff, grids, outlines, points, region_tables
from tests.core.fields.zoo.animal import Animal, summary

PAGE = Path(__file__).resolve().parents[4] / "docs" / "files.md"
PARTS = {
    "Calendars and times": calendars,
    "Grids": grids,
    "Contents": contents,
    "Formats": formats,
    "GeoTIFF": geotiff,
    "Regions": outlines,
    "Stations": points,
    "Tables of regions and of soundings": region_tables,
}
HEAD = """# Files

The kinds of files that climate scientists use, and how the Lab reads them. Each line describes a small file with one
peculiarity that the tests write, read and check (`tests/core/fields/zoo`). This page is written by

    python -m tests.core.fields.zoo.table

A file that is read offers its fields and draws them at their positions. Of regions, the table lists the value of `rain`
and the area in square degrees, of stations and soundings the value of `t`, and of tables of regions the value of `rain`
in February 2001 for the codes 01, 02, 03 and 10. A file that is refused gives one message with the reason and a remedy.
Uploads are read in the same way, in a sandboxed process; folders, patterns and URLs work only on the command line.

## What is guessed

For a file without settings, page Downscaling (in its dialog) and `deconditioning fields FILE` propose a problem and
give the reason for each choice (`deconditioning.fields.guess`):

- **Target**: the variable that looks most like a near-surface air temperature by its standard name, long name, units or
  name; else another quantity of the weather; else the first. Cell areas, codes, masks, errors, counts and fields that
  do not change with time come last.
- **Covariates**: fields on the same grid that do not change with time (height of the ground, surface geopotential, land
  mask), also where the file repeats them for every time; then those that correlate with the target inside cells.
- **Files**: of several files, one with the target and with pixels at least 1.5 times as wide is the coarse target;
  otherwise the files are combined.
- **Cells**: square blocks that make about 500 cells. **Time and level**: the first with values that differ.

The tests also read exported files with other tools (`tests/core/fields/test_export_tools.py`): xarray and cf-xarray
find the same fields, times and grid mapping, and iris the same coordinate system, on latitude-longitude, rotated,
projected and curvilinear grids; the compliance checker reports no error against CF 1.11.
"""


def line(animal: Animal, path: Path) -> str:
    """The table's line of one file; its fields and what was noted, or the sentence that refuses it."""
    name = f"`{animal.name}`"
    try:
        if animal.kind != "fields":
            read, notes = summary(animal.kind, path)
            return f"| {name} | {animal.kind} | {_plain('; '.join([read, *notes]), path)} |"
        found = open_fields(path)
        names = sorted(found.variables())  # a folder lists them in any order
        for field in names:
            found.values(field, animal.select)
    except InputError as error:
        return f"| {name} | refused | {_plain(str(error), path)} |"
    when = found.when_and_where(names[0], animal.select)
    told = ["fields " + ", ".join(f"`{field}`" for field in names), *when, *(found.notes or ())]
    return f"| {name} | {found.grid.kind} | {_plain('; '.join(told), path)} |"


def _plain(text: str, path: Path) -> str:
    """Without this machine's folders, and without what a table cannot hold."""
    return text.replace(f"{path.parent}/", "").replace("|", "/").replace("\n", " ")


def page(folder: Path) -> str:
    """The whole page; the files are made where they are not there."""
    text, read, count = "", 0, 0
    for title, part in PARTS.items():
        text += f"\n## {title}\n\n| file | grid | result |\n|---|---|---|\n"
        for animal in part.animals():
            if animal.needs and not importlib.util.find_spec(animal.needs):
                raise InputError(f"The page needs {animal.needs}: install requirements-grib.txt.")
            path = folder / animal.name
            if not path.exists():
                animal.make(path)
            text += (told := line(animal, path)) + "\n"
            read, count = read + ("| refused |" not in told), count + 1
    return f"{HEAD}\nOf {count} files, {read} are read and {count - read} are refused.\n{text}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        PAGE.write_text(page(Path(place)))
    print(f"Written: {PAGE.name}")
