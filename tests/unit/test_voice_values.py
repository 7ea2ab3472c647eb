"""The small decisions around a call: waits, the cut record, who hears whom."""

import numpy as np
import pytest

from voiceagent.audio.frame import FRAME_SAMPLES, Samples
from voiceagent.room.reply import Reply
from voiceagent.voice.cut import CutReply
from voiceagent.voice.mixing import mixes
from voiceagent.voice.waiting import Waiting


def reply(name: str, words: str = "", *, answers: str | None = None, urgent: bool = False) -> Reply:
    made = Reply(name, "room", responds_to=answers, urgent=urgent)
    made.write(words)
    return made


def test_replies_take_turns_urgent_first_and_none_waits_for_one_without_words() -> None:
    waiting = Waiting()
    thinking, ended = reply("thinking"), reply("ended")
    ended.end()
    for one in (thinking, reply("a", "x"), reply("u", "x", urgent=True), reply("v", "x", urgent=True), ended):
        waiting.add(one)
    assert [taken.id if taken else None for taken in (waiting.take() for _ in range(5))] == ["u", "v", "a", "ended", None]
    thinking.write("now")
    assert waiting.take() is thinking


def test_a_queue_that_is_cleared_is_empty() -> None:
    waiting = Waiting()
    for one in (reply("a"), reply("b"), reply("u", urgent=True)):
        waiting.add(one)
    assert [gone.id for gone in waiting.clear()] == ["u", "a", "b"]
    assert len(waiting) == 0


def cut(*, text: str = "It opens at nine.", played: int = 16_000, samples: int | None = 48_000, agent: bool = True) -> CutReply:
    return CutReply(
        "r",
        "session",
        "assistant" if agent else None,
        "event" if agent else None,
        text,
        played,
        samples,
        5,
        "barge_in",
        "It opens",
    )


def test_the_record_of_a_cut_answer() -> None:
    assert cut().metadata() == {
        "interrupted": True,
        "played_ms": 1_000,
        "voice_session_id": "session",
        "heard_text": "It opens",
        "heard_exact": True,
        "played_percentage": 33.3,
        "answer_channel_id": "assistant",
        "answer_responds_to": "event",
    }


def test_the_percentage_needs_a_known_length_and_an_announcement_is_nobodys_answer() -> None:
    entries = cut(samples=None, agent=False).metadata()
    assert sorted(entries) == ["heard_exact", "heard_text", "interrupted", "played_ms", "voice_session_id"]


@pytest.mark.parametrize(
    ("facts", "worth"),
    [
        (cut(), True),
        (cut(played=0), True),
        (cut(samples=None), True),
        (cut(text=" "), False),
        (cut(played=48_000), False),
        (cut(played=48_320), False),
    ],
)
def test_what_was_heard_whole_or_says_nothing_leaves_no_record(facts: CutReply, worth: bool) -> None:
    assert facts.worth_a_record is worth


def tone(value: int) -> Samples:
    return np.full(FRAME_SAMPLES, value, dtype=np.int16)


def test_everybody_hears_all_but_themselves() -> None:
    heard = mixes(["ann", "ben", "cy"], {"ann": tone(100), "ben": tone(20)}, tone(3))
    assert {name: int(samples[0]) for name, samples in heard.items()} == {"ann": 23, "ben": 103, "cy": 123}


def test_listeners_share_one_mix() -> None:
    heard = mixes(["ann", "ben", "cy"], {"ann": tone(100)}, tone(3))
    assert heard["ben"] is heard["cy"]


def test_nothing_is_handed_to_whom_nobody_speaks() -> None:
    assert mixes(["ann", "ben"], {}, None) == {}
    assert set(mixes(["ann", "ben"], {"ann": tone(1)}, None)) == {"ben"}
    assert set(mixes(["ann"], {"ann": tone(1)}, None)) == set()
