"""The first sentence of an answer that may never be given: spoken ahead, taken by its very text, and let go otherwise."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.scenario.scripted import ToneTts
from voiceagent.room.reply import GIVEN, Reply
from voiceagent.speech.settings import SpeakingSettings
from voiceagent.voice.rehearsal import Rehearsal


class Stage:
    """A rehearsal whose tasks are counted."""

    def __init__(self, tts: ToneTts) -> None:
        self.tts = tts
        self.tasks: list[asyncio.Task[None]] = []
        self.rehearsal = Rehearsal(tts, SpeakingSettings(), self._spawn)

    def _spawn(self, work: object, name: str) -> "asyncio.Task[None]":
        task: asyncio.Task[None] = asyncio.create_task(work, name=name)  # type: ignore[arg-type]
        self.tasks.append(task)
        return task

    def draft(self, *pieces: str) -> Reply:
        draft = Reply("g1", "room")
        self.rehearsal.take(draft)
        for piece in pieces:
            draft.write(piece)
        return draft

    async def samples(self, text: str) -> int:
        """How much is heard of a sentence."""
        return sum([piece.size for piece in [one async for one in self.rehearsal.speak(text)] if hasattr(piece, "size")])

    @property
    def running(self) -> int:
        return sum(not task.done() for task in self.tasks)


LENGTH = 16 * 50 * len("It rains.")


@pytest.mark.parametrize("pieces", [("It rains. And",), ("It ", "rains.\n"), ("**It rains.** So",)])
async def test_what_is_given_is_spoken_once(pieces: Sequence[str]) -> None:
    stage = Stage(ToneTts())
    draft = stage.draft(*pieces)
    await asyncio.sleep(0.01)
    draft.cancel(GIVEN)
    assert await stage.samples("It rains.") == LENGTH
    assert stage.tts.spoken == ["It rains."]
    assert await stage.samples("It rains.") == LENGTH  # another one, spoken for itself
    assert stage.tts.spoken == ["It rains."] * 2


async def test_a_sentence_that_is_still_being_spoken_goes_on_for_its_listener() -> None:
    stage = Stage(ToneTts(first_ms=30, piece_ms=10))
    draft = stage.draft("It rains. And")
    await asyncio.sleep(0.05)
    draft.cancel(GIVEN)
    assert await stage.samples("It rains.") == LENGTH
    assert (stage.tts.spoken, stage.running) == (["It rains."], 0)


async def test_a_listener_who_leaves_stops_the_voice() -> None:
    stage = Stage(ToneTts(piece_ms=10))
    draft = stage.draft("It rains. And")
    await asyncio.sleep(0.015)
    draft.cancel(GIVEN)
    sound: AsyncIterator[object] = stage.rehearsal.speak("It rains.")
    await anext(sound)
    await sound.aclose()  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    assert stage.running == 0


async def test_a_draft_that_is_given_before_its_first_sentence_is_spoken_by_its_reply_alone() -> None:
    stage = Stage(ToneTts())
    draft = stage.draft("It ra")
    await asyncio.sleep(0.01)
    draft.cancel(GIVEN)
    await asyncio.sleep(0)
    assert stage.running == 0
    assert await stage.samples("It rains.") == LENGTH
    assert stage.tts.spoken == ["It rains."]


async def test_nothing_is_taken_of_a_draft_that_was_for_nothing_or_is_not_given_yet() -> None:
    stage = Stage(ToneTts())
    draft = stage.draft("It rains. And")
    await asyncio.sleep(0.01)
    assert await stage.samples("It rains.") == LENGTH
    draft.cancel("forgone")
    assert await stage.samples("It rains.") == LENGTH
    assert stage.tts.spoken == ["It rains."] * 3


async def test_another_sentence_lets_go_of_what_was_given_and_not_asked_for() -> None:
    stage = Stage(ToneTts(piece_ms=10))
    draft = stage.draft("It rains all day long and all night. And")
    await asyncio.sleep(0.015)
    draft.cancel(GIVEN)
    assert await stage.samples("It is dry.") > 0
    assert stage.running == 0
    assert stage.tts.spoken == ["It rains all day long and all night.", "It is dry."]


async def test_a_voice_that_fails_ahead_is_asked_again() -> None:
    tts = ToneTts()
    stage, tts.fails = Stage(tts), "rains"
    draft = stage.draft("It rains. And")
    await asyncio.sleep(0.01)
    draft.cancel(GIVEN)
    tts.fails = None
    assert await stage.samples("It rains.") == LENGTH


async def test_a_newer_draft_or_the_end_lets_go_of_the_one_before() -> None:
    stage = Stage(ToneTts(piece_ms=10))
    stage.draft("It rains. And")
    await asyncio.sleep(0.015)
    stage.draft("It is dry. So")
    await asyncio.sleep(0.015)
    assert stage.running == 1
    stage.rehearsal.close()
    await asyncio.sleep(0)
    assert stage.running == 0
