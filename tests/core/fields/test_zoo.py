"""Every oddity of the zoo is read, or refused in one sentence, as it says: on the command line, and as an upload."""

import importlib.util
import re

import pytest

from deconditioning.errors import InputError
from deconditioning.fields.reading.opening import open_fields
from deconditioning.jail import landlock_version
from tests.core.fields.zoo import table
from tests.core.fields.zoo.animal import Animal, summary
from tests.corpus.batch import run_batch

ANIMALS = [animal for part in table.PARTS.values() for animal in part.animals()]
HERE = [animal for animal in ANIMALS if not animal.needs or importlib.util.find_spec(animal.needs)]

#: Uploads go the same way once decoded, so that not all are sent through the lock.
FEW = [
    a for n, a in enumerate(HERE) if n % 5 == 0 or a.name.endswith(".grib") or "groups" in a.name or "_data" in a.name
]
#: What reads an upload of each kind.
READERS = {"fields": "fields", "regions": "regions", "stations": "table", "soundings": "table", "region table": "table"}


def wrong(animal: Animal, path) -> str:
    """What is not as the animal says, empty where all is."""
    try:
        if animal.kind != "fields":
            read, notes = summary(animal.kind, path)
            right = read == animal.reads and any(animal.noted in note for note in notes or [""])
            return "" if right and not animal.refused else f"{read}; {notes}"
        found = open_fields(path)
        names = list(found.variables())
        values = [found.values(name, animal.select) for name in names]
    except InputError as error:
        said = str(error)
        plain = said.endswith(".") and "\n" not in said
        return "" if plain and animal.refused and re.search(animal.refused, said) else said
    if animal.refused or sorted(" ".join(names).split()) != sorted(animal.reads.split()):
        return f"read: {' '.join(names)}"
    if not any(animal.noted in note for note in found.notes or [""]):
        return f"notes: {found.notes}"
    if animal.grid and found.grid.kind != animal.grid:
        return f"kind: {found.grid.kind}"
    when = found.when_and_where(names[0], animal.select)
    if animal.when is not None and when != animal.when:
        return f"when: {when}"
    return "" if all(value.shape == found.grid.shape for value in values) else "shapes"


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo")
    for animal in HERE:
        animal.make(folder / animal.name)
    return folder


@pytest.mark.parametrize("animal", ANIMALS, ids=lambda animal: animal.name)
def test_from_the_command_line(animal, places):
    if animal not in HERE:
        pytest.skip(f"{animal.needs} is not installed")
    said = wrong(animal, places / animal.name)
    assert not said, said


@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock, so that no fork is locked in")
def test_as_uploads(places):
    alone = [animal for animal in FEW if not animal.folder]
    outcomes = run_batch(places, [(animal.name, READERS[animal.kind], animal.name) for animal in alone])
    for animal, found in zip(alone, outcomes, strict=True):
        assert not found.fault, f"{animal.name}: {found.fault}"
        if READERS[animal.kind] == "table" and found.read:
            continue  # refused, if it is, by what the table is taken for
        if animal.kind == "regions" and not found.sentence:  # an attribute that cannot be chosen
            assert found.read == ("" if animal.refused else "rain"), animal.name
        elif animal.refused:
            assert re.search(animal.refused, found.sentence), f"{animal.name}: {found.sentence or found.read}"
        else:
            assert sorted(found.read.split()) == sorted(animal.reads.split()), (
                f"{animal.name}: {found.sentence or found.read}"
            )


def test_the_zoo_is_large_and_its_names_differ():
    assert len({animal.name for animal in ANIMALS}) == len(ANIMALS) > 80


@pytest.mark.skipif(len(HERE) < len(ANIMALS), reason="the page needs eccodes and rasterio")
def test_the_page_of_files_says_what_became_of_them(places):
    assert table.PAGE.read_text() == table.page(places), "write it anew: python -m tests.core.fields.zoo.table"
