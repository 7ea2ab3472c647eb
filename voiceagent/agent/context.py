"""What a model reads for one turn: the conversation that the agent may know, and who said what in it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from voiceagent.agent.cuts import Cut, cuts_of
from voiceagent.llm.model import CUT_MARK, Message, ToolCall, ToolSpec
from voiceagent.room.channel import RoomContext
from voiceagent.room.events import ChannelType, EventStatus, EventType, Participant, RoomEvent, ToolCallContent
from voiceagent.room.names import spoken_name
from voiceagent.room.visibility import reaches

Purpose = Literal["answer", "thought"]


@dataclass(slots=True)
class AIContext:
    """Everything a model call reads; BEFORE_AI_GENERATION hooks may change any of it."""

    messages: list[Message]
    system_prompt: str = ""
    tools: list[ToolSpec] = field(default_factory=list)
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(slots=True)
class AIGenerationEvent:
    """What BEFORE_AI_GENERATION hooks see: `trigger` is the event whose id the answer will carry."""

    room_id: str
    channel_id: str
    trigger: RoomEvent
    ai_context: AIContext
    generation_id: str
    purpose: Purpose = "answer"
    speculative: bool = False


def known_to(channel_id: str, events: Iterable[RoomEvent]) -> list[RoomEvent]:
    """The events that an agent's channel may know: its own that stand, and what reaches it."""
    return [
        event
        for event in events
        if event.status is not EventStatus.BLOCKED
        and (event.source.channel_id == channel_id or reaches(event.visibility, channel_id, ChannelType.AI))
    ]


def conversation(channel_id: str, trigger: RoomEvent, room: RoomContext, window: int) -> list[Message]:
    """The messages of a turn, oldest first, the trigger last; a standalone instruction is read alone."""
    if trigger.metadata.get("standalone") is True:
        return [_last(trigger, None)]
    before = [e for e in room.recent_events if _precedes(e, trigger)]
    events = known_to(channel_id, before)[-window:]
    people = {person.id: person for person in room.participants}
    label = _labeller(channel_id, [*events, trigger], people)
    cuts = cuts_of(channel_id, before, room.bindings)
    messages = list(_history(channel_id, events, label, cuts))
    messages.append(_last(trigger, label(trigger)))
    return messages


def _precedes(event: RoomEvent, trigger: RoomEvent) -> bool:
    if event.id == trigger.id:
        return False
    return trigger.index is None or event.index is None or event.index < trigger.index


def _last(trigger: RoomEvent, name: str | None) -> Message:
    if trigger.type is EventType.INSTRUCTION:
        return Message("user", trigger.content.body, instruction=True)
    return Message("user", trigger.content.body, name=name)


def _labeller(
    channel_id: str, events: Sequence[RoomEvent], people: Mapping[str, Participant]
) -> Callable[[RoomEvent], str | None]:
    """Names speakers once more than one of them is in the conversation; with one person nobody needs a label."""
    speakers = {
        (e.source.channel_id, e.source.participant_id) if e.source.participant_id is None else e.source.participant_id
        for e in events
        if e.source.channel_id != channel_id and e.type is EventType.MESSAGE
    }

    def label(event: RoomEvent) -> str | None:
        if len(speakers) < 2 or event.type is not EventType.MESSAGE:
            return None
        person = people.get(event.source.participant_id or "")
        return spoken_name(person.display_name if person else None) or f"@{event.source.channel_id}"

    return label


def _history(
    channel_id: str,
    events: Sequence[RoomEvent],
    label: Callable[[RoomEvent], str | None],
    cuts: Mapping[str | None, Cut],
) -> Iterable[Message]:
    last_row = {e.responds_to: e.id for e in events if _own_words(channel_id, e)}
    ends = {e.content.call_id: e for e in events if isinstance(e.content, ToolCallContent) and e.type is EventType.TOOL_CALL_END}
    for event in events:
        if _own_words(channel_id, event):
            message = Message("assistant", event.content.body)
            if event.responds_to in cuts and last_row[event.responds_to] == event.id and event.responds_to is not None:
                message = replace(message, content=f"{message.content}\n{CUT_MARK}".lstrip())
            if message.content:
                yield message
        elif event.type is EventType.MESSAGE and event.content.body:
            yield Message("user", event.content.body, name=label(event))
        elif event.type is EventType.TOOL_CALL_START and event.source.channel_id == channel_id:
            yield from _tool_round(event, ends)


def _own_words(channel_id: str, event: RoomEvent) -> bool:
    return event.source.channel_id == channel_id and event.type is EventType.MESSAGE


def _tool_round(start: RoomEvent, ends: Mapping[str, RoomEvent]) -> Iterable[Message]:
    """A call and its result together, or neither: a call without a result is refused by most models."""
    assert isinstance(start.content, ToolCallContent)
    end = ends.get(start.content.call_id)
    if end is not None:
        call = ToolCall(start.content.call_id, start.content.tool, start.content.arguments)
        yield Message("assistant", "", tool_calls=(call,))
        yield Message("tool", end.content.body, tool_call_id=call.id)
