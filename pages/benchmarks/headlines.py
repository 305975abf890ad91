"""What was measured, one sentence a topic, every number of it from the stored rows."""

from statistics import median

from deconditioning.figures.studies.speed_ratios import plain_ratio
from deconditioning.studies.measurements import Measured, Measurement
from deconditioning.wording import duration, number, percentages
from pages.benchmarks.words import late, size_in_words

_PER_SECOND = {"s": 1.0, "CPU s": 1.0, "ms": 1e-3, "CPU ms": 1e-3}


def _rows(measurements: list[Measured]) -> list[Measurement]:
    return [row for each in measurements for row in each.rows]


def _seconds(row: Measurement) -> float:
    return row.ours * _PER_SECOND[row.unit]


def _took(rows: list[Measurement]) -> str:
    """The time of one row, or from the least to the most of several."""
    low, high = (duration(end(map(_seconds, rows))) for end in (min, max))
    return low if low == high else f"{low} to {high}"


def compared_with_plain(measurements: list[Measured]) -> str:
    """How many tasks are faster than their plain implementation, and by how much."""
    rows = [row for row in _rows(measurements) if row.ratio is not None]
    if not rows:
        return ""
    ratios = [row.ratio for row in rows if row.ratio is not None]
    most = max(rows, key=lambda row: row.ratio or 0.0)
    guessed = ""
    if "extrapolat" in most.note + most.against:
        guessed = f" The plain time behind {plain_ratio(max(ratios))} is extrapolated."
    faster = sum(ratio > 1 for ratio in ratios)
    how_many = f"all {len(rows)} comparisons" if faster == len(rows) else f"{faster} of {len(rows)} comparisons"
    sentence = (
        f"In {how_many} this software is faster than a plain implementation, and at least as accurate: "
        f"{plain_ratio(min(ratios))} to {plain_ratio(max(ratios))}, with a median of {plain_ratio(median(ratios))}."
        f"{guessed}"
    )
    whole = [row for each in measurements if each.name == "full_size" for row in each.rows]
    if whole:
        sentence += (
            f" Learning and predicting a map of the paper's size, {size_in_words(whole[0].size)}, takes {_took(whole)} "
            f"of CPU time. There the plain implementation is another model, the {whole[0].against}, and less accurate."
        )
    return sentence


def seconds_per_map(measurements: list[Measured]) -> str:
    """A map of the largest size through inducing points, and one step of learning; empty if not measured."""
    rows = [row for row in _rows(measurements) if "part" in row.more]
    if not rows:
        return ""
    most = max(rows, key=lambda row: (row.more["pixels"], row.more["targets"]))
    took = {row.more["part"]: _seconds(row) for row in rows if row.size == most.size}
    step = took.pop("bound and gradient")
    of_size = f"{most.more['pixels']:,} pixels from {most.more['targets']:,} targets"
    return f"a map of {of_size} in {duration(sum(took.values()))} of CPU time, and {duration(step)} a step of learning"


def up_to_a_million(measurements: list[Measured]) -> str:
    """What the largest size costs through inducing points."""
    rows = [row for each in measurements if each.name == "scale" for row in each.rows if "pixels" in row.more]
    if not rows:
        return ""
    most = max(rows, key=lambda row: (row.more["pixels"], row.more["targets"]))
    parts = [row for row in rows if row.size == most.size]
    costs = "; ".join(f"{row.what.split(': ')[-1]} {duration(_seconds(row))}" for row in parts)
    memory = "" if most.peak_mb is None else f"; at most {most.peak_mb:,.0f} MB of memory"
    return f"With inducing points, {most.size}. CPU time: {costs}{memory}."


def several_steps(measurements: list[Measured]) -> str:
    """Memory and time of a store read region by region."""
    rows = [row for row in _rows(measurements) if row.ratio is not None]
    smaller = [row for row in rows if row.unit == "MB"]
    shares = [1 / (row.ratio or 1.0) for row in rows if row.unit in _PER_SECOND]
    if not smaller or not shares:
        return ""
    return (
        f"Region by region, a worker uses {number(min(row.ours for row in smaller))} to "
        f"{number(max(row.ours for row in smaller))} MB, against "
        f"{number(max(row.yardstick or 0.0 for row in smaller))} MB in one piece, and {100 * min(shares):.0f} to "
        f"{100 * max(shares):.0f} % of the CPU time."
    )


def files(measurements: list[Measured]) -> str:
    """Large ones opened, and two on different grids brought together."""
    of = {each.name: [each] for each in measurements}
    return f"{_large_files(of.get('files', []))} {_two_grids(of.get('two_grids', []))}".strip()


def _large_files(measurements: list[Measured]) -> str:
    """How soon the fields of the largest files are listed, and in how much memory."""
    rows = _rows(measurements)
    if not rows:
        return ""
    memory = number(max(row.peak_mb or 0.0 for row in rows))
    return (
        f"Listing the fields of the largest files takes {_took(rows)}; opening one takes at most {memory} MB in total."
    )


