"""What the room says somebody has heard of an answer is what their own line played, in the real voice's words."""

import asyncio
from pathlib import Path

import pytest

from tests.sound.references import plain
from tests.sound.talking import Talk
from tests.sound.test_talk_cuts import LONG, interrupted
from voiceagent.audio.frame import to_samples
from voiceagent.speech.whisper import WhisperEngine

pytestmark = pytest.mark.usefixtures("default_models")

WORDS_OFF = 2
"""How many words the share of letters may be wrong by, within one sentence."""


def test_a_cut_answer_was_heard_as_long_and_as_far_as_the_person_heard_it(
    talk: Talk, shared_audio: Path, whisper: WhisperEngine
) -> None:
    run = interrupted(talk, shared_audio, 6_010)
    cut, following = run.said_by("Nova")
    told = [line["data"] for line in run.told("consumption.updated")]
    last, other = ([one for one in told if one["event_id"] == row["event_id"]][-1] for row in (cut, following))
    assert (last["state"], other["state"]) == ("cut", "heard")
    assert last["played_ms"] == cut["played_ms"]
    (speech,) = run.told("speech.cut")
    assert LONG.startswith(speech["data"]["heard_text"])
    assert abs(len(speech["data"]["heard_text"]) - last["heard_chars"]) <= len(last["word"]) + 1
    heard = run.right[to_samples(cut["start_ms"]) : to_samples(cut["start_ms"] + cut["played_ms"])]
    recognized = len(plain(asyncio.run(whisper.transcribe(heard)).text).split())
    estimated = len(plain(speech["data"]["heard_text"]).split())
    assert abs(recognized - estimated) <= WORDS_OFF, (recognized, estimated, speech["data"]["heard_text"])
    (record,) = run.records()
    assert speech["data"]["record_event_id"] == record["id"]
