"""What scenarios of asking are made of: a room whose agent asks, people who answer, and its feed as lines to compare."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from tests.scenario.rooms import ROOM, Door, ids, seat
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.tools import Function, Tool
from voiceagent.judgment.policy import SpeakPolicy
from voiceagent.llm.model import LanguageModel, ToolCall
from voiceagent.llm.scripted import ScriptedModel, Step
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import FeedEvent
from voiceagent.room.questions.aloud import Proposal
from voiceagent.room.questions.claim import AnswerJudge, Claim
from voiceagent.room.questions.question import Answer, Question
from voiceagent.room.questions.verdict import Verdict
from voiceagent.room.store import Store
from voiceagent.values import JSON

LEFT_OUT = ("room.", "participant.", "consumption.", "assistant.", "tool.", "text.")
WAITS = AgentSettings(ask_and_wait=True)


def call(tool: str, number: int = 1, **arguments: JSON) -> ToolCall:
    """A model's call of a tool."""
    return ToolCall(f"c{number}", tool, json.dumps(arguments))


def ask(question: str, number: int = 1, **more: JSON) -> ToolCall:
    """A model's call of `ask`."""
    return call("ask", number, question=question, **more)


class Hears:
    """Takes what it is told to for an answer to the first question."""

    def __init__(self, **claims: tuple[int | None, float]) -> None:
        self.claims = claims
        self.asked: list[str] = []
        self.delay_ms = 0

    async def judge(
        self, questions: Sequence[Question], utterance: str, *, said_last: str | None, read_back: Proposal | None
    ) -> Claim | None:
        self.asked.append(utterance)
        await asyncio.sleep(self.delay_ms / 1000)
        if utterance == "yes" and read_back is not None:
            return Claim(read_back.question_id, read_back.option, read_back.text, 1.0, sure=True)
        if utterance not in self.claims:
            return None
        option, confidence = self.claims[utterance]
        text = utterance if option is None else None
        return Claim(questions[0].question_id, option, text, confidence, confidence >= 0.9)


class Asked:
    """A room whose agent asks: its model, its doors, and what its feed tells."""

    def __init__(self, kit: RoomEngine, model: ScriptedModel) -> None:
        self.kit = kit
        self.model = model
        self.door = Door()
        self.reader = kit.feed(ROOM).subscribe()

    @property
    def waiting(self) -> list[Question]:
        """The open questions."""
        return list(self.kit.questions.waiting(ROOM))

    async def answer(self, *options: int, text: str | None = None, who: str = "ana") -> Verdict:
        """A person answers the oldest open question."""
        answer = Answer("text" if text is not None else "button", options, text, who)
        return await self.kit.questions.answer(self.waiting[0].question_id, answer)

    async def lines(self) -> list[FeedEvent]:
        """All that the feed has told; the reader is left after it."""
        self.reader.close()
        return [line async for line in self.reader.events()]

    async def log(self, *, leave_out: Sequence[str] = LEFT_OUT) -> list[str]:
        """The feed as lines `at_ms type what`, for exact comparison."""
        return [
            f"{line.at_ms} {line.type} {_what(line)}".strip()
            for line in await self.lines()
            if line.seq is not None and not line.type.startswith(tuple(leave_out))
        ]

    def read(self, request: int) -> str:
        """The last message that the model read in one of its requests."""
        return self.model.prompts[request].messages[-1].content


def _what(line: FeedEvent) -> str:
    data = line.data
    match line.type:
        case "question.opened":
            return f"{data['question_id']} {data['kind']} {data['question']}"
        case "question.ended":
            answer = data.get("answer")
            told = {name: value for name, value in answer.items() if name != "participant_id"} if isinstance(answer, dict) else {}
            return f"{data['question_id']} {data['end']} {told or ''}".strip()
        case "generation.started":
            return f"{line.generation_id} for {data['initial_input_id']}"
        case "generation.finished":
            questions = data["question_ids"]
            return f"{line.generation_id} inputs={data['input_ids']} questions={questions}"
        case "generation.detached":
            return f"{line.generation_id} {data['reason']}"
        case "input.accepted":
            return f"{data['input_id']} {data['kind']} {data.get('text', '')}".strip()
        case "input.queued" | "input.delivered":
            return f"{data['input_id']} {data['delivery']}"
        case "input.settled":
            return f"{data['input_id']} {data['disposition']}"
    return ""


@asynccontextmanager
async def asked(
    *turns: str | Sequence[Step],
    settings: AgentSettings | None = None,
    tools: Sequence[Tool | Function] = (),
    store: Store | None = None,
    policy: SpeakPolicy | None = None,
    model: LanguageModel | None = None,
    judge: AnswerJudge | None = None,
) -> AsyncIterator[Asked]:
    """A room with one agent whose model says these turns, and a text door; ids count up."""
    async with RoomEngine(store=store, ids=ids(), judge=judge) as kit:
        scripted = ScriptedModel(turns)
        await kit.create_room(ROOM)
        here = Asked(kit, scripted)
        agent = AIChannel("assistant", provider=model or scripted, tools=tools, settings=settings, speak_policy=policy)
        await seat(kit, here.door, agent)
        yield here
