"""A crafted upload never carries another file's bytes: it is refused, and the lock would hold without that."""

import h5py
import numpy as np
import pytest
from h5py import h5l

from deconditioning.cli.program import main
from deconditioning.downscaling.source import keep_upload, stored_uploads
from deconditioning.errors import InputError
from deconditioning.fields.reading import hdf5
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.upload import open_upload
from deconditioning.fields.store import load_fields
from deconditioning.jail import landlock_version
from deconditioning.sandbox import read_apart
from tests.corpus.crafted import COLUMNS, ROWS, field, outside
from tests.corpus.crafted import hdf5 as crafted
from tests.corpus.trusting_reader import trusting

#: Values that no honest file of the tests holds.
SECRET = 7000 + np.arange(ROWS * COLUMNS, dtype=float).reshape(ROWS, COLUMNS)
NAMES = [name for name, _, _ in outside(hdf5.Path("any"))]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The crafted files by name, and the file of the server's that they reach for."""
    secret = tmp_path_factory.mktemp("server") / "secret.nc"
    secret.write_bytes(crafted(lambda file: field(file, "t", SECRET)))
    return {name: (data, words) for name, data, words in outside(secret)} | {
        "secret": (secret.read_bytes(), str(secret))
    }


def carries(values: np.ndarray, secret: bytes) -> bool:
    """Whether an array holds the secret's values or its first bytes."""
    flat = np.asarray(values, dtype=float).ravel()
    head = np.frombuffer(secret[: flat.size], dtype="u1").astype(float)
    return bool((flat == head[: flat.size]).all() or np.isin(SECRET, flat).any())


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_refers_to_another_is_refused_and_not_kept(name, files, runs_folder, tmp_path):
    data, words = files[name]
    with pytest.raises(InputError, match=words) as error:
        keep_upload(data, name)
    assert str(error.value).endswith(".") and ":" in str(error.value)
    assert stored_uploads() == {} and not [path for path in runs_folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", NAMES)
def test_on_the_command_line_too_and_nothing_is_exported(name, files, tmp_path, capsys):
    data, words = files[name]
    words = "outside its folder" if name == "zarr-reference.json" else words
    path, output = tmp_path / name, tmp_path / "out.nc"
    path.write_bytes(data)
    with pytest.raises(InputError, match=words):
        open_fields(path)
    code = main(["downscale", str(path), "--target", "q", "--covariates", "t", "--block", "2", "2",
                 "--output", str(output)])  # fmt: skip
    assert code and not output.exists() and words in capsys.readouterr().err


@pytest.mark.parametrize("name", ["external-field.nc", "virtual.nc", "link.nc", "soft-chain.nc"])
def test_the_lock_alone_keeps_the_bytes_from_coming_out(name, files, tmp_path):
    """Without the look at the file its bytes do come out of an open process, and do not come out of the reader."""
    import xarray as xr

    data, _ = files[name]
    secret, _ = files["secret"]
    (tmp_path / name).write_bytes(data)
    with xr.open_dataset(trusting(tmp_path / name)[0], decode_cf=False) as found:
        assert carries(found["t"].values, secret)
    if not landlock_version():
        pytest.skip("this kernel has no Landlock")
    try:
        found = read_apart("tests.corpus.trusting_reader", data, name, load_fields)
    except InputError:
        return
    for variable in found.dataset.variables.values():
        assert not carries(variable.values, secret)


def test_references_within_the_file_are_read(tmp_path):
    """Hard and soft links, loops and groups are no harm."""

    def inside(file):
        group = file.create_group("a/b")
        group["above"], group["t"], file["q2"] = file["a"], file["q"], h5py.SoftLink("/a/b/above/b/t")
        file["nowhere"], file["round"] = h5py.SoftLink("/a/none"), h5py.SoftLink("/round")

    found = open_upload(crafted(inside), "inside.nc")
    assert set(found.variables()) == {"q", "q2"} and np.array_equal(found.values("q2"), found.values("q"))
    assert any("Skipped because it could not be read: `nowhere`" in note for note in found.notes)


@pytest.mark.parametrize(
    "write",
    [
        lambda file: file.create_group("/".join("a" * 60)),
        lambda file: [file.create_group(f"g{number}") for number in range(hdf5.MOST_ENTRIES + 10)],
    ],
)
def test_a_tree_without_end_is_a_sentence(write, tmp_path, monkeypatch):
    monkeypatch.setattr(hdf5, "MOST_ENTRIES", 200)
    (tmp_path / "a.nc").write_bytes(crafted(write))
    with pytest.raises(InputError, match="more than 200 entries or groups more than 40 deep"):
        open_fields(tmp_path / "a.nc")


def test_every_entry_is_looked_up_once(tmp_path, monkeypatch):
    """What made hundreds of variables slow: every attribute of every variable looked all entries up again."""

    def many(file):
        for number in range(60):
            field(file, f"v{number}", np.arange(ROWS * COLUMNS, dtype=float).reshape(ROWS, COLUMNS))

    (tmp_path / "many.nc").write_bytes(crafted(many))
    looked, plain = [], h5py.Group.__getitem__
    monkeypatch.setattr(h5py.Group, "__getitem__", lambda self, name: looked.append(name) or plain(self, name))
    found = open_fields(tmp_path / "many.nc")
    assert len(found.variables()) == 61
    assert len(looked) <= 70


def test_only_links_that_stay_in_the_file_count_as_such():
    """HDF5 numbers its kinds of links; all but two lead out, those that programs define themselves as well."""
    assert (h5l.TYPE_HARD, h5l.TYPE_SOFT, h5l.TYPE_EXTERNAL) == (0, 1, 64)
