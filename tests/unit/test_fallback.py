"""Which engine is asked first, and how settings name several."""

import pytest

from voiceagent.config import load
from voiceagent.errors import ConfigError
from voiceagent.fallback import Fallback, closed, opened


@pytest.mark.parametrize(
    ("failures", "at_ms", "order"),
    [
        ({}, 0, "abc"),
        ({"a": 0}, 999, "bca"),
        ({"a": 0}, 1_000, "abc"),
        ({"a": 500, "b": 400}, 900, "cba"),
        ({"a": 500, "b": 400}, 1_400, "bca"),
        ({"a": 0, "b": 0, "c": 0}, 500, "abc"),
        ({"c": 0}, 10, "abc"),
    ],
)
def test_who_failed_goes_behind_the_others_until_its_cool_down_is_over(failures: dict[str, int], at_ms: int, order: str) -> None:
    chain = Fallback(["a", "b", "c"], cool_down_ms=1_000)
    for name, failed_at in failures.items():
        chain.failed(next(engine for engine in chain.engines if engine == name), failed_at)
    assert "".join(chain.order(at_ms)) == order


def test_who_works_again_is_first_again() -> None:
    chain = Fallback(["a", "b"], cool_down_ms=1_000)
    chain.failed(chain.engines[0], 0)
    chain.worked(chain.engines[0])
    assert chain.order(1) == ("a", "b")
    with pytest.raises(ValueError, match="at least one"):
        Fallback([])


async def test_opening_and_closing_take_plain_and_async_ways_and_none() -> None:
    done: list[str] = []

    class Plain:
        def close(self) -> None:
            done.append("plain closed")

    class Async:
        async def open(self) -> None:
            done.append("async open")

        async def close(self) -> None:
            done.append("async closed")

    await opened(Plain(), Async(), object())
    await closed(Plain(), Async(), object())
    assert done == ["async open", "plain closed", "async closed"]


@pytest.mark.parametrize(
    ("key", "given", "names"),
    [
        ("hearing.stt", "livekit:deepgram", ("livekit:deepgram",)),
        ("hearing.stt", ["livekit:deepgram", "whisper:base"], ("livekit:deepgram", "whisper:base")),
        ("speaking.tts", ["livekit:cartesia", "espeak:fr", "piper"], ("livekit:cartesia", "espeak:fr", "piper")),
        ("llm.brain", "notes", ("notes",)),
        ("llm.brain", ["livekit:openai", "notes"], ("livekit:openai", "notes")),
    ],
)
def test_settings_take_one_engine_or_a_list(key: str, given: str | list[str], names: tuple[str, ...]) -> None:
    section, name = key.split(".")
    settings = load(None, {}, {key: given})  # type: ignore[dict-item]
    assert getattr(getattr(settings, section), name) == names


def test_the_environment_takes_a_list_and_options_by_plugin() -> None:
    environ = {
        "VOICEAGENT_HEARING__STT": '["livekit:deepgram", "whisper"]',
        "VOICEAGENT_HEARING__OPTIONS__DEEPGRAM__MODEL": "nova-2",
    }
    hearing = load(None, environ).hearing
    assert hearing.stt == ("livekit:deepgram", "whisper")
    assert hearing.options == {"deepgram": {"model": "nova-2"}}


@pytest.mark.parametrize(
    ("key", "given", "told"),
    [
        ("hearing.stt", "wisper", "there is no engine 'wisper'; known: whisper, livekit:PLUGIN"),
        ("hearing.stt", "livekit", "known: whisper, livekit:PLUGIN"),
        ("hearing.stt", [], "name at least one"),
        ("hearing.stt", ["whisper", "whisper"], "stands in a chain once"),
        ("hearing.vad", "webrtc", "pattern"),
        ("speaking.tts", "joe", "known: piper, espeak, livekit:PLUGIN"),
        ("llm.brain", "chatgpt", "known: notes, openai, gguf, echo, canned, livekit:PLUGIN"),
        ("llm.brain", ["notes", "gguf"], "needs gguf ="),
    ],
)
def test_names_that_cannot_be_are_refused_with_those_that_can(key: str, given: str | list[str], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        load(None, {}, {key: given})  # type: ignore[dict-item]
