"""Options for the output of a downscaling: files, content, format."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deconditioning.cli.document import check_writable
from deconditioning.cli.talk import say
from deconditioning.errors import InputError

if TYPE_CHECKING:
    from deconditioning.downscaling.result_dataset import ResultDataset
    from deconditioning.fields.writing.delivery import Delivery


def add_delivery_options(group: Any) -> None:
    """Add ``--output`` and the options of its content."""
    group.add_argument(
        "--output", metavar="OUT.nc",
        help="CF NetCDF file of mean, sd, coarse and error, or a consolidated Zarr store if the name ends in .zarr "
            "(OUT_seedN for several seeds); with --drs a folder",
    )  # fmt: skip
    group.add_argument("--draws", type=int, metavar="N", help="N joint draws of the posterior, along `realization`")
    group.add_argument(
        "--effective-resolution", type=float, metavar="KM",
        help="wavelength below which the fine field is known to be smooth: shorter fluctuations of the draws are "
        "damped, and sd and quantiles follow",
    )  # fmt: skip
    group.add_argument(
        "--quantiles", nargs="*", type=float, metavar="Q", help="quantiles of every pixel (0.05 0.25 0.5 0.75 0.95)"
    )
    group.add_argument(
        "--exceedance", nargs="+", type=float, metavar="VALUE",
        help="probability that a pixel exceeds each value, in the target's units",
    )  # fmt: skip
    group.add_argument("--float32", action="store_true", help="fields as float32 with _FillValue 1e20, not float64")
    group.add_argument(
        "--file-per-grid", action="store_true", help="OUT.nc for the fine grid and OUT_coarse.nc for the coarse one"
    )
    group.add_argument(
        "--drs", action="store_true", help="name the file by CORDEX's data reference syntax, in the folder of --output"
    )
    group.add_argument(
        "--attributes",
        nargs="+",
        metavar="NAME=VALUE",
        help="your own global attributes (doi, contact, institution)",
    )


def delivery_of(options: argparse.Namespace) -> "Delivery":
    """The requested output; ``InputError`` if it is impossible, before long computations."""
    from deconditioning.fields.writing.delivery import PROGRESS, Delivery, attributes_of_text

    if not options.drs:
        if not (options.output and (Path(options.output) / PROGRESS).is_file()):
            check_writable(options.output)
    elif not options.output or not Path(options.output).is_dir():
        raise InputError("`--drs` chooses the file name, and `--output` is not an existing folder: give a folder.")
    levels = quantile_levels(options)
    store = bool(options.output) and options.output.endswith(".zarr")
    requested = Delivery(
        options.draws or 0, levels, options.float32, options.file_per_grid, store,
        attributes_of_text(options.attributes or []), options.effective_resolution,
        tuple(sorted(set(options.exceedance or ()))),
    )  # fmt: skip
    if requested != Delivery() and not options.output:
        raise InputError("Options for the output file were given without a file: add `--output`.")
    return requested


def quantile_levels(options: argparse.Namespace) -> tuple[float, ...]:
    """Levels of the requested quantiles, the usual ones where the option stands alone; empty without it."""
    from deconditioning.fields.writing.quantiles_and_draws import QUANTILES

    return () if options.quantiles is None else tuple(options.quantiles) or QUANTILES


def save(
    options: argparse.Namespace, delivery: "Delivery", leaving: "ResultDataset", seed: int, count: int
) -> dict[str, Any] | None:
    """Write the result of one of ``count`` seeds and report the file; nothing without ``--output``.

    Returns the power spectra of the draws, None if there are none.
    """
    if not options.output:
        return None
    from deconditioning.fields.writing.delivery import delivered

    path = Path(options.output)
    if options.drs:
        path = path / f"{leaving.drs_name}.nc"
    drawing, spectra = leaving.drawn(delivery)
    for file in delivered(leaving.dataset(delivery, drawing), delivery, seeded(path, seed, count)):
        if not options.quiet:
            say(f"Wrote {file} ({_size(file) / 1e6:.1f} MB).")
    if spectra is None:
        return None
    if not options.quiet:
        say(f"Note: {spectra.sentence}")
    return spectra.to_dict()


def seeded(path: Path, seed: int, count: int) -> Path:
    """The file of one seed out of ``count``: OUT.nc, or OUT_seedN.nc for several."""
    return path if count == 1 else path.with_name(f"{path.stem}_seed{seed}{path.suffix}")


def _size(path: Path) -> int:
    """Bytes of a file, or of all files of a store."""
    return sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) if path.is_dir() else path.stat().st_size
