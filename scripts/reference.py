"""Writes the reference of what `import deconditioning` offers as web pages, from its docstrings."""

import sys
from pathlib import Path

import pdoc

import deconditioning

#: The face, and what lies behind its names.
MODULES = ("deconditioning", "!deconditioning[.]", "deconditioning.accessor", "deconditioning.estimators")


def write(folder: Path) -> None:
    """The pages, with equations, into a folder; ``index.html`` is where to begin."""
    for name in deconditioning.__all__:
        setattr(deconditioning, name, getattr(deconditioning, name))  # pdoc sees names that are there already
    pdoc.render.configure(docformat="numpy", math=True)
    pdoc.pdoc(*MODULES, output_directory=folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
