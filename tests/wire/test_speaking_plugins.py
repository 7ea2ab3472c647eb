"""Voices, language models and detectors of LiveKit plugins, their own classes, against servers on loopback."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

pytest.importorskip("livekit.agents", reason="pip install 'voiceagent[livekit]'")
pytest.importorskip("livekit.plugins.cartesia", reason="pip install livekit-plugins-cartesia")
pytest.importorskip("livekit.plugins.openai", reason="pip install livekit-plugins-openai")
pytest.importorskip("livekit.plugins.silero", reason="pip install livekit-plugins-silero")

import numpy as np

from tests.wire import chat_server, vendors
from tests.wire.chat_server import ChatServer
from tests.wire.vendors import Vendors, silent, spoken
from voiceagent.audio.decode import read_sound
from voiceagent.audio.frame import FRAME_SAMPLES, Samples, to_ms
from voiceagent.config import load
from voiceagent.engines import brain, recognizer, voice
from voiceagent.errors import ConfigError, LanguageModelError, ModelError, SpeechError
from voiceagent.fallback import closed, opened
from voiceagent.llm.model import Chunk, Done, LanguageModel, Message, Prompt, TextDelta, ToolCall, ToolSpec
from voiceagent.plugins import find
from voiceagent.speech.chain import RecognizerChain, VoiceChain
from voiceagent.speech.engines import SpeechToText, TextToSpeech, Timing, Transcript
from voiceagent.speech.plugins.vad import PluginDetectors

KEY = "sk-very-secret"
ENDING_MS = 10  # of silence, which LiveKit puts behind what a voice that takes whole sentences has said
PROMPT = Prompt((Message("system", "secret prompt"), Message("user", "hi", name="Zoë Ríos")))


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Vendors]:
    async with vendors.serving() as running:
        yield running


@pytest_asyncio.fixture
async def chat() -> AsyncIterator[ChatServer]:
    async with chat_server.serving() as running:
        yield running


async def voice_of(server: Vendors, *names: str) -> TextToSpeech:
    options = {
        "cartesia": {"api_key": KEY, "base_url": server.url},
        "openai": {"api_key": KEY, "base_url": f"{server.url}/v1", "response_format": "pcm", "model": "tts-1"},
    }
    made = voice(load(None, {}, {"speaking.tts": list(names), "speaking.options": options, "speaking.late_ms": 400}).speaking)  # type: ignore[dict-item]
    await opened(made)
    return made


async def sound_of(tts: TextToSpeech, text: str) -> tuple[int, list[tuple[str, int, int]]]:
    """How many milliseconds of sound, and the words' places."""
    size, words = 0, []
    async for piece in tts.speak(text):
        if isinstance(piece, Timing):
            words += [(word.text, word.start_ms, word.end_ms) for word in piece.words]
        else:
            assert piece.dtype == np.int16 and piece.ndim == 1
            size += piece.size
    return to_ms(size), words


async def test_a_voice_at_another_rate_sounds_at_ours(server: Vendors) -> None:
    tts = await voice_of(server, "livekit:openai")
    assert await sound_of(tts, "One second.") == (1_000 + ENDING_MS, [])
    assert server.said == ["One second."]
    server.refuses = True
    with pytest.raises(SpeechError, match=r"livekit:openai failed \(APIStatusError, status 401\)"):
        await sound_of(tts, "No.")
    await closed(tts)


async def test_a_voice_that_dates_its_words_tells_them_before_their_sound(server: Vendors) -> None:
    tts = await voice_of(server, "livekit:cartesia")
    for _ in range(2):
        ms, words = await sound_of(tts, "We open at nine.")
        assert ms == 800
        assert words == [("We", 0, 200), ("open", 200, 400), ("at", 400, 600), ("nine.", 600, 800)]
    stream = tts.speak("Never heard to its end.")
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    assert (await sound_of(tts, "Still there."))[0] == 400
    await closed(tts)


async def test_a_mute_voice_is_replaced_before_a_sound_of_its_sentence(server: Vendors) -> None:
    server.mute = True
    tts = await voice_of(server, "livekit:cartesia", "livekit:openai")
    assert isinstance(tts, VoiceChain)
    began = asyncio.get_running_loop().time()
    assert (await sound_of(tts, "One second."))[0] == 1_000 + ENDING_MS
    assert asyncio.get_running_loop().time() - began < 1.5
    asked = len(server.said)
    assert (await sound_of(tts, "Another second."))[0] == 1_000 + ENDING_MS
    assert server.said[asked:] == ["Another second."]
    await closed(tts)


def model_of(chat: ChatServer, model: str, **more: object) -> LanguageModel:
    options = {"openai": {"api_key": KEY, "base_url": chat.url, "model": model}}
    wanted = {"llm.brain": "livekit:openai", "llm.options": options, "llm.first_token_ms": 300, "llm.between_ms": 300}
    return brain(load(None, {}, {**wanted, **more}).llm)  # type: ignore[dict-item]


async def collected(model: LanguageModel, prompt: Prompt = PROMPT) -> list[Chunk]:
    try:
        return [chunk async for chunk in model.stream(prompt)]
    finally:
        await closed(model)


async def test_a_model_gives_text_then_done_with_the_counted_tokens(chat: ChatServer) -> None:
    model = model_of(chat, "talking")
    assert model.name == "livekit:openai talking"
    assert await collected(model) == [TextDelta("Hello "), TextDelta("there."), Done("stop", {"input": 7, "output": 3})]


