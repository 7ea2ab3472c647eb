"""What the inbox shows: the questions of this host and of paired ones, and how its rooms stand."""

from collections.abc import Callable

from voiceagent import clock
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType
from voiceagent.room.live import LiveRoom
from voiceagent.room.questions.news import QuestionNews
from voiceagent.room.questions.question import Question
from voiceagent.room.store import shared
from voiceagent.values import JSON
from voiceagent.web.command import Ack, QuestionCommand
from voiceagent.web.inbox.entries import Entries
from voiceagent.web.pairing.hosts import PairedHosts
from voiceagent.web.pairing.neighbour import HostListing
from voiceagent.web.reach import Reach


class Board:
    """One engine's. Methods raise StoreError. `is_shared`: other processes may write to the same store, unheard."""

    def __init__(self, engine: RoomEngine, paired: PairedHosts | None = None) -> None:
        self._engine = engine
        self._paired = paired
        self._entries = Entries(engine)
        self.is_shared = shared(engine.store) is not None

    def watch(
        self, reach: Reach, take: Callable[[QuestionNews], None], take_host: Callable[[HostListing | None], None]
    ) -> Callable[[], None]:
        """Has `take` called with every change of a question and `take_host` with every one of a paired host, which are asked
        meanwhile; returns what ends that."""
        forget = self._engine.questions.watchers.watch(take)
        if self._paired is None or not reach.everywhere:
            return forget
        leave = self._paired.watch(take_host)

        def end() -> None:
            forget()
            leave()

        return end

    async def entry(self, question: Question, reach: Reach) -> dict[str, JSON]:
        """One question."""
        return await self._entries.of(question, reach)

    async def here(self, reach: Reach) -> list[JSON]:
        """This host's questions that somebody may see, the newest first."""
        return await self._entries.listed(reach)

    async def snapshot(self, reach: Reach) -> dict[str, JSON]:
        """Every question that somebody may see, by hosts; this one has no name."""
        here: dict[str, JSON] = {"host": None, "reachable": True, "questions": await self.here(reach)}
        listed = await self._paired.listed() if self._paired is not None and reach.everywhere else ()
        hosts: list[JSON] = [here, *(one.told(clock.now()) for one in listed)]
        return {"is_host": reach.standing.host, "every_room": reach.room is None, "hosts": hosts}

    async def bring(self, reach: Reach, host: str, command: QuestionCommand) -> Ack:
        """Brings a paired host what somebody did here with a question of its own."""
        if self._paired is None or not reach.everywhere:
            return Ack.refusal(command.id, "not_found", "there is no paired host of this name, or it is not for you")
        return await self._paired.do(host, command, self._called(reach.participant))

    def _called(self, participant: str | None) -> str | None:
        """How somebody is called in the rooms that are open."""
        people = (person for room in self._engine.open_rooms for person in room.participants)
        return next((one.display_name for one in people if one.id == participant and one.display_name), None)

    async def overview(self, reach: Reach) -> dict[str, JSON]:
        """The rooms that somebody may see and that are open, or in which something waits: who is there, and what goes on."""
        waiting = [one for one in await self._engine.questions.listed() if one.is_open and reach.sees(one)]
        rooms = {room.room_id: room for room in self._engine.open_rooms if reach.covers(room.room_id)}
        names = sorted({*rooms, *(question.room_id for question in waiting)})
        return {"rooms": [self._standing(name, rooms.get(name), waiting) for name in names]}

    def _standing(self, name: str, room: LiveRoom | None, waiting: list[Question]) -> dict[str, JSON]:
        plain = [question.kind == "question" for question in waiting if question.room_id == name]
        waits: dict[str, JSON] = {"questions": sum(plain), "cards": len(plain) - sum(plain)}
        people: list[JSON] = []
        agents: list[JSON] = []
        calls, answers = 0, 0
        if room is not None:
            people = [{"participant_id": person.id, "name": person.display_name} for person in room.participants if person.active]
            agents = [one.channel_id for one in room.bindings if one.channel_type.intelligence]
            calls = sum(one.channel_type is ChannelType.VOICE for one in room.bindings)
            generations = self._engine.snapshot(name)["generations"]
            answers = len(generations) if isinstance(generations, list) else 0
        told: dict[str, JSON] = {"room_id": name, "open": room is not None, **waits}
        return {**told, "people": people, "agents": agents, "calls": calls, "answers": answers}
