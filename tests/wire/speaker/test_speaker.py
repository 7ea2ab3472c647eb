"""`voiceagent speaker` in a virtual room: it answers, does not hear itself, stops for a person, and outlives its sound server."""

import asyncio
import json
from pathlib import Path

from tests.wire.speaker.room import virtual_room

ANSWER = (
    "The parcel left our house this morning with the first van. It is on its way to you, and the driver will ring at your door. "
    "Please have the number of the order at hand when she does so."
)
SILENT_S = 0.45
"""From a person's first sound to the loudspeaker's last one, both as they are recorded: pieces of 20 ms, in one loop."""


def settings(folder: Path) -> tuple[str, ...]:
    canned = folder / "canned.jsonl"
    canned.write_text("".join(json.dumps({"text": text}) + "\n" for text in (ANSWER, "Very well.")))
    return (
        *("[llm]", 'brain = "canned"', f"canned = {json.dumps(str(canned))}", "[voice]", 'greeting = ""'),
        *("[speaker.voices]", "on = false"),
    )


async def test_it_answers_does_not_talk_to_itself_stops_for_a_person_and_outlives_its_sound_server(
    tmp_path: Path, shared_audio: Path
) -> None:
    async with virtual_room(tmp_path) as room:
        await room.agent(*settings(tmp_path))
        loudspeaker, people = await room.tape("spk"), await room.tape("people")
        loop = asyncio.get_running_loop()
        await room.say(shared_audio / "tau2-order_status.wav")
        assert "order status" in (await room.told("You: "))
        since = loop.time()
        await loudspeaker.sounds(since, 4)  # of which the microphone hears every word
        over = loop.time()
        await room.say(shared_audio / "tau2-order_status.wav")
        assert (await room.told("Nova: ")).endswith("(cut)")
        onset = people.loud(over)[0]
        cut = [at for at in loudspeaker.loud(over) if at < onset + 1.0]
        assert cut[-1] - onset < SILENT_S
        assert "Very well." in await room.told("Nova: ", 2)
        assert len(room.lines("You: ")) == 2

        await room.close()
        await room.told("A sound device is gone")
        await room.open()
        await room.told("Listening.", 2)
        await room.say(shared_audio / "tau2-order_status.wav")
        assert "order status" in (await room.told("You: ", 3))
        assert "Very well." in await room.told("Nova: ", 3)
        assert len(room.lines("You: ")) == 3


async def test_a_sentence_is_said_recorded_and_measured(tmp_path: Path) -> None:
    async with virtual_room(tmp_path) as room:
        told = await room.check()
    assert "the sentence at the microphone" in told
    assert 10 < int(told.split("from order to microphone")[1].split("│")[1].split()[0]) < 600
    assert int(told.split("echo taken out")[1].split("│")[1].split()[0]) > 10
