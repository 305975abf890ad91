"""Pictures of a slider that is dragged: the browser asks for each value, and gets what the charts are given.

A run of the page makes the browser lay all of it out again, at each value of the slider; here it draws the charts
alone. When the hand lets go, an ordinary run brings everything else (`pages/kit/controls/dragging.js`).
"""

import json
import math
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pages.kit.chart.plotly_live import COMPONENT
from pages.kit.streamlit_private import QuietRuns, option

if TYPE_CHECKING:
    from streamlit.runtime import Runtime

PATH = "/_lab/drag/{session_id}"
#: Bytes of a question; a slider over a list sends two of its words at most.
_MOST = 65536


class Drags:
    """The route on which a dragged slider asks for pictures."""

    def __init__(self, runtime: "Runtime") -> None:
        self._runtime, self._runs = runtime, QuietRuns(COMPONENT)

    def route(self) -> Route:
        """The route; the session's name in it is known to its browser alone."""
        base = option("server.baseUrlPath").strip("/")
        return Route(f"/{base}{PATH}" if base else PATH, self.answer, methods=["POST"])

    async def answer(self, request: Request) -> Response:
        """A list of what the charts are given; null while the page runs; 400 for what no page of this app asks."""
        question = _question(await _body(request))
        if question is None:
            return PlainTextResponse("Expected a fragment, a slider and its values.", 400)
        texts = await self._runs.given(self._runtime, request.path_params["session_id"], *question)
        result = "null" if texts is None else f"[{','.join(texts)}]"  # of other answers browsers complain by themselves
        return Response(result, media_type="application/json")


async def _body(request: Request) -> bytes:
    """What was sent, as far as it may be long."""
    result = b""
    async for part in request.stream():
        result += part
        if len(result) > _MOST:
            return b""
    return result


def _question(body: bytes) -> tuple[str, str, list[Any]] | None:
    """The fragment, the slider and its values, which are numbers or words; None where something else was sent."""
    try:
        asked = json.loads(body)
        fragment, slider, values = asked["fragment"], asked["slider"], asked["values"]
    except (ValueError, TypeError, KeyError):
        return None
    words = isinstance(values, list) and all(isinstance(value, str) for value in values)
    fits = isinstance(values, list) and (words or all(map(_is_number, values))) and 1 <= len(values) <= 2
    return (fragment, slider, values) if fits and isinstance(fragment, str) and isinstance(slider, str) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
