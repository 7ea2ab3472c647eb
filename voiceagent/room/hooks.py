"""Where a host's own code is asked or told: names, results, and the order in which hooks run."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar

from voiceagent.room.channel import RoomContext

log = logging.getLogger(__name__)

P = TypeVar("P")


class HookTrigger(StrEnum):
    """When a hook runs. The payload's type lives beside whoever fires it."""

    BEFORE_BROADCAST = "before_broadcast"
    AFTER_BROADCAST = "after_broadcast"
    BEFORE_AI_GENERATION = "before_ai_generation"
    AFTER_AI_GENERATION = "after_ai_generation"
    BEFORE_TTS = "before_tts"
    AFTER_TTS = "after_tts"
    ON_TRANSCRIPTION = "on_transcription"
    ON_PARTIAL_TRANSCRIPTION = "on_partial_transcription"
    ON_SPEECH_START = "on_speech_start"
    ON_SPEECH_END = "on_speech_end"
    ON_BARGE_IN = "on_barge_in"
    ON_TTS_CANCELLED = "on_tts_cancelled"
    ON_SPEAK_DECISION = "on_speak_decision"
    ON_THOUGHT = "on_thought"
    ON_AI_THINKING = "on_ai_thinking"
    ON_PARTICIPANT_JOINED = "on_participant_joined"
    ON_PARTICIPANT_LEFT = "on_participant_left"
    ON_CALL_STARTED = "on_call_started"
    ON_CALL_ENDED = "on_call_ended"
    ON_ERROR = "on_error"


class HookExecution(StrEnum):
    """SYNC hooks are awaited, in order of priority, and may change or block; ASYNC ones only watch what stands."""

    SYNC = "sync"
    ASYNC = "async"


@dataclass(frozen=True, slots=True)
class HookResult(Generic[P]):
    """What a SYNC hook decides."""

    action: Literal["allow", "block", "modify"]
    payload: P | None = None
    reason: str | None = None

    @staticmethod
    def allow() -> "HookResult[Any]":
        """Go on with the payload as it is (a mutable payload may have been changed in place)."""
        return HookResult("allow")

    @staticmethod
    def block(reason: str = "") -> "HookResult[Any]":
        """Do not go on."""
        return HookResult("block", reason=reason)

    @staticmethod
    def modify(payload: P) -> "HookResult[P]":
        """Go on with this payload instead."""
        return HookResult("modify", payload)


HookFunction = Callable[[Any, RoomContext], Awaitable[HookResult[Any] | None]]


@dataclass(frozen=True, slots=True)
class Hook:
    """One registered hook; lower priority runs first."""

    name: str
    trigger: HookTrigger
    execution: HookExecution
    priority: int
    function: HookFunction
    timeout_ms: int
    fail_closed: bool


@dataclass(frozen=True, slots=True)
class HookOutcome(Generic[P]):
    """What stands after all SYNC hooks of a trigger: the payload, and who blocked it and why."""

    payload: P
    blocked_by: str | None = None
    reason: str | None = None
