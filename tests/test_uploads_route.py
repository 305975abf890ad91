"""Uploads on their way: streamed to the disk, within the visitor's room, in turn, and gone with their session."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from streamlit import config
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from deconditioning.engine.visitors import upload_quota
from deconditioning.engine.visitors.visitor import mark_of
from deconditioning.errors import InputError
from pages.kit.runs.uploaded import content, content_bytes, note_of
from pages.kit.visitor import COOKIE
from scripts import uploads
from scripts.uploads import Uploads

ALICE, BOB = "a" * 64, "b" * 64
BOUNDARY = b"x"


class Runtime:
    """What the route asks of Streamlit's."""

    def __init__(self) -> None:
        self.uploaded_file_mgr = MemoryUploadedFileManager("/_stcore/upload_file")

    def is_active_session(self, session_id: str) -> bool:
        return session_id.startswith("here")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Uploads:
    """The route of a shared server without Streamlit's check of its own token."""
    monkeypatch.setenv("DECONDITIONING_RUNS", str(tmp_path))
    monkeypatch.setenv("DECONDITIONING_SHARED", "true")
    monkeypatch.setattr(uploads, "is_own_form", lambda token, cookies: True)
    known = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: 3 if name == "server.maxUploadSize" else known(name))
    return Uploads(Runtime())  # type: ignore[arg-type]


def form(data: bytes, *, files: int = 1) -> bytes:
    head = (
        b'Content-Disposition: form-data; name="file"; filename="mine.nc"\r\nContent-Type: application/x-netcdf\r\n\r\n'
    )
    return (
        b"".join(b"--" + BOUNDARY + b"\r\n" + head + data + b"\r\n" for _ in range(files))
        + b"--"
        + BOUNDARY
        + b"--\r\n"
    )


class Gate(asyncio.Event):
    """Holds the last piece of uploads back; ``reached`` is how many came to it, for whom there was room therefore."""

    reached = 0

    async def wait(self) -> bool:
        """Until it is opened."""
        self.reached += 1
        return await super().wait()


async def put(
    server: Uploads, body: bytes, *, who: str = ALICE, session: str = "here", file: str = "file-1",
    length: int | None = None, pieces: int = 4, gate: Gate | None = None,
) -> tuple[int, str]:  # fmt: skip
    """Status and words of the answer to one upload, sent in pieces; a gate holds the last one back."""
    headers = [(b"content-type", b"multipart/form-data; boundary=" + BOUNDARY)]
    headers += [(b"content-length", str(len(body) if length is None else length).encode())] if length != -1 else []
    headers += [(b"cookie", f"{COOKIE}={who}".encode())] if who else []
    step = -(-len(body) // pieces)
    chunks = [body[at : at + step] for at in range(0, len(body), step)]
    sent: list[Any] = []

    async def receive() -> Any:
        if len(chunks) == 1 and gate is not None:
            await gate.wait()
        return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "PUT", "path": f"/_stcore/upload_file/{session}/{file}", "headers": headers,
             "query_string": b"", "path_params": {"session_id": session, "file_id": file}}  # fmt: skip
    await server.route().handle(scope, receive, send)
    return sent[0]["status"], b"".join(part.get("body", b"") for part in sent[1:]).decode()


def once(server: Uploads, body: bytes, **how: Any) -> tuple[int, str]:
    return asyncio.run(put(server, body, **how))


