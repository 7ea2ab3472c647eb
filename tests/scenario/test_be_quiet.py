"""When not to speak: people among themselves are left alone, and told to be quiet it says nothing (case 42 of the field)."""

import asyncio
from collections.abc import Mapping
from itertools import cycle, islice

import pytest

from tests.scenario.scripted import AGENT_LEVEL, House, ScriptedCall, ScriptedStt, ToneTts, house
from voiceagent.agent.channel import AIChannel
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.classifier.question import Answers, Question, State
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.llm.scripted import ScriptedModel

WORDS = {
    1_000: "So the first point is the budget.",
    1_500: "I think we should wait until June.",
    2_000: "Nova, what time is it?",
    2_500: "Be quiet, Nova.",
    3_000: "You can talk again, Nova.",
}
CHAT, ASK, HUSH, LIFT = (1_000, 1_500), 2_000, 2_500, 3_000
NOON = "It is noon."


class ByWords:
    """Knows the sentences of these tests."""

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        said = str(state["last_turn"])
        named = "Nova" in said
        script = {
            "listen_request": float("Be quiet" in said),
            "lift": float("talk again" in said),
            "asked_me": float("what time" in said),
            "directness": 3.0 * named,
        }
        return await MockClassifier(script).classify({}, questions)

    async def close(self) -> None: ...


def nova(answer: str = NOON) -> tuple[AIChannel, ScriptedModel]:
    model = ScriptedModel([answer] * 9)
    policy = ClassifierSpeakPolicy(ByWords(), agent_name="Nova")
    return AIChannel("assistant", provider=model, system_prompt="", speak_policy=policy), model


def says(*levels: int, before_ms: int = 200) -> ScriptedCall:
    """One sentence every four seconds."""
    spans = [(before_ms, 0), *(span for level in levels for span in ((1_000, level), (3_000, 0)))]
    return ScriptedCall("s1", spans, until_ms=before_ms + 4_000 * len(levels))


async def said_by_agent(here: House) -> list[str]:
    return [words for who, words in await here.messages() if who == "assistant"]


@pytest.mark.parametrize(("named", "answers"), [(False, 0), (True, 1)], ids=["never named", "named once"])
async def test_case_42_two_people_chat_for_two_minutes(named: bool, answers: int) -> None:
    agent, model = nova()
    tts = ToneTts()
    ann = [CHAT[0]] * 15
    if named:
        ann[7] = ASK
    calls = {"ann": says(*ann), "ben": says(*[CHAT[1]] * 15, before_ms=2_200)}
    async with house(agent=agent, stt=ScriptedStt(WORDS), tts=tts) as here:
        await asyncio.gather(*(here.receive(call, name) for name, call in calls.items()))
        assert await said_by_agent(here) == tts.spoken == [NOON] * answers
        heard = [who for who, _ in await here.messages() if who != "assistant"]
        assert len(heard) == 30
    assert len(model.prompts) == answers
    assert any(call.heard_ms(AGENT_LEVEL) for call in calls.values()) is named


@pytest.mark.parametrize("call_again", [ASK, LIFT], ids=["asked by name", "allowed to talk"])
async def test_case_42_told_to_be_quiet_it_makes_no_sound_and_no_placeholder_until_called_again(call_again: int) -> None:
    agent, model = nova()
    tts = ToneTts()
    chat = islice(cycle(CHAT), 20)
    call = says(ASK, HUSH, *chat, call_again)
    async with house(agent=agent, stt=ScriptedStt(WORDS), tts=tts) as here:
        await here.receive(call)
        assert await said_by_agent(here) == tts.spoken == [NOON] * 2
        events = await here.read()
    assert len(model.prompts) == 2
    quiet_from = 200 + 4_000
    called_at = quiet_from + 4_000 * 21
    assert not [at for at, level in call.heard if level and quiet_from <= at < called_at]
    between = [event for event in events if quiet_from <= event.at_ms < called_at]
    assert not [event.type for event in between if event.type.startswith(("speech.", "generation."))]
    assert not [event for event in between if event.type == "agent.state" and event.data["state"] == "speaking"]
    assert [event.data["disposition"] for event in between if event.type == "input.settled"] == ["listened"] * 21


async def test_case_42_told_over_its_answer_it_stops_and_stays_quiet() -> None:
    agent_says = "It is noon, and the sun stands over the roof of the church as it does every day in June."
    agent, model = nova(agent_says)
    tts = ToneTts()
    call = ScriptedCall("s1", [(200, 0), (800, ASK), (1_500, 0), (900, HUSH), (3_000, 0), (1_000, CHAT[0])], until_ms=14_000)
    async with house(agent=agent, stt=ScriptedStt(WORDS), tts=tts) as here:
        await here.receive(call)
        events = await here.read()
    assert tts.spoken == [agent_says]
    assert len(model.prompts) == 1
    (cut,) = [event for event in events if event.type == "speech.cut"]
    assert not [at for at, level in call.heard if level and at > cut.at_ms + 40]
