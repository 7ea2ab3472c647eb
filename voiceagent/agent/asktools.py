"""An agent's tools as one answer uses them: those by which it asks people, too, and a person's yes before steps that need one."""

import json
import logging
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voiceagent.agent.asking import Asker, told_of
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.tools import Step, ToolOutcome, Tools, complaints, joined
from voiceagent.errors import QuestionRefusedError, StoreError
from voiceagent.llm.model import ToolCall, ToolSpec
from voiceagent.room.events import RoomEvent
from voiceagent.room.questions.elsewhere import allowed
from voiceagent.room.questions.question import LONGEST_DETAIL, LONGEST_QUESTION, Asking, Question
from voiceagent.room.reply import Reply

log = logging.getLogger(__name__)

ASK: Final = "ask"
WITHDRAW: Final = "withdraw"
ASK_AND_WAIT: Final = "ask_and_wait"

YES_OR_NO: Final = ("Allow", "Refuse")
"""What a person may say to a step; the first one allows it."""


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str = Field(description="what you want to know, at most 500 characters, clear hours later without the talk")
    options: list[str] = Field(default_factory=list, description="up to 8 short answers to choose from; own words are taken too")
    recommendation: str | None = Field(None, description="one of the options, word for word, or a line of advice")
    detail: str | None = Field(None, description="background that is shown folded, at most 2000 characters")
    urgency: Literal["now", "normal"] = Field("normal", description="now also notifies people who are not here")
    asked_of: list[str] = Field(default_factory=list, description="names of the people who alone may answer; empty: everybody")


class Ask(_Asked):
    """Ask the people here something and go on: the answer comes later, by itself, as an instruction. Go on now with all that does
    not depend on it, and do not say the question aloud as well. For what must be known first, ask in your answer instead.
    """

    speak: Literal["auto", "never", "now"] = Field("auto", description="whether it is also said aloud")
    about: str | None = Field(
        None, description="room that you work with, whose people are asked, or HOST/ROOM of a paired host; here: leave it out"
    )


class AskAndWait(_Asked):
    """Ask the people here something without which you cannot go on, and wait for the answer: nothing more of your answer is said
    until somebody has answered on a screen, which may take long. For everything else use `ask`.
    """

    multiple: bool = Field(False, description="whether several of the options may be chosen")


class Withdraw(BaseModel):
    """Take back a question of yours that nobody has answered, because it does not matter any more."""

    model_config = ConfigDict(extra="forbid")

    question_id: str