class Held:
    """An uploaded file as a page sees it."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def getvalue(self) -> bytes:
        return self._data


def records(server: Uploads, session: str = "here", file: str = "file-1") -> list[UploadedFileRec]:
    return server._runtime.uploaded_file_mgr.get_files(session, [file])


def refused(server: Uploads, body: bytes, **how: Any) -> str:
    """The sentence that the page says of an upload for which there is no room."""
    assert once(server, body, **how) == (204, "")
    with pytest.raises(InputError) as error:
        content(Held(records(server, file=how.get("file", "file-1"))[0].data))
    return str(error.value)


def test_a_file_goes_to_the_disk_and_streamlit_holds_a_note_of_it(server: Uploads) -> None:
    data = bytes(range(256)) * 8000
    assert once(server, form(data)) == (204, "")
    (held,) = records(server)
    path = content(Held(held.data))
    assert len(held.data) < 400 and held.name == "mine.nc" and isinstance(path, Path)
    assert path.read_bytes() == content_bytes(Held(held.data)) == data
    assert path.parent == upload_quota.incoming_folder(mark_of(ALICE)) and upload_quota.used(mark_of(ALICE)) == len(
        data
    )
    server._runtime.uploaded_file_mgr.remove_session_files("here")
    assert not path.exists() and not records(server)


def test_a_file_taken_away_is_deleted_and_others_stay(server: Uploads) -> None:
    for file in ("one", "two"):
        assert once(server, form(b"data"), file=file)[0] == 204
    server._runtime.uploaded_file_mgr.remove_file("here", "one")
    assert len([*upload_quota.incoming_folder(mark_of(ALICE)).iterdir()]) == 1


def test_a_note_cannot_be_made_by_a_visitor() -> None:
    for forged in (b"stored on disk /etc/passwd", note_of(Path("/etc/passwd"))[5:], b"stored on disk " + b"0" * 64):
        assert content(Held(forged)) == forged


@pytest.mark.parametrize(
    ("how", "status", "words"),
    [
        ({"who": ""}, 403, "cookie"),
        ({"session": "gone"}, 400, "session"),
        ({"file": "../../x"}, 400, "session"),
        ({"length": 4 * 2**20}, 413, "larger than 3 MB"),
        ({"length": 10, "body": form(b"x" * 900_000)}, 413, "larger than declared"),
        ({"body": b"no form"}, 400, "not a form"),
        ({"body": form(b"x", files=2)}, 400, "one file"),
        ({"body": form(b"x", files=0)}, 400, "one file"),
    ],
)
def test_what_is_not_taken_is_said_and_leaves_nothing(server: Uploads, how: dict, status: int, words: str) -> None:
    answer = once(server, how.pop("body", form(b"data")), **how)
    assert answer[0] == status and words in answer[1], answer
    assert upload_quota.used() == 0 and not server._places and not sum(server._under_way.values())


def test_each_visitor_has_a_quota_and_all_together_have_one(server: Uploads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECONDITIONING_VISITOR_MB", "2")
    monkeypatch.setenv("DECONDITIONING_UPLOADS_MB", "3")
    body = form(b"x" * 1_200_000)
    assert once(server, body)[0] == 204
    words = refused(server, body, file="file-2")
    assert words.startswith("Your uploads take 1 of 2 MB")
    assert once(server, body, who=BOB)[0] == 204
    words = refused(server, body, who="c" * 64, file="file-3")
    assert words.startswith("All uploads on this server take 2 of 3 MB")


def test_files_under_way_count_and_one_visitor_does_not_block_another(
    server: Uploads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DECONDITIONING_VISITOR_MB", "3")
    body = form(b"x" * 900_000)

    async def crowd() -> list[int]:
        gate = Gate()
        slow = [asyncio.create_task(put(server, body, file=f"slow-{n}", gate=gate)) for n in range(3)]
        while gate.reached < 3:
            await asyncio.sleep(0.01)
        fourth, other = await put(server, body, file="fourth"), await put(server, body, who=BOB)
        gate.set()
        return [fourth[0], other[0], *(answer[0] for answer in await asyncio.gather(*slow))]

    assert asyncio.run(crowd()) == [429, 204, 204, 204, 204]
    assert "Your uploads take 3 of 3 MB" in refused(server, form(b"x" * 600_000), file="more")


def test_an_upload_that_falls_silent_is_given_up(server: Uploads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "SILENCE_S", 0.1)

    async def silent() -> tuple[int, str]:
        return await put(server, form(b"x" * 1000), gate=Gate())

    assert asyncio.run(silent())[0] == 400 and not sum(server._under_way.values())


def test_a_reserve_of_the_disk_stays_free(server: Uploads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_quota, "RESERVE_MB", 10**9)
    assert "are reserved" in refused(server, form(b"data"))
    monkeypatch.setenv("DECONDITIONING_SHARED", "false")
    assert "are reserved" in refused(server, form(b"data"), who="", file="file-2")


def test_one_persons_machine_has_no_quota_and_needs_no_cookie(server: Uploads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECONDITIONING_SHARED", "false")
    monkeypatch.setenv("DECONDITIONING_VISITOR_MB", "0")
    assert once(server, form(b"data"), who="")[0] == 204
