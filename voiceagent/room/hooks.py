"""Where a host's own code is asked or told: names, results, and the order in which hooks run."""

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, Literal, TypeVar

from voiceagent.room.bounded import bounded, watched
from voiceagent.room.context import RoomContext

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
    ON_BACKCHANNEL = "on_backchannel"
    ON_TTS_CANCELLED = "on_tts_cancelled"
    ON_SPEAK_DECISION = "on_speak_decision"
    ON_THOUGHT = "on_thought"
    ON_AI_THINKING = "on_ai_thinking"
    ON_PARTICIPANT_JOINED = "on_participant_joined"
    ON_PARTICIPANT_LEFT = "on_participant_left"
    ON_CALL_STARTED = "on_call_started"
    ON_CALL_ENDED = "on_call_ended"
    ON_ERROR = "on_error"


FAIL_CLOSED: Final = frozenset({HookTrigger.BEFORE_TTS, HookTrigger.ON_TRANSCRIPTION})
"""Where a SYNC hook that fails blocks unless it was registered otherwise: what it guards is words on their way in or out."""


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


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """What ON_ERROR hooks see: what failed, and where; `responds_to` names the event that a failed turn answered."""

    room_id: str
    channel_id: str | None
    stage: str
    error: BaseException
    responds_to: str | None = None


class Hooks:
    """All registered hooks of one engine."""

    def __init__(self, spawn: Callable[[Any, str], object]) -> None:
        self._spawn = spawn
        self._hooks: dict[HookTrigger, tuple[Hook, ...]] = {}

    def add(self, hook: Hook) -> None:
        """Registers a hook behind those of the same priority."""
        others = self._hooks.get(hook.trigger, ())
        self._hooks[hook.trigger] = tuple(sorted((*others, hook), key=lambda h: h.priority))

    def has(self, trigger: HookTrigger) -> bool:
        """Whether anybody listens to this trigger."""
        return trigger in self._hooks

    def guards(self, *triggers: HookTrigger) -> bool:
        """Whether a SYNC hook of one of these blocks when it fails: nothing may go past it unseen."""
        hooks = (hook for trigger in triggers for hook in self._hooks.get(trigger, ()))
        return any(hook.fail_closed and hook.execution is HookExecution.SYNC for hook in hooks)

    async def run(self, trigger: HookTrigger, payload: P, context: RoomContext) -> HookOutcome[P]:
        """Asks the SYNC hooks in order, each seeing the previous one's payload; then tells the ASYNC ones what stands."""
        outcome = HookOutcome(payload)
        for hook in self._hooks.get(trigger, ()):
            if hook.execution is HookExecution.SYNC and outcome.blocked_by is None:
                outcome = await self._ask(hook, outcome.payload, context)
        self._tell(trigger, outcome.payload, context, (HookExecution.ASYNC,))
        return outcome

    def notify(self, trigger: HookTrigger, payload: object, context: RoomContext) -> None:
        """Tells every hook of a trigger that nothing can stop any more, and waits for none."""
        self._tell(trigger, payload, context, tuple(HookExecution))

    def _tell(self, trigger: HookTrigger, payload: object, context: RoomContext, executions: tuple[HookExecution, ...]) -> None:
        for hook in self._hooks.get(trigger, ()):
            if hook.execution in executions:
                self._spawn(self._watch(hook, payload, context), f"hook {hook.name}")

    async def _watch(self, hook: Hook, payload: object, context: RoomContext) -> None:
        await self._ask(hook, payload, context, waited_for=False)

    async def _ask(self, hook: Hook, payload: P, context: RoomContext, *, waited_for: bool = True) -> HookOutcome[P]:
        within = bounded if waited_for else watched
        try:
            result = await within(hook.function(payload, context), hook.timeout_ms)
        except Exception as error:
            log.exception("hook %s on %s failed in room %s", hook.name, hook.trigger, context.room_id)
            if hook.trigger is not HookTrigger.ON_ERROR:
                self.notify(HookTrigger.ON_ERROR, ErrorEvent(context.room_id, None, f"hook {hook.name}", error), context)
            if hook.fail_closed:
                return HookOutcome(payload, f"hook_error:{hook.name}", str(error) or type(error).__name__)
            return HookOutcome(payload)
        match result:
            case HookResult(action="block"):
                return HookOutcome(payload, hook.name, result.reason or hook.name)
            case HookResult(action="modify") if isinstance(result.payload, type(payload)):
                return HookOutcome(result.payload)
            case HookResult(action="modify"):
                log.error(
                    "hook %s on %s: modify() needs a %s; the change is left out", hook.name, hook.trigger, type(payload).__name__
                )
        return HookOutcome(payload)


def as_hook_function(function: Callable[..., Any]) -> HookFunction:
    """A hook given as `async def f(payload)` or `async def f(payload, context)`. Raises TypeError for anything else."""
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"hook {function!r} must be an async function")
    if len(inspect.signature(function).parameters) >= 2:
        return function

    async def with_context(payload: Any, context: RoomContext) -> HookResult[Any] | None:
        result: HookResult[Any] | None = await function(payload)
        return result

    return with_context
