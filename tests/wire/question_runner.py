"""Runs an agent that asks, in a room of a store file, until it is killed.

With a second argument the question that is open there is answered, and "answered" is said once the agent's model, which never
ends, has been asked about the answer; without, the agent asks, and "asked" is said once it has.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from voiceagent import AIChannel, Channel, ChannelType, InboundMessage, RoomEngine, ScriptedModel, TextContent, ToolCall
from voiceagent.llm.model import Chunk, Prompt, TextDelta
from voiceagent.room.questions.question import Answer
from voiceagent.room.sqlite import SqliteStore


class Hangs:
    """A model that says so once it is asked, and never answers."""

    name = "hangs"

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Never ends."""
        _say("answered")
        await asyncio.Event().wait()
        yield TextDelta("")


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def main(file: Path, *, answers: bool) -> None:
    """Asks or answers, and waits to be killed."""
    asks = ScriptedModel([[ToolCall("c1", "ask", '{"question": "Which hall?"}')], "I asked."])
    async with RoomEngine(store=SqliteStore(file)) as kit:
        kit.register_channel(Channel("text", ChannelType.TEXT))
        kit.register_channel(AIChannel("assistant", provider=Hangs() if answers else asks))
        await kit.create_room("r")
        for channel in ("text", "assistant"):
            await kit.attach_channel("r", channel)
        feed = kit.feed("r").subscribe()
        if answers:
            (question,) = kit.questions.waiting("r")
            await kit.questions.answer(question.question_id, Answer("text", text="the big one", participant_id="ana"))
        else:
            await kit.process_inbound(InboundMessage("text", TextContent("book it"), "ana"), room_id="r")
        async for line in feed.events():
            if line.type == "generation.finished":
                _say("asked")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), answers=len(sys.argv) > 2))
