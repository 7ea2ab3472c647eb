"""While people talk in real time no callback of the event loop takes more than 10 ms of the thread's time."""

import asyncio
import gc
from pathlib import Path

import pytest

from tests.sound.hearing import load
from tests.sound.interjections import words
from tests.sound.stalls import Stalls, watched
from tests.sound.talking import LentEars, LentVoice, Talk, together, write
from tests.sound.visitor import Visitor, visiting
from voiceagent import config
from voiceagent.app import App, Choices
from voiceagent.cli.garbage import settled
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.events import Participant
from voiceagent.speech.detector import GatedDetector, Silero
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.whisper import WhisperEngine
from voiceagent.transport.webrtc import WebRtcCall

pytestmark = pytest.mark.usefixtures("default_models")

ANSWER = "The parcel left our house this morning with the first van, and it will be at your door tomorrow. "
QUESTION = "tau2-order_status.wav"
OVER_MS, LAST_MS = 6_000, 12_000


def test_no_callback_holds_the_loop_of_a_talk(
    monkeypatch: pytest.MonkeyPatch, talk: Talk, shared_audio: Path, silero: Silero, piper: PiperEngine
) -> None:
    """A question, an answer that is talked over, and another question, from the call's first frame to the files; all garbage is
    looked for once while it lasts, as falls due sooner or later."""
    over = asyncio.run(words(piper, "No, I meant the other one."))
    question = load(shared_audio / QUESTION)
    ann = write(talk.folder / "Ann.wav", together((0, question), (OVER_MS, over), (LAST_MS, question)))
    monkeypatch.setattr("voiceagent.cli.loop._REAL", asyncio.new_event_loop)
    with watched(monkeypatch) as stalls:

        def called(*_: object) -> GatedDetector:
            stalls.count()
            asyncio.get_running_loop().call_later(OVER_MS / 1000, gc.collect)
            return GatedDetector(silero)

        monkeypatch.setattr("voiceagent.speech.detector.GatedDetector", called)
        run = talk(ann, answers=(ANSWER * 2, "Good.", ANSWER), fast=False)
    assert run.code == 0, run.output
    assert [row["cut"] for row in run.said_by("Nova")] == [True, False, False]
    _free(stalls)


def test_no_callback_holds_the_loop_of_a_line_to_a_browser(
    monkeypatch: pytest.MonkeyPatch, shared_audio: Path, whisper: WhisperEngine, piper: PiperEngine
) -> None:
    """From the offer to the hang-up: others may be on the line already. The browser has a loop and a thread of its own."""
    sound = together((0, load(shared_audio / QUESTION)), (OVER_MS, asyncio.run(words(piper, "No, I meant the other one."))))
    model = ScriptedModel([ANSWER * 2, "Good."])
    choices = Choices(memory=True, greet=False, provider=model, stt=LentEars(whisper), tts=LentVoice(piper))

    async def visited(stalls: Stalls) -> list[str]:
        async with App(config.load(None), choices) as app, asyncio.timeout(60):
            await app.open_room("hall")
            with settled(), visiting(sound) as visitor:
                offer = await visitor.offer()
                stalls.count()
                return await _taken(app, offer, visitor)

    with watched(monkeypatch) as stalls, asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        told = runner.run(visited(stalls))
    assert "speech.cut" in told
    _free(stalls)


async def _taken(app: App, offer: str, visitor: Visitor) -> list[str]:
    """Takes the call, up to the end of the first answer that is not cut; the types of what was told in the room."""
    call, told, reader = WebRtcCall("web"), list[str](), app.engine.feed("hall").subscribe(after=0)
    async with asyncio.TaskGroup() as tasks:
        visitor.answered(await call.accept(offer))
        tasks.create_task(call.run())
        tasks.create_task(app.reception.receive(call, room_id="hall", participant=Participant("ann", "Ann")))
        async for event in reader.events():
            told.append(event.type)
            if event.type == "speech.finished":
                break
        reader.close()
        await call.hang_up()
    return told


def _free(stalls: Stalls) -> None:
    assert stalls.callbacks > 1_000
    assert not stalls.over, "\n".join(stalls.over)
