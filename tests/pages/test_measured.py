"""Speed and memory on page Benchmarks: the table of stored measurements, and sentences for damaged files."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.errors import InputError
from deconditioning.figures.studies.speed_ratios import plain_ratio, ratio_dots
from deconditioning.studies.measurements import all_measured, measured
from deconditioning.wording import number, rounded
from pages.benchmarks.words import in_plain_words, late
from tests.benchmarks import table
from tests.benchmarks.table import RESULTS, Row, keep
from tests.waiting import HANG_S

SHOW = """
from pathlib import Path
from deconditioning.wording import number
from pages.benchmarks.measured import show_measured
show_measured(Path({folder!r}))
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what `keep` writes of two rows."""
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    monkeypatch.setattr(table, "KEPT", [])
    rows = [
        Row("Sums", "10 <bags>", 0.5, yardstick=25.0, against="every pair", accuracy="to 1 × 10⁻¹²", peak_mb=1234.0),
        Row("Latency", "toy", 210.0, "ms"),
    ]
    keep("sums", rows)
    return tmp_path


def show(folder: Path) -> AppTest:
    page = AppTest.from_string(SHOW.format(folder=str(folder)), default_timeout=HANG_S).run()
    assert not page.exception
    return page


def test_what_is_kept_is_read_again(kept: Path) -> None:
    found, refused = all_measured(kept)
    assert refused == [] and [each.name for each in found] == ["sums"]
    first, second = found[0].rows
    assert first.ratio == 50.0 and first.peak_mb == 1234.0 and second.ratio is None
    assert found[0].command == 'make bench ARGS="-k bench_sums"'
    assert "torch" in found[0].machine and "cores" in found[0].machine


def test_cost_against_size_is_drawn_where_it_was_measured(kept: Path) -> None:
    def told() -> bool:
        return any("slope of 1" in block.value for block in show(kept).markdown)

    assert not told()
    sizes = [{"part": "bound", "pixels": pixels, "bags": 5, "targets": 7} for pixels in (10, 100)]
    keep("scale", [Row("Bound", "-", 0.1 * more["pixels"], peak_mb=10.0, more=more) for more in sizes])
    assert told()


def test_the_page_shows_ratio_memory_and_command(kept: Path) -> None:
    page = show(kept)
    text = " ".join(str(node.proto.body) for node in page.get("html"))
    for part in (
        "50×",
        "25 CPU s",
        "every pair",
        "1,234 MB",
        "to 1 × 10⁻¹²",
        "10 &lt;bags&gt;",
        "bench_sums",
        "210 ms",
    ):
        assert part in text, part
    assert "version" in page.markdown[-1].value


def test_names_waiting_times_and_bounds_are_told_in_words() -> None:
    assert in_plain_words("rmse 8.407 (9.523), coverage95 0.7475 (0.5979): ours (variational CMP)") == (
        "RMSE 8.407 (9.523), Coverage of 95 % 75 % (60 %): ours (variational CMP)"
    )
    assert in_plain_words("mean and sd: shrinkage_cmp, data of seed 0") == "mean and sd: Shrinkage CMP, data of seed 0"
    assert (
        in_plain_words("p95 105,424 ms of 30; asked for: 2 s")
        == "19 of 20 within 1 min 45 s (30 measured); at most 2 s"
    )
    assert [in_plain_words(f"bound {text}") for text in ("63113.9 ± 333.0", "2862.3 ± 16.7", "2968.6 ± 0.0")] == [
        "bound 63,100 ± 300", "bound 2,860 ± 20", "bound 2,968.6"
    ]  # fmt: skip
    assert late("p95 105,424 ms of 30") == 105.424 and late("RMSE 0.1") is None
    stored = [row for each in all_measured(RESULTS)[0] for row in each.rows]
    words = " ".join(in_plain_words(f"{row.what} {row.accuracy} {row.note}") for row in stored)
    assert not re.search(r"rmse|mae\b|crps|coverage\d|_cmp|p95|nanny", words)


def test_empty_columns_are_left_out_and_a_note_of_all_rows_is_said_once(kept: Path) -> None:
    keep("sums", [Row(f"Sums {part}", "10", 0.5, note="one thread") for part in "ab"])
    (text,) = [str(node.proto.body) for node in show(kept).get("html") if "<table" in str(node.proto.body)]
    assert text.count("one thread") == 1 and re.findall(r'col"[^>]*>(\w+)<', text) == ["Task", "Size", "Ours"]


def test_damaged_files_and_none_are_sentences(kept: Path) -> None:
    (kept / "broken.json").write_text('{"benchmark": "x", "rows": [')
    (kept / "foreign.json").write_text(json.dumps({"rows": []}))
    with pytest.raises(InputError, match=r"'broken\.json' contains no measurements"):
        measured(kept / "broken.json")
    page = show(kept)
    (box,) = page.warning
    assert all(f"'{name}'" in box.value for name in ("broken.json", "foreign.json"))
    empty = kept / "empty"
    empty.mkdir()
    assert "make bench" in show(empty).info[0].value


def test_the_stored_results_are_readable_and_name_no_machine() -> None:
    found, refused = all_measured(RESULTS)
    assert refused == [] and {"kernel_sums", "gram_gradients", "filtering"} <= {each.name for each in found}
    for path in RESULTS.glob("*.json"):
        assert set(json.loads(path.read_text())["machine"]) <= {
            "cores", "processor", "python", "memory_gb", "torch", "threads", "load", "gpu"
        }  # fmt: skip
        assert "/" not in path.read_text().replace("m/s", "").split('"rows"')[0].replace("tests/benchmarks", "")


def test_one_table_prints_every_row(kept: Path) -> None:
    lines = table.table(table.KEPT)
    assert len(lines) == 3 and lines[0].split()[0] == "what"
    assert "50×" in lines[1] and lines[1].index("0.5 CPU s") == lines[2].index("210 ms") == lines[0].index("ours")


def test_dots_stand_at_their_ratios_and_slower_is_seen() -> None:
    figure = ratio_dots([("A", "small", 4.0), ("A", "large", 40.0), ("B", "one", 0.5)])
    marks = figure["data"][-1]
    assert marks["x"] == [4.0, 40.0, 0.5] and marks["y"] == [0, 0, 1] and marks["text"] == ["", "40×", "0.5×"]
    low, high = figure["layout"]["xaxis"]["range"]
    assert low < -0.3 and high > 1.6
    assert "A 40×" in figure["layout"]["meta"]["alt"]


@pytest.mark.parametrize(("value", "said"), [(0.03321, "0.0332"), (10.62, "10.6"), (31234.0, "31,200")])
def test_numbers_are_plain(value: float, said: str) -> None:
    assert number(value) == said


@pytest.mark.parametrize(("value", "said"), [(2.62, "2.6×"), (93.8, "94×"), (16912.0, "16,900×")])
def test_ratios_are_plain(value: float, said: str) -> None:
    assert plain_ratio(value) == said


@pytest.mark.parametrize("digits", [1, 2, 3])
@pytest.mark.parametrize(
    "value", [0.47, 2.0, -0.8, 0.0971, 0.999999, 1.76e-8, 2e-8, 123.4, 2150.0, 9999.0, 10.0, -1e-5, 0.0001]
)
def test_numbers_of_a_table_keep_the_zeros_at_their_end(value: float, digits: int) -> None:
    """The same value as `number`, with as many digits as asked for, counted one by one."""
    text = rounded(value, digits)
    assert re.fullmatch(r"−?[\d,]+(\.\d+)?( × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?", text)
    mantissa, plain = text.split(" × ")[0].lstrip("−"), number(value, digits).split(" × ")[0].lstrip("−")
    assert float(mantissa.replace(",", "")) == float(plain.replace(",", ""))
    if "." in mantissa or digits == 1:
        assert len(mantissa.replace(".", "").replace(",", "").lstrip("0")) >= digits
    assert "." not in mantissa or len(mantissa.replace(".", "").lstrip("0")) == digits


def test_nothing_is_added_to_nought_and_to_what_is_no_number() -> None:
    assert rounded(0.0) == "0" and rounded(float("nan")) == number(float("nan"))
    assert (rounded(0.47), rounded(2.0), rounded(0.8, 2), rounded(100.0)) == ("0.470", "2.00", "0.80", "100")
