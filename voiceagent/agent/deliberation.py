"""Asking the policy: within its time, under the eyes of the hooks, and never at the cost of an answer."""

import logging
from dataclasses import dataclass, replace

from voiceagent import clock
from voiceagent.judgment.line import line_of
from voiceagent.judgment.listening import Request, listening_in
from voiceagent.judgment.policy import Foreseen, SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.judgment.thought import Thought
from voiceagent.room.bounded import TooLateError, bounded, contained
from voiceagent.room.channel import Host
from voiceagent.room.events import RoomEvent
from voiceagent.room.hooks import HookTrigger
from voiceagent.values import JSON

log = logging.getLogger(__name__)


@dataclass(slots=True)
class SpeakDecisionEvent:
    """What ON_SPEAK_DECISION hooks see; a SYNC one may put another `decision` in it. `duration_ms` is the policy's own time, the
    channel's bound when it did not decide within it. `asked_again`: the policy decided anew with what the agent thought. `late`:
    no turn follows, whatever is decided."""

    room_id: str
    channel_id: str
    event: RoomEvent
    decision: SpeakDecision
    duration_ms: int
    asked_again: bool = False
    thought: Thought | None = None
    late: bool = False


@dataclass(frozen=True, slots=True)
class Forethought:
    """A policy's decision on a turn that may not come, and the time it took; made while the room listened only, or not."""

    foreseen: Foreseen
    took_ms: int
    listened: Request | None

    @property
    def decision(self) -> SpeakDecision:
        """What it would be."""
        return self.foreseen.decision


class Deliberation:
    """One agent's policy, and the time it is given. Raises ValueError for a bound that leaves it none, TypeError for what is no
    SpeakPolicy, such as the class of one."""

    def __init__(self, policy: SpeakPolicy, timeout_ms: int, agent_name: str = "") -> None:
        if not isinstance(policy, SpeakPolicy):
            raise TypeError(f"speak_policy is a SpeakPolicy, not {policy!r}")
        if timeout_ms <= 0:
            raise ValueError("speak_timeout must be above 0 seconds")
        self.policy = policy
        self._timeout_ms = timeout_ms
        self._agent_name = agent_name

    async def foresee(self, turn: SpeakTurn) -> Forethought | None:
        """What the policy would decide: to speak when it is slow, None when it does not say, or fails. No hook is asked."""
        listened, began = listening_in(self.policy, turn.event.room_id), clock.now()
        try:
            foreseen = await bounded(self.policy.foresee(turn), self._timeout_ms)
        except TooLateError:
            return Forethought(Foreseen(SpeakDecision("speak", reason="fallback")), self._timeout_ms, listened)
        except Exception as error:  # noqa: BLE001 - it is asked for good when the turn is there
            log.info("room %s: the policy of %s foresees nothing: %r", turn.event.room_id, turn.channel_id, error)
            return None
        if not isinstance(foreseen, Foreseen) or not isinstance(foreseen.decision, SpeakDecision):
            return None
        return Forethought(foreseen, clock.now() - began, listened)

    async def decide(
        self,
        host: Host,
        turn: SpeakTurn,
        *,
        asked_again: bool = False,
        late: bool = False,
        ahead: Forethought | None = None,
    ) -> SpeakDecision:
        """What stands once the policy has decided (or failed to: then the agent speaks) and the hooks have had their say.

        With `ahead`, made on the same turn, the policy is not asked again.
        """
        listened = listening_in(self.policy, turn.event.room_id)
        decided, took = self._settled(turn, ahead, listened) or await self._decided(turn)
        decision = _with_source(decided, turn.event)
        listens = listening_in(self.policy, turn.event.room_id)
        if listens != listened:
            _publish_listening(host, turn, listens)
        asked = SpeakDecisionEvent(
            turn.event.room_id, turn.channel_id, turn.event, decision, took, asked_again, turn.thought, late
        )
        return await self._past_hooks(host, asked, line_of(turn, self._agent_name or turn.channel_id, listened))

    def _settled(self, turn: SpeakTurn, ahead: Forethought | None, listened: Request | None) -> tuple[SpeakDecision, int] | None:
        """The decision that was foreseen, as long as the room is what it was then."""
        if ahead is None or ahead.listened != listened:
            return None
        try:
            with contained():
                ahead.foreseen.settle()
        except Exception:
            log.exception("room %s: the policy of %s failed to settle", turn.event.room_id, turn.channel_id)
            return None
        return ahead.decision, ahead.took_ms

    async def _decided(self, turn: SpeakTurn) -> tuple[SpeakDecision, int]:
        began = clock.now()
        try:
            decision = await bounded(self.policy.decide(turn), self._timeout_ms)
            if not isinstance(decision, SpeakDecision):
                raise TypeError(f"a policy returns a SpeakDecision, not a {type(decision).__name__}")
            return decision, clock.now() - began
        except TooLateError:
            log.warning(
                "room %s: the policy of %s did not decide in %d ms", turn.event.room_id, turn.channel_id, self._timeout_ms
            )
            return SpeakDecision("speak", reason="fallback"), self._timeout_ms
        except Exception:
            log.exception("room %s: the policy of %s failed", turn.event.room_id, turn.channel_id)
            return SpeakDecision("speak", reason="fallback"), clock.now() - began

    async def _past_hooks(self, host: Host, asked: SpeakDecisionEvent, line: dict[str, JSON]) -> SpeakDecision:
        outcome = await host.run_hooks(HookTrigger.ON_SPEAK_DECISION, replace(asked), asked.room_id)
        changed: object = getattr(outcome.payload, "decision", None)  # a hook may even have deleted it
        if not isinstance(changed, SpeakDecision):
            log.error("room %s: a hook left a %s for a decision; the policy's stands", asked.room_id, type(changed).__name__)
            changed = asked.decision
        if outcome.blocked_by is not None:
            by = outcome.blocked_by
            changed = SpeakDecision("silent", by if by.startswith("hook_error:") else f"blocked by {by}")
        outcome.payload.decision = changed  # before the watchers' first step: they see what stands
        _publish(host, asked, changed, line)
        return changed


def _with_source(decision: SpeakDecision, event: RoomEvent) -> SpeakDecision:
    """The chance that a loudspeaker said it, where the line can tell, beside what was judged of the words."""
    chance = event.metadata.get("loudspeaker")
    if not isinstance(chance, float):
        return decision
    return replace(decision, judgments={"loudspeaker": chance, **decision.judgments})


def _publish(host: Host, asked: SpeakDecisionEvent, decision: SpeakDecision, line: dict[str, JSON]) -> None:
    host.feed(asked.room_id).publish(
        "input.decided",
        {
            "input_id": asked.event.id,
            "channel_id": asked.channel_id,
            "mode": decision.mode,
            "reason": decision.reason,
            "judgments": dict(decision.judgments),
            "duration_ms": asked.duration_ms,
            "asked_again": asked.asked_again,
            "final": decision.final,
            "late": asked.late,
            "turn": line,
        },
        channel_id=asked.channel_id,
        audience="host",
    )


def _publish_listening(host: Host, turn: SpeakTurn, request: Request | None) -> None:
    asked: dict[str, JSON] = {} if request is None else {"speaker": request.speaker, "text": request.text}
    host.feed(turn.event.room_id).publish(
        "room.listening", {"listening": request is not None, **asked}, channel_id=turn.channel_id, audience="host"
    )
