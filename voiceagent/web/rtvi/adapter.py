"""What one RTVI client is told of a room's feed: RTVI's own messages about the answer that is spoken, the rest as our events."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Final

from voiceagent.room.feed import FeedEvent
from voiceagent.values import JSON
from voiceagent.web.rtvi.messages import Message, error, server_message
from voiceagent.web.rtvi.segments import Segment, Segments

ANSWERS: Final = 64
"""Answers that may be open at once before the oldest is forgotten."""

_WORKER: Final = "agent"
_JOB_ENDS: Final = {"job.returned": "completed", "job.failed": "failed", "job.cancelled": "cancelled"}


@dataclass(slots=True)
class _Answer:
    """One generation, or words that no generation makes (a greeting). `began`: its thinking was told of in the feed."""

    id: str
    segments: Segments
    began: bool = False
    thinking: bool = False
    to_sound: bool = False
    sounding: bool = False
    words: list[str] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return not (self.thinking or self.to_sound or self.sounding)


class Adapter:
    """Pure: lines in, messages out, in order.

    RTVI's messages about an answer carry no id, so that one answer at a time is shown in them: the only one there is, and
    among several the one that is spoken. Every durable line goes out as `server-message` besides, and so do droppable ones for
    which RTVI has no word, or that are about an answer not shown.
    """

    def __init__(self, participant_id: str) -> None:
        """`participant_id` is the person at this client."""
        self._me = participant_id
        self._numbers = count(1)
        self._answers: dict[str, _Answer] = {}
        self._shown: str | None = None
        self._speaking: set[str] = set()
        self._tell: dict[str, Callable[[FeedEvent], list[Message]]] = {
            "input": self._input,
            "generation": self._generation,
            "text": self._delta,
            "assistant": self._assistant,
            "tool": self._tool,
            "speech": self._speech,
            "job": self._job,
            "question": self._question,
        }

    def take(self, line: FeedEvent) -> list[Message]:
        """What the client is sent for one line."""
        tell = self._tell.get(line.type.partition(".")[0])
        told = tell(line) if tell is not None else []
        if line.seq is not None or not told:
            told.append(server_message(line.as_json()))
        return told + self._promote()

    # -- people ---------------------------------------------------------------------------------------------------------

    def _input(self, line: FeedEvent) -> list[Message]:
        input_id, mine = _text(line, "input_id"), line.data.get("participant_id") == self._me
        match line.type:
            case "input.started" if mine and line.data.get("kind", "speech") == "speech":
                self._speaking.add(input_id)
                return [Message("user-started-speaking")] if len(self._speaking) == 1 else []
            case "input.partial":
                return [_transcription(line, final=False)]
            case "input.accepted":
                said = [_transcription(line, final=True)] if _is_said(line) or (_is_typed(line) and not mine) else []
                return self._stopped(input_id) + said
            case "input.settled":
                return self._stopped(input_id)
        return []

    def _stopped(self, input_id: str) -> list[Message]:
        if input_id not in self._speaking:
            return []
        self._speaking.discard(input_id)
        return [] if self._speaking else [Message("user-stopped-speaking")]

    # -- answers --------------------------------------------------------------------------------------------------------

    def _generation(self, line: FeedEvent) -> list[Message]:
        answer = self._answer(line)
        if line.type == "generation.started":
            answer.began = answer.thinking = True
            if self._shown == answer.id:
                return [Message("bot-llm-started")]
            return self._show(answer) if self._shown is None else []
        was_thinking, answer.thinking = answer.thinking, False
        told: list[Message] = []
        if answer.id == self._shown:
            if line.type == "generation.failed":
                what = f"the answer failed: {_text(line, 'error_category') or 'error'}"
                told.append(error(what, fatal=False))
            if was_thinking:
                told.append(Message("bot-llm-stopped"))
        self._let_go(answer)
        return told

    def _delta(self, line: FeedEvent) -> list[Message]:
        answer, text = self._answer(line), _text(line, "text")
        answer.words.append(text)
        made = answer.segments.write(text)
        if answer.id != self._shown:
            return []
        return [Message("bot-llm-text", {"text": text}), *self._new(answer, made)]

    def _assistant(self, line: FeedEvent) -> list[Message]:
        answer = self._answer(line)
        made = answer.segments.end_message(_text(line, "text"))
        return self._new(answer, made) if answer.id == self._shown else []

    def _tool(self, line: FeedEvent) -> list[Message]:
        if line.generation_id != self._shown:
            return []
        tool: dict[str, JSON] = {"function_name": _text(line, "tool")}
        call: dict[str, JSON] = {**tool, "tool_call_id": _text(line, "call_id")}
        match line.type:
            case "tool.started":
                return [Message("llm-function-call-started", tool), Message("llm-function-call-in-progress", call)]
            case "tool.ended":
                return [Message("llm-function-call-stopped", {**call, "cancelled": line.data.get("outcome") == "cancelled"})]
        return []

    def _speech(self, line: FeedEvent) -> list[Message]:
        answer = self._answer(line)
        match line.type:
            case "speech.queued":
                answer.to_sound = True
                if not answer.began and "text" in line.data:  # words that no generation makes
                    answer.segments.end_message(_text(line, "text"))
            case "speech.started":
                answer.to_sound, answer.sounding = False, True
                return [*self._show(answer), Message("bot-tts-started"), Message("bot-started-speaking")]
            case "speech.progress":
                return self._heard(answer, answer.segments.hear(_number(line, "spoken_chars")))
            case "speech.finished":
                return self._heard(answer, answer.segments.hear_all()) + self._silent(answer)
            case "speech.cut":
                heard = self._heard(answer, answer.segments.hear(_number(line, "spoken_chars")))
                return [*heard, Message("bot-interrupted"), *self._silent(answer)]
            case "speech.dropped":
                answer.to_sound = False
                self._let_go(answer)
        return []

    def _silent(self, answer: _Answer) -> list[Message]:
        was_sounding, answer.sounding = answer.sounding, False
        self._let_go(answer)
        return [Message("bot-tts-stopped"), Message("bot-stopped-speaking")] if was_sounding else []

    # -- which answer is shown ------------------------------------------------------------------------------------------

    def _answer(self, line: FeedEvent) -> _Answer:
        id = line.generation_id or ""
        answer = self._answers.get(id)
        if answer is None:
            answer = self._answers[id] = _Answer(id, Segments(self._numbers))
            if len(self._answers) > ANSWERS:
                self._answers.pop(next(known for known in self._answers if known not in (id, self._shown)))
        return answer

    def _show(self, answer: _Answer) -> list[Message]:
        """From now on this answer is the one; what was not told of it is made up for, and the other's thinking is closed."""
        if answer.id == self._shown:
            return []
        other = self._answers.get(self._shown or "")
        told = [Message("bot-llm-stopped")] if other is not None and other.thinking else []
        self._shown = answer.id
        if answer.began:
            told.append(Message("bot-llm-started"))
            if answer.words:
                told.append(Message("bot-llm-text", {"text": "".join(answer.words)}))
        told += self._new(answer, answer.segments.all)
        if answer.began and not answer.thinking:
            told.append(Message("bot-llm-stopped"))
        return told

    def _let_go(self, answer: _Answer) -> None:
        if answer.over:
            self._answers.pop(answer.id, None)
            if self._shown == answer.id:
                self._shown = None

    def _promote(self) -> list[Message]:
        """With no answer shown, the oldest that is still being made is."""
        if self._shown is None:
            for answer in self._answers.values():
                if answer.thinking:
                    return self._show(answer)
        return []

    def _new(self, answer: _Answer, made: Sequence[Segment]) -> list[Message]:
        aloud = answer.to_sound or answer.sounding
        told = []
        for segment in made:
            told.append(_output(segment, aloud=aloud))
            told.append(Message("bot-transcription", {"text": segment.text}))
        return told

    def _heard(self, answer: _Answer, moved: Sequence[Segment]) -> list[Message]:
        return [_output(segment, aloud=True) for segment in moved] if answer.id == self._shown else []

    # -- beside answers -------------------------------------------------------------------------------------------------

    def _job(self, line: FeedEvent) -> list[Message]:
        at: JSON = _epoch_ms(line.time)
        job: dict[str, JSON] = {"job_id": _text(line, "job_id")}
        worker: JSON = _text(line, "tool") or line.channel_id or _WORKER
        match line.type:
            case "job.queued":
                started: dict[str, JSON] = {"workers": [worker], "label": _text(line, "label"), "cancellable": True, "at": at}
                return [Message("ui-job-group", {"kind": "group_started", **job, **started})]
            case "job.updated":
                data: JSON = {"text": _text(line, "text")}
                return [Message("ui-job-group", {"kind": "job_update", **job, "worker_name": worker, "data": data, "at": at})]
        status = _JOB_ENDS.get(line.type)
        if status is None:
            return []
        ended: dict[str, JSON] = {"worker_name": worker, "status": status, "at": at}
        return [
            Message("ui-job-group", {"kind": "job_completed", **job, **ended}),
            Message("ui-job-group", {"kind": "group_completed", **job, "at": at}),
        ]

    def _question(self, line: FeedEvent) -> list[Message]:
        if line.type != "question.opened" or line.data.get("urgency") != "now":
            return []
        toast: dict[str, JSON] = {"title": _text(line, "question")}
        return [Message("ui-command", {"command": "toast", "payload": toast})]


