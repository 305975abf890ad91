"""The tests' own visitor: what it reads of messages, and that an error of its reading ends its waiting."""

import asyncio

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.visitor import Visitor


def component(json: str) -> ForwardMsg:
    message = ForwardMsg()
    message.delta.new_element.bidi_component.json = json
    return message


class Sent:
    """A socket on which these messages have come."""

    def __init__(self, *messages: ForwardMsg) -> None:
        self._messages = iter(messages)

    def __aiter__(self) -> "Sent":
        return self

    async def __anext__(self) -> bytes:
        for message in self._messages:
            return message.SerializeToString()
        raise StopAsyncIteration


async def read(*messages: ForwardMsg) -> Visitor:
    visitor = Visitor("http://nowhere")
    visitor._socket = Sent(*messages)  # type: ignore[assignment]
    visitor._reader = asyncio.create_task(visitor._read())
    with pytest.raises(AssertionError, match="closed the session"):
        await visitor.until(lambda: False)
    return visitor


def test_charts_have_a_key_and_a_stamp_and_other_components_are_passed_over() -> None:
    others = [component(json) for json in ('{"stamp": "a"}', "[1]", '"text"')]
    visitor = asyncio.run(read(*others, component('{"key": "map", "stamp": "b"}')))
    assert visitor.pictures == {"map": "b"}


def test_an_error_of_reading_ends_the_waiting() -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        asyncio.run(read(component("no JSON")))