async def test_what_a_model_is_sent(chat: ChatServer) -> None:
    tool = ToolSpec("look", "looks", {"type": "object", "properties": {"a": {"type": "integer"}}})
    asked = (
        *PROMPT.messages,
        Message("assistant", "", tool_calls=(ToolCall("1", "look", '{"a": 1}'),)),
        Message("tool", "a door", tool_call_id="1"),
    )
    await collected(model_of(chat, "talking"), Prompt(asked, (tool,)))
    body = chat.bodies[0]
    messages = body["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool"]
    assert messages[1]["content"] == "Zoë Ríos: hi"
    assert messages[2]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"a": 1}'}
    assert messages[3]["content"] == "a door"
    tools = body["tools"]
    assert isinstance(tools, list)
    assert tools[0]["function"]["parameters"]["properties"] == {"a": {"type": "integer"}}


async def test_a_models_tool_calls_arrive_whole(chat: ChatServer) -> None:
    chunks = await collected(model_of(chat, "calling_in_turn"), Prompt(PROMPT.messages, (ToolSpec("look", "looks", {}),)))
    assert [(one.name, one.arguments) for one in chunks if isinstance(one, ToolCall)] == [
        ("look", '{"a": 1}'),
        ("find", '{"b": 2}'),
    ]
    assert isinstance(chunks[-1], Done) and chunks[-1].reason == "tool_calls"


@pytest.mark.parametrize(
    ("name", "category"),
    [("refused", "auth"), ("busy", "rate_limit"), ("unknown", "bad_request"), ("failing", "server"), ("hanging", "timeout")],
)
async def test_a_models_failure_has_a_category_and_tells_no_secrets(chat: ChatServer, name: str, category: str) -> None:
    with pytest.raises(LanguageModelError) as caught:
        await collected(model_of(chat, name))
    assert caught.value.category == category
    assert KEY not in str(caught.value) and "secret prompt" not in str(caught.value)


async def test_closing_a_models_answer_ends_its_request(chat: ChatServer) -> None:
    model = model_of(chat, "endless")
    stream = model.stream(PROMPT)
    assert isinstance(await anext(stream), TextDelta)
    await stream.aclose()  # type: ignore[attr-defined]
    async with asyncio.timeout(2):
        await chat.left.wait()
    await closed(model)


async def test_a_brain_that_hangs_is_replaced_before_its_first_word(chat: ChatServer) -> None:
    model = model_of(chat, "hanging", **{"llm.brain": ["livekit:openai", "echo"], "llm.late_ms": 200})
    prompt = Prompt((Message("user", "hi"),))
    chunks = [chunk async for chunk in model.stream(prompt)]
    assert any(isinstance(chunk, TextDelta) for chunk in chunks)
    assert model.name == "echo"
    await closed(model)


async def test_a_recognizer_that_takes_only_whole_stretches(server: Vendors) -> None:
    options = {"openai": {"api_key": KEY, "base_url": f"{server.url}/v1", "model": "whisper-1", "use_realtime": False}}
    wanted = {"hearing.stt": ["livekit:openai"], "hearing.options": options, "hearing.vad": "livekit:silero"}
    stt, detectors = recognizer(load(None, {}, wanted).hearing, None)  # type: ignore[arg-type]
    await opened(stt)
    assert (await stt.transcribe(np.concatenate((silent(200), spoken(4))))).text == "what time do you"
    assert (await stt.transcribe(spoken(4), partial=True)).text == ""
    await closed(stt, detectors)


async def test_a_detector_hears_a_voice_and_no_noise(request: pytest.FixtureRequest) -> None:
    detectors = PluginDetectors(find("livekit:silero", "VAD"), {})
    voiced = await _surely(detectors, read_sound(request.config.rootpath / "tests/audio/spoken_opening_hours.wav").samples)
    noise = await _surely(detectors, read_sound(request.config.rootpath / "tests/audio/noise_hum.wav").samples)
    await detectors.close()
    assert voiced > 0.4
    assert noise < 0.05


async def _surely(detectors: PluginDetectors, sound: Samples) -> float:
    """The part of frames that hold a voice."""
    detector, sure = detectors(), 0
    whole = sound[: sound.size - sound.size % FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    for frame in whole:
        sure += detector.probability(frame) > 0.5
        async with asyncio.timeout(5):
            while detector.behind >= 2 * FRAME_SAMPLES:  # noqa: ASYNC110 - a plugin does not say when
                await asyncio.sleep(0.001)
    detector.close()
    await detector.ended()
    with pytest.raises(SpeechError):
        detector.probability(whole[0])
    return sure / len(whole)


class Deaf:
    """A recognizer that never answers."""

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        raise SpeechError("deaf")


def test_names_options_and_keys_that_cannot_be_are_told_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"livekit:nobody: livekit.plugins.nobody is not installed; run: pip install livekit-p"):
        find("livekit:nobody", "STT")
    with pytest.raises(ConfigError, match=r"the plugin silero has no recognizer \(STT\)"):
        find("livekit:silero", "STT")
    with pytest.raises(ConfigError, match=r"livekit:cartesia has no option `voise`; it has: .*voice"):
        find("livekit:cartesia", "TTS").make({"voise": "x"})
    monkeypatch.delenv("CARTESIA_API_KEY", raising=False)
    with pytest.raises(ModelError, match="CARTESIA_API_KEY"):
        find("livekit:cartesia", "TTS").make({})


async def test_a_chain_stays_a_recognizer() -> None:
    chain: SpeechToText = RecognizerChain([Deaf()])
    with pytest.raises(SpeechError, match="deaf"):
        await chain.transcribe(spoken(1))
