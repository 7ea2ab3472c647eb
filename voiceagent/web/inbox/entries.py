"""Questions as readers of the inbox are told of them: what was asked, where, whether they may answer, who did."""

from voiceagent.errors import RoomError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.room.questions.question import Question
from voiceagent.room.register.entry import Starter
from voiceagent.values import JSON
from voiceagent.web.reach import Reach


class Entries:
    """Looks questions up in one engine. Methods raise StoreError."""

    def __init__(self, engine: RoomEngine) -> None:
        self._engine = engine

    async def listed(self, reach: Reach) -> list[JSON]:
        """What somebody may see of what is open, and of what a person has ended in the last day; the newest first."""
        looking = _Looking(self._engine)
        return [await looking.entry(one, reach) for one in await self._engine.questions.listed() if reach.sees(one)]

    async def of(self, question: Question, reach: Reach) -> dict[str, JSON]:
        """One question."""
        return await _Looking(self._engine).entry(question, reach)

    async def people(self, room_id: str) -> dict[str, Participant]:
        """Everybody who was ever in a room, open or not, by their ids."""
        return await _Looking(self._engine).people(room_id)


class _Looking:
    """One look; what is known of a room is read once."""

    def __init__(self, engine: RoomEngine) -> None:
        self._engine = engine
        self._people: dict[str, dict[str, Participant]] = {}
        self._starters: dict[str, Starter | None] = {}

    async def entry(self, question: Question, reach: Reach) -> dict[str, JSON]:
        told = question.summary()
        answer = question.answer
        if answer is not None and answer.participant_id is not None:
            person = (await self.people(question.room_id)).get(answer.participant_id)
            if person is not None and person.display_name:
                told["answer"] = {**answer.told(), "name": person.display_name}
        return {
            **told,
            "started": await self._started(question.room_id, reach),
            "answerable": reach.may_end(question),
        }

    async def people(self, room_id: str) -> dict[str, Participant]:
        if room_id not in self._people:
            try:
                people = self._engine.context(room_id).participants
            except RoomError:
                people = await self._engine.store.list_participants(room_id)
            self._people[room_id] = {person.id: person for person in people}
        return self._people[room_id]

    async def _started(self, room_id: str, reach: Reach) -> str:
        """By whom its room was started: an agent, the reader (also where nobody knows), or another person."""
        if room_id not in self._starters:
            entry = await self._engine.register.get(room_id)
            self._starters[room_id] = entry.started_by if entry is not None else None
        by = self._starters[room_id]
        if by is not None and by.kind == "agent":
            return "agent"
        return "you" if by is None or reach.participant in (None, by.id) else "person"
