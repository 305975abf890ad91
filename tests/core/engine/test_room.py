"""Uploads: who may delete them, when they expire, and what they take."""

import json
import os
import time
from pathlib import Path

import pytest

from deconditioning.engine.visitors import upload_quota
from deconditioning.engine.visitors.uploads import (
    UPLOAD,
    claim,
    claims,
    delete,
    digest_of,
    upload_folder,
    uploaded_names,
    write_upload,
)
from deconditioning.errors import InputError

ALICE, BOB = "a" * 64, "b" * 64


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of uploads."""
    monkeypatch.setenv("DECONDITIONING_RUNS", str(tmp_path))
    return upload_folder()


def kept_by(mark: str, data: bytes = b"fields") -> str:
    """An upload in that visitor's list; its digest."""
    digest = write_upload(data, json.dumps({"name": "mine.nc"}).encode()).removeprefix(UPLOAD)
    claim(digest, mark, "mine.nc")
    return digest


def test_a_path_is_moved_and_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    (path := tmp_path / "incoming").write_bytes(b"fields")
    assert digest_of(path) == digest_of(b"fields")
    assert write_upload(path, b'{"name": "mine.nc"}') == f"{UPLOAD}{digest_of(b'fields')}" and not path.exists()


def test_an_upload_of_two_is_deleted_with_the_second(folder: Path) -> None:
    digest = kept_by(ALICE)
    assert kept_by(BOB) == digest and upload_quota.used(ALICE) == upload_quota.used(BOB) == 6 + len(
        '{"name": "mine.nc"}'
    )
    for mark in ("c" * 64, "d" * 64):
        with pytest.raises(InputError, match="not yours"):
            delete(digest, mark)
    delete(digest, ALICE)
    assert not claims(ALICE) and uploaded_names(folder, ".nc", BOB) == {digest: "mine.nc"}
    with pytest.raises(InputError, match="not yours"):
        delete(digest, ALICE)
    delete(digest, BOB)
    assert not uploaded_names(folder, ".nc") and upload_quota.used() == 0


@pytest.mark.parametrize("digest", ["../../etc", "", "0" * 15, "upload:" + "0" * 16, "*" * 16])
def test_only_a_digest_names_what_is_deleted(digest: str) -> None:
    kept_by("")
    for mark in ("", ALICE):
        with pytest.raises(InputError, match="not yours"):
            delete(digest, mark)
    assert uploaded_names(upload_folder(), ".nc")


def test_one_person_deletes_what_is_theirs(folder: Path) -> None:
    delete(kept_by(""), "")
    assert not uploaded_names(folder, ".nc")


def test_what_nobody_opens_expires_on_a_shared_server_alone(folder: Path) -> None:
    old, new = kept_by(ALICE, b"old"), kept_by(ALICE, b"new")
    past = time.time() - upload_quota.EXPIRY_S - 60
    os.utime(folder / f"{old}.nc", (past, past))
    assert upload_quota.expire(shared=False) == 0 and len(uploaded_names(folder, ".nc")) == 2
    assert upload_quota.expire(shared=True) == 1
    assert uploaded_names(folder, ".nc") == claims(ALICE) == {new: "mine.nc"}


def test_uploads_left_half_way_expire_in_a_day() -> None:
    place = upload_quota.incoming_folder("")
    place.mkdir(parents=True)
    for name, age in (("old", upload_quota.INCOMING_S + 60), ("new", 0)):
        (place / name).write_bytes(b"half")
        os.utime(place / name, (time.time() - age,) * 2)
    assert upload_quota.expire(shared=False) == 1 and [path.name for path in place.iterdir()] == ["new"]


def test_a_limit_that_is_no_number_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECONDITIONING_VISITOR_MB", "much")
    with pytest.raises(InputError, match="whole number of MB"):
        upload_quota.limits()
