"""Uploads go to the disk, not into the server's memory: each is streamed to the runs folder, within the visitor's room.

The route takes the place of Streamlit's own, which holds every file in memory until some time after its session. Of a
session's files those that no page kept are deleted with it.
"""

import asyncio
import contextlib
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message

from deconditioning.engine.context import is_file_name
from deconditioning.engine.visitors.upload_quota import check_room, incoming_folder
from deconditioning.engine.visitors.visitor import mark_of
from deconditioning.errors import InputError
from pages.kit.runs.uploaded import note_of, note_of_refusal
from pages.kit.streamlit_private import is_own_form, on_removed_uploads, option, tell_of_upload
from pages.kit.visitor import COOKIE, is_shared

if TYPE_CHECKING:
    from streamlit.runtime import Runtime

#: Uploads under way of one visitor, and of all; seconds without a byte after which one is given up.
_OF_ONE, _OF_ALL, SILENCE_S = 3, 12, 30.0
#: What a form adds to its file.
_FRAME = 65536


class Refused(Exception):
    """An upload that is not taken: the answer's status and its sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Uploads:
    """The uploads of this server: its route, and what each session has on the disk."""

    def __init__(self, runtime: "Runtime") -> None:
        self._runtime = runtime
        self._under_way: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._places: dict[tuple[str, str], Path] = {}
        on_removed_uploads(
            runtime,
            lambda session_id, file_id: self._delete(lambda key: key == (session_id, file_id)),
            lambda session_id: self._delete(lambda key: key[0] == session_id),
        )

    def route(self) -> Route:
        """The route that takes a file."""
        base = option("server.baseUrlPath").strip("/")
        path = "/_stcore/upload_file/{session_id}/{file_id}"
        return Route(f"/{base}{path}" if base else path, self.take, methods=["PUT"])

    async def take(self, request: Request) -> Response:
        """Take a file, or say in one sentence why not."""
        try:
            session_id, file_id = self._checked(request)
            mark, size = _mark(request), _declared(request)
            with self._turn(mark, size):
                await self._keep(request, (session_id, file_id), mark, size)
        except Refused as refused:
            return PlainTextResponse(str(refused), refused.status, {"Connection": "close"})
        except (MultiPartException, TimeoutError, OSError):
            return PlainTextResponse("The upload was interrupted or is not a form with one file: send it again.", 400)
        return Response(status_code=204)

    def _checked(self, request: Request) -> tuple[str, str]:
        if not is_own_form(request.headers.get("X-Xsrftoken"), request.cookies):
            raise Refused(403, "The page that sends this upload does not belong to this server: reload it.")
        session_id, file_id = request.path_params["session_id"], request.path_params["file_id"]
        if not self._runtime.is_active_session(session_id) or not is_file_name(file_id):
            raise Refused(400, "The session of this upload is over: reload the page.")
        return session_id, file_id

    @contextlib.contextmanager
    def _turn(self, mark: str, size: int) -> Iterator[None]:
        """One upload under way; ``Refused`` where this visitor, or all together, have too many of them."""
        with self._lock:
            if self._under_way[mark] >= _OF_ONE or sum(self._under_way.values()) >= _OF_ALL:
                raise Refused(429, "Too many uploads are in progress: wait until one is done.")
            self._under_way[mark] += 1
            self._bytes[mark] += size
        try:
            yield
        finally:
            with self._lock:
                self._under_way[mark] -= 1
                self._bytes[mark] -= size

    async def _keep(self, request: Request, key: tuple[str, str], mark: str, size: int) -> None:
        """Lay a file on the disk; where there is no room, read it away, and the page says why it is not there."""
        try:
            await run_in_threadpool(check_room, self._bytes[mark], mark)
        except InputError as error:
            async for _ in _limited(request, size).stream():
                pass  # read to its end, or the browser never sees the answer
            tell_of_upload(self._runtime, *key, "the file", "", note_of_refusal(str(error)))
            return
        async with _limited(request, size).form(max_files=1, max_fields=8) as form:
            files = [part for part in form.values() if isinstance(part, UploadFile)]
            if len(files) != 1:
                raise MultiPartException("not one file")
            place = incoming_folder(mark) / f"{key[0]}-{key[1]}"
            await run_in_threadpool(_write, files[0].file, place)
            kind = files[0].content_type or "application/octet-stream"
            name = files[0].filename or ""
        self._places[key] = place
        tell_of_upload(self._runtime, *key, name, kind, note_of(place))  # a note in place of its bytes

    def _delete(self, wanted: Any) -> None:
        for key in [key for key in self._places if wanted(key)]:
            self._places.pop(key).unlink(missing_ok=True)


def _mark(request: Request) -> str:
    """Whose upload it is; empty on one person's machine."""
    if not is_shared():
        return ""
    secret = request.cookies.get(COOKIE)
    if not secret:
        raise Refused(403, "This server takes uploads only from browsers that keep its cookie: allow it and reload.")
    return mark_of(secret)


def _declared(request: Request) -> int:
    """Bytes that an upload says it has, the most allowed where it does not say."""
    most = option("server.maxUploadSize") * 1024 * 1024
    length = request.headers.get("content-length", "")
    size = int(length) - _FRAME if length.isdigit() else most
    if size > most:
        raise Refused(413, f"The file is larger than {most / 1e6:,.0f} MB.")
    return max(size, 0)


def _limited(request: Request, size: int) -> Request:
    """The request, which breaks off beyond what was declared and after a long silence."""
    received = 0

    async def receive() -> Message:
        nonlocal received
        message = await asyncio.wait_for(request.receive(), SILENCE_S)
        received += len(message.get("body", b""))
        if received > size + 2 * _FRAME:
            raise Refused(413, "The upload is larger than declared.")
        return message

    return Request(request.scope, receive)


def _write(source: Any, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    source.seek(0)
    try:
        with place.open("xb") as target:
            shutil.copyfileobj(source, target, 2**20)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