def _two_grids(measurements: list[Measured]) -> str:
    """What a global field on a fine regional grid costs."""
    rows = _rows(measurements)
    if not rows:
        return ""
    return (
        f"Learning, mapping and checking a global model's field on a fine regional grid, {rows[0].size}, takes "
        f"{number(rows[0].ours)} s of CPU time."
    )


def waiting(measurements: list[Measured]) -> str:
    """From a key press on a slider to the picture."""
    rows = _rows(measurements)
    groups = {
        "on pages of toy size": [r for r in rows if r.what == "New picture" and "asked for: the" not in r.accuracy],
        "for a preview of a map of the paper's size": [row for row in rows if row.what.startswith("Preview")],
        "for the exact map": [row for row in rows if row.what == "Exact picture"],
    }
    parts = [f"{_took(group)} {name}" for name, group in groups.items() if group]
    pressed = f"From a key press on a slider to the new picture: {', '.join(parts)} (medians)." if parts else ""
    played = [row.ours for row in rows if row.what.startswith("Pictures while")]
    playing = f"The maps of a period play at {int(min(played))} pictures a second or more." if played else ""
    return " ".join(filter(None, (pressed, playing)))


def starting(measurements: list[Measured]) -> str:
    """From the command to the page, and what it holds."""
    rows = _rows(measurements)
    first = [row for row in rows if "first heading" in row.what]
    held = [row.ours for row in rows if row.what == "Memory, page process"]
    if not first or not held:
        return ""
    return (
        f"`make run` shows its first heading after {_took(first)}. The server process then uses {min(held):,.0f} MB, "
        f"and {max(held):,.0f} MB after every page was opened."
    )


def room(measurements: list[Measured]) -> str:
    """Many people at once: how long they wait to arrive, and for a picture, without and with a fit; a class."""
    rows = _rows(measurements)
    arrived = [row for row in rows if row.what == "Arrival, until the heading"]
    moved = [row for row in rows if row.what.startswith("Moved slider") and row.size.startswith("all")]
    health = [row for row in rows if row.what.startswith("Health")]
    if not arrived or not moved or not health:
        return ""
    longest = max(row.ours for row in health)
    return (
        f"{arrived[0].size.split()[0]} people who arrive at once see the heading of their page after {_took(arrived)}. "
        f"If all of them move a slider at the same moment, each sees the new picture after {_took(moved)} (medians, "
        f"without and with a fit).{_class(rows)} The server always answered within {number(longest, 2)} s."
    )


def _class(rows: list[Measurement]) -> str:
    """What a class waits for that opens the story and the exercises at the same moment."""
    step, answer, exercise = (
        [row for row in rows if row.what.startswith(name)]
        for name in ("Step of the story, until its picture", "Step of the story, until its answer", "Exercise as")
    )
    if not step or not answer or not exercise:
        return ""
    load = step[0].note.split(" on ")[0].removeprefix("load ")
    most = late(exercise[0].accuracy)
    slowest = f" One in twenty waits {duration(most)} or longer for this." if most is not None else ""
    return (
        f" In the story they see the picture after {_took(step)} and the answer {_took(answer)} later; an exercise is "
        f"checked after {_took(exercise)} (medians; the machine's load was {load}).{slowest}"
    )


def smaller_than_bcsd(measurements: list[Measured]) -> str:
    """How much smaller the CRPS from an archive is than that of BCSD from the same archive; empty if not measured."""
    shares = [1 - row.ours / (row.yardstick or 1.0) for row in _from_archive(measurements)]
    return f"CRPS {percentages(shares)} smaller than that of BCSD" if shares else ""


def _from_archive(measurements: list[Measured]) -> list[Measurement]:
    return [row for row in _rows(measurements) if row.more.get("method") == "archive" and row.yardstick]


def period(measurements: list[Measured]) -> str:
    """How much smaller the CRPS from an archive is than that of BCSD, and how often the intervals hold."""
    rows = _from_archive(measurements)
    if not rows:
        return ""
    held = percentages(row.more["coverage95"] for row in rows)
    return (
        f"On {len(rows)} series whose earlier times are known at high resolution, the archive gives at later times a "
        f"{smaller_than_bcsd(measurements)} from the same archive; the 95 % intervals contain {held} of the "
        "truth."
    )


def drawn_fields(measurements: list[Measured]) -> str:
    """How far the widths of intervals are off on fields whose covariance is known, by the number of visible cells."""
    rows = _rows(measurements)
    if not rows:
        return ""
    learned = " and ".join(f"± {row.ours:.0f} % with {row.more['cells']} visible cells" for row in rows)
    known = max(row.more["spread_known"] for row in rows)
    return (
        "The cells hardly determine how rough a field is inside them. On fields drawn from a known covariance, the "
        f"right width of the 95 % intervals is known to {learned} (sd); with the hyperparameters that made the fields, "
        f"to ± {known:.0f} % at worst."
    )
