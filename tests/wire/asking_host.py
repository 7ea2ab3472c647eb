"""A server as a process of its own, whose agent asks in rooms: one line on its standard input, one line back.

    python asking_host.py NAME FILE PORT

The first line out is its address; then ROOM<TAB>KIND<TAB>QUESTION<TAB>OPTION... asks and gives the question's id back, with the
kind `about HOST/ROOM` about another host's room, `ended<TAB>ID` gives a question's state back once it has ended here, and `told`
what the agent was told of so far, as JSON.
"""

import asyncio
import json
import sys
from pathlib import Path

from tests.wire.asked import Asked
from tests.wire.browser import serving
from tests.wire.door import Receiver
from voiceagent.errors import QuestionRefusedError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.origin import Origin
from voiceagent.room.questions.question import Asking
from voiceagent.room.sqlite import SqliteStore
from voiceagent.web.pairing.settings import PairingSettings
from voiceagent.web.server import build
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status


async def live(name: str, file: Path, port: int) -> None:
    """Serves until the standard input ends."""
    settings = WebSettings(port=port, pairing=PairingSettings(name=name, address=f"http://127.0.0.1:{port}", poll_ms=500))
    async with RoomEngine(store=SqliteStore(file), other_rooms="allow") as engine:
        app = build(Receiver(engine), engine, settings, lambda: Status("0", "nobody speaks here"))
        async with serving(app, settings, port) as url:
            there = Asked(url, engine)
            changed = asyncio.Event()
            engine.questions.watchers.watch(lambda _: changed.set())
            _say(url)
            while line := await asyncio.to_thread(sys.stdin.readline):
                _say(await answered(there, line.rstrip("\n").split("\t"), changed))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def answered(there: Asked, words: list[str], changed: asyncio.Event) -> str:
    """Does what one line says."""
    if words[0] == "told":
        return json.dumps([question.summary() for question in there.agent.told])
    if words[0] == "ended":
        while (known := await there.engine.questions.get(words[1])) is not None and known.is_open:
            changed.clear()
            await changed.wait()
        return known.state if known is not None else "unknown"
    room, kind, question, *options = words
    await there.room(room)
    if kind.startswith("about "):
        asking = Asking(question, tuple(options))
        desk = there.engine.questions
        try:
            return (await desk.ask(Origin(room, "nova"), "g1", asking, about=kind.removeprefix("about "))).question_id
        except QuestionRefusedError as error:
            return f"refused: {error}"
    return (await there.ask(room, question, *options, kind=kind)).question_id  # type: ignore[arg-type]


if __name__ == "__main__":
    asyncio.run(live(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