class AskTools:
    """The tools of one answer; nothing here ever raises for what the model did wrong. The agent's own tools go first by name."""

    def __init__(self, asker: Asker, tools: Tools, settings: AgentSettings, reply: Reply, trigger: RoomEvent) -> None:
        self._asker = asker
        self._tools = tools
        self._offered = frozenset(spec.name for spec in offered(settings)) - {spec.name for spec in tools.specs}
        self._reply = reply
        self._trigger = trigger
        self._asked: list[str] = []

    @property
    def specs(self) -> list[ToolSpec]:
        """What the model is told."""
        return joined(self._tools.specs, [spec for spec in SPECS if spec.name in self._offered])

    @property
    def asked(self) -> list[str]:
        """Ids of the questions that were asked in this answer, in order."""
        return list(self._asked)

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Runs one call; one that asks and waits, or that a person has to allow, ends with the answer to it at the latest."""
        try:
            if call.name in self._offered:
                return await self._own(call)
            outcome = await self._tools.run(call)
            return outcome if outcome.step is None else await self._approved(outcome.step)
        except ValidationError as error:
            return ToolOutcome(error=complaints(error))
        except QuestionRefusedError as refused:
            return ToolOutcome(error=f"not asked: {refused}")
        except StoreError:
            log.exception("room %s: a question of %s is not kept", self._reply.room_id, self._reply.channel_id)
            return ToolOutcome(error="not done: it cannot be kept now; try again later")

    async def _own(self, call: ToolCall) -> ToolOutcome:
        arguments = call.arguments or "{}"
        match call.name:
            case "ask":
                return await self._ask(Ask.model_validate_json(arguments))
            case "ask_and_wait":
                return await self._ask_and_wait(AskAndWait.model_validate_json(arguments))
            case _:
                return await self._withdraw(Withdraw.model_validate_json(arguments).question_id)

    async def _ask(self, wanted: Ask) -> ToolOutcome:
        """Puts a question to the room; what may not be asked is the model's to mend."""
        here = wanted.about in (None, "", self._reply.room_id)
        people = self._asker.people(wanted.asked_of) if here else tuple(wanted.asked_of)
        asking = _asking(wanted, people, speak=wanted.speak)
        question = await self._asker.ask(asking, self._reply.id, self._trigger, about=wanted.about or None)
        self._asked.append(question.question_id)
        return ToolOutcome(result=_state(question.question_id, question.state))

    async def _withdraw(self, question_id: str) -> ToolOutcome:
        verdict = await self._asker.withdraw(question_id)
        match verdict.result:
            case "taken":
                return ToolOutcome(result=_state(question_id, "withdrawn"))
            case "already_ended" if verdict.question is not None:
                return ToolOutcome(error=f"not withdrawn: it has ended already ({verdict.question.state})")
            case _:
                return ToolOutcome(error="not withdrawn: you have asked no question of this id here")

    async def _ask_and_wait(self, wanted: AskAndWait) -> ToolOutcome:
        ended = await self._wait(_asking(wanted, self._asker.people(wanted.asked_of), multiple=wanted.multiple), "blocking")
        if ended is None:
            return ToolOutcome(error="not answered yet: your answer was stopped. The question stays; its answer comes by itself")
        return ToolOutcome(result=told_of(ended))

    async def _approved(self, step: Step) -> ToolOutcome:
        """Takes a step once a person has allowed it, with exactly the arguments that they were shown."""
        shown = f"{step.tool} {step.arguments}"
        if len(shown) > LONGEST_DETAIL:
            return ToolOutcome(error=f"not run: its arguments are longer than the {LONGEST_DETAIL} characters people are shown")
        if self._asker.consent(shown):
            return await step.take()
        asking = Asking(step.question[:LONGEST_QUESTION], YES_OR_NO, detail=shown, speak="never")
        ended = await self._wait(asking, "approval")
        if ended is None:
            return ToolOutcome(error="not run: nobody has allowed it yet, and your answer was stopped")
        if ended.state == "answered" and allowed(ended.answer):
            return await step.take()
        return ToolOutcome(error="not run: a person did not allow it. Do not try it again unless they ask for it")

    async def _wait(self, asking: Asking, kind: Literal["blocking", "approval"]) -> Question | None:
        question = await self._asker.ask(asking, self._reply.id, self._trigger, kind=kind)
        self._asked.append(question.question_id)
        return await self._asker.wait(question, self._reply, self._trigger)


def _asking(
    wanted: _Asked, people: tuple[str, ...], *, speak: Literal["auto", "never", "now"] = "never", multiple: bool = False
) -> Asking:
    return Asking(
        wanted.question,
        tuple(wanted.options),
        wanted.recommendation,
        wanted.detail,
        wanted.urgency,
        people,
        speak,
        multiple,
    )


def _state(question_id: str, state: str) -> str:
    return json.dumps({"question_id": question_id, "state": state})


def _spec(name: str, shape: type[BaseModel]) -> ToolSpec:
    schema = shape.model_json_schema()
    schema.pop("title", None)
    told = " ".join(schema.pop("description", name).split())
    return ToolSpec(name, told, schema)


SPECS: Final = (_spec(ASK, Ask), _spec(WITHDRAW, Withdraw), _spec(ASK_AND_WAIT, AskAndWait))


def offered(settings: AgentSettings) -> list[ToolSpec]:
    """The tools by which an agent asks people, as far as its settings give them to it."""
    given = {ASK: settings.ask, WITHDRAW: settings.ask or settings.ask_and_wait, ASK_AND_WAIT: settings.ask_and_wait}
    return [spec for spec in SPECS if given[spec.name]]
