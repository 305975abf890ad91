"""Every file of the corpus is read, or refused in one sentence, as it says: in the lock, and some by the real door."""

import re
from pathlib import Path

import pytest

from deconditioning.errors import InputError
from deconditioning.fields.reading.upload import open_upload
from deconditioning.jail import landlock_version
from deconditioning.tables.table import open_table
from tests.corpus.batch import Outcome, run_batch, write_all
from tests.corpus.make import Case, cases


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> list[Case]:
    return cases(tmp_path_factory.mktemp("server") / "secret.nc")


def wrong(case: Case, found: Outcome) -> str:
    """What is not as the case says, empty where all is."""
    if found.fault:
        return found.fault
    if case.refused:
        return "" if re.search(case.refused, found.sentence) else f"{found.sentence or 'read: ' + found.read}"
    if found.sentence or found.read != case.read:
        return found.sentence or f"read as {found.read}"
    return "" if case.noted in " ".join(found.notes) else f"notes: {found.notes}"


@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock, so that no fork is locked in")
def test_every_file_comes_out_as_it_says(corpus, tmp_path):
    listed = write_all(tmp_path, ((case.reader, case.name, case.data) for case in corpus))
    outcomes = run_batch(tmp_path, listed)
    bad = {case.name: said for case, found in zip(corpus, outcomes, strict=True) if (said := wrong(case, found))}
    assert not bad, "\n".join(f"{name}: {said}" for name, said in bad.items())


def test_the_corpus_is_small_and_its_names_differ(corpus):
    assert sum(len(case.data) for case in corpus) < 2_000_000
    assert len({case.name for case in corpus}) == len(corpus) > 100


@pytest.mark.parametrize(
    "name", ["external-field.nc", "damaged-chunk.nc", "classic-huge.nc", "mark-1e20.nc", "table-long-row.csv"]
)
def test_by_the_door_it_is_the_same(name, corpus, real_readers):
    case = next(case for case in corpus if case.name == name)
    opened = open_table if case.reader == "table" else open_upload
    if case.refused:
        with pytest.raises(InputError, match=case.refused):
            opened(case.data, f"/somewhere/{Path(name).name}")
    else:
        found = opened(case.data, name)
        assert " ".join(found.variables()) == case.read and case.noted in " ".join(found.notes)
