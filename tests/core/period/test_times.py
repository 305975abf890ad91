"""Words for times."""

import pytest

from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.period.times import chosen_times, places_of_times, time_dimension
from tests.core.period.made import made_dataset

HOURS = [f"2019-03-{day:02d} {hour:02d}:00" for day in (1, 2, 3) for hour in (0, 6, 12, 18)]


@pytest.mark.parametrize(
    ("words", "indices"),
    [
        (["all"], range(12)),
        (["2019-03-02"], range(4, 8)),
        (["2019-03-02T12"], [6]),
        (["2019-03-01T12:00Z", "#0"], [0, 2]),
        (["2019-03-02/2019-03-03T06"], range(4, 10)),
        (["/2019-03-01"], range(4)),
        (["2019-03-03/"], range(8, 12)),
        (["#3/#5"], [3, 4, 5]),
        (["2018/2020"], range(12)),
    ],
)
def test_words_mean_times(words, indices) -> None:
    assert chosen_times(HOURS, words) == list(indices)


@pytest.mark.parametrize("word", ["2020", "#40", "", "/", "noon", "2019-03-03/2019-03-01"])
def test_words_that_mean_no_time_are_refused(word) -> None:
    with pytest.raises(InputError, match="No time matches"):
        chosen_times(HOURS, [word])


def test_labels_that_are_no_dates_are_matched_whole() -> None:
    assert chosen_times(["0", "1", "2"], ["1"]) == [1]
    assert chosen_times(["0", "1", "2"], ["#1/#2"]) == [1, 2]


def test_times_are_chosen_in_the_order_of_their_dates() -> None:
    assert chosen_times(HOURS[::-1], ["all"]) == list(range(11, -1, -1))
    assert chosen_times(HOURS[6:] + HOURS[:6], ["#4/#7"]) == [6, 7, 4, 5]


@pytest.mark.parametrize(("dim", "about"), [("TIME", {}), ("T", {"axis": "T"}), ("t1", {"standard_name": "time"})])
def test_times_without_dates_lie_along_what_the_file_calls_time(dim, about) -> None:
    dataset = made_dataset(3).drop_vars("time").rename(time=dim)
    dataset[dim] = (dim, [0.0, 1.0, 2.0], about)
    assert time_dimension(fields_from_dataset(dataset), "t") == dim
    dataset[dim].attrs = {}
    if about:
        with pytest.raises(InputError, match="no dimension of several times"):
            time_dimension(fields_from_dataset(dataset), "t")


def test_the_only_day_of_a_month_is_not_every_day_of_it() -> None:
    """A daily file that begins on 31 January, and an archive of the days before; monthly means have a day's name."""
    file = ["2001-01-31 00:00", "2001-02-01 00:00", "2001-02-02 00:00"]
    assert places_of_times(file, ["2001-01-29 00:00", "2001-01-30 00:00", "2001-02-02 00:00"]) == [None, None, 2]
    assert places_of_times(file, ["2001-01-30 00:00", "2001-01-31 00:00"]) == [None, 0]
    assert places_of_times(["2001-01-16", "2001-02-15"], ["2001-02-01", "2001-03-01"]) == [1, None]
