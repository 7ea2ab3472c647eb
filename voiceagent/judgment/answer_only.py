"""An agent that hears everybody and answers only some of them."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from voiceagent.judgment.listening import Request, listening_in
from voiceagent.judgment.policy import Foreseen, SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.room.names import spoken_name

_RANK: Final = re.compile(r" \(\d+\)$")


class AnswerOnly(SpeakPolicy):
    """Asks the policy it wraps about turns of these `people` alone; anyone else is only listened to.

    People are matched by the name that the room gives them, without the rank of a look-alike name, whatever its case and spacing.
    It chooses whom the agent answers; a participant may take any name, so it keeps nobody out.
    """

    def __init__(self, policy: SpeakPolicy, people: Iterable[str]) -> None:
        if isinstance(people, str):
            raise TypeError(f"people is a list of names: write people=[{people!r}]")
        if not isinstance(policy, SpeakPolicy):
            raise TypeError(f"what is wrapped is a SpeakPolicy, not {policy!r}")
        self._people = {key: name for name in people if (key := _key(name))}
        if not self._people:
            raise ValueError("people names nobody: give at least one name")
        self._policy = policy

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        """A final silence for who is not listed; otherwise the wrapped policy's, with only the listed people around."""
        among = self._among(turn)
        return _only_listened() if among is None else await self._policy.decide(among)

    async def foresee(self, turn: SpeakTurn) -> Foreseen | None:
        """The same, by what the wrapped policy foresees."""
        if type(self).decide is not AnswerOnly.decide:
            return None
        among = self._among(turn)
        return Foreseen(_only_listened()) if among is None else await self._policy.foresee(among)

    def _among(self, turn: SpeakTurn) -> SpeakTurn | None:
        """A listed person's turn, with only the listed people around; None for anybody else's."""
        speaker = turn.speakers.get(turn.event.id)
        if speaker is None or speaker.startswith("@") or _key(speaker) not in self._people:
            return None
        people = [name for name in turn.people if _key(name) in self._people]
        if _key(speaker) not in map(_key, people):
            people.append(speaker)
        return replace(turn, people=tuple(people))

    def listening(self, room_id: str) -> Request | None:
        """The wrapped policy's state, where it has one."""
        return listening_in(self._policy, room_id)

    def forget_room(self, room_id: str) -> None:
        """Reaches the wrapped policy."""
        self._policy.forget_room(room_id)

    async def close(self) -> None:
        """Closes the wrapped policy."""
        await self._policy.close()


def _only_listened() -> SpeakDecision:
    return SpeakDecision("silent", "only listened to", final=True)


def _key(name: str) -> str:
    return "".join(spoken_name(_RANK.sub("", name)).casefold().split()).lstrip("@")
