"""A program of your own that follows a room of a running server: it says one thing, prints the answer, and leaves.

    python examples/follow_a_room.py ["What it says"] [--url http://127.0.0.1:8080] [--room lobby] [--token TOKEN]

`voiceagent serve` prints the address; where it asks for tokens, `voiceagent keys lobby --host` makes one. It comes back by itself
when the connection breaks, and what it says is said once however often it had to be sent.
"""

import argparse
import asyncio
from contextlib import aclosing

from voiceagent.client import Client, Line


def shown(line: Line) -> str | None:
    """A line in words; None for what nobody needs to read here."""
    match line.type:
        case "input.accepted":
            return f"said: {line.data['text']}"
        case "assistant.message":
            return f"answer: {line.data['text']}"
        case "speech.cut":
            return f"cut; heard: {line.data.get('heard_text', '')}"
        case "input.settled":
            return f"settled: {line.data['disposition']}"
    return None


async def main(url: str, text: str, room: str = "lobby", token: str | None = None) -> None:
    """Says something and follows until it is settled."""
    async with Client(url, room=room, token=token) as here, aclosing(here.events()) as lines:
        ack = await here.submit(text)
        if not ack.accepted:
            print(f"not accepted: {ack.message}")
            return
        async for line in lines:
            if words := shown(line):
                print(words)
            if line.type == "input.settled" and line.data["input_id"] == ack.input_id:
                return


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("text", nargs="?", default="What can you tell me?")
    asked.add_argument("--url", default="http://127.0.0.1:8080")
    asked.add_argument("--room", default="lobby")
    asked.add_argument("--token")
    given = asked.parse_args()
    asyncio.run(main(given.url, given.text, given.room, given.token))
