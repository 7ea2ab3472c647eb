"""The written side of a line: order, bounds, and an end that leaves nobody waiting."""

import asyncio
from collections.abc import Callable

from voiceagent.transport.chat import HIGH_BYTES, LONGEST, WAITING, Chat


class Channel:
    """A data channel of aiortc's, as far as a chat knows it."""

    def __init__(self, label: str = "chat") -> None:
        self.label = label
        self.readyState = "open"
        self.bufferedAmount = 0
        self.bufferedAmountLowThreshold = 0
        self.sent: list[str] = []
        self.handlers: dict[str, Callable[..., None]] = {}

    def on(self, event: str, handler: Callable[..., None]) -> None:
        self.handlers[event] = handler

    def send(self, message: str) -> None:
        self.sent.append(message)

    def come(self, message: str | bytes) -> None:
        self.handlers["message"](message)

    def drain(self) -> None:
        self.bufferedAmount = 0
        self.handlers["bufferedamountlow"]()


def opened(farewell: str | None = None) -> tuple[Chat, Channel]:
    """A chat whose channel is there."""
    chat, channel = Chat(farewell), Channel()
    chat.take_channel(channel)  # type: ignore[arg-type]
    return chat, channel


async def read(chat: Chat) -> list[str]:
    """All that was written, once the line is over."""
    return [message async for message in chat.messages()]


async def test_who_writes_waits_for_the_channel_and_then_for_what_has_not_left() -> None:
    chat, channel = Chat(), Channel()
    first = asyncio.create_task(chat.send("first"))
    await asyncio.sleep(0)
    assert not first.done()
    chat.take_channel(channel)  # type: ignore[arg-type]
    assert await first
    channel.bufferedAmount = HIGH_BYTES + 1
    second = asyncio.create_task(chat.send("second"))
    await asyncio.sleep(0)
    assert channel.sent == ["first"]
    channel.drain()
    assert await second
    assert channel.sent == ["first", "second"]


async def test_nobody_waits_once_the_line_is_over() -> None:
    chat, channel = opened()
    channel.bufferedAmount = HIGH_BYTES + 1
    writing, reading = asyncio.create_task(chat.send("late")), asyncio.create_task(read(chat))
    await asyncio.sleep(0)
    chat.close()
    chat.close()
    assert not await writing
    assert await reading == []
    never = Chat()
    never.close()
    assert not await never.send("unheard")


async def test_only_text_of_the_one_channel_is_read() -> None:
    chat, channel = opened()
    other, again = Channel("files"), Channel()
    for late in (other, again):
        chat.take_channel(late)  # type: ignore[arg-type]
        assert not late.handlers
    channel.come("one")
    channel.come(b"bytes")
    channel.come("two")
    channel.handlers["close"]()
    assert await read(chat) == ["one", "two"]


async def test_a_browser_that_writes_too_much_has_its_chat_closed() -> None:
    chat, channel = opened()
    for number in range(WAITING + 10):
        channel.come(str(number))
    assert len(await read(chat)) == WAITING
    chat, channel = opened()
    channel.come("x" * (LONGEST + 1))
    channel.come("after")
    assert await read(chat) == []


async def test_a_farewell_is_said_once_and_not_to_whom_has_gone() -> None:
    chat, channel = opened("bye")
    await chat.bid_farewell()
    await chat.bid_farewell()
    assert channel.sent == ["bye"]
    chat, channel = opened("bye")
    chat.close()
    await chat.bid_farewell()
    assert channel.sent == []
    chat, channel = opened("bye")
    channel.readyState = "closed"
    await chat.bid_farewell()
    assert channel.sent == []