def _output(segment: Segment, *, aloud: bool) -> Message:
    data: dict[str, JSON] = {
        "text": segment.text,
        "aggregated_by": "sentence",
        "output_type": "sentence",
        "segment_id": segment.id,
        "will_be_spoken": aloud,
        "spoken_status": segment.status,
    }
    if aloud:
        heard, rest = segment.text[: segment.heard], segment.text[segment.heard :]
        data["spoken_progress"] = {"accumulated_text": heard, "remaining_text": rest}
    return Message("bot-output", data)


def _transcription(line: FeedEvent, *, final: bool) -> Message:
    said: dict[str, JSON] = {"text": _text(line, "text"), "user_id": _text(line, "participant_id")}
    return Message("user-transcription", {**said, "timestamp": line.time, "final": final})


def _is_said(line: FeedEvent) -> bool:
    """Whether an accepted input was heard by us; what was typed, its own client has shown already."""
    return "audio_ms" in line.data or line.session_id is not None


def _is_typed(line: FeedEvent) -> bool:
    return "participant_id" in line.data and line.data.get("kind") in ("user", "text")


def _text(line: FeedEvent, key: str) -> str:
    value = line.data.get(key)
    return value if isinstance(value, str) else ""


def _number(line: FeedEvent, key: str) -> int:
    value = line.data.get(key)
    return value if isinstance(value, int) else 0


def _epoch_ms(time: str) -> int:
    return round(datetime.fromisoformat(time).timestamp() * 1000)
