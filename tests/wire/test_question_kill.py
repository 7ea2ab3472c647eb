"""A process that is killed between a person's answer and the agent's having read it: the answer is brought once afterwards."""

import os
import subprocess
import sys
from pathlib import Path

from voiceagent.agent.channel import AIChannel
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.questions.question import Answer
from voiceagent.room.sqlite import SqliteStore

_ROOT = Path(__file__).resolve().parents[2]
_RUNNER = Path(__file__).with_name("question_runner.py")


def killed_when_it_says(word: str, *arguments: str) -> None:
    """Runs a process until it says so, and kills it."""
    process = subprocess.Popen(
        [sys.executable, str(_RUNNER), *arguments], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(_ROOT)}
    )
    assert process.stdout is not None
    assert process.stdout.readline().decode().strip() == word
    process.kill()
    process.communicate()


async def test_q35_q36_a_question_outlives_a_kill_and_its_answer_is_brought_once_after_another(tmp_path: Path) -> None:
    file = tmp_path / "rooms.db"
    killed_when_it_says("asked", str(file))
    killed_when_it_says("answered", str(file), "answers")
    model = ScriptedModel(["The big one, then."])
    for _ in range(2):
        async with RoomEngine(store=(store := SqliteStore(file))) as kit:
            kit.register_channel(AIChannel("assistant", provider=model))
            await kit.create_room("r")
            feed = kit.feed("r").subscribe()
            await kit.attach_channel("r", "assistant")
            if not model.prompts:
                async for line in feed.events():
                    if line.type == "input.settled":
                        break
            feed.close()
            (question,) = await kit.questions.listed()
            late = await kit.questions.answer(question.question_id, Answer("text", text="no", participant_id="bob"))
            assert (question.state, late.result) == ("answered", "already_ended")
        await store.close()
    (prompt,) = model.prompts
    assert "own words: the big one" in prompt.messages[-1].content
