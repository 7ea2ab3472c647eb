"""Deepgram's own LiveKit plugin listens along: words while a person speaks, broken and dead connections, and who steps in."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

pytest.importorskip("livekit.agents", reason="pip install 'voiceagent[livekit]'")
pytest.importorskip("livekit.plugins.deepgram", reason="pip install livekit-plugins-deepgram")

import numpy as np

from tests.wire import vendors
from tests.wire.vendors import Vendors, heard, silent, spoken
from voiceagent import clock
from voiceagent.audio.frame import FRAME_SAMPLES, Samples
from voiceagent.errors import ConfigError, SpeechError
from voiceagent.plugins import find
from voiceagent.speech.chain import RecognizerChain
from voiceagent.speech.engines import Transcript, VoiceDetector
from voiceagent.speech.plugins.stt import PluginRecognizer
from voiceagent.speech.settings import HearingSettings
from voiceagent.voice.hearing import Hearing
from voiceagent.voice.recognition import Recognition
from voiceagent.voice.settings import VoiceSettings
from voiceagent.voice.streamed import STUCK_MS

SETTINGS = VoiceSettings(greeting="")
LATE = HearingSettings(late_ms=500)


class Local:
    """A recognizer of this machine, which knows the words too."""

    def __init__(self) -> None:
        self.finals = 0

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        self.finals += not partial
        return Transcript(" ".join(heard(sound)).upper())


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Vendors]:
    async with vendors.serving() as running:
        yield running


@pytest_asyncio.fixture
async def deepgram(server: Vendors) -> AsyncIterator[PluginRecognizer]:
    options = {"api_key": "dg-secret", "base_url": f"{server.url}/v1/listen"}
    engine = PluginRecognizer(find("livekit:deepgram", "STT"), options)
    await engine.open()
    yield engine
    await engine.close()


def no_detector() -> VoiceDetector:
    raise NotImplementedError


async def say(recognition: Recognition, sound: Samples, guesses: list[str]) -> None:
    """The sound frame by frame, as the ear gives it; a frame of it every millisecond or so."""
    for start in range(0, sound.size, FRAME_SAMPLES):
        frame = sound[start : start + FRAME_SAMPLES]
        recognition.hear(frame)
        guess = recognition.guess() if frame.any() else None
        if guess is not None:
            words = await guess
            assert isinstance(words, Transcript)
            guesses.append(words.text)
        await asyncio.sleep(0.001)


async def until_guess(recognition: Recognition, words: str) -> None:
    async with asyncio.timeout(5):
        while True:
            guess = recognition.guess()
            found = await guess if guess is not None else None
            if isinstance(found, Transcript) and found.text == words:
                return
            await asyncio.sleep(0.01)


async def text(recognition: Recognition, sound: Samples) -> str:
    words = await recognition.words(sound)
    recognition.drop()
    assert isinstance(words, Transcript), words
    return words.text


async def test_words_come_while_a_person_speaks_and_whole_at_the_pause(server: Vendors, deepgram: PluginRecognizer) -> None:
    guesses: list[str] = []
    async with asyncio.TaskGroup() as tasks:
        recognition = Hearing(deepgram, no_detector).recognition(tasks, SETTINGS)
        recognition.begin(silent(100))
        await say(recognition, spoken(4), guesses)
        await until_guess(recognition, "what time do you")
        words = await recognition.words(np.concatenate((silent(100), spoken(4))))
        recognition.drop()
    assert isinstance(words, Transcript)
    assert words.text == "what time do you"
    assert [(word.text, word.start_ms, word.end_ms) for word in words.words][-1] == ("you", 750, 1000)
    assert -0.2 < words.confidence < 0
    assert [connection.texts[-1] for connection in server.connections] == ["CloseStream"]
    assert server.connections[0].headers["Authorization"] == "Token dg-secret"
    assert server.recorded == 0


async def test_who_goes_on_after_a_pause_is_heard_on_from_there(server: Vendors, deepgram: PluginRecognizer) -> None:
    async with asyncio.TaskGroup() as tasks:
        recognition = Hearing(deepgram, no_detector).recognition(tasks, SETTINGS)
        recognition.begin(silent(20))
        await say(recognition, spoken(3), [])
        first = recognition.words(spoken(3))
        await say(recognition, silent(200), [])
        first.cancel()
        await say(recognition, spoken(2), [])
        said = await text(recognition, spoken(5))
    assert said == "what time do what time"
    assert len(server.connections) == 2
    assert heard(server.connections[1].sound) == ["what", "time"]


async def test_a_broken_connection_is_made_again_and_hears_all_of_the_utterance(
    server: Vendors, deepgram: PluginRecognizer
) -> None:
    server.breaks_at_ms = [600]
    async with asyncio.TaskGroup() as tasks:
        recognition = Hearing(deepgram, no_detector).recognition(tasks, SETTINGS)
        recognition.begin(silent(20))
        await say(recognition, spoken(5), [])
        said = await text(recognition, spoken(5))
    assert said == "what time do you open"
    assert len(server.connections) == 2
    assert server.recorded == 0


async def test_field_047_a_half_open_socket_is_found_and_the_sound_since_is_heard_again(
    server: Vendors, deepgram: PluginRecognizer
) -> None:
    server.deaf = 1
    async with asyncio.TaskGroup() as tasks:
        recognition = Hearing(deepgram, no_detector).recognition(tasks, SETTINGS)
        recognition.begin(silent(20))
        await say(recognition, spoken(3), [])
        assert len(server.connections) == 1
        for _ in range(STUCK_MS // 20):
            recognition.guess()
        await say(recognition, spoken(3), [])
        said = await text(recognition, spoken(6))
    assert STUCK_MS <= 10_000
    assert len(server.connections) == 2
    assert said == "what time do you open on"


async def test_the_next_of_the_chain_decodes_the_same_utterance_when_the_first_is_silent_at_its_end(
    server: Vendors, deepgram: PluginRecognizer
) -> None:
    server.deaf = 2
    local = Local()
    chain = RecognizerChain([deepgram, local], late_ms=500)
    hearing = Hearing(chain, no_detector, LATE)
    async with asyncio.TaskGroup() as tasks:
        recognition = hearing.recognition(tasks, SETTINGS)
        recognition.begin(silent(20))
        await say(recognition, spoken(5), [])
        began = clock.now()
        assert await text(recognition, spoken(5)) == "WHAT TIME DO YOU OPEN"
        assert clock.now() - began < 1_500
        second = hearing.recognition(tasks, SETTINGS)
        second.begin(spoken(3))
        assert await text(second, spoken(3)) == "WHAT TIME DO"
    assert len(server.connections) == 1
    assert server.recorded == 0


async def test_noise_without_words_speaks_against_nobody(server: Vendors, deepgram: PluginRecognizer) -> None:
    chain = RecognizerChain([deepgram, Local()])
    hearing = Hearing(chain, no_detector, LATE)
    async with asyncio.TaskGroup() as tasks:
        recognition = hearing.recognition(tasks, SETTINGS)
        recognition.begin(silent(20))
        await say(recognition, spoken(1)[:3200], [])
        assert await text(recognition, spoken(1)[:3200]) == ""
        second = hearing.recognition(tasks, SETTINGS)
        second.begin(spoken(2))
        assert await text(second, spoken(2)) == "what time"
    assert len(server.connections) == 2
    assert server.recorded == 1


async def test_a_refused_key_moves_on_within_the_turn_and_comes_back_after_the_cool_down(
    server: Vendors, deepgram: PluginRecognizer, caplog: pytest.LogCaptureFixture
) -> None:
    server.refuses = True
    chain = RecognizerChain([deepgram, Local()], late_ms=500, cool_down_ms=300)
    hearing = Hearing(chain, no_detector, LATE)
    async with asyncio.TaskGroup() as tasks:
        recognition = hearing.recognition(tasks, SETTINGS)
        recognition.begin(silent(20))
        await say(recognition, spoken(2), [])
        assert await text(recognition, spoken(2)) == "WHAT TIME"
        server.refuses = False
        await asyncio.sleep(0.35)
        second = hearing.recognition(tasks, SETTINGS)
        second.begin(silent(20))
        await say(second, spoken(3), [])
        assert await text(second, spoken(3)) == "what time do"
    assert "dg-secret" not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("voiceagent"))


async def test_alone_it_decodes_the_whole_where_listening_along_failed(server: Vendors, deepgram: PluginRecognizer) -> None:
    server.breaks_at_ms = [200, 200]
    async with asyncio.TaskGroup() as tasks:
        recognition = Hearing(deepgram, no_detector).recognition(tasks, SETTINGS)
        recognition.begin(silent(20))
        await say(recognition, spoken(4), [])
        assert await text(recognition, spoken(4)) == "what time do you"
    assert len(server.connections) == 2
    assert server.recorded == 1


async def test_errors_of_the_plugin_cost_one_turn(server: Vendors, deepgram: PluginRecognizer) -> None:
    server.refuses = True
    async with asyncio.TaskGroup() as tasks:
        recognition = Hearing(deepgram, no_detector).recognition(tasks, SETTINGS)
        recognition.begin(spoken(2))
        words = await recognition.words(spoken(2))
        recognition.drop()
    assert isinstance(words, SpeechError)
    assert "livekit:deepgram failed" in str(words)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("livekit:deepgram.Nosuch", "the plugin deepgram has no STT called Nosuch; it has: STT, STTv2"),
        ("livekit:nosuch", "livekit.plugins.nosuch is not installed; run: pip install livekit-plugins-nosuch"),
    ],
)
def test_a_class_that_is_not_there_is_told_with_those_that_are(name: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        find(name, "STT")
    assert says in str(refused.value)
