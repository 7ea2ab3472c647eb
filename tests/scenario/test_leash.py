"""Agents go on by themselves for thirty instructions; the next ones wait for a person's own message, and come then, in order."""

import asyncio
from collections.abc import Sequence

from tests.scenario.asking import Asked, Hears, asked, call
from tests.scenario.rooms import ROOM, say, settled
from voiceagent import clock
from voiceagent.agent.job import Job
from voiceagent.room.origin import Origin
from voiceagent.room.questions.question import Answer, Asking

HERE = Origin(ROOM, "assistant")


async def answers(here: Asked, numbers: Sequence[int]) -> None:
    """The agent has asked, and is answered, one question after the other."""
    for number in numbers:
        question = await here.kit.questions.ask(HERE, "g", Asking(f"Number {number}?"))
        assert (await here.kit.questions.answer(question.question_id, Answer("text", text="yes", participant_id="ana"))).taken
        await settled(1_000)


def read(here: Asked) -> list[str]:
    """Which questions' answers the model has read, and which messages, in order."""
    last = [prompt.messages[-1].content for prompt in here.model.prompts]
    return [text.partition("Number ")[2].partition("?")[0] or text for text in last]


async def test_q24_q25_the_31st_waits_whatever_is_answered_until_a_person_writes_and_comes_then_in_order() -> None:
    async with asked("Noted.") as here:
        await answers(here, range(33))
        assert read(here) == [str(number) for number in range(30)]
        await here.kit.say(ROOM, "Anybody here?")
        await here.kit.deliver(ROOM, "Still there?", instruction=True)
        await settled(1_000)
        assert read(here)[30:] == ["Still there?"]
        await say(here.kit, "go on")
        await settled(1_000)
        assert read(here)[31:] == ["go on", "30", "31", "32"]
        await answers(here, range(33, 62))
        assert read(here)[35:] == [str(number) for number in range(33, 60)]


async def test_q24_an_utterance_that_is_an_answer_gives_the_agents_no_more_turns() -> None:
    async with asked("Noted.", judge=Hears(yes=(None, 1.0))) as here:
        await answers(here, range(31))
        await here.kit.questions.ask(HERE, "g", Asking("Number 31?"))
        await say(here.kit, "yes")
        await settled(1_000)
        assert read(here) == [str(number) for number in range(30)] and here.waiting == []
        await say(here.kit, "and now go on")
        await settled(1_000)
        assert read(here)[30:] == ["and now go on", "30", "31"]


async def test_who_answers_too_late_has_said_something_of_their_own() -> None:
    async with asked("Noted.", judge=Hears(yes=(None, 1.0))) as here:
        await answers(here, range(31))
        await here.kit.questions.ask(HERE, "g", Asking("Number 31?"))
        await asyncio.gather(say(here.kit, "yes"), say(here.kit, "yes", sender="bob"))
        await settled(1_000)
        assert sorted(read(here)[30:]) == ["30", "31", "yes"]


async def test_what_waits_when_a_room_closes_is_brought_when_it_opens_again_once() -> None:
    async with asked("Noted.") as here:
        await answers(here, range(31))
        assert len(here.model.prompts) == 30
        await here.kit.close_room(ROOM)
        await asyncio.sleep(0.1)
        assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("answer for")]
        for _ in range(2):
            await here.kit.create_room(ROOM)
            await here.kit.attach_channel(ROOM, "assistant")
            await settled(1_000)
            assert read(here)[30:] == ["30"]
            await here.kit.close_room(ROOM)


async def test_an_agent_that_leaves_while_something_waits_is_brought_it_once_when_it_is_back() -> None:
    async with asked("Noted.") as here:
        await answers(here, range(31))
        await here.kit.detach_channel(ROOM, "assistant")
        await here.kit.attach_channel(ROOM, "assistant")
        await say(here.kit, "go on")
        await settled(1_000)
        assert read(here)[30:] == ["go on", "30"]


async def test_a_jobs_result_waits_too_and_is_told_once() -> None:
    async def fetch() -> Job:
        """Fetches."""
        return Job(lambda: clock.sleep_until(clock.now() + 60_000), label="maps")

    async with asked((call("fetch"),), "Noted.", tools=[fetch]) as here:
        await say(here.kit, "how far?")
        await settled(1_000)
        await answers(here, range(30))
        await settled(60_000)
        assert len(here.model.prompts) == 32
        assert here.kit.snapshot(ROOM)["jobs"] == []
        await say(here.kit, "well?")
        await settled(1_000)
        assert [text.split(" ")[0] for text in read(here)[32:]] == ["well?", "The"]
        lines = [line.data["status"] for line in await here.lines() if line.type == "job.reply"]
    assert lines == ["scheduled", "completed"]
