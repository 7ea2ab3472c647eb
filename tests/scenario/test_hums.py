"""A hum in which the recognizer finds no word: over the agent it is a sign of listening, and nobody's turn (statement 115)."""

from dataclasses import replace

import pytest

from tests.scenario.scripted import ScriptedStt, house
from tests.scenario.test_reversible import ANN, LONG, OVER, SEMANTIC, over, steps, turns
from voiceagent.audio.frame import Samples
from voiceagent.room.hooks import HookTrigger
from voiceagent.speech.engines import Transcript
from voiceagent.voice.backchannel import Backchannel
from voiceagent.voice.settings import BargeInSettings, VoiceSettings


class Humming(ScriptedStt):
    """Finds no word in what is said over the agent, and makes one up."""

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        said = await super().transcribe(sound, partial=partial)
        if said.text == "hello there":
            return said
        return replace(said, text="You", no_speech=0.83, confidence=-0.84)


PATIENT = VoiceSettings(greeting="", barge_in=BargeInSettings(sustained_ms=2_000))


@pytest.mark.parametrize(
    ("settings", "voiced_ms", "settled"),
    [
        (None, 340, "backchannel over_the_agent"),
        (SEMANTIC, 340, "backchannel over_the_agent"),
        (PATIENT, 1_100, "rejected nobody spoke"),
    ],
    ids=["confirmed", "semantic", "long"],
)
async def test_115_a_hum_in_which_no_word_is_found_is_a_sign_of_listening(
    settings: VoiceSettings | None, voiced_ms: int, settled: str
) -> None:
    async with house(settings, answers=[LONG], stt=Humming({ANN: "hello there"})) as here:
        told: list[Backchannel] = []

        @here.engine.hook(HookTrigger.ON_BACKCHANNEL)
        async def backchannel(event: Backchannel) -> None:
            told.append(event)

        await here.receive(over((voiced_ms, OVER)))
        events = await here.read()
        ended = [event.data for event in events if event.type == "input.settled"]
        assert steps(events)[-1] == "finished"
        assert f"{ended[-1]['disposition']} {ended[-1]['reason']}" == settled
        hummed = settled.startswith("backchannel")
        assert [(one.text, one.speech_id) for one in told] == [("", here.agent.replies[0].id)] * hummed
        assert turns(here) == ["hello there"]


async def test_115_a_hum_over_nothing_is_nothing() -> None:
    async with house(answers=["Hi."], stt=Humming({ANN: "hello there"})) as here:
        await here.receive(over((340, OVER)))
        ended = [event.data["disposition"] for event in await here.read() if event.type == "input.settled"]
        assert ended[-1] == "rejected"
