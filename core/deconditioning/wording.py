"""Numbers in words, the same on every page and in every message: durations, signs; texts in the cells of tables."""

import math
import re
from collections.abc import Collection, Iterable, Sequence

_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
#: The name of a kernel's hyperparameter: kernel, number of the term, what it is, and of which columns.
_TERM = re.compile(r"([kℓ])(\d+) ([^[]+?)(?: \[(.*)\])?")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def duration(seconds: float) -> str:
    """A duration in the units a person would choose: "12 ms", "0.4 s", "8.1 s", "29 s", "30 min 14 s", "2 h 5 min".

    ``seconds`` must be finite; below nought it counts as nought.
    """
    seconds = max(0.0, seconds)
    if seconds < 0.0995:
        return f"{float(f'{1000 * seconds:.2g}'):g} ms"
    if seconds < 9.95:
        return f"{seconds:.2g} s" if seconds < 0.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def about(seconds: float) -> str:
    """A duration that is only guessed, to one digit: "a few seconds", "about 40 s", "about 3 min", "about 2 h"."""
    for unit, size, most in (("s", 1, 90), ("min", 60, 90 * 60), ("h", 3600, float("inf"))):
        if seconds < most:
            number = float(f"{seconds / size:.1g}")
            return "a few seconds" if unit == "s" and number < 9 else f"about {max(1.0, number):g} {unit}"
    return "an unknown time"


def rough_duration(seconds: float) -> str:
    """An estimated duration, in one unit and to one or two digits: "40 s", "1.6 min", "12 min", "2.5 h"."""
    for size, word in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {word}" if seconds < 10 * size else f"{seconds / size:.0f} {word}"
    return f"{max(1.0, seconds):.0f} s"


def at_start(name: str) -> str:
    """A table's or a file's name where it begins a sentence: "The table", but the name of a file as it is."""
    return f"The {name.removeprefix('the ')}" if name.startswith("the ") else name


def signed(value: float | None, places: int) -> str:
    """A number with so many decimals, thousands apart and a true minus sign: "−1,139.6"; None is "unknown"."""
    if value is None:
        return "unknown"
    return f"{value:,.{places}f}".replace("-", "−")


def number(value: float, digits: int = 3) -> str:
    """A number in a sentence, to so many significant digits and without computers' exponents: "0.065", "2,150",
    "3.1 × 10⁻⁷"."""
    mantissa, _, exponent = f"{value + 0.0:.{digits}g}".partition("e")  # no "-0"
    if exponent and 0 <= int(exponent) < 7:
        mantissa, exponent = f"{float(f'{mantissa}e{exponent}'):,.0f}", ""
    power = f" × 10{str(int(exponent)).translate(_RAISED)}" if exponent else ""
    return f"{mantissa}{power}".replace("-", "−")


def plus_minus(value: float, error: float) -> str:
    """A value with its error to two significant digits, both with as many decimals: "−1.20 ± 0.34"."""
    if not (error > 0 and math.isfinite(error)):
        return f"{number(value, 4)} ± {number(error, 2)}"
    places = max(0, 1 - math.floor(math.log10(float(f"{error:.1e}"))))
    return f"{value:,.{places}f} ± {error:,.{places}f}".replace("-", "−")


def percentages(shares: Iterable[float]) -> str:
    """Shares from the least to the largest, in whole per cent: "34 to 73 %"."""
    every = list(shares)
    return f"{100 * min(every):.0f} to {100 * max(every):.0f} %"


def rounded(value: float, digits: int = 3) -> str:
    """A measured number in a table: `number`, with the zeros at its end, so that all of a column are as exact: "0.470",
    "2.00", "1.76 × 10⁻⁸"; nought is "0"."""
    if not value or not math.isfinite(value):
        return number(value)
    mantissa, times, power = number(value, digits).partition(" × ")
    whole, _, decimals = mantissa.partition(".")
    significant = len(re.sub(r"\D", "", whole + decimals).lstrip("0"))
    missing = "0" * max(0, digits - significant)
    return f"{whole}{'.' if decimals or missing else ''}{decimals}{missing}{times}{power}"


#: A number with a computer's exponent, not inside a word, a path or an option.
_EXPONENT = re.compile(r"(?<![\w.\-])([\d.]*\d)e([-+\u2212\u2011]?\d{1,3})(?![\w.])")


def readable(text: str) -> str:
    """A stored sentence with its numbers as `number` has them, but for what stands between backquotes:
    "value to 2e-15" is "value to 2 × 10⁻¹⁵"."""

    def formatted(match: re.Match[str]) -> str:
        """The number of a match such as "2e-15"."""
        exponent = match[2].translate(str.maketrans("\u2212\u2011", "--"))
        return number(float(f"{match[1]}e{exponent}"), len(match[1].replace(".", "").lstrip("0")) or 1)

    parts = text.split("`")
    return "`".join(_EXPONENT.sub(formatted, part) if index % 2 == 0 else part for index, part in enumerate(parts))


def hyperparameter_names(names: Collection[str]) -> dict[str, str]:
    """Hyperparameters as learning names them → what page Downscaling calls their sliders.

    "k1 lengthscale [altitude]" is "lengthscale of k: altitude"; "k1 variance" beside it has the same columns. Latitude
    and longitude together are "location". Terms of a kernel that would read the same are numbered: "k₁", "k₂".
    """
    parts = [_TERM.fullmatch(name) for name in names]
    columns: dict[tuple[str, str], dict[str, None]] = {}
    for part in filter(None, parts):
        columns.setdefault((part[1], part[2]), {}).update(dict.fromkeys((part[4] or "").split("+")))

    def words(part: re.Match[str], kernel: str) -> str:
        """Its name, with the columns of its term or, where it names none, those of the whole term."""
        of_term = part[4].split("+") if part[4] else [each for each in columns[part[1], part[2]] if each]
        of = f": {columns_in_words(of_term)}" if of_term else ""
        return f"{'α' if part[3] == 'alpha' else part[3]} of {kernel}{of}"

    plain = [words(part, part[1]) if part else name for part, name in zip(parts, names, strict=True)]
    return {
        name: words(part, part[1] + part[2].translate(_LOWERED)) if part and plain.count(text) > 1 else text
        for name, part, text in zip(names, parts, plain, strict=True)
    }


def columns_in_words(columns: Sequence[str]) -> str:
    """Columns of a kernel as controls and legends name them; latitude and longitude together are "location"."""
    place = sorted(each.rpartition("_")[2] for each in columns) in (["latitude", "longitude"], ["lat", "lon"])
    return "location" if place else ", ".join(columns).replace("_", " ")


def slider_text(value: float) -> str:
    """A log slider's value as its handle and the address say it, to four digits, such as 0.0017 or 1.12e-5."""
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


#: Beginnings that a spreadsheet takes for a formula, the full-width forms of East Asian keyboards included.
_FORMULA = re.compile(r"[ \u00a0\u200b\ufeff]*[=+\-@\t\r\n＝＋－＠].", re.DOTALL)


def table_cell(text: str) -> str:
    """Text of a person or a file for a cell of a table that may be saved as CSV.

    A spreadsheet runs a cell that begins with =, +, - or @ as a formula. Such a text gets an apostrophe in front, the
    spreadsheets' own mark of plain text. Numbers stay as they are. Source: OWASP, *CSV Injection*.
    """
    if not _FORMULA.match(text):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
